// SPDX-License-Identifier: Apache-2.0
// Readers of coverage that another tool has already brought to lines: lcov's tracefiles,
// Cobertura's XML, the JSON of llvm-cov and gcov, Go's profiles. All add into a CoverSet.

#ifndef TRACEFILE_TRACEFILE_H
#define TRACEFILE_TRACEFILE_H

#include "base/format_versions.h"
#include "tracefile/cover_set.h"

// The test name (TN) in lcov files of lines that were found by breakpoints.
#define TRACEFILE_HITS "assay_breakpoints"

typedef enum TracefileKind {
    TRACEFILE_NONE,
    TRACEFILE_LCOV,      // lcov 1.x and 2.x: man geninfo, "FILES"
    TRACEFILE_COBERTURA, // Cobertura's XML
    TRACEFILE_LLVM_JSON, // what 'llvm-cov export' writes
    TRACEFILE_GCOV_JSON, // what 'gcov --json-format' writes
    TRACEFILE_GO_COVER,  // what 'go test -coverprofile' writes
} TracefileKind;

// The kind of a file, by its first bytes; a few kilobytes are enough.
TracefileKind tracefile_kind(Bytes head);

// Of llvm-cov export, by the first number.
extern const FormatVersions tracefile_json_versions;
// Of gcov's JSON, by its format_version.
extern const FormatVersions tracefile_gcov_json_versions;

// Kinds that are known and not read. A file is of the kind when its first bytes contain both marks;
// a mark that begins with '^' must be at the start of the file.
typedef struct TracefileForeign {
    const char *mark, *second, *name, *hint;
} TracefileForeign;

extern const TracefileForeign tracefile_foreign[];
extern const size_t tracefile_foreign_count;

// What the file is when it is coverage of a kind that is known and not read; NULL when
// it is not. `hint` says what to give in its place.
const char *tracefile_foreign_name(Bytes head, const char **hint);

// Adds the counts of a file of any kind. The set keeps no pointer into it. On
// false it may hold a part of the file.
MUST_CHECK bool tracefile_read(CoverSet *into, Bytes file, Error *err);

// The same for a file of a known kind.
MUST_CHECK bool tracefile_read_cobertura(CoverSet *into, Bytes file, Error *err);
MUST_CHECK bool tracefile_read_llvm_json(CoverSet *into, Bytes file, Error *err);
MUST_CHECK bool tracefile_read_gcov_json(CoverSet *into, Bytes file, Error *err);
MUST_CHECK bool tracefile_read_go_cover(CoverSet *into, Bytes file, Error *err);
MUST_CHECK bool tracefile_read_lcov(CoverSet *into, Bytes file, Error *err);

#endif // TRACEFILE_TRACEFILE_H
