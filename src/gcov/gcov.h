// SPDX-License-Identifier: Apache-2.0
// gcc's coverage files: .gcno, the flow graph of each function, and .gcda, the
// counts of those arcs that are not on the graph's spanning tree. Written by gcc
// 4.7 to 15 and by clang --coverage (in gcc 4.8's form).
// Document: gcc/gcov-io.h; docs/formats/coverage.md says where versions differ.

#ifndef GCOV_GCOV_H
#define GCOV_GCOV_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

enum {
    GCOV_ARC_ON_TREE = 1 << 0,
    GCOV_ARC_FAKE = 1 << 1, // an exit that is no jump: a call that may not return, a longjmp
    GCOV_ARC_FALL_THROUGH = 1 << 2
};

typedef struct GcovArc {
    uint32_t from, to; // blocks of the function
    uint32_t flags;
    uint64_t count;
    bool is_known;         // the count is read or solved
    bool is_unconditional; // the only way out of its block that is no fake one
    bool is_throw;         // to a handler or cleanup: leaves a call, and no fall-through
    bool is_call;          // a call that did not return: the fake arc of a call
} GcovArc;

// A line that a block stands on.
typedef struct GcovPlace {
    uint32_t block;
    uint32_t file; // of GcovNotes.files
    uint32_t line;
} GcovPlace;

typedef struct GcovFunction {
    uint32_t ident, line_checksum, cfg_checksum;
    Str name;
    uint32_t file;                               // of GcovNotes.files
    uint32_t line, column, end_line, end_column; // end_column: 0 before gcc 9
    bool is_artificial;
    uint32_t block_count;
    uint32_t exit_block;
    size_t arcs_first, arc_count;     // of GcovNotes.arcs, in order of the file
    size_t places_first, place_count; // of GcovNotes.places, by block
    uint64_t *blocks;                 // counts, after gcov_solve
    bool has_counts;                  // the .gcda has it, or there is no .gcda at all
} GcovFunction;

typedef struct GcovNotes {
    uint32_t version; // 12 * 100 + 2 for gcc 12.2
    uint32_t stamp;
    Str folder; // where the compiler ran, "" before gcc 9
    StrVec files;
    Vec(GcovFunction) functions;
    Vec(GcovArc) arcs;
    Vec(GcovPlace) places;
    uint32_t runs;            // how many program runs the counts are of
    uint32_t skipped_records; // of kinds that say nothing of lines (conditions, paths)
    uint32_t mismatched;      // functions whose counts are of another build
} GcovNotes;

bool gcov_is_notes(Bytes file);
bool gcov_is_data(Bytes file);

// Parses a .gcno. Texts borrow the file; tables are the arena's.
MUST_CHECK bool gcov_notes_parse(Arena *arena, Bytes file, GcovNotes *ret, Error *err);

// Adds the counts of a .gcda. ERROR_NOT_FOUND when it is of another compilation
// (stamps differ): nothing is added then.
MUST_CHECK bool gcov_data_add(GcovNotes *notes, Bytes file, Error *err);

// Marks every function as counted with zeros: for a .gcno that has no .gcda.
void gcov_data_none(GcovNotes *notes);

// Multiplies the counts that were read, before any is solved; they stop at 2^63 - 1.
void gcov_data_scale(GcovNotes *notes, uint64_t weight);

// Computes the counts of all arcs and blocks of a function from those that were
// read, by the conservation of flow. False when they do not determine them.
MUST_CHECK bool gcov_solve(Arena *arena, GcovNotes *notes, GcovFunction *f, Error *err);

#endif // GCOV_GCOV_H
