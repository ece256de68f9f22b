// SPDX-License-Identifier: Apache-2.0
// What unit_lines.c (the lines of one unit) and unit_sums.c (their sums over units) need of each
// other: the two are one unit of code.

#ifndef COVERAGE_GCC_UNIT_LINES_INTERNAL_H
#define COVERAGE_GCC_UNIT_LINES_INTERNAL_H

#include "coverage/gcc/unit.h"

// What a block is to the line that is counted.
typedef struct GcovMark {
    uint32_t line;  // row + 1 of that line
    uint32_t times; // how often it stands on it
    uint32_t last;  // there: of GcovUnit.line_blocks, then of the line's own
} GcovMark;

// The program has these functions; of the others some other unit's copy was linked.
bool gcov_is_counted(const GcovFunction *f);

// Finds the functions that start on one line: u->group.
void gcov_unit_find_groups(GcovUnit *u);

// Of the functions looked at: arcs by block, and blocks that only exceptions lead to.
void gcov_unit_index(GcovUnit *u);
void gcov_unit_find_exceptional(GcovUnit *u);

// Puts a function's blocks on their lines.
void gcov_unit_place(GcovUnit *u, uint32_t function);

// Counts the lines that have blocks, unless their counts are sums of blocks already.
void gcov_unit_count(GcovUnit *u);

// Looks the files up that the notes have listed since the last time.
void gcov_unit_list_files(GcovUnit *u);

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

// Whether a page is page `number` (line / GCOV_PAGE_LINES) of a file.
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

#endif // COVERAGE_GCC_UNIT_LINES_INTERNAL_H
