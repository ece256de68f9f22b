// SPDX-License-Identifier: Apache-2.0
// Text profiles (.proftext), as 'llvm-profdata merge -text' writes them.
// Document: llvm/docs/CommandGuide/llvm-profdata.rst; llvm/lib/ProfileData.

#ifndef LLVMCOV_PROFTEXT_H
#define LLVMCOV_PROFTEXT_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "llvmcov/prof_record.h"
#include "llvmcov/prof_values.h"
#include "llvmcov/profdata.h"

// A temporal trace: names in order of the first run, each with a comma behind it.
typedef struct ProfTextTrace {
    uint64_t weight;
    Str functions;
} ProfTextTrace;

typedef struct ProfText {
    Str rest;
    uint64_t line; // current line of the text, for errors
    uint64_t variant;
    // Set by a caller that computes the references of many names at a time (md5_low64_many): the
    // records have the reference 0 then.
    bool refs_later;
    U64Vec counters; // of the current record; heap memory
    U8Vec bitmap;
    U8Vec value_lengths[PROF_VALUE_KINDS]; // [site]: number of values
    Vec(ProfValue) values[PROF_VALUE_KINDS];
    StrBuf value_block;
    Vec(ProfTextTrace) traces; // heap; the texts are borrowed
    uint64_t traces_seen;      // how many those were chosen from
    StrVec vtables; // names of the tables of virtual functions so far, borrowed from the text
} ProfText;

// Whether the bytes look like a text profile: they start with a directive, a comment or a name, and
// their first part has no control characters.
bool proftext_is(Bytes file);

// Reads the directives and temporal traces at the start. `file` must outlive the reader.
MUST_CHECK bool proftext_open(Bytes file, ProfText *ret, Error *err);
void proftext_close(ProfText *p); // frees its tables
// Reads the next record; its counters are valid until the next call. False at the end, with
// ERROR_NONE in `err`, and on broken text.
bool proftext_next(ProfText *p, ProfRecord *ret, Error *err);

// The name of a function or table by its reference; "" when it is not known.
typedef Str ProfNameOf(const void *ctx, ProfValueKindId kind, uint64_t ref);

// Append the directives for a variant, and one record, as llvm-profdata writes them. `name_of`
// gives the names of the targets in its value profiles.
void proftext_write_header(StrBuf *out, uint64_t variant);
// Appends temporal traces, which stand behind the header. Functions without a name are left out.
void proftext_write_traces(StrBuf *out, const ProfTrace *traces, size_t count, uint64_t seen,
                           ProfNameOf *name_of, const void *ctx);
void proftext_write(StrBuf *out, const ProfDataRow *row, ProfNameOf *name_of, const void *ctx);

#endif // LLVMCOV_PROFTEXT_H
