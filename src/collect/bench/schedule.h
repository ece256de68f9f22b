// SPDX-License-Identifier: Apache-2.0
// The order in which commands run. A round is one run of each, in an order drawn for that round
// alone. So the sign of each pair's difference is a fair coin of its own when the commands are
// identical, whatever the machine does meanwhile: all that the comparisons' tests need.

#ifndef COLLECT_BENCH_SCHEDULE_H
#define COLLECT_BENCH_SCHEDULE_H

#include "base/arena.h"
#include "stats/random.h"

typedef struct Schedule {
    Random random;
    uint32_t commands;
    uint32_t *order; // of the present round
} Schedule;

// A schedule for `commands` commands. The same seed gives the same orders.
void schedule_init(Schedule *s, Arena *arena, uint32_t commands, uint64_t seed);

// The order of the next round: each command once. Valid until the next call.
const uint32_t *schedule_next(Schedule *s);

#endif // COLLECT_BENCH_SCHEDULE_H
