// SPDX-License-Identifier: Apache-2.0
// Interning of whole stacks, for callers that intern many of them: a sequence of frames that was
// seen before under the same stack costs one look-up.

#ifndef MODEL_STACK_CACHE_H
#define MODEL_STACK_CACHE_H

#include "model/profile.h"

enum { STACK_BLOCK_FRAMES = 14, STACK_CACHE_SIZE = 1 << 12 };

// `frame` in order from the outermost, under stack `from`, lead to stack `to`.
// Fewer frames than a block has are followed by zeros. One cache line.
typedef struct StackBlock {
    _Alignas(64) FrameId frame[STACK_BLOCK_FRAMES];
    StackId from;
    StackId to; // 0: empty
} StackBlock;

// For the stacks of one profile. All zero is a valid empty cache. 256 KiB.
typedef struct StackCache {
    StackBlock at[STACK_CACHE_SIZE];
} StackCache;

// The stack of frames[0..n), innermost first. No frame is 0.
StackId stack_cache_intern(StackCache *c, Profile *p, const FrameId *frames, size_t n);

#endif // MODEL_STACK_CACHE_H
