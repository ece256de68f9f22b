// SPDX-License-Identifier: Apache-2.0
// Notices that a program makes many threads or processes that end within a few periods of the
// samples, so that samples by a timer of each thread misjudge them.

#ifndef COLLECT_SAMPLING_SHORT_LIVES_INTERNAL_H
#define COLLECT_SAMPLING_SHORT_LIVES_INTERNAL_H

#include "perfdata/perf_record.h"

enum {
    SHORT_LIFE_PERIODS = 10, // a life that is shorter misses a material part of its samples
    SHORT_LIVES_MANY = 20,
    SHORT_LIVES_BORN = 256,
};

// The newest thread whose number falls on an entry.
typedef struct Birth {
    uint32_t tid;
    uint64_t time;
} Birth;

typedef struct ShortLives {
    uint64_t limit_ns; // a shorter life counts; 0: none does
    uint32_t count;
    Birth born[SHORT_LIVES_BORN];
} ShortLives;

// Looks at a record, in the order of arrival. True when there have been SHORT_LIVES_MANY.
bool short_lives_see(ShortLives *s, const PerfRecord *r);

#endif // COLLECT_SAMPLING_SHORT_LIVES_INTERNAL_H
