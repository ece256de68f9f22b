// SPDX-License-Identifier: Apache-2.0
// Programs whose raw profiles hold counters alone (clang -mllvm -profile-correlate): what
// the counters are of is in sections of the program that are not loaded, or in its debug
// information. Here the two are joined to a profile like any other.
// Document: llvm/lib/ProfileData/InstrProfCorrelator.cpp, docs/formats/coverage.md.

#ifndef LLVMCOV_CORRELATE_H
#define LLVMCOV_CORRELATE_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "llvmcov/profraw.h"

// What a program says of its counters. Addresses are stated ones.
typedef struct ProfCorrelation {
    uint8_t pointer_size;
    bool big_endian;
    uint64_t counters_address, counters_size; // of __llvm_prf_cnts; size 0: it has none
    uint64_t bitmap_address;                  // of __llvm_prf_bits, 0: none
    // Records as a profile has them, in the layout of `version`, but that their pointers are
    // addresses. 0: that of the profiles, whichever they are.
    Bytes records;
    uint32_t version;
    Bytes names; // see names.h
} ProfCorrelation;

// Reads the sections of a program or debug file: ELF of any kind, Mach-O, PE. Records are
// empty when it has none. Borrows the file.
MUST_CHECK bool prof_correlation_read(Bytes file, ProfCorrelation *ret, Error *err);

// A function, as the debug information describes it.
typedef struct ProfCorrelated {
    Str name;
    uint64_t hash;
    uint64_t counters_address;
    uint32_t counter_count;
    uint64_t function_address;
} ProfCorrelated;

// Makes records and names of functions, into the arena, instead of what `to` had. Of the
// others it is as it was read.
void prof_correlation_make(Arena *arena, ProfCorrelation *to, const ProfCorrelated *functions,
                           size_t count);

// Keeps of the records those of a profile of `version` whose counters were linked in, each
// once: inline functions are described in every unit, and linkers drop functions that are
// not called. Copies them into the arena. Afterwards profraw_join takes profiles of that
// version. False when they are cut short, or none is left.
MUST_CHECK bool prof_correlation_settle(Arena *arena, ProfCorrelation *c, uint32_t version,
                                        Error *err);

// Whether the counters of a correlated profile are as many as the program's, and of its
// width and byte order.
bool profraw_fits(const ProfRaw *p, const ProfCorrelation *c);
// Makes a profile with records of one without, which fits. It borrows the correlation too.
void profraw_join(ProfRaw *p, const ProfCorrelation *c);

#endif // LLVMCOV_CORRELATE_H
