// SPDX-License-Identifier: Apache-2.0
// Temporal traces: the functions of a run in the order in which they first ran. Programs that are
// built with -pgo-temporal-instrumentation note it; linkers place functions by it.
// Document: llvm/docs/CommandGuide/llvm-profdata.rst; docs/formats/coverage.md.

#ifndef LLVMCOV_TRACES_H
#define LLVMCOV_TRACES_H

#include "base/cursor.h"
#include "base/strbuf.h"

// One trace. Borrows its functions.
typedef struct ProfTrace {
    uint64_t weight;
    const uint64_t *refs; // md5_low64 of the names, in order of the first run
    size_t count;
} ProfTrace;

// The traces of an indexed profile from their offset on.
typedef struct ProfTraces {
    uint64_t count; // that are in the file
    uint64_t seen;  // how many those were chosen from: at least `count` of a whole file
    Bytes rest;     // {u64 weight, u64 functions, u64 reference …} of each; unaligned
} ProfTraces;

// Checks all traces and finds the first. False when the file ends before the last; `ret` is
// untouched.
bool prof_traces_find(Cursor *c, ProfTraces *ret);
// The next trace, of the `count` ones: its weight, and its references as they lie in the file.
Bytes prof_traces_next(ProfTraces *t, uint64_t *weight);

// Appends the section that prof_traces_find reads.
void prof_traces_write(StrBuf *out, const ProfTrace *traces, size_t count, uint64_t seen);

#endif // LLVMCOV_TRACES_H
