// SPDX-License-Identifier: Apache-2.0
// A server whose requests wait, for trying assay on.
//
//     queue [--fast] JOURNAL [REQUESTS]
//
// main takes in a request each half millisecond and puts it into a queue; four workers answer them.
// Each answer comes from a store that all workers share, and that one more thread writes to a
// journal on the disk 20 times a second. Nothing in it computes for long, and yet one request in
// ten takes many times as long as the others. A profile of processor time does not show why; one
// of waits does, on its first screen. The fast form (--fast) changes five lines of store.c.

#define _GNU_SOURCE // pthread_setname_np
#include "store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 4, QUEUED_MAX = 65536, FLUSH_US = 50000, ARRIVAL_US = 500 };

typedef struct Request {
    unsigned question;
    long long arrived_ns;
} Request;

static Request queued[QUEUED_MAX];
static long long took_ns[QUEUED_MAX];
static int first, last;
static atomic_bool is_closed;
static atomic_int answered;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_request = PTHREAD_COND_INITIALIZER;

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

// False when no more requests will come.
static bool next_request(Request *ret)
{
    pthread_mutex_lock(&queue_lock);
    while (first == last && !is_closed)
        pthread_cond_wait(&has_request, &queue_lock);
    bool found = first < last;
    if (found)
        *ret = queued[first++];
    pthread_mutex_unlock(&queue_lock);
    return found;
}

static unsigned parse(unsigned question)
{
    for (int i = 0; i < 20000; i++)
        question = question * 1664525u + 1013904223u;
    return question;
}

__attribute__((noinline)) static unsigned handle_request(const Request *r)
{
    unsigned answer = store_get(parse(r->question));
    took_ns[atomic_fetch_add(&answered, 1)] = now_ns() - r->arrived_ns;
    return answer;
}

static void *work(void *unused)
{
    Request r;
    unsigned sum = 0;
    while (next_request(&r))
        sum += handle_request(&r);
    return sum == 1 ? unused : NULL;
}

static void *flush(void *unused)
{
    int written = 0;
    while (!is_closed) {
        usleep(FLUSH_US);
        written += store_flush();
    }
    return written ? unused : NULL;
}

static void take_in(int requests)
{
    for (int i = 0; i < requests; i++) {
        usleep(ARRIVAL_US);
        pthread_mutex_lock(&queue_lock);
        queued[last++] = (Request){(unsigned)i, now_ns()};
        pthread_mutex_unlock(&queue_lock);
        pthread_cond_signal(&has_request);
    }
}

static int by_time(const void *a, const void *b)
{
    long long x = *(const long long *)a, y = *(const long long *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    bool fast = argc > 1 && strcmp(argv[1], "--fast") == 0;
    const char *path = argc > 1 + fast ? argv[1 + fast] : "journal";
    int requests = argc > 2 + fast ? atoi(argv[2 + fast]) : 2000;
    pthread_t workers[WORKERS], flusher;
    if (requests < 1 || requests > QUEUED_MAX)
        return 2;
    store_open(path, fast);
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&workers[i], NULL, work, NULL);
        pthread_setname_np(workers[i], "worker");
    }
    pthread_create(&flusher, NULL, flush, NULL);
    pthread_setname_np(flusher, "flusher");
    take_in(requests);
    pthread_mutex_lock(&queue_lock);
    is_closed = true;
    pthread_mutex_unlock(&queue_lock);
    pthread_cond_broadcast(&has_request);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    pthread_join(flusher, NULL);
    qsort(took_ns, (size_t)requests, sizeof(took_ns[0]), by_time);
    printf("%d requests: half of them within %.2f ms, 99 %% within %.2f ms\n", requests,
           (double)took_ns[requests / 2] * 1e-6, (double)took_ns[requests * 99 / 100] * 1e-6);
    return 0;
}
