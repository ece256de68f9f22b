// SPDX-License-Identifier: Apache-2.0
// many N: N processes that each work for half a millisecond a second, until the first one is ended.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void work(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    long end = t.tv_sec * 1000000000 + t.tv_nsec + 500000;
    do {
        for (int i = 0; i < 1000; i++)
            sink = sink * 31 + (unsigned long)i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_sec * 1000000000 + t.tv_nsec < end);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    for (int i = 0; i < count; i++) {
        if (fork() != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        usleep((unsigned)i * 1000);
        for (;;) {
            work();
            sleep(1);
        }
    }
    pause();
    return 0;
}
