// SPDX-License-Identifier: Apache-2.0
// Finds the lines that each test of a run executes. While tests run it keeps only the
// counters that are not zero. At the end it computes lines, for 64 tests at a time: the
// counts of a region become a set of tests, so that the step from regions to lines is done
// once for all 64 (docs/decisions/0063).

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

// A function, identified as in profiles.
typedef struct CoverTestFunction {
    uint64_t name_ref, hash;
    uint32_t counter_count;
} CoverTestFunction;

typedef struct CoverPerTest {
    Arena *arena;
    Vec(CoverTestRun) runs;
    Vec(CoverTestFunction) functions;
    Table function_index;
    U8Vec packed;      // for each test: {function, its counters} …, LEB128
    CoverCounts total; // sums of all tests so far
    Arena test_arena;  // for the counts of the running test
    CoverGcovTests gcov;
} CoverPerTest;

// `gcov_root` is the folder to which programs of gcc write, and lives as long as `t`.
void cover_per_test_init(CoverPerTest *t, Arena *arena, Str gcov_root);
void cover_per_test_deinit(CoverPerTest *t);

// Call them before and after each test: begin gives the pool empty counts, end stores the counts
// of the test.
void cover_per_test_begin(CoverPerTest *t, CoverPool *pool);
MUST_CHECK bool cover_per_test_end(CoverPerTest *t, CoverPool *pool, CoverTest test, Error *err);
// Call it after the last test: gives the pool the sums of all tests.
void cover_per_test_done(CoverPerTest *t, CoverPool *pool);

// Computes the lines of each test. Call it when the total is finished and the objects are found.
MUST_CHECK bool cover_per_test_table(CoverPerTest *t, const CoverObjects *objects,
                                     const CoverProject *how, CoverTestTable *ret, Error *err);

#endif // COLLECT_COVER_PER_TEST_H
