// SPDX-License-Identifier: Apache-2.0
// Profiles with counters only (clang -mllvm -profile-correlate): the records and names are left in
// the program, in sections that are not loaded, or in its debug information. This joins program and
// profile to a profile like any other. Document: llvm/lib/ProfileData/InstrProfCorrelator.cpp,
// docs/formats/coverage.md.

#ifndef LLVMCOV_CORRELATE_H
#define LLVMCOV_CORRELATE_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "llvmcov/profraw.h"

// The description of the counters in a program. Addresses are as stated in the file.
typedef struct ProfCorrelation {
    uint8_t pointer_size;
    bool big_endian;
    uint64_t counters_address, counters_size; // of __llvm_prf_cnts; size 0: it has none
    uint64_t bitmap_address;                  // of __llvm_prf_bits, 0: none
    // Records as in a raw profile of `version`, but with addresses in place of pointers. `version`
    // 0: they have the version of the profiles.
    Bytes records;
    uint32_t version;
    Bytes names; // see names.h
} ProfCorrelation;

// Reads the sections of a program or debug file: any kind of ELF, Mach-O, PE. `records` is empty
// when there are none. Borrows the file.
MUST_CHECK bool prof_correlation_read(Bytes file, ProfCorrelation *ret, Error *err);

// A function, as the debug information describes it.
typedef struct ProfCorrelated {
    Str name;
    uint64_t hash;
    uint64_t counters_address;
    uint32_t counter_count;
    uint64_t function_address;
} ProfCorrelated;

// Replaces the records and names of `to` by those of the given functions, which are made in the
// arena. The other fields stay.
void prof_correlation_make(Arena *arena, ProfCorrelation *to, const ProfCorrelated *functions,
                           size_t count);

// Prepares the records for profiles of `version`: records of version 0 are taken to have that one.
// Drops duplicates and records without linked counters, because every unit describes an inline
// function, and linkers drop functions that are not called. The records are copied to the arena.
// Afterwards profraw_join accepts profiles of that version. False when the records are cut, or when
// none is left.
MUST_CHECK bool prof_correlation_settle(Arena *arena, ProfCorrelation *c, uint32_t version,
                                        Error *err);

// Whether a profile without records belongs to the program: its counters have the same number,
// width and byte order.
bool profraw_fits(const ProfRaw *p, const ProfCorrelation *c);
// Gives such a profile the records and names of the program. It then borrows the correlation, too.
void profraw_join(ProfRaw *p, const ProfCorrelation *c);

#endif // LLVMCOV_CORRELATE_H
