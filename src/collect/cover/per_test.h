// SPDX-License-Identifier: Apache-2.0
// What each test of a run executed. While tests run only counters that are not
// zero are kept; lines are found in the end, 64 tests at a time: the counts of a
// region become a set of tests, and the sweep from regions to lines is made once
// for all of them (docs/decisions/0063).

#ifndef COLLECT_COVER_PER_TEST_H
#define COLLECT_COVER_PER_TEST_H

#include "collect/cover/objects.h"
#include "collect/cover/per_test_gcov.h"
#include "collect/cover/testmap_store.h"
#include "coverage/llvm/file_totals.h"

typedef struct CoverTestRun {
    CoverTest test;
    size_t first, end; // of `packed`
} CoverTestRun;

// A function as profiles know it.
typedef struct CoverTestFunction {
    uint64_t name_ref, hash;
    uint32_t counter_count;
} CoverTestFunction;

typedef struct CoverPerTest {
    Arena *arena;
    Vec(CoverTestRun) runs;
    Vec(CoverTestFunction) functions;
    Table function_index;
    U8Vec packed;      // of each test: {function, its counters} …, LEB128
    CoverCounts total; // of all tests so far
    Arena test_arena;  // of the test that runs
    CoverGcovTests gcov;
} CoverPerTest;

// `folder` is that of the results.
void cover_per_test_init(CoverPerTest *t, Arena *arena, Str folder);
void cover_per_test_deinit(CoverPerTest *t);

// Around each test: begin gives the pool fresh counts, end keeps what is in them.
void cover_per_test_begin(CoverPerTest *t, CoverPool *pool);
MUST_CHECK bool cover_per_test_end(CoverPerTest *t, CoverPool *pool, CoverTest test, Error *err);
// When all have run: the pool gets the sum of all tests.
void cover_per_test_done(CoverPerTest *t, CoverPool *pool);

// Finds the lines of each test. The total is finished and the objects are found.
MUST_CHECK bool cover_per_test_table(CoverPerTest *t, const CoverObjects *objects,
                                     const CoverProject *how, CoverTestTable *ret, Error *err);

#endif // COLLECT_COVER_PER_TEST_H
