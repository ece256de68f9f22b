// SPDX-License-Identifier: Apache-2.0
// The queue of chunks between the draining thread and the worker.

#include "collect/sampling/queue_internal.h"

#include "base/arena.h"
#include "os/clock.h"

enum { SPARE_KEPT = 64 }; // chunks that are kept for reuse

void queue_init(ChunkQueue *q)
{
    *q = (ChunkQueue){0};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->filled, NULL);
}

static void free_list(Chunk *c)
{
    while (c) {
        Chunk *next = c->next;
        heap_free(c);
        c = next;
    }
}

void queue_deinit(ChunkQueue *q)
{
    free_list(q->first);
    free_list(q->spare);
    pthread_cond_destroy(&q->filled);
    pthread_mutex_destroy(&q->lock);
    *q = (ChunkQueue){0};
}

Chunk *queue_take_empty(ChunkQueue *q, bool must)
{
    pthread_mutex_lock(&q->lock);
    Chunk *c = q->spare;
    if (c)
        q->spare = c->next;
    bool full = !c && q->allocated >= QUEUE_MAX_BYTES / CHUNK_BYTES;
    if (!c && (!full || must))
        q->allocated++;
    pthread_mutex_unlock(&q->lock);
    if (!c) {
        if (full && !must)
            return NULL;
        c = heap_alloc(sizeof(*c));
    }
    c->next = NULL;
    c->len = 0;
    c->ends_round = false;
    return c;
}

void queue_push(ChunkQueue *q, Chunk *c)
{
    pthread_mutex_lock(&q->lock);
    if (q->last)
        q->last->next = c;
    else
        q->first = c;
    q->last = c;
    bool ends_round = c->ends_round;
    pthread_mutex_unlock(&q->lock);
    // The worker needs whole rounds only. It is woken outside of the lock, which it would have to
    // wait for.
    if (ends_round)
        pthread_cond_signal(&q->filled);
}

void queue_close(ChunkQueue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

bool queue_wait_closed(ChunkQueue *q, int64_t most_ns)
{
    struct timespec until;
    int64_t end = os_monotonic_ns() + most_ns;
    until.tv_sec = end / 1000000000;
    until.tv_nsec = end % 1000000000;
    int rc = 0;
    pthread_mutex_lock(&q->lock);
    while (!q->closed && rc == 0)
        rc = pthread_cond_clockwait(&q->filled, &q->lock, CLOCK_MONOTONIC, &until);
    bool is_closed = q->closed;
    pthread_mutex_unlock(&q->lock);
    return is_closed;
}

Chunk *queue_pop_all(ChunkQueue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!q->first && !q->closed)
        pthread_cond_wait(&q->filled, &q->lock);
    Chunk *c = q->first;
    q->first = q->last = NULL;
    pthread_mutex_unlock(&q->lock);
    return c;
}

void queue_recycle(ChunkQueue *q, Chunk *c)
{
    pthread_mutex_lock(&q->lock);
    bool keep = q->allocated <= SPARE_KEPT;
    if (keep) {
        c->next = q->spare;
        q->spare = c;
    } else {
        q->allocated--;
    }
    pthread_mutex_unlock(&q->lock);
    if (!keep)
        heap_free(c);
}
