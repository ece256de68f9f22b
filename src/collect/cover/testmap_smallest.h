// SPDX-License-Identifier: Apache-2.0
// Finds the fewest tests that together run every line that any test runs: minimum set cover.

#ifndef COLLECT_COVER_TESTMAP_SMALLEST_H
#define COLLECT_COVER_TESTMAP_SMALLEST_H

#include "collect/cover/testmap_store.h"

typedef struct CoverTestChoice {
    U32Vec tests; // the most useful first
    U32Vec gains; // number of lines that each test adds to those before it
    bool minimal; // proved: fewer tests do not suffice. False: the proof would take too long
} CoverTestChoice;

// Computes the choice; its vectors lie in the arena.
void cover_tests_smallest(Arena *arena, const CoverTestStore *s, CoverTestChoice *ret);

#endif // COLLECT_COVER_TESTMAP_SMALLEST_H
