// SPDX-License-Identifier: Apache-2.0
// Threads that wait in known ways. It prints, in microseconds by its own clocks, how long main
// waited for `cache_lock`, which `flush` holds; the reader for a pipe that main writes to; and how
// long flush slept. Each of these is the time blocked and the time until a processor was free.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 25, HELD_MS = 12 };

pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static long long lock_ns, pipe_ns, sleep_ns;
static int ends[2], turn[2];

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    long long before = now_ns();
    nanosleep(&t, NULL);
    sleep_ns += now_ns() - before;
}

__attribute__((noinline)) static int flush(int round)
{
    char c = 0;
    pthread_mutex_lock(&cache_lock);
    if (write(turn[1], &c, 1) != 1)
        abort();
    sleep_ms(HELD_MS);
    pthread_mutex_unlock(&cache_lock);
    return round;
}

static void *flusher(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        if (flush(i) != i)
            abort();
    return unused;
}

static void *reader(void *unused)
{
    char c;
    for (int i = 0; i < ROUNDS; i++) {
        long long before = now_ns();
        if (read(ends[0], &c, 1) != 1)
            abort();
        pipe_ns += now_ns() - before;
    }
    return unused;
}

// Comes when flush has the lock.
__attribute__((noinline)) static void lookup(void)
{
    char c;
    if (read(turn[0], &c, 1) != 1)
        abort();
    long long before = now_ns();
    pthread_mutex_lock(&cache_lock);
    lock_ns += now_ns() - before;
    pthread_mutex_unlock(&cache_lock);
}

int main(void)
{
    pthread_t a, b;
    char c = 0;
    if (pipe(ends) != 0 || pipe(turn) != 0)
        return 1;
    pthread_create(&a, NULL, flusher, NULL);
    pthread_create(&b, NULL, reader, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        lookup();
        if (write(ends[1], &c, 1) != 1)
            return 1;
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pid_t child = fork();
    if (child == 0) {
        usleep(160000);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("lock %lld pipe %lld sleep %lld\n", lock_ns / 1000, pipe_ns / 1000, sleep_ns / 1000);
    return 0;
}
