// SPDX-License-Identifier: Apache-2.0
// Finds the lines that each test executes in programs built by gcc. libgcov adds every run
// to the same data files: the counts of a test are the difference to the state before it.

#ifndef COLLECT_COVER_PER_TEST_GCOV_H
#define COLLECT_COVER_PER_TEST_GCOV_H

#include "collect/cover/testmap_store.h"
#include "coverage/gcc/unit_lines.h"
#include "os/file.h"

// The counters of a function before the test.
typedef struct GcovSpan {
    size_t first, count; // of GcovTestUnit.before
} GcovSpan;

typedef struct GcovTestUnit {
    Str data_path;
    MappedFile notes_file;
    GcovNotes notes;
    bool is_readable; // its notes exist and belong to the data
    U8Vec seen;       // the data file as it was last read: comparing bytes finds changes, because
                      // the file's time is too coarse to separate tests
    U64Vec before;    // counters of all functions before the test
    Vec(GcovSpan) spans; // [function]
} GcovTestUnit;

typedef struct CoverGcovTests {
    Arena *arena;
    Str root; // the folder of the data files; a path below it is the path of the notes
    Vec(GcovTestUnit *) units;
    Table unit_index; // by path
    Profile profile;
    CoverProject how;
    GcovSum sum;
    U32Vec hits; // rows of sum.lines, test by test
    U64Vec ends; // [test]: the end of its rows in `hits`
    U8Vec file;  // the data file being read
} CoverGcovTests;

// `root` is the folder to which programs of gcc write, and lives as long as `t`.
void cover_gcov_tests_init(CoverGcovTests *t, Arena *arena, Str root);
void cover_gcov_tests_deinit(CoverGcovTests *t);

// Call it before a test: the present counts in the data files belong to no test.
void cover_gcov_tests_begin(CoverGcovTests *t);
// Call it after a test: the counts that were added belong to it.
void cover_gcov_tests_end(CoverGcovTests *t);

// Appends the lines of all units to the table; `ret->words` must be set.
void cover_gcov_tests_table(CoverGcovTests *t, const CoverProject *how, CoverTestTable *ret);

#endif // COLLECT_COVER_PER_TEST_GCOV_H
