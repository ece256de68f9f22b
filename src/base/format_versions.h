// SPDX-License-Identifier: Apache-2.0
// The versions of a file format that a reader accepts. One table serves the reader, which
// refuses other versions by it, and 'assay cover formats', which lists it.

#ifndef BASE_FORMAT_VERSIONS_H
#define BASE_FORMAT_VERSIONS_H

#include "base/error.h"

typedef struct FormatVersion {
    uint32_t first, last; // both included
    const char *writer;   // "LLVM 14 to 17"
    const char *added;    // the change from the version before; "" when it does not matter here
    bool is_written;      // assay writes this version, too
} FormatVersion;

// Ascending, without gaps between `at[0].first` and the last one's `last`.
typedef struct FormatVersions {
    const char *format;  // "raw profile"; for gcc's files "written by gcc"
    const char *older;   // the writers of versions before the first, and what a user can do with
                         // such a file; NULL: there are no such versions
    const char *newer;   // the same for versions after the last
    const char *numbers; // how numbers are printed: "" as they are; "gcc": 1202 as 12.2
    const FormatVersion *at;
    size_t count;
} FormatVersions;

// The row of the table that holds the version; NULL when none does.
const FormatVersion *format_version_find(const FormatVersions *v, uint64_t version);

// Sets the error for a version that is not in the table: it lists the versions that are, and
// says what the user can do.
void format_version_set_error(const FormatVersions *v, uint64_t version, Error *err);

// The same; returns false, so that a reader can refuse in one statement.
static inline bool format_version_refuse(const FormatVersions *v, uint64_t version, Error *err)
{
    format_version_set_error(v, version, err);
    return false;
}

// Writes a range of versions as "4" or "4 to 12" into `out` of `size` bytes, cut where it does
// not fit. For gcc "4.7", and "15" for all of 15.
void format_versions_print(const FormatVersions *v, uint32_t first, uint32_t last, char *out,
                           size_t size);

#endif // BASE_FORMAT_VERSIONS_H
