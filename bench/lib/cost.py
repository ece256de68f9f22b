#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cost.py [-n TIMES] COMMAND…: what a command costs, by rusage of it and its children.

Prints the medians over TIMES runs: cpu=SECONDS wall=SECONDS rss_kb=N status=N"""
import os
import statistics
import sys
import time


def once(argv):
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        try:
            os.execvp(argv[0], argv)
        except OSError:
            os._exit(127)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss, os.waitstatus_to_exitcode(status)


def main():
    argv = sys.argv[1:]
    times = 1
    if argv[:1] == ["-n"]:
        times, argv = int(argv[1]), argv[2:]
    if not argv:
        print(__doc__, file=sys.stderr)
        return 2
    runs = [once(argv) for _ in range(times)]
    cpu, wall, rss = (statistics.median(run[i] for run in runs) for i in range(3))
    print(f"cpu={cpu:.6f} wall={wall:.6f} rss_kb={int(rss)} status={runs[-1][3]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
