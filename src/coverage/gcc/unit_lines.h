// SPDX-License-Identifier: Apache-2.0
// From gcc's flow graphs to lines, branches and functions, by the rules of gcov,
// summed over any number of translation units.

#ifndef COVERAGE_GCC_UNIT_LINES_H
#define COVERAGE_GCC_UNIT_LINES_H

#include "coverage/rows/project.h"
#include "gcov/gcov.h"
#include "model/profile.h"

typedef struct GcovLine {
    StrId file; // of the profile that is filled
    uint32_t line;
    uint64_t count;
    uint32_t round, round_line; // the last function that has it, and its row there
    uint32_t first_branch;      // of `branches`, + 1; 0: none
    uint32_t unit;              // the last one that had it; of that, without what counts apart:
    uint64_t unit_bare;         // what functions without blocks there have added
    uint32_t unit_branch;       // its last branch, of `branches`, + 1
    bool unit_has_blocks;
} GcovLine;

typedef struct GcovBranch {
    uint64_t count;
    uint32_t next;    // of the same line, + 1
    bool is_left_out; // by a mark; it keeps its number
} GcovBranch;

enum { GCOV_PAGE_LINES = 64 };

typedef struct GcovPage {
    StrId file;
    uint32_t number; // line / GCOV_PAGE_LINES
    uint32_t rows[GCOV_PAGE_LINES];
} GcovPage;

// A name of a file in the notes, with its path in the profile.
typedef struct GcovFile {
    Str folder, name;
    StrId id;               // 0: left out
    CoverExclusions *marks; // NULL: none
} GcovFile;

// A function that never ran in a unit, as it was added the first time: the same one of
// another unit adds nothing but the places of its branches.
typedef struct GcovIdle {
    uint64_t hash;       // of all that the notes say of it, and of the compiler
    size_t bytes;        // of that
    uint8_t group;       // GCOV_ALONE …
    uint32_t first, end; // of idle_lines
} GcovIdle;

typedef struct GcovIdleLine {
    uint32_t row; // of `lines`
    uint32_t branches : 29;
    bool has_blocks : 1;
    bool is_apart : 1;    // from other functions, as gcov counts those that start on one line
    bool is_instance : 1; // its branches are the same each time
} GcovIdleLine;

typedef struct GcovKnown {
    uint64_t hash; // of a function's name, file and line
    FunctionId id;
} GcovKnown;

typedef struct GcovUnit GcovUnit; // coverage/gcc/unit.h

// Takes a unit whose lines are all known; the unit ends with the call.
typedef void GcovTakeUnit(void *ctx, const GcovUnit *u, Str data_file);

// Sums of many translation units.
typedef struct GcovSum {
    Profile *profile;
    const CoverProject *how;
    Vec(GcovLine) lines;
    Vec(GcovBranch) branches;
    // Rows of `lines`, + 1, in pages of neighbouring lines of a file.
    Vec(GcovPage) pages;
    Table page_index;
    uint32_t page; // the last one asked for
    Vec(GcovFile) files;
    Table file_index;
    Vec(GcovIdle) idle;
    Vec(GcovIdleLine) idle_lines;
    Table idle_index;
    U64Vec functions; // by FunctionId, entries + 1; 0: not counted
    Vec(GcovKnown) known;
    Table known_index;
    uint32_t unit_count;
    uint32_t round;       // counts the functions
    uint64_t approximate; // lines whose loops were too many to follow one by one
    // A line that a block of clang's notes lists several times counts several times, as in
    // llvm-cov gcov.
    bool repeats_lines;
    GcovTakeUnit *take; // gets each unit as a whole; NULL: units are only summed
    void *take_ctx;
    Arena scratch; // of the names
    Arena work;    // of a function, or of a document
} GcovSum;

// An empty sum. The texts of its rows go to `profile`; both pointers must outlive it.
void gcov_sum_init(GcovSum *s, Profile *profile, const CoverProject *how);
void gcov_sum_deinit(GcovSum *s); // frees everything but the profile

// Reads, solves and adds the functions of one translation unit whose counts have
// been added. `notes` is changed; `data_file` names the .gcda file for GcovSum.take. Functions
// that cannot be solved are left out: false then, `err` says how many and why.
MUST_CHECK bool gcov_sum_add(GcovSum *s, GcovNotes *notes, Str data_file, Error *err);

// Appends the rows of `lines` in the order of path and line.
void gcov_sum_sort(const GcovSum *s, U32Vec *ret);

// Writes the sums into the profile, file by file.
void gcov_sum_finish(GcovSum *s);

#endif // COVERAGE_GCC_UNIT_LINES_H
