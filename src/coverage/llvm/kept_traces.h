// SPDX-License-Identifier: Apache-2.0
// Temporal traces of a merge: a sample of the traces of all profiles, as llvm-profdata keeps it.

#ifndef COVERAGE_LLVM_KEPT_TRACES_H
#define COVERAGE_LLVM_KEPT_TRACES_H

#include "base/vec.h"
#include "llvmcov/profraw.h"
#include "llvmcov/traces.h"

// Defaults of llvm-profdata: traces that a profile holds, and functions that a trace holds.
enum { COVER_TRACES_MAX = 100, COVER_TRACE_FUNCTIONS_MAX = 10000 };
#define COVER_TRACES_SEEN_MAX (UINT64_MAX / 4) // files may state anything

typedef struct CoverTrace {
    uint64_t weight;
    U64Vec refs; // of the functions; heap
} CoverTrace;

// Zero-initialised is empty and valid. Up to COVER_TRACES_MAX traces all are kept, in their order.
// Of more each is kept with equal probability; the same traces in the same order give the same
// choice.
typedef struct CoverTraces {
    Vec(CoverTrace) at; // heap
    uint64_t seen;      // how many they were chosen from
    uint64_t draws;     // of random numbers so far
} CoverTraces;

void cover_traces_deinit(CoverTraces *t); // frees the traces; the set is empty again

// Adds one trace of `count` references, which may be unaligned. One without any counts nothing.
void cover_traces_add(CoverTraces *t, uint64_t weight, Bytes refs);
// Adds the trace of a raw profile.
void cover_traces_add_raw(CoverTraces *t, uint64_t weight, const ProfRaw *p);
// Adds those of another merge, and empties it.
void cover_traces_take(CoverTraces *t, CoverTraces *from);

#endif // COVERAGE_LLVM_KEPT_TRACES_H
