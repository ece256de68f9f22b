// SPDX-License-Identifier: Apache-2.0
// What the draining thread hands to the worker: chunks of whole records, in
// rounds. A round is one pass over all rings.

#ifndef COLLECT_SAMPLING_QUEUE_INTERNAL_H
#define COLLECT_SAMPLING_QUEUE_INTERNAL_H

#include "base/defs.h"

#include <pthread.h>

enum {
    CHUNK_BYTES = 256 << 10,
    QUEUE_MAX_BYTES = 128 << 20, // beyond it samples are dropped, and counted
};

typedef struct Chunk {
    struct Chunk *next;
    uint32_t ring;
    bool ends_round; // nothing more of this round follows
    uint32_t len;
    uint8_t data[CHUNK_BYTES];
} Chunk;

typedef struct ChunkQueue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    Chunk *first, *last;
    Chunk *spare;     // for reuse: fresh memory costs page faults
    size_t allocated; // chunks in all
    bool closed;      // no more will come
} ChunkQueue;

void queue_init(ChunkQueue *q);
void queue_deinit(ChunkQueue *q);

// An empty chunk; NULL when the queue holds QUEUE_MAX_BYTES and `must` is false.
Chunk *queue_take_empty(ChunkQueue *q, bool must);
void queue_push(ChunkQueue *q, Chunk *c);
void queue_close(ChunkQueue *q);
// Everything that is there, waiting for some. NULL when closed and empty.
Chunk *queue_pop_all(ChunkQueue *q);
void queue_recycle(ChunkQueue *q, Chunk *c);

#endif // COLLECT_SAMPLING_QUEUE_INTERNAL_H
