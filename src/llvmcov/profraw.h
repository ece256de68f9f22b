// SPDX-License-Identifier: Apache-2.0
// Raw profiles (.profraw), which an instrumented program writes at its end. Versions 4 to 12, 32
// and 64 bits, both byte orders. Document: llvm/docs/InstrProfileFormat.rst;
// docs/formats/coverage.md lists the differences between the versions.

#ifndef LLVMCOV_PROFRAW_H
#define LLVMCOV_PROFRAW_H

#include "base/error.h"
#include "base/format_versions.h"
#include "llvmcov/prof_record.h"
#include "llvmcov/prof_values.h"

extern const FormatVersions profraw_versions;

// Offsets of the fields of a data record, in bytes.
typedef struct ProfRawFields {
    uint32_t size, counter_ptr, bitmap_ptr, function_ptr, counter_count, sites, bitmap_bytes;
    uint32_t kinds; // of value sites, 2 bytes each
} ProfRawFields;

// One profile. A file may have several, one after the other, because a forked child appends its
// own. Everything borrows the file.
typedef struct ProfRaw {
    uint32_t version;
    uint64_t variant; // PROF_VARIANT_*
    uint8_t pointer_size;
    bool big_endian;
    Bytes binary_ids; // {u64 length, bytes padded to 8} …
    Bytes records;
    uint64_t record_count;
    ProfRawFields fields; // of a record
    Bytes counters;       // starting at the first complete counter
    uint8_t counter_size; // 1 or 8
    uint64_t counters_delta;
    Bytes bitmap;
    uint64_t bitmap_delta;
    Bytes names;        // see names.h
    Bytes vtables;      // {u64 name, address, u32 size} … padded to 8
    Bytes vtable_names; // see names.h
    Bytes values;       // value profiles: a block for each record that has sites
    bool is_correlated; // records and names were taken from the program (correlate.h)
    uint64_t binary_ids_size;
    size_t values_at; // offset of the value profiles from the start of this profile
    size_t size;      // bytes of the file that this profile takes, with value profiles and padding
} ProfRaw;

// The layout of the records of a version.
ProfRawFields profraw_fields(uint32_t version, uint8_t pointer_size);

// Whether the bytes start with the magic number of a raw profile, of any version and byte order.
bool profraw_is(Bytes file);

// Parses the profile at `offset`. Section sizes are checked against the file; profraw_record checks
// the records one by one. ERROR_UNSUPPORTED names an unknown version and the LLVM that writes it.
MUST_CHECK bool profraw_parse(Bytes file, size_t offset, ProfRaw *ret, Error *err);

// The same in two steps: first all sections before the value profiles, then these and the size of
// the profile. A caller that knows from a profile of the same layout how many records have value
// profiles need not count them again.
MUST_CHECK bool profraw_parse_sections(Bytes file, size_t offset, ProfRaw *ret, Error *err);
uint64_t profraw_value_blocks(const ProfRaw *p);
MUST_CHECK bool profraw_parse_values(Bytes file, size_t offset, uint64_t blocks, ProfRaw *p,
                                     Error *err);

// Skips bytes before the first complete counter. Call it for a profile whose records came from the
// program: on COFF the section starts one unaligned byte earlier.
void profraw_align_counters(ProfRaw *p);

// Whether the profile has counters only; its records are in the program then (correlate.h).
static inline bool profraw_lacks_records(const ProfRaw *p)
{
    return p->record_count == 0 && p->counters.len != 0;
}

// Whether two profiles can be added section by section: all records agree in name, hash, number and
// place of counters, bitmaps and value sites, and the names start and end with the same bytes.
bool profraw_same_layout(const ProfRaw *a, const ProfRaw *b);

// Reads record i < record_count. False when its counters lie outside the profile.
MUST_CHECK bool profraw_record(const ProfRaw *p, size_t i, ProfRecord *ret, Error *err);

// The time at which the function of record i first ran. Times have no unit: they only give the
// order of functions. 0: it did not run, its counters lie outside the profile, or the program notes
// none.
uint64_t profraw_first_run(const ProfRaw *p, size_t i);

// Whether record i has a block in `values`. Call it only when profraw_value_blocks is not 0.
bool profraw_has_values(const ProfRaw *p, size_t i);
// The address of the function of record i; 0 when the compiler did not keep it.
uint64_t profraw_function_address(const ProfRaw *p, size_t i);

// A table of virtual functions.
typedef struct ProfRawVtable {
    uint64_t name_ref, address;
    uint32_t size;
} ProfRawVtable;

// The number of tables of virtual functions, and number i < count of them.
size_t profraw_vtable_count(const ProfRaw *p);
ProfRawVtable profraw_vtable(const ProfRaw *p, size_t i);

#endif // LLVMCOV_PROFRAW_H
