// SPDX-License-Identifier: Apache-2.0
// One translation unit with its lines as gcov has them, before they are summed: what unit_lines.c
// fills, and what a writer of gcov's own documents reads.

#ifndef COVERAGE_GCC_UNIT_H
#define COVERAGE_GCC_UNIT_H

#include "coverage/gcc/unit_lines.h"

enum { GCOV_NO_BLOCK = UINT32_MAX };

// Functions that start on one line count apart, each on lines of its own up to its end;
// gcov adds them up. Those that start at the same column too are instances of one
// template: their branches are the same ones.
enum { GCOV_ALONE, GCOV_ON_ONE_LINE, GCOV_AT_ONE_PLACE };

// A line of the unit.
typedef struct GcovUnitLine {
    uint32_t file, line;
    uint32_t apart; // the function + 1 that counts apart, else 0
    uint32_t row;   // of GcovSum.lines
    uint64_t count;
    bool has_unexecuted;              // a block that no exception leads to never ran
    uint32_t first_block, last_block; // of GcovUnit.line_blocks, GCOV_NO_BLOCK
} GcovUnitLine;

typedef struct GcovLineBlock {
    uint32_t function, block;
    uint32_t next;
    bool has_branches; // they are listed on this line
} GcovLineBlock;

// Functions whose lines are looked at together: for a document all of a unit, for
// sums one after another, since no flow leads from one to the other.
struct GcovUnit {
    GcovNotes *n;
    Arena *arena;
    uint32_t first, end; // functions
    Vec(GcovUnitLine) lines;
    Vec(GcovLineBlock) line_blocks;
    Table index;             // of the lines of a document
    U32Vec files;            // of GcovSum.files by file of the notes
    U32Vec base;             // by function: where its blocks start in the arrays below
    uint32_t block_count;    // of all functions looked at
    uint32_t *out_first;     // by block: its arcs are [out_first[b], out_first[b + 1]) of the notes
    U8Vec group;             // by function: GCOV_ALONE …
    uint8_t *is_exceptional; // by block: only exceptions lead there; of documents only
    struct GcovMark *marks;  // by block
    // By block: a mark leaves the branches to it out; NULL when there is no such mark.
    uint8_t *is_source;
    GcovSum *sum;
    uint64_t seed; // of hashes: where the compiler ran and which it was
    uint32_t bad;  // functions that had to be left out
};

// What a listed file of the notes is in the profile, until more are listed.
static inline const GcovFile *gcov_unit_file(const GcovUnit *u, uint32_t file)
{
    return &u->sum->files.at[u->files.at[file]];
}

#endif // COVERAGE_GCC_UNIT_H
