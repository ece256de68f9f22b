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
    uint64_t count;
    bool has_unexecuted;              // a block that no exception leads to never ran
    uint32_t first_block, last_block; // of GcovUnit.line_blocks, GCOV_NO_BLOCK
} GcovUnitLine;

typedef struct GcovLineBlock {
    uint32_t function, block;
    uint32_t next;
} GcovLineBlock;

typedef struct GcovUnit {
    GcovNotes *n;
    Arena *arena;
    Vec(GcovUnitLine) lines;
    Vec(GcovLineBlock) line_blocks;
    Table index;
    // By function: where its blocks start in the arrays below.
    uint32_t *base;
    uint32_t block_count; // of all functions
    // Arcs by block: [out_first[b], out_first[b + 1]) of out, the same for in.
    uint32_t *out_first, *out, *in_first, *in;
    uint8_t *is_group;       // by function
    uint8_t *is_exceptional; // by block: only exceptions lead there
    uint32_t *marked;        // by block: the line + 1 whose blocks are looked at
    uint32_t *position;      // by block: its place in that line
    uint64_t *left;          // by arc: what is left to go round
    CoverExclusions **marks; // by file of the notes, NULL: none
    // By block: a mark leaves the branches to it out; NULL when there is no such mark.
    uint8_t *is_source;
    GcovSum *sum;
} GcovUnit;

// Appends the unit as one document of 'gcov --json-format'. `files`, by file of the
// notes, is 0 for those to leave out.
void gcov_json_add(const GcovUnit *u, StrBuf *out, Str data_file, const StrId *files);

#endif // COLLECT_COVER_GCOV_LINES_INTERNAL_H
