// SPDX-License-Identifier: Apache-2.0
// The versions of a file format that a reader takes: one table by which it decides and
// refuses, and that 'assay cover formats' shows.

#ifndef BASE_FORMAT_VERSIONS_H
#define BASE_FORMAT_VERSIONS_H

#include "base/error.h"

typedef struct FormatVersion {
    uint32_t first, last; // both included
    const char *writer;   // "LLVM 14 to 17"
    const char *added;    // what it added to the one before; "" where that changes nothing here
    bool is_written;      // by this program as well
} FormatVersion;

// Ascending, without gaps between `at[0].first` and the last one's `last`.
typedef struct FormatVersions {
    const char *format;  // "raw profile"; of gcc "written by gcc"
    const char *older;   // who wrote what is before them, and what to do with it; NULL: nobody
    const char *newer;   // the same for what is behind them
    const char *numbers; // how the numbers are spelt: "" as they are, "gcc" 1202 as 12.2
    const FormatVersion *at;
    size_t count;
} FormatVersions;

// NULL when the version is none of them.
const FormatVersion *format_version_find(const FormatVersions *v, uint64_t version);

// Says that a version is none of them, which are, and what to do.
void format_version_set_error(const FormatVersions *v, uint64_t version, Error *err);

// The same, and false.
static inline bool format_version_refuse(const FormatVersions *v, uint64_t version, Error *err)
{
    format_version_set_error(v, version, err);
    return false;
}

// "4", "4 to 12"; of gcc "4.7", and "15" for all of 15.
void format_versions_print(const FormatVersions *v, uint32_t first, uint32_t last, char *out,
                           size_t size);

#endif // BASE_FORMAT_VERSIONS_H
