// SPDX-License-Identifier: Apache-2.0
// Counters of functions, summed over any number of profiles of any version.
// Functions are told apart by (name, hash), so that variants of one function in
// several binaries are all kept.

#ifndef COVERAGE_LLVM_COUNTS_H
#define COVERAGE_LLVM_COUNTS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/table.h"
#include "base/vec.h"
#include "coverage/llvm/kept_traces.h"
#include "coverage/llvm/raw_layout.h"
#include "llvmcov/binary_ids.h"
#include "llvmcov/names.h"
#include "llvmcov/prof_record.h"

typedef struct CoverCountRow {
    uint64_t name_ref, hash;
    Str name;               // "" when no profile names it
    uint32_t first_of_name; // the first row of that name
    // Of functions of a context-sensitive profile (bit 60 of the hash) and of others: whether the
    // name has some. Known of the first row of the name.
    bool has_cs, has_plain;
    size_t first; // of counters
    uint32_t count;
    size_t bitmap_first;
    uint32_t bitmap_len;
    bool bitmap_by_mask;         // see mcdc.h
    CoverFunctionValues *values; // value profiles; NULL: none
} CoverCountRow;

typedef struct CoverCorrelations CoverCorrelations; // coverage/llvm/correlated_programs.h

// Zero-initialised but for `arena` is a valid empty set.
typedef struct CoverCounts {
    Arena *arena;
    // The programs of raw profiles that hold counters alone; NULL: none are known.
    CoverCorrelations *correlations;
    Vec(CoverCountRow) rows; // in order of first appearance
    U64Vec counters;
    U8Vec bitmaps;
    Table index;          // of rows by (name_ref, hash)
    Table name_index;     // of rows by name_ref
    CoverLayouts layouts; // raw profiles; only in the end added function by function
    uint64_t variant;     // PROF_VARIANT_*
    uint32_t raw_version; // the newest of the raw profiles; 0: there were none
    uint64_t profile_count;
    bool has_values;          // some function has value profiles
    BinaryIdVec binary_ids;   // of the programs that wrote the profiles
    CoverTraces traces;       // the order in which functions first ran
    ProfNames vtables;        // tables of virtual functions that value profiles name
    uint64_t saturated;       // sums that stopped at COVER_COUNT_MAX; known when finished
    bool is_saturated;        // there are some
    uint64_t mismatched;      // records whose number of counters differs from an equal (name, hash)
    uint64_t site_mismatched; // the same of sites of values, which stay as they were
    StrVec notes;             // what was left out and why
} CoverCounts;

void cover_counts_deinit(CoverCounts *c); // frees all tables

// Adds every profile in a raw, indexed or text profile file, `weight` times.
// `path` is for notes and errors. Raw profiles that are cut short or broken beside a
// whole one, and functions of the other kinds that are, are a note; without a whole one
// they are an error. On false nothing of the file was added.
MUST_CHECK bool cover_counts_add(CoverCounts *c, Str path, Bytes file, uint64_t weight, Error *err);
// Adds all of `from`, which was filled by cover_counts_add and is not finished.
MUST_CHECK bool cover_counts_absorb(CoverCounts *c, const CoverCounts *from, Error *err);
// Whether cover_counts_add knows the kind of file.
bool cover_counts_accept(Bytes file);

// To be called once when all is added and before looking up.
MUST_CHECK bool cover_counts_finish(CoverCounts *c, Error *err);

// NULL when there is none.
const CoverCountRow *cover_counts_find(const CoverCounts *c, uint64_t name_ref, uint64_t hash);
// Any row of that name, whatever its hash.
const CoverCountRow *cover_counts_find_name(const CoverCounts *c, uint64_t name_ref);

// Whether the name has a function of the kind of `hash`: of a context-sensitive profile, or of
// another.
bool cover_counts_know_kind(const CoverCounts *c, uint64_t name_ref, uint64_t hash);

// The counters of a row; valid until counts are added.
static inline const uint64_t *cover_counts_of(const CoverCounts *c, const CoverCountRow *row)
{
    return c->counters.at + row->first;
}

// The MC/DC bitmap of a row; empty when it has none.
static inline Bytes cover_counts_bitmap(const CoverCounts *c, const CoverCountRow *row)
{
    return bytes_over(c->bitmaps.at + row->bitmap_first, row->bitmap_len);
}

// A whole .profdata (version 7, 9 or 12) or, with version 0, a .proftext.
// In the text functions stand in order of name and hash, as llvm-profdata has them. False
// when the name of some function is not known. `sparse` leaves out functions
// that never ran. Versions before 12 hold no bitmaps, no tables of virtual functions and no
// temporal traces.
MUST_CHECK bool cover_counts_write(CoverCounts *c, uint32_t version, bool sparse, StrBuf *out,
                                   Error *err);

#endif // COVERAGE_LLVM_COUNTS_H
