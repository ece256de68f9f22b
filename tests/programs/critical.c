// SPDX-License-Identifier: Apache-2.0
// Programs whose critical path is known: critical pipeline|convoy|timers. Beside it the thread
// "innocent" computes all the time, until it is told to end, and is joined last.
//   pipeline  A computes, then B computes and sleeps, then main computes, then A again
//   convoy    four threads compute under one lock nearly all of their time
//   timers    main waits for a timer, then computes
// Prints "NAME CLASS NS" for what is on the path: processor time by the threads' own clocks, and
// sleep by the clock of the machine.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 30, CONVOY = 4, MS = 1000000 };

static atomic_bool stop;
static int to_a[2], to_b[2], to_main[2];
static int64_t slept_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t held_ns[CONVOY];

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

__attribute__((noinline)) static int64_t compute(int64_t ns)
{
    int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), now = start;
    while (now - start < ns)
        now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return now - start;
}

static void *innocent(void *unused)
{
    while (!atomic_load(&stop))
        ;
    return unused;
}

static void pass(int fd)
{
    if (write(fd, "", 1) != 1)
        abort();
}

static void take(int fd)
{
    char c;
    if (read(fd, &c, 1) != 1)
        abort();
}

static void *first(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        take(to_a[0]);
        compute(5 * MS);
        if (i == ROUNDS - 1) // before main goes on
            printf("A running %lld\n", (long long)clock_ns(CLOCK_THREAD_CPUTIME_ID));
        pass(to_b[1]);
    }
    return unused;
}

static void *second(void *unused)
{
    const struct timespec nap = {0, 6 * MS};
    for (int i = 0; i < ROUNDS; i++) {
        take(to_b[0]);
        compute(3 * MS);
        int64_t before = clock_ns(CLOCK_MONOTONIC);
        nanosleep(&nap, NULL);
        slept_ns += clock_ns(CLOCK_MONOTONIC) - before;
        if (i == ROUNDS - 1)
            printf("B running %lld\n", (long long)clock_ns(CLOCK_THREAD_CPUTIME_ID));
        pass(to_main[1]);
    }
    return unused;
}

static void start(pthread_t *t, void *(*run)(void *), void *arg, const char *name)
{
    if (pthread_create(t, NULL, run, arg) != 0)
        abort();
    pthread_setname_np(*t, name);
}

// Marks around each round of the pipeline, for probes.
__attribute__((noinline)) void round_begins(int number)
{
    __asm__ volatile("" ::"r"(number));
}

__attribute__((noinline)) void round_ends(int number)
{
    __asm__ volatile("" ::"r"(number));
}

static void pipeline(void)
{
    pthread_t a, b;
    if (pipe(to_a) || pipe(to_b) || pipe(to_main))
        abort();
    start(&a, first, NULL, "A");
    start(&b, second, NULL, "B");
    for (int i = 0; i < ROUNDS; i++) {
        round_begins(i);
        pass(to_a[1]);
        take(to_main[0]);
        compute(2 * MS);
        round_ends(i);
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("B sleep %lld\n", (long long)slept_ns);
}

static void *contend(void *number)
{
    int64_t *held = &held_ns[(intptr_t)number];
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        *held += compute(3 * MS);
        pthread_mutex_unlock(&lock);
        compute(MS / 5);
    }
    return number;
}

static void convoy(void)
{
    pthread_t threads[CONVOY];
    char name[] = "T0";
    for (int i = 0; i < CONVOY; i++) {
        name[1] = (char)('0' + i);
        start(&threads[i], contend, (void *)(intptr_t)i, name);
    }
    for (int i = 0; i < CONVOY; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CONVOY; i++)
        printf("T%d running %lld\n", i, (long long)held_ns[i]);
}

static void timers(void)
{
    struct itimerspec every = {{0, 9 * MS}, {0, 9 * MS}};
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    uint64_t times;
    timerfd_settime(fd, 0, &every, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        if (read(fd, &times, sizeof(times)) != sizeof(times))
            abort();
        compute(3 * MS);
    }
}

int main(int argc, char **argv)
{
    pthread_t x;
    start(&x, innocent, NULL, "innocent");
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    if (argc == 2 && strcmp(argv[1], "pipeline") == 0)
        pipeline();
    else if (argc == 2 && strcmp(argv[1], "convoy") == 0)
        convoy();
    else if (argc == 2 && strcmp(argv[1], "timers") == 0)
        timers();
    else
        return 2;
    printf("all wall %lld\n", (long long)(clock_ns(CLOCK_MONOTONIC) - begin));
    atomic_store(&stop, true);
    pthread_join(x, NULL);
    if (strcmp(argv[1], "convoy") != 0)
        printf("main running %lld\n", (long long)clock_ns(CLOCK_THREAD_CPUTIME_ID));
    return 0;
}
