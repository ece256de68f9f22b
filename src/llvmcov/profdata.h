// SPDX-License-Identifier: Apache-2.0
// Indexed profiles (.profdata): a header, a summary, an on-disk hash table of
// {name, function hash, counters}. Always little-endian. Versions 1 to 15.
// Document: llvm/docs/InstrProfileFormat.rst, "Indexed Profile".

#ifndef LLVMCOV_PROFDATA_H
#define LLVMCOV_PROFDATA_H

#include "base/cursor.h"
#include "base/format_versions.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "llvmcov/prof_record.h"
#include "llvmcov/traces.h"

typedef struct ProfData {
    Bytes file;
    uint32_t version;
    uint64_t variant; // PROF_VARIANT_*
    Cursor table;     // over the buckets, in file order
    uint64_t key_count;
    uint64_t keys_read;
    uint32_t bucket_left; // keys not read yet in the current bucket
    Bytes vtable_names;   // see names.h; from version 12 on
    Bytes binary_ids;     // see binary_ids.h; from version 9 on
    ProfTraces traces;    // from version 10 on
    // The file is shorter than its header says: after the records that are complete, reading fails
    // at the first missing byte.
    bool is_cut;
    // Set by a caller that computes the references of many names at a time (md5_low64_many): the
    // records have the reference 0 then, unless the file is cut.
    bool refs_later;
    // The current key and the unread rest of its data.
    Str name;
    uint64_t name_ref;
    Cursor data;
} ProfData;

// Whether the bytes start with the magic number of an indexed profile.
bool profdata_is(Bytes file);

// Parses the header and finds the table. ERROR_UNSUPPORTED names an unknown version.
MUST_CHECK bool profdata_open(Bytes file, ProfData *ret, Error *err);

// Reads the next record, in the order of the file. False at the end, with ERROR_NONE in `err`, and
// on broken data.
bool profdata_next(ProfData *p, ProfRecord *ret, Error *err);

// ---- Writing ---------------------------------------------------------------

// One record to write.
typedef struct ProfDataRow {
    uint64_t name_ref; // md5_low64 of the name
    Str name;
    uint64_t hash;
    const uint64_t *counters;
    size_t counter_count;
    Bytes bitmap; // only written from version 11 on
    Bytes values; // a little-endian block (prof_values.h), or empty
} ProfDataRow;

extern const FormatVersions profdata_versions;

// What a file has beside the rows. Versions that know nothing of a part leave it out.
typedef struct ProfDataExtras {
    Bytes vtable_names;      // a blob as in names.h; version 12
    Bytes binary_ids;        // as in binary_ids.h; from version 9 on
    const ProfTrace *traces; // from version 10 on, for variants with PROF_VARIANT_TEMPORAL
    size_t trace_count;
    uint64_t traces_seen;
} ProfDataExtras;

// Appends a whole file of a version that profdata_versions marks as written. The rows may come in
// any order.
void profdata_write(StrBuf *out, uint32_t version, uint64_t variant, const ProfDataExtras *extras,
                    const ProfDataRow *rows, size_t count);

#endif // LLVMCOV_PROFDATA_H
