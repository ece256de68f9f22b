// SPDX-License-Identifier: Apache-2.0
// In which order commands run. A round is one run of each; the order within it
// is random, but balanced over a block of rounds, so that neither position nor
// drift favours a command.

#ifndef COLLECT_BENCH_SCHEDULE_H
#define COLLECT_BENCH_SCHEDULE_H

#include "base/arena.h"
#include "stats/random.h"

typedef struct Schedule {
    Random random;
    uint32_t commands;
    uint32_t *symbols; // a permutation, drawn anew for each block
    uint32_t *order;   // of the present round
    uint32_t at;       // rounds of this block that were given out
} Schedule;

// A schedule for `commands` commands. The same seed gives the same orders.
void schedule_init(Schedule *s, Arena *arena, uint32_t commands, uint64_t seed);

// Rounds after which the order is balanced: 2 for two commands (ABBA or BAAB),
// n for n (a cyclic Latin square).
uint32_t schedule_block(const Schedule *s);

// The order of the next round: each command once. Valid until the next call.
const uint32_t *schedule_next(Schedule *s);

#endif // COLLECT_BENCH_SCHEDULE_H
