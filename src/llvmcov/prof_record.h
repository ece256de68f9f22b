// SPDX-License-Identifier: Apache-2.0
// The counts of one function, in the same form for every kind of LLVM profile.

#ifndef LLVMCOV_PROF_RECORD_H
#define LLVMCOV_PROF_RECORD_H

#include "base/str.h"

// The variant bits, in the upper half of a profile's version word.
#define PROF_VARIANT_LOOP_ENTRIES    (1ull << 55) // since LLVM 20
#define PROF_VARIANT_IR              (1ull << 56)
#define PROF_VARIANT_CS_IR           (1ull << 57)
#define PROF_VARIANT_ENTRY_FIRST     (1ull << 58)
#define PROF_VARIANT_DEBUG_CORRELATE (1ull << 59)
#define PROF_VARIANT_BYTE_COVERAGE   (1ull << 60)
#define PROF_VARIANT_ENTRY_ONLY      (1ull << 61)
#define PROF_VARIANT_MEMPROF         (1ull << 62)
#define PROF_VARIANT_TEMPORAL        (1ull << 63)
// All bits of the variant half, and the known ones. Before LLVM 18 the variant had only the top 8
// bits; the others were 0.
#define PROF_VARIANT_MASK  (0xffffffffull << 32)
#define PROF_VARIANT_KNOWN (0x1ffull << 55)
// The bits that an indexed or text profile of the same counts keeps. Memory profiles are not
// written, and a written profile is not correlated any more.
#define PROF_VARIANT_WRITTEN                                                                       \
    (PROF_VARIANT_LOOP_ENTRIES | PROF_VARIANT_IR | PROF_VARIANT_CS_IR | PROF_VARIANT_ENTRY_FIRST | \
     PROF_VARIANT_BYTE_COVERAGE | PROF_VARIANT_ENTRY_ONLY | PROF_VARIANT_TEMPORAL)

// The name of a variant bit, for lists.
typedef struct ProfVariant {
    uint64_t bit;
    const char *name;
} ProfVariant;

extern const ProfVariant prof_variants[];
extern const size_t prof_variant_count;

typedef struct ProfRecord {
    uint64_t name_ref; // md5_low64 of the name
    Str name;          // "" when the profile holds only the reference
    uint64_t hash;     // of the function's structure
    // The counters as they lie in the file, of `counter_size` bytes: 8, or 1 in byte coverage,
    // where 0 means executed.
    Bytes counters;
    uint32_t counter_count;
    uint8_t counter_size;
    bool big_endian;
    // Test vectors of MC/DC: of every `bitmap_stride` bytes the first is used. The stride is 1, in
    // indexed profiles 8.
    Bytes bitmap;
    uint8_t bitmap_stride;
    bool bitmap_by_mask; // in the form of LLVM 18: see mcdc.h
    // Value profiles: a block in the byte order of the record (prof_values.h); empty when there are
    // none. Those of raw profiles are read separately.
    Bytes values;
} ProfRecord;

// Counter i; in byte coverage 0 or 1.
static inline uint64_t prof_record_counter(const ProfRecord *r, size_t i)
{
    if (r->counter_size == 1)
        return r->counters.ptr[i] == 0;
    uint64_t v;
    memcpy(&v, r->counters.ptr + 8 * i, 8);
    return r->big_endian ? __builtin_bswap64(v) : v;
}

// The number of bytes of test vectors in `bitmap`, without those that the stride skips.
static inline size_t prof_record_bitmap_len(const ProfRecord *r)
{
    return r->bitmap.len ? r->bitmap.len / r->bitmap_stride : 0;
}

#endif // LLVMCOV_PROF_RECORD_H
