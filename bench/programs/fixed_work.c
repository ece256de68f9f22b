// SPDX-License-Identifier: Apache-2.0
// fixed_work ROUNDS [FILE]: the same work each time, deep in calls, on two threads; with FILE it
// profiles itself by the preloaded library. Prints the processor time of the work alone.

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 20 };

static volatile unsigned long sink;
static long rounds;

static double process_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

__attribute__((noinline)) static void descend(int depth)
{
    if (depth > 0)
        descend(depth - 1);
    else
        for (unsigned long i = 0; i < 2000000; i++)
            sink += i;
    sink++; // no tail call
}

static void *run(void *arg)
{
    for (long i = 0; i < rounds; i++)
        descend(DEPTH);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    rounds = argc > 1 ? atol(argv[1]) : 100;
    int (*ours)(void *), (*ours_stop)(void), (*theirs)(const char *);
    void (*theirs_stop)(void);
    *(void **)&ours = dlsym(RTLD_DEFAULT, "assay_profile_start");
    *(void **)&ours_stop = dlsym(RTLD_DEFAULT, "assay_profile_stop");
    *(void **)&theirs = dlsym(RTLD_DEFAULT, "ProfilerStart");
    *(void **)&theirs_stop = dlsym(RTLD_DEFAULT, "ProfilerStop");
    if (argc > 2 && ours)
        ours(NULL);
    else if (argc > 2 && theirs)
        theirs(argv[2]);
    double before = process_ms();
    pthread_create(&t, NULL, run, NULL);
    run(NULL);
    pthread_join(t, NULL);
    printf("%.3f\n", process_ms() - before);
    if (argc > 2 && ours)
        ours_stop();
    else if (argc > 2 && theirs)
        theirs_stop();
    return 0;
}
