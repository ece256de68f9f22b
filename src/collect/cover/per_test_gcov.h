// SPDX-License-Identifier: Apache-2.0
// What each test executed in programs that gcc built. libgcov adds every run to the
// same data files: what a test added is the difference to how they were before.

#ifndef COLLECT_COVER_PER_TEST_GCOV_H
#define COLLECT_COVER_PER_TEST_GCOV_H

#include "collect/cover/testmap_store.h"
#include "coverage/gcc/unit_lines.h"
#include "os/file.h"

// Counters of a function as they were.
typedef struct GcovSpan {
    size_t first, count; // of GcovTestUnit.before
} GcovSpan;

typedef struct GcovTestUnit {
    Str data_path;
    MappedFile notes_file;
    GcovNotes notes;
    bool is_readable; // its notes are there and fit
    U8Vec seen;       // the data file as it was read; its time is too coarse to tell tests apart
    U64Vec before;
    Vec(GcovSpan) spans; // by function
} GcovTestUnit;

typedef struct CoverGcovTests {
    Arena *arena;
    Str root; // where the data files are; what follows is the path of the notes
    Vec(GcovTestUnit *) units;
    Table unit_index; // by path
    Profile profile;
    CoverProject how;
    GcovSum sum;
    U32Vec hits; // rows of sum.lines, test by test
    U64Vec ends; // of each test in `hits`
    U8Vec file;  // the data file being read
} CoverGcovTests;

// `folder` is that of the results.
void cover_gcov_tests_init(CoverGcovTests *t, Arena *arena, Str folder);
void cover_gcov_tests_deinit(CoverGcovTests *t);

// What data files say now belongs to no test.
void cover_gcov_tests_begin(CoverGcovTests *t);
// A test has ended: what they say more belongs to it.
void cover_gcov_tests_end(CoverGcovTests *t);

// Appends the lines of the units to the table, whose words are set.
void cover_gcov_tests_table(CoverGcovTests *t, const CoverProject *how, CoverTestTable *ret);

#endif // COLLECT_COVER_PER_TEST_GCOV_H
