// SPDX-License-Identifier: Apache-2.0
// wait_pairs PAIRS SECONDS: pairs of threads that wake each other through pipes, on all CPUs.
// Prints switches a second, and processor time of the program for each.

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <pthread.h>

enum { PAIRS_MAX = 64 };
static int there[PAIRS_MAX][2], back[PAIRS_MAX][2];

static void *answer(void *arg)
{
    long i = (long)arg;
    char c;
    while (read(there[i][0], &c, 1) == 1 && write(back[i][1], &c, 1) == 1)
        ;
    return NULL;
}

static void *ask(void *arg)
{
    long i = (long)arg;
    char c = 0;
    while (write(there[i][1], &c, 1) == 1 && read(back[i][0], &c, 1) == 1)
        ;
    return NULL;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    int pairs = argc > 1 ? atoi(argv[1]) : 4, time_s = argc > 2 ? atoi(argv[2]) : 2;
    pthread_t thread;
    for (long i = 0; i < pairs && i < PAIRS_MAX; i++) {
        if (pipe(there[i]) || pipe(back[i]))
            return 1;
        pthread_create(&thread, NULL, answer, (void *)i);
        pthread_create(&thread, NULL, ask, (void *)i);
    }
    sleep((unsigned)time_s);
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    double switches = (double)(r.ru_nvcsw + r.ru_nivcsw);
    printf("%.0f switches/s, %.2f us CPU a switch\n", switches / time_s,
           (seconds(r.ru_utime) + seconds(r.ru_stime)) * 1e6 / switches);
    fflush(stdout);
    _exit(0);
}
