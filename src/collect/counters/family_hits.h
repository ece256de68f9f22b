// SPDX-License-Identifier: Apache-2.0
// Counts the hits of probes in some processes and in those that they make, by a BPF program at the
// probe: exact, without a record for each hit (docs/decisions/0304).

#ifndef COLLECT_COUNTERS_FAMILY_HITS_H
#define COLLECT_COUNTERS_FAMILY_HITS_H

#include "base/error.h"
#include "base/vec.h"
#include "os/event.h"

typedef struct FamilyHits FamilyHits;

enum { FAMILY_ROWS_MAX = 1024 }; // rows are below

// One probe: its place, and the number of the row in which its hits are counted.
typedef struct FamilyPlace {
    const EventSpec *spec;
    uint32_t row;
} FamilyPlace;
typedef Vec(FamilyPlace) FamilyPlaceVec;

// Sets the probes in all processes; hits in `pids` and in processes that these make later count. It
// does not count yet. Fails where the kernel or the user's rights do not allow BPF programs.
MUST_CHECK bool family_hits_open(const FamilyPlaceVec *places, const uint32_t *pids, size_t count,
                                 FamilyHits **ret, Error *err);
void family_hits_close(FamilyHits *h); // accepts NULL

// Begins and ends counting. The counts are kept.
void family_hits_enable(FamilyHits *h, bool counts);
// Begins to count when process `pid` runs a program.
void family_hits_enable_at_exec(FamilyHits *h, uint32_t pid);

// The hits of a row so far.
uint64_t family_hits_read(const FamilyHits *h, uint32_t row);
// Processes whose hits were not counted, because there were too many at a time.
uint64_t family_hits_left_out(const FamilyHits *h);

#endif // COLLECT_COUNTERS_FAMILY_HITS_H
