// SPDX-License-Identifier: Apache-2.0
// Random orders.

#include "collect/bench/schedule.h"

void schedule_init(Schedule *s, Arena *arena, uint32_t commands, uint64_t seed)
{
    *s = (Schedule){.random = random_seeded(seed), .commands = commands};
    s->order = arena_array(arena, uint32_t, commands);
    for (uint32_t i = 0; i < commands; i++)
        s->order[i] = i;
}

const uint32_t *schedule_next(Schedule *s)
{
    uint32_t n = s->commands;
    assert(n > 0);
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)random_below(&s->random, i), swap = s->order[k];
        s->order[k] = s->order[i - 1];
        s->order[i - 1] = swap;
    }
    return s->order;
}
