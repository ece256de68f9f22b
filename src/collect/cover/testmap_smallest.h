// SPDX-License-Identifier: Apache-2.0
// The fewest tests that together run every line that any runs: minimum set cover.

#ifndef COLLECT_COVER_TESTMAP_SMALLEST_H
#define COLLECT_COVER_TESTMAP_SMALLEST_H

#include "collect/cover/testmap_store.h"

typedef struct CoverTestChoice {
    U32Vec tests; // the most useful first
    U32Vec gains; // lines that each adds to those before it
    bool minimal; // no fewer tests would do; else more work than is spent would be needed to know
} CoverTestChoice;

// Memory is the arena's.
void cover_tests_smallest(Arena *arena, const CoverTestStore *s, CoverTestChoice *ret);

#endif // COLLECT_COVER_TESTMAP_SMALLEST_H
