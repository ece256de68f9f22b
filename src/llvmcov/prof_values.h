// SPDX-License-Identifier: Apache-2.0
// Value profiles: which functions an indirect call reached, how many bytes a copy had, which tables
// of virtual functions an object had, and how often. Raw and indexed profiles have them in blocks
// of the same form, in their own byte order. Document:
// compiler-rt/include/profile/InstrProfData.inc, struct ValueProfData.

#ifndef LLVMCOV_PROF_VALUES_H
#define LLVMCOV_PROF_VALUES_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/strbuf.h"

// The numbers are those of the files.
typedef enum ProfValueKindId {
    PROF_VALUE_CALL_TARGET = 0,
    PROF_VALUE_MEM_SIZE = 1,
    PROF_VALUE_VTABLE = 2, // from raw version 10 and indexed version 12 on
} ProfValueKindId;

enum {
    PROF_VALUE_KINDS = 3,
    PROF_VALUES_PER_SITE_MAX = 255, // one byte stores their number
};

// In raw profiles the value of a call target or table is an address; elsewhere it is md5_low64 of
// its name, and 0 stands for a target outside the program.
typedef struct ProfValue {
    uint64_t value, count;
} ProfValue;

// The values of one kind, as they lie in the file.
typedef struct ProfValueKind {
    uint32_t site_count;
    const uint8_t *lengths; // [site]: number of its values
    const uint8_t *values;  // ProfValue of all sites, one after the other
} ProfValueKind;

// A function's values. Borrows the file.
typedef struct ProfValues {
    ProfValueKind kinds[PROF_VALUE_KINDS];
    bool big_endian;
} ProfValues;

// Reads the block at the cursor; a broken one fails the cursor.
void prof_values_parse(Cursor *c, ProfValues *ret);

// Value i of a kind, in order of the sites.
static inline ProfValue prof_value_get(const ProfValues *v, const ProfValueKind *kind, size_t i)
{
    ProfValue r;
    memcpy(&r, kind->values + i * sizeof(r), sizeof(r));
    if (v->big_endian)
        r = (ProfValue){__builtin_bswap64(r.value), __builtin_bswap64(r.count)};
    return r;
}

// ---- Writing ---------------------------------------------------------------

// The values of one site: at most PROF_VALUES_PER_SITE_MAX.
typedef struct ProfValueSite {
    const ProfValue *values;
    uint32_t len;
} ProfValueSite;

// Appends a little-endian block with the sites of the first kind, then those of the next, and so
// on. Kinds without sites are left out; without any site nothing is appended.
void prof_values_write(StrBuf *out, const uint32_t site_counts[PROF_VALUE_KINDS],
                       const ProfValueSite *sites);

// Sorts the values of one site by count, greatest first; equal ones keep their order.
void prof_values_sort_by_count(ProfValue *values, size_t len);
// The same for any number of values, of which it keeps at most PROF_VALUES_PER_SITE_MAX. Returns
// how many.
size_t prof_values_keep_largest(ProfValue *values, size_t len);

#endif // LLVMCOV_PROF_VALUES_H
