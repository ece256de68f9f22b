#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/wait_looks.py ASSAY [PROGRAM ARG ...]: processor time of `record --wait` without BPF, as shares of one core.

Records the program (default: ten threads that sleep 3 to 10 ms) as another user, and prints the processor time of each
thread of the recorder between the first and the fifth second, the largest first; with and without --wait."""
import glob
import os
import subprocess
import sys
import tempfile
import time

SLEEPERS = """
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static void *nap(void *arg)
{
    unsigned seed = (unsigned)(long)arg;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        struct timespec t = {0, 3000000 + rand_r(&seed) % 7000000};
        nanosleep(&t, 0);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 6);
    return 0;
}
int main(void)
{
    pthread_t t[10];
    for (long i = 0; i < 10; i++)
        pthread_create(&t[i], 0, nap, (void *)(i + 1));
    for (int i = 0; i < 10; i++)
        pthread_join(t[i], 0);
}
"""
OTHER_USER = "setpriv --reuid 65534 --regid 65534 --clear-groups --".split()


def times(pid):
    found = {}
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            found[path] = int(open(path).read().split()[0])
        except OSError:
            pass
    return found


def shares(assay, options, program):
    recorder = subprocess.Popen(OTHER_USER + [assay, "record", *options, "-q", "-f", "-o", "looks.assay", "--", *program],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    before, begin = times(recorder.pid), time.monotonic()
    time.sleep(4)
    after, seconds = times(recorder.pid), time.monotonic() - begin
    recorder.wait()
    return sorted(((ns - before.get(path, 0)) / seconds / 1e7 for path, ns in after.items()), reverse=True)


def main():
    assay, program = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        os.chdir(folder)
        if not program:
            open("sleepers.c", "w").write(SLEEPERS)
            subprocess.run(["gcc", "-O2", "-pthread", "-o", "sleepers", "sleepers.c"], check=True)
            program = ["./sleepers"]
        for options in (["--wait"], []):
            each = shares(assay, options, program)
            print(f"{' '.join(options) or 'without'}: {sum(each):.2f} % of a core; threads",
                  " ".join(f"{x:.2f}" for x in each))


main()
