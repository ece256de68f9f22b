// SPDX-License-Identifier: Apache-2.0
// Calls with known numbers: calls. Two threads call handle(id, how) for 0 <= id < 1000 each; every
// hundredth call takes its time with one of four causes, which stand in its second argument: 1 it
// computes in reparse, 2 it waits for a lock that holder holds, 3 it sleeps, 0 nothing.
// deep(20) calls itself 20 times; a child process calls handle once; submit and complete join 10
// requests. Prints "handle N, slow N, took MS" with its own clock around the slow calls.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define KEEP()   __asm__ volatile("" ::: "rbx", "memory") // a frame, and no tail call

enum { CALLS = 1000, EVERY = 100, SLOW_NS = 6000000 };

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;
static long slow_ns, slow_count;

static long now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

NOINLINE static void parse(void)
{
    for (unsigned i = 0; i < 3000; i++)
        sink += i * i;
    KEEP();
}

NOINLINE static void reparse(void)
{
    long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + SLOW_NS;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        for (unsigned i = 0; i < 20000; i++)
            sink += i * i;
    KEEP();
}

static void *holder(void *ready)
{
    pthread_mutex_lock(&cache_lock);
    pthread_barrier_wait(ready);
    usleep(SLOW_NS / 1000);
    pthread_mutex_unlock(&cache_lock);
    return NULL;
}

NOINLINE static void wait_for_lock(void)
{
    pthread_barrier_t ready;
    pthread_t thread;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&thread, NULL, holder, &ready);
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&cache_lock);
    pthread_mutex_unlock(&cache_lock);
    pthread_join(thread, NULL);
    KEEP();
}

NOINLINE long handle(long id, long how)
{
    parse();
    if (how == 1)
        reparse();
    if (how == 2)
        wait_for_lock();
    if (how == 3)
        usleep(SLOW_NS / 1000);
    KEEP();
    return id * 2;
}

NOINLINE long deep(long n)
{
    long r = n ? deep(n - 1) + 1 : 0;
    KEEP();
    return r;
}

NOINLINE void submit(long id)
{
    sink += (unsigned long)id;
    KEEP();
}

NOINLINE void complete(long id)
{
    sink += (unsigned long)id;
    KEEP();
}

static void *worker(void *arg)
{
    for (long i = 0; i < CALLS; i++) {
        long how = i % EVERY == 0 ? 1 + (i / EVERY + (long)arg) % 3 : 0;
        long from = now_ns(CLOCK_MONOTONIC);
        handle(i, how);
        if (how) {
            __atomic_fetch_add(&slow_ns, now_ns(CLOCK_MONOTONIC) - from, __ATOMIC_RELAXED);
            __atomic_fetch_add(&slow_count, 1, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    deep(20);
    for (long i = 0; i < 10; i++) {
        submit(i);
        usleep(1000);
        if (i % 2) {
            complete(i - 1);
            complete(i);
        }
    }
    pid_t child = fork();
    if (child == 0)
        _exit(handle(7, 0) != 14);
    waitpid(child, NULL, 0);
    printf("handle %d, slow %ld, took %.3f ms\n", 2 * CALLS + 1, slow_count, (double)slow_ns / 1e6);
    return 0;
}
