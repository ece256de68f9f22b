// SPDX-License-Identifier: Apache-2.0
// many N [US]: N processes that each work for US (500) microseconds a second, until the first one
// is ended.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static long work_ns = 500000;

__attribute__((noinline)) static void work(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    long end = t.tv_sec * 1000000000 + t.tv_nsec + work_ns;
    do {
        for (int i = 0; i < 1000; i++)
            sink = sink * 31 + (unsigned long)i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_sec * 1000000000 + t.tv_nsec < end);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    if (argc > 2)
        work_ns = atol(argv[2]) * 1000;
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
