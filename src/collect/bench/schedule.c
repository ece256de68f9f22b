// SPDX-License-Identifier: Apache-2.0
// Random balanced orders.

#include "collect/bench/schedule.h"

void schedule_init(Schedule *s, Arena *arena, uint32_t commands, uint64_t seed)
{
    *s = (Schedule){.random = random_seeded(seed), .commands = commands};
    s->symbols = arena_array(arena, uint32_t, commands);
    s->order = arena_array(arena, uint32_t, commands);
    for (uint32_t i = 0; i < commands; i++)
        s->symbols[i] = i;
}

uint32_t schedule_block(const Schedule *s)
{
    return s->commands;
}

const uint32_t *schedule_next(Schedule *s)
{
    uint32_t n = s->commands;
    assert(n > 0);
    if (s->at == 0)
        for (uint32_t i = n; i > 1; i--) {
            uint32_t k = (uint32_t)random_below(&s->random, i), swap = s->symbols[k];
            s->symbols[k] = s->symbols[i - 1];
            s->symbols[i - 1] = swap;
        }
    // Row `at` of the Latin square: two commands give AB then BA.
    for (uint32_t i = 0; i < n; i++)
        s->order[i] = s->symbols[(s->at + i) % n];
    s->at = (s->at + 1) % schedule_block(s);
    return s->order;
}
