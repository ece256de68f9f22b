// SPDX-License-Identifier: Apache-2.0
// One function's counts, the same shape from every kind of LLVM profile.

#ifndef LLVMCOV_PROF_RECORD_H
#define LLVMCOV_PROF_RECORD_H

#include "base/str.h"

// Bits of the variant half of a profile's version word.
#define PROF_VARIANT_LOOP_ENTRIES    (1ull << 55) // since LLVM 20
#define PROF_VARIANT_IR              (1ull << 56)
#define PROF_VARIANT_CS_IR           (1ull << 57)
#define PROF_VARIANT_ENTRY_FIRST     (1ull << 58)
#define PROF_VARIANT_DEBUG_CORRELATE (1ull << 59)
#define PROF_VARIANT_BYTE_COVERAGE   (1ull << 60)
#define PROF_VARIANT_ENTRY_ONLY      (1ull << 61)
#define PROF_VARIANT_MEMPROF         (1ull << 62)
#define PROF_VARIANT_TEMPORAL        (1ull << 63)
// The half itself, and those of its bits that are known. Before LLVM 18 it had the top
// 8 bits only; the others were 0.
#define PROF_VARIANT_MASK  (0xffffffffull << 32)
#define PROF_VARIANT_KNOWN (0x1ffull << 55)
// What an indexed profile or text of the same counts says of them; memory profiles and
// temporal traces are not written, and correlated profiles are no longer.
#define PROF_VARIANT_WRITTEN                                                                       \
    (PROF_VARIANT_LOOP_ENTRIES | PROF_VARIANT_IR | PROF_VARIANT_CS_IR | PROF_VARIANT_ENTRY_FIRST | \
     PROF_VARIANT_BYTE_COVERAGE | PROF_VARIANT_ENTRY_ONLY)

// What a bit says of a profile, for lists of them.
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
    // Counters as they lie in the file: `counter_size` bytes each, 8 or, in byte
    // coverage, 1 (where 0 means executed).
    Bytes counters;
    uint32_t counter_count;
    uint8_t counter_size;
    bool big_endian;
    // MC/DC test vectors: a byte in the first of every `bitmap_stride` bytes, which is
    // 1 or, in indexed profiles, 8.
    Bytes bitmap;
    uint8_t bitmap_stride;
    bool bitmap_by_mask; // as LLVM 18 had it, see mcdc.h
    // Value profiles, a block in the record's byte order (prof_values.h); empty: none.
    // Those of raw profiles are read apart from the records.
    Bytes values;
} ProfRecord;

// Counter i, byte coverage as 0 or 1.
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
