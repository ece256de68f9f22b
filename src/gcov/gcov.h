// SPDX-License-Identifier: Apache-2.0
// Reads gcc's coverage files: .gcno (notes) has the flow graph of each function, .gcda (data)
// the counts of the arcs that are not on the spanning tree of the graph. Written by gcc 4.2
// to 15 and by clang --coverage (in the form of gcc 4.8; before clang 11 of gcc 4.2).
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

// A source line of a block.
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
    bool has_counts;                       // its counts were in the .gcda, or gcov_data_none
    bool is_zero;                          // all its counts are zero
    uint32_t record_bytes;                 // of the record that names it
    Bytes graph;                           // the records after that one
    uint64_t graph_at;                     // their offset in the file, for errors
    size_t counters_first, counters_count; // of GcovNotes.counters; none when is_zero
    // Set by gcov_graph_read.
    uint32_t file; // of GcovNotes.files; GCOV_NO_FILE until gcov_function_file
    uint32_t block_count;
    uint32_t exit_block;
    size_t arcs_first, arc_count;     // of GcovNotes.arcs, by `from`, then by `to`
    size_t places_first, place_count; // of GcovNotes.places, by block
    // Set by gcov_solve.
    uint64_t *blocks;   // [block]: count
    uint64_t *arrivals; // [block]: sum of the arcs that lead to it; for the entry its count
} GcovFunction;

enum { GCOV_NO_FILE = UINT32_MAX };

extern const FormatVersions gcov_versions;

// The functions of one .gcno, with their counts. Zero-initialised is valid. The tables are heap
// memory, which the next gcov_notes_parse reuses.
typedef struct GcovNotes {
    uint32_t version; // 12 * 100 + 2 for gcc 12.2
    uint32_t stamp;
    bool big_endian;
    bool is_of_llvm;  // clang's: llvm-cov gcov has other rules than gcov
    bool sums_blocks; // gcc's before 8: gcov gave a line the sum of the blocks that list it
    Str folder;       // where the compiler ran, "" before gcc 9
    StrVec files;     // in order of first use
    Table file_index;
    Vec(GcovFunction) functions;
    U64Vec counters; // of the arcs off the tree
    // Of all functions whose graphs were read.
    Vec(GcovArc) arcs;
    Vec(GcovPlace) places;
    U32Vec ways;              // [block]: arcs that leave it, without fake ones (gcov_outline_read)
    uint32_t skipped_records; // of kinds that do not concern lines (conditions, paths)
    uint32_t mismatched;      // functions whose counts are unknown, or of another build
} GcovNotes;

// Whether the bytes start with the magic number of a .gcno, or of a .gcda, in either byte order.
bool gcov_is_notes(Bytes file);
bool gcov_is_data(Bytes file);

// Whether a .gcno and a .gcda are of the same compilation, by version and stamp. The first 12 bytes
// of each are enough. False for clang before 3.4, whose files all have one stamp.
bool gcov_same_build(Bytes notes, Bytes data);

// Finds the functions of a .gcno and checks that its records are complete; does not read the
// graphs. The earlier content of `notes` is dropped. Texts and graphs borrow the file.
MUST_CHECK bool gcov_notes_parse(GcovNotes *notes, Bytes file, Error *err);
void gcov_notes_deinit(GcovNotes *notes); // frees the tables

// Adds the counts of a .gcda. ERROR_NOT_FOUND when its stamp says that it is of another
// compilation: nothing is added then. ERROR_FORMAT when it is cut or broken: functions before the
// damage have their counts.
MUST_CHECK bool gcov_data_add(GcovNotes *notes, Bytes file, Error *err);

// Gives every function without counts the counts 0: for a .gcno without a .gcda, or with one that
// is cut.
void gcov_data_none(GcovNotes *notes);

// Multiplies all counts by `weight`, up to 2^63 - 1. Call it before any graph is read.
void gcov_data_scale(GcovNotes *notes, uint64_t weight);

// The row of the function's file in `files`.
uint32_t gcov_function_file(GcovNotes *notes, GcovFunction *f);

// Reads the graph of a function: appends its arcs with their counts, and its places. On false the
// function has none.
MUST_CHECK bool gcov_graph_read(GcovNotes *notes, GcovFunction *f, Error *err);

// The same without arcs, for a function that never ran: appends its places and sets `ways`.
MUST_CHECK bool gcov_outline_read(GcovNotes *notes, GcovFunction *f, Error *err);

// The bytes of a function's records. Functions with equal bytes, from compilers that ran in the
// same folder, are the same function.
Bytes gcov_function_bytes(const GcovFunction *f);

// Removes the arcs and places of all functions, to reuse their memory for the next one.
void gcov_graphs_clear(GcovNotes *notes);

// Computes the counts of all arcs and blocks of a function from the counts that were read: into
// and out of each block flow equal counts. False when the counts do not determine the others.
MUST_CHECK bool gcov_solve(Arena *arena, GcovNotes *notes, GcovFunction *f, Error *err);

#endif // GCOV_GCOV_H
