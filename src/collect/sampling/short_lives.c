// SPDX-License-Identifier: Apache-2.0
// Counts short lives. A short life ends soon after its start, so that a small table of the newest
// starts is enough.

#include "collect/sampling/short_lives_internal.h"

bool short_lives_see(ShortLives *s, const PerfRecord *r)
{
    if (r->type == PERF_RECORD_FORK)
        s->born[r->u.task.tid % SHORT_LIVES_BORN] = (Birth){r->u.task.tid, r->u.task.time};
    if (r->type == PERF_RECORD_EXIT) {
        Birth b = s->born[r->u.task.tid % SHORT_LIVES_BORN];
        uint64_t life = r->u.task.time - b.time;
        if (b.tid == r->u.task.tid && r->u.task.time >= b.time && life < s->limit_ns)
            s->count++;
    }
    return s->count >= SHORT_LIVES_MANY;
}
