// SPDX-License-Identifier: Apache-2.0
// The queue from the thread that reads the rings to the worker thread. It holds chunks of
// whole records, in rounds; a round is one pass over all rings.

#ifndef COLLECT_SAMPLING_QUEUE_INTERNAL_H
#define COLLECT_SAMPLING_QUEUE_INTERNAL_H

#include "base/defs.h"

#include <pthread.h>

enum {
    CHUNK_BYTES = 256 << 10,
    QUEUE_MAX_BYTES = 128 << 20, // when the queue is full, samples are dropped and counted
};

typedef struct Chunk {
    struct Chunk *next;
    uint32_t ring;
    bool ends_round; // the last chunk of its round
    uint32_t len;
    uint8_t data[CHUNK_BYTES];
} Chunk;

typedef struct ChunkQueue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    Chunk *first, *last;
    Chunk *spare;     // kept for reuse, because new memory costs page faults
    size_t allocated; // number of chunks in all
    bool closed;      // queue_close was called
} ChunkQueue;

// An empty queue for two threads.
void queue_init(ChunkQueue *q);
void queue_deinit(ChunkQueue *q); // frees all chunks in it; no other thread may use it

// An empty chunk, which the caller owns until queue_push. NULL when the chunks reach
// QUEUE_MAX_BYTES and `must` is false.
Chunk *queue_take_empty(ChunkQueue *q, bool must);
// Appends a chunk. The worker wakes when the chunk ends its round.
void queue_push(ChunkQueue *q, Chunk *c);
void queue_close(ChunkQueue *q); // tells the worker that no more chunks will come
// Waits until the queue is closed, at most so long. Whether it is.
bool queue_wait_closed(ChunkQueue *q, int64_t most_ns);
// Takes all chunks, as a list linked by `next`; waits while there are none. NULL when the queue is
// closed and empty.
Chunk *queue_pop_all(ChunkQueue *q);
void queue_recycle(ChunkQueue *q, Chunk *c); // returns a chunk for reuse

#endif // COLLECT_SAMPLING_QUEUE_INTERNAL_H
