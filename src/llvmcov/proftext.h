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

typedef struct ProfText {
    Str rest;
    uint64_t line; // of the text, for errors
    uint64_t variant;
    // To be set by who computes the references himself, of many names at a time: they
    // are 0 then.
    bool refs_later;
    U64Vec counters; // of the present record; heap
    U8Vec bitmap;
    U8Vec value_lengths[PROF_VALUE_KINDS]; // of sites
    Vec(ProfValue) values[PROF_VALUE_KINDS];
    StrBuf value_block;
    StrVec vtables; // names of tables of virtual functions seen so far; of the text
} ProfText;

// Whether the bytes look like a text profile: a directive, a comment or a name,
// and no control bytes in the first part.
bool proftext_is(Bytes file);

MUST_CHECK bool proftext_open(Bytes file, ProfText *ret, Error *err);
void proftext_close(ProfText *p);
// The next record; its counters last until the next call. False at the end and
// on broken text; then `err` has ERROR_NONE at the end.
bool proftext_next(ProfText *p, ProfRecord *ret, Error *err);

// The name of a function or table by its reference; "" when it is not known.
typedef Str ProfNameOf(const void *ctx, ProfValueKindId kind, uint64_t ref);

// The directives, and one record as llvm-profdata spells it; `name_of` spells the
// targets of its value profiles.
void proftext_write_header(StrBuf *out, uint64_t variant);
void proftext_write(StrBuf *out, const ProfDataRow *row, ProfNameOf *name_of, const void *ctx);

#endif // LLVMCOV_PROFTEXT_H
