// SPDX-License-Identifier: Apache-2.0
// One translation unit's lines, as gcov has them, before they are summed.

#ifndef COLLECT_COVER_GCOV_LINES_INTERNAL_H
#define COLLECT_COVER_GCOV_LINES_INTERNAL_H

#include "collect/cover/gcov_lines.h"

enum { GCOV_NO_BLOCK = UINT32_MAX };

// A line of the unit; template instances that share their place have lines of
// their own, whose counts are summed afterwards.
typedef struct GcovUnitLine {
    uint32_t file, line;
    uint32_t instance; // function + 1 of a group, else 0
    uint32_t row;      // of GcovSum.lines
    uint64_t count;
    bool has_unexecuted;              // a block that no exception leads to never ran
    uint32_t first_block, last_block; // of GcovUnit.line_blocks, GCOV_NO_BLOCK
} GcovUnitLine;

typedef struct GcovLineBlock {
    uint32_t function, block;
    uint32_t next;
} GcovLineBlock;

// Functions whose lines are looked at together: for a document all of a unit, for
// sums one after another, since no flow leads from one to the other.
typedef struct GcovUnit {
    GcovNotes *n;
    Arena *arena;
    uint32_t first, end; // functions
    Vec(GcovUnitLine) lines;
    Vec(GcovLineBlock) line_blocks;
    Table index;          // of the lines of a document
    U32Vec files;         // of GcovSum.files by file of the notes, as far as they were asked for
    U32Vec base;          // by function: where its blocks start in the arrays below
    uint32_t block_count; // of all functions looked at
    // Arcs by block: [out_first[b], out_first[b + 1]) of out, the same for in.
    uint32_t *out_first, *out, *in_first, *in;
    U8Vec is_group;          // by function
    uint8_t *is_exceptional; // by block: only exceptions lead there
    uint32_t *marked;        // by block: the line + 1 whose blocks are looked at
    uint32_t *position;      // by block: its place in that line
    uint64_t *left;          // by arc: what is left to go round
    // By block: a mark leaves the branches to it out; NULL when there is no such mark.
    uint8_t *is_source;
    GcovSum *sum;
    uint32_t bad; // functions that had to be left out
} GcovUnit;

// The program has these functions; of the others some other unit's copy was linked.
bool gcov_is_counted(const GcovFunction *f);

// Marks the functions that start at one place: u->is_group.
void gcov_unit_find_groups(GcovUnit *u);

// Of the functions looked at: arcs by block, and blocks that only exceptions lead to.
void gcov_unit_index(GcovUnit *u);
void gcov_unit_find_exceptional(GcovUnit *u);

// Puts a function's blocks on their lines.
void gcov_unit_place(GcovUnit *u, uint32_t function);

// Counts the lines that have blocks.
void gcov_unit_count(GcovUnit *u);

// What a file of the notes is in the profile, until the next one is asked for.
const GcovFile *gcov_unit_file(GcovUnit *u, uint32_t file);

// Its row in s->files by name, and the row of one of its lines.
uint32_t gcov_sum_file(GcovSum *s, Str folder, Str name);
uint32_t gcov_sum_row(GcovSum *s, StrId file, uint32_t line);

// Appends the unit as one document of 'gcov --json-format'.
void gcov_json_add(GcovUnit *u, StrBuf *out, Str data_file);

#endif // COLLECT_COVER_GCOV_LINES_INTERNAL_H
