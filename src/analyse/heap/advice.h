// SPDX-License-Identifier: Apache-2.0
// Advice from a recording of the heap: each finding with its exact counts, and what
// a change would save.

#ifndef ANALYSE_HEAP_ADVICE_H
#define ANALYSE_HEAP_ADVICE_H

#include "analyse/heap/heap_view.h"

typedef enum HeapAdviceKind {
    ADVICE_LEAK,      // blocks are live at the end
    ADVICE_TURNS,     // a loop allocates and frees the same blocks in each of its turns
    ADVICE_GROWS,     // blocks grow by realloc, which copies them
    ADVICE_GROWS_NEW, // containers of C++ grow by a new block, a copy and a free
    ADVICE_IN_FRAME,  // blocks are freed in the frame that allocated them
    ADVICE_SHORT,     // blocks are freed soon after they were allocated
    ADVICE_ONE_SIZE,  // many blocks of one small size lie at the peak, each with its own overhead
} HeapAdviceKind;
enum { HEAP_ADVICE_KINDS = ADVICE_ONE_SIZE + 1 };

typedef struct HeapAdvice {
    HeapAdviceKind kind;
    const HeapRow *row; // the place it is about; of ADVICE_TURNS the function in which the turn is
    FrameId frame;      // its innermost frame: of ADVICE_TURNS the function that all sites share
    uint64_t blocks;    // that the finding is about
    uint64_t bytes;     // of them; of ADVICE_GROWS those copied
    uint64_t turns;     // ADVICE_TURNS: how often, 0: not known; ADVICE_GROWS: blocks that grew
    uint64_t live;      // ADVICE_TURNS, ADVICE_SHORT: the most blocks at one time
    uint64_t each;      // ADVICE_ONE_SIZE, ADVICE_LEAK: bytes of each block; 0: of several sizes
    uint64_t reallocs;  // ADVICE_GROWS
    double lifetime;    // mean of freed blocks, in allocations; NAN: not known
    uint32_t sites;     // how many stacks
    // The saving of a change.
    uint64_t saved_blocks; // calls of malloc or realloc, and as many of free
    uint64_t saved_ns;     // in malloc and free; 0: not known
    uint64_t saved_bytes;  // copied or, of leaks and ADVICE_ONE_SIZE, held
    double weight;         // part of the recording's total that it saves, 0 … 1; for the order
} HeapAdvice;

typedef Vec(HeapAdvice) HeapAdviceVec;

// The word for data: "leak", "per turn" …
const char *heap_advice_word(HeapAdviceKind kind);

// Finds possible changes, those that save most first. The rows point into `v`, whose rows must not
// move. Heap memory: vec_free.
HeapAdviceVec heap_advice_find(const HeapView *v);

#endif // ANALYSE_HEAP_ADVICE_H
