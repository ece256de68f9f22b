// SPDX-License-Identifier: Apache-2.0
// Recordings in memory, compressed: the parts of a recording that runs for days, each of which
// stands alone.

#ifndef STORE_BLOCKS_H
#define STORE_BLOCKS_H

#include "base/vec.h"
#include "model/profile.h"

typedef struct StoreBlock {
    int fd; // a file in memory
    uint64_t size_bytes;
} StoreBlock;

// Zeroed it is empty. Heap memory and descriptors.
typedef struct StoreBlocks {
    Vec(StoreBlock) at;  // oldest first
    uint64_t size_bytes; // of all
    uint64_t dropped;    // blocks that had to go
} StoreBlocks;

// Frees all blocks; it is empty then.
void store_blocks_deinit(StoreBlocks *b);

// Adds the profile as the newest block, and drops the oldest ones while all take more than
// `most_bytes`. The newest stays in any case.
MUST_CHECK bool store_blocks_add(StoreBlocks *b, const Profile *p, uint64_t most_bytes, Error *err);

// Makes `p` the profile of all blocks and, behind them, what it held. On false `p` is as it was.
MUST_CHECK bool store_blocks_join(const StoreBlocks *b, Profile *p, Error *err);

#endif // STORE_BLOCKS_H
