// SPDX-License-Identifier: Apache-2.0
// gcc's coverage files: .gcno, the flow graph of each function, and .gcda, the
// counts of those arcs that are not on the graph's spanning tree. Written by gcc
// 4.7 to 15 and by clang --coverage (in gcc 4.8's form).
// Document: gcc/gcov-io.h; docs/formats/coverage.md says where versions differ.

#ifndef GCOV_GCOV_H
#define GCOV_GCOV_H

#include "base/arena.h"
#include "base/error.h"
#include "base/format_versions.h"
#include "base/table.h"
#include "base/vec.h"

enum {
    GCOV_ARC_ON_TREE = 1 << 0,
    GCOV_ARC_FAKE = 1 << 1, // an exit that is no jump: a call that may not return, a longjmp
    GCOV_ARC_FALL_THROUGH = 1 << 2
};

typedef struct GcovArc {
    uint32_t from, to; // blocks of the function
    uint64_t count;
    uint8_t flags;         // GCOV_ARC_…
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
    Str file_name;
    uint32_t line, column, end_line, end_column; // end_column: 0 before gcc 9
    bool is_artificial;
    bool has_counts;                       // the .gcda has it, or there is no .gcda at all
    bool is_zero;                          // and they are all zero
    uint32_t record_bytes;                 // of the record that names it
    Bytes graph;                           // the records behind that one
    uint64_t graph_at;                     // their place in the file, for errors
    size_t counters_first, counters_count; // of GcovNotes.counters; none when is_zero
    // What gcov_graph_read gives.
    uint32_t file; // of GcovNotes.files; GCOV_NO_FILE until gcov_function_file
    uint32_t block_count;
    uint32_t exit_block;
    size_t arcs_first, arc_count;     // of GcovNotes.arcs, by `from`, then by `to`
    size_t places_first, place_count; // of GcovNotes.places, by block
    // What gcov_solve gives.
    uint64_t *blocks;   // counts
    uint64_t *arrivals; // by block: the counts of the arcs that lead to it; of the entry its own
} GcovFunction;

enum { GCOV_NO_FILE = UINT32_MAX };

extern const FormatVersions gcov_versions;

// Zero-initialised is valid. The tables are the heap's and are used again by the
// next gcov_notes_parse.
typedef struct GcovNotes {
    uint32_t version; // 12 * 100 + 2 for gcc 12.2
    uint32_t stamp;
    bool big_endian;
    bool is_of_llvm; // clang's: llvm-cov gcov has other rules than gcov
    Str folder;      // where the compiler ran, "" before gcc 9
    StrVec files;    // in order of first use
    Table file_index;
    Vec(GcovFunction) functions;
    U64Vec counters; // of the arcs off the tree
    // Of the functions whose graphs were read.
    Vec(GcovArc) arcs;
    Vec(GcovPlace) places;
    U32Vec ways;              // by block: ways out that are no fake ones, of gcov_outline_read
    uint32_t skipped_records; // of kinds that say nothing of lines (conditions, paths)
    uint32_t mismatched;      // functions whose counts are of another build, or unknown
} GcovNotes;

bool gcov_is_notes(Bytes file);
bool gcov_is_data(Bytes file);

// Whether notes and counts say that they are of one compilation. Both may be cut behind
// their first 12 bytes.
bool gcov_same_build(Bytes notes, Bytes data);

// Finds the functions of a .gcno and checks that its records are whole; graphs are
// left unread. What was in `notes` is forgotten. Texts and graphs borrow the file.
MUST_CHECK bool gcov_notes_parse(GcovNotes *notes, Bytes file, Error *err);
void gcov_notes_deinit(GcovNotes *notes);

// Adds the counts of a .gcda. ERROR_NOT_FOUND when it is of another compilation
// (stamps differ): nothing is added then. ERROR_FORMAT when it is cut short or
// broken: functions before that have their counts.
MUST_CHECK bool gcov_data_add(GcovNotes *notes, Bytes file, Error *err);

// Marks every function that has no counts as counted with zeros: for a .gcno
// without a .gcda, or with one that is cut short.
void gcov_data_none(GcovNotes *notes);

// Multiplies the counts that were read, before any graph is; they stop at 2^63 - 1.
void gcov_data_scale(GcovNotes *notes, uint64_t weight);

// The function's row in `files`.
uint32_t gcov_function_file(GcovNotes *notes, GcovFunction *f);

// Appends the function's arcs, with their counts, and places. On false the function
// has none.
MUST_CHECK bool gcov_graph_read(GcovNotes *notes, GcovFunction *f, Error *err);

// The same without arcs, for a function that never ran: appends its places, and gives
// in `ways` how many arcs leave each block.
MUST_CHECK bool gcov_outline_read(GcovNotes *notes, GcovFunction *f, Error *err);

// All that the notes say of a function, as it stands in them: two functions with the
// same bytes from compilers that ran in the same folder are one.
Bytes gcov_function_bytes(const GcovFunction *f);

// Forgets the arcs and places of all functions, to have room for the next one's.
void gcov_graphs_clear(GcovNotes *notes);

// Computes the counts of all arcs and blocks of a function from those that were
// read, by the conservation of flow. False when they do not determine them.
MUST_CHECK bool gcov_solve(Arena *arena, GcovNotes *notes, GcovFunction *f, Error *err);

#endif // GCOV_GCOV_H
