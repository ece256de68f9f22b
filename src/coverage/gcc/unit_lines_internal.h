// SPDX-License-Identifier: Apache-2.0
// One translation unit's lines, as gcov has them, before they are summed.

#ifndef COVERAGE_GCC_UNIT_LINES_INTERNAL_H
#define COVERAGE_GCC_UNIT_LINES_INTERNAL_H

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

// What a block is to the line that is counted.
typedef struct GcovMark {
    uint32_t line;  // row + 1 of that line
    uint32_t times; // how often it stands on it
    uint32_t last;  // there: of GcovUnit.line_blocks, then of the line's own
} GcovMark;

// Functions whose lines are looked at together: for a document all of a unit, for
// sums one after another, since no flow leads from one to the other.
typedef struct GcovUnit {
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
    GcovMark *marks;         // by block
    // By block: a mark leaves the branches to it out; NULL when there is no such mark.
    uint8_t *is_source;
    GcovSum *sum;
    uint64_t seed; // of hashes: where the compiler ran and which it was
    uint32_t bad;  // functions that had to be left out
} GcovUnit;

// The program has these functions; of the others some other unit's copy was linked.
bool gcov_is_counted(const GcovFunction *f);

// Finds the functions that start on one line: u->group.
void gcov_unit_find_groups(GcovUnit *u);

// Of the functions looked at: arcs by block, and blocks that only exceptions lead to.
void gcov_unit_index(GcovUnit *u);
void gcov_unit_find_exceptional(GcovUnit *u);

// Puts a function's blocks on their lines.
void gcov_unit_place(GcovUnit *u, uint32_t function);

// Counts the lines that have blocks.
void gcov_unit_count(GcovUnit *u);

// Looks the files up that the notes have listed since the last time.
void gcov_unit_list_files(GcovUnit *u);

// What a listed file of the notes is in the profile, until more are listed.
static inline const GcovFile *gcov_unit_file(const GcovUnit *u, uint32_t file)
{
    return &u->sum->files.at[u->files.at[file]];
}

// Whether lines have the block. gcov leaves out the entry and, since exits moved to the
// front, whichever block is the last; llvm-cov none.
static inline bool gcov_unit_has_block(const GcovUnit *u, uint32_t function, uint32_t block)
{
    return u->n->is_of_llvm ||
           (block != 0 && block + 1 != u->n->functions.at[function].block_count);
}

// The place whose line has the branches of a run of places of one block: the last of the
// largest line for gcov, the last for llvm-cov.
size_t gcov_unit_branch_place(const GcovUnit *u, const GcovPlace *places, size_t count);

// How many places at the start are of one block in one file.
size_t gcov_places_run(const GcovPlace *places, size_t count);

// Whether the place counts apart from those of other functions.
bool gcov_unit_is_apart(const GcovUnit *u, uint32_t function, const GcovPlace *place);

// Its row in s->files by name, and the row of one of its lines, made when absent.
uint32_t gcov_sum_file(GcovSum *s, Str folder, Str name);
uint32_t gcov_sum_new_row(GcovSum *s, StrId file, uint32_t line);

static inline bool gcov_page_is(const GcovPage *page, StrId file, uint32_t number)
{
    return page->file.v == file.v && page->number == number;
}

// Most often the line is near the one before and known.
static inline uint32_t gcov_sum_row(GcovSum *s, StrId file, uint32_t line)
{
    const GcovPage *page = s->page < s->pages.len ? &s->pages.at[s->page] : NULL;
    if (LIKELY(page && gcov_page_is(page, file, line / GCOV_PAGE_LINES)) &&
        page->rows[line % GCOV_PAGE_LINES])
        return page->rows[line % GCOV_PAGE_LINES] - 1;
    return gcov_sum_new_row(s, file, line);
}

// Appends the unit as one document of 'gcov --json-format'.
void gcov_json_add(GcovUnit *u, StrBuf *out, Str data_file);

#endif // COVERAGE_GCC_UNIT_LINES_INTERNAL_H
