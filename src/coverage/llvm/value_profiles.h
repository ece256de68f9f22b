// SPDX-License-Identifier: Apache-2.0
// Sums of value profiles, as llvm-profdata forms them: values of a site are
// summed by value, those counted most often stand first, 255 are kept.

#ifndef COVERAGE_LLVM_VALUE_PROFILES_H
#define COVERAGE_LLVM_VALUE_PROFILES_H

#include "base/table.h"
#include "base/vec.h"
#include "llvmcov/prof_values.h"
#include "llvmcov/profraw.h"

// a + b * weight, held at 2^64 - 1.
static inline uint64_t cover_add_saturating(uint64_t a, uint64_t b, uint64_t weight,
                                            bool *saturated)
{
    uint64_t v;
    if (__builtin_mul_overflow(b, weight, &v) || __builtin_add_overflow(a, v, &v)) {
        *saturated = true;
        return UINT64_MAX;
    }
    return v;
}

// The largest sum of a counter. LLVM gives the two numbers above it to functions that are only
// known to be hot or warm.
#define COVER_COUNT_MAX (UINT64_MAX - 2)

// The same for counters, held at COVER_COUNT_MAX.
static inline uint64_t cover_add_counter(uint64_t a, uint64_t b, uint64_t weight, bool *saturated)
{
    uint64_t v;
    if (__builtin_mul_overflow(b, weight, &v) || __builtin_add_overflow(a, v, &v) ||
        v > COVER_COUNT_MAX) {
        *saturated = true;
        return COVER_COUNT_MAX;
    }
    return v;
}

typedef struct CoverValueSite {
    ProfValue *at;
    uint32_t len, cap;
    // Ordered by value, equals by count: from the second profile on. Until then
    // values stand as their profile has them.
    bool is_sorted;
} CoverValueSite;

// The sites of one function, kind by kind. Zero-initialised: nothing added yet.
typedef struct CoverFunctionValues {
    uint32_t site_counts[PROF_VALUE_KINDS];
    CoverValueSite *sites;
    bool is_set;
} CoverFunctionValues;

// Turns addresses into references of names, for the profiles of one layout, whose
// addresses differ by where the program was loaded. Zero-initialised is valid.
typedef struct CoverTargets {
    U64Vec addresses; // of the functions of the records, less that of the first that has one; heap
    Table index;      // of records by address
    U64Vec names;     // of records
    uint64_t base;    // the present profile's first address
    // The present profile's tables of virtual functions, by address; heap.
    Vec(ProfRawVtable) vtables;
} CoverTargets;

void cover_targets_deinit(CoverTargets *t); // frees its tables
// To be called before the values of each profile.
void cover_targets_set(CoverTargets *t, const ProfRaw *p);

// Adds the values of one function, `weight` times. `targets` is NULL where the
// values are references of names already. False when some kind has another number of sites than
// before: that kind is left as it was. `saturated` is set when a sum stopped at 2^64 - 1.
bool cover_values_add(Arena *arena, CoverFunctionValues *into, const ProfValues *from,
                      const CoverTargets *targets, uint64_t weight, bool *saturated);
// The same for sums.
bool cover_values_absorb(Arena *arena, CoverFunctionValues *into, const CoverFunctionValues *from,
                         bool *saturated);

// Brings the sites into the order of files. Nothing is to be added afterwards.
void cover_values_finish(CoverFunctionValues *v);
// Appends a block of the kinds below `kinds` (prof_values.h).
void cover_values_write(const CoverFunctionValues *v, uint32_t kinds, StrBuf *out);

#endif // COVERAGE_LLVM_VALUE_PROFILES_H
