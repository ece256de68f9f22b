// SPDX-License-Identifier: Apache-2.0
// planted SECONDS [MARK]: eight threads use SECONDS of processor time in all, each its planted
// share, in a function of its own, in pieces with short sleeps between. Prints for each function
// its share by the thread's own clock, then the system calls that were interrupted, and the
// processor time of the process. With MARK it profiles itself by the library that is preloaded,
// assay's or gperftools', and writes the profile to MARK.

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { THREADS = 8, PIECE_NS = 3000000, PAUSE_NS = 300000 };

static const double shares[THREADS] = {18.1, 5.0, 22.0, 9.0, 13.4, 2.5, 16.0, 14.0};
static double seconds, used_ns[THREADS];
static int interrupted[THREADS];
static volatile unsigned long sink;

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define PLANTED(n)                                                                                 \
    __attribute__((noinline)) static void planted_##n(void)                                        \
    {                                                                                              \
        double end = cpu_ns() + PIECE_NS;                                                          \
        do                                                                                         \
            for (unsigned long i = 0; i < 20000; i++)                                              \
                sink += i ^ n;                                                                     \
        while (cpu_ns() < end);                                                                    \
    }
// clang-format off
PLANTED(0) PLANTED(1) PLANTED(2) PLANTED(3) PLANTED(4) PLANTED(5) PLANTED(6) PLANTED(7)
    // clang-format on

    static void (*const planted[THREADS])(void) = {planted_0, planted_1, planted_2, planted_3,
                                                   planted_4, planted_5, planted_6, planted_7};

static void *run(void *arg)
{
    long k = (long)arg;
    double end = seconds * 1e9 * shares[k] / 100;
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    while (cpu_ns() < end) {
        planted[k]();
        errno = 0;
        interrupted[k] += nanosleep(&pause, NULL) != 0;
        interrupted[k] += poll(NULL, 0, 0) < 0;
    }
    used_ns[k] = cpu_ns();
    return NULL;
}

static void profile(const char *file, int start)
{
    int (*ours_start)(void *), (*ours_dump)(const char *), (*theirs_start)(const char *);
    void (*theirs_stop)(void);
    *(void **)&ours_start = dlsym(RTLD_DEFAULT, "assay_profile_start");
    *(void **)&ours_dump = dlsym(RTLD_DEFAULT, "assay_profile_dump");
    *(void **)&theirs_start = dlsym(RTLD_DEFAULT, "ProfilerStart");
    *(void **)&theirs_stop = dlsym(RTLD_DEFAULT, "ProfilerStop");
    if (start && ours_start)
        ours_start(NULL);
    else if (start && theirs_start)
        theirs_start(file);
    else if (ours_dump)
        ours_dump(file);
    else if (theirs_stop)
        theirs_stop();
}

int main(int argc, char **argv)
{
    pthread_t t[THREADS];
    struct rusage u;
    double all = 0;
    int eintr = 0;
    seconds = argc > 1 ? atof(argv[1]) : 20;
    if (argc > 2)
        profile(argv[2], 1);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    if (argc > 2)
        profile(argv[2], 0);
    for (int i = 0; i < THREADS; i++)
        all += used_ns[i], eintr += interrupted[i];
    for (int i = 0; i < THREADS; i++)
        printf("planted_%d %.3f\n", i, 100 * used_ns[i] / all);
    getrusage(RUSAGE_SELF, &u);
    printf("eintr %d\n", eintr);
    printf("cpu %.6f\n", (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                             (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
    return 0;
}
