// SPDX-License-Identifier: Apache-2.0
// Raw profiles (.profraw), as an instrumented program writes them at its end.
// Versions 4 to 12, 32- and 64-bit, both byte orders.
// Document: llvm/docs/InstrProfileFormat.rst; docs/formats/coverage.md lists the
// differences between the versions.

#ifndef LLVMCOV_PROFRAW_H
#define LLVMCOV_PROFRAW_H

#include "base/error.h"
#include "base/format_versions.h"
#include "llvmcov/prof_record.h"
#include "llvmcov/prof_values.h"

extern const FormatVersions profraw_versions;

// Where the fields of a data record lie, in bytes from its start.
typedef struct ProfRawFields {
    uint32_t size, counter_ptr, bitmap_ptr, function_ptr, counter_count, sites, bitmap_bytes;
    uint32_t kinds; // of value sites, 2 bytes each
} ProfRawFields;

// One profile. A file may hold several back to back: a forked child appends its
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
    Bytes counters;       // from the first whole one on
    uint8_t counter_size; // 1 or 8
    uint64_t counters_delta;
    Bytes bitmap;
    uint64_t bitmap_delta;
    Bytes names;        // see names.h
    Bytes vtables;      // {u64 name, address, u32 size} … padded to 8
    Bytes vtable_names; // see names.h
    Bytes values;       // value profiles: a block for each record that has sites
    bool is_correlated; // records and names are those of the program (correlate.h)
    uint64_t binary_ids_size;
    size_t values_at; // where the value profiles start, from the profile's first byte
    size_t size;      // bytes of the file that it takes, value profiles and padding included
} ProfRaw;

// The layout of records of a version.
ProfRawFields profraw_fields(uint32_t version, uint8_t pointer_size);

// Whether the bytes start as a raw profile of any version and byte order.
bool profraw_is(Bytes file);

// Parses the profile that starts at `offset`. Section sizes are checked against
// the file; records are checked one by one by profraw_record. ERROR_UNSUPPORTED
// names a version that is not known and the LLVM that writes it.
MUST_CHECK bool profraw_parse(Bytes file, size_t offset, ProfRaw *ret, Error *err);

// The same in two steps, for a reader that knows from a profile of the same
// layout how many records carry value profiles and need not count them again:
// first everything in front of them, then they and the profile's size.
MUST_CHECK bool profraw_parse_sections(Bytes file, size_t offset, ProfRaw *ret, Error *err);
uint64_t profraw_value_blocks(const ProfRaw *p);
MUST_CHECK bool profraw_parse_values(Bytes file, size_t offset, uint64_t blocks, ProfRaw *p,
                                     Error *err);

// To be called when records came from elsewhere: lets the counters begin at a whole one.
// Runtimes of COFF have the byte that marks their start just before, unaligned.
void profraw_align_counters(ProfRaw *p);

// Whether it holds counters alone: what they are of is in the program (correlate.h).
static inline bool profraw_lacks_records(const ProfRaw *p)
{
    return p->record_count == 0 && p->counters.len != 0;
}

// Whether all records agree in name, hash, counters, bitmaps and value sites, and
// in where those lie, and the names begin and end alike: such profiles add up
// section by section.
bool profraw_same_layout(const ProfRaw *a, const ProfRaw *b);

// Record i < record_count. False when its counters lie outside the profile.
MUST_CHECK bool profraw_record(const ProfRaw *p, size_t i, ProfRecord *ret, Error *err);

// Whether record i has a block in `values`; 0 < profraw_value_blocks.
bool profraw_has_values(const ProfRaw *p, size_t i);
// Address of the function of record i, 0 when it was not kept.
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
