// SPDX-License-Identifier: Apache-2.0
// How counts become rows of a profile: which source files are kept, where they are on this
// machine, how names are demangled, and which lines the marks in the sources exclude.

#ifndef COVERAGE_ROWS_PROJECT_H
#define COVERAGE_ROWS_PROJECT_H

#include "base/strbuf.h"
#include "coverage/rows/exclusions.h"

// Which source files to keep; NULL keeps all.
typedef bool CoverKeepFile(void *ctx, Str path);
// Makes a linkage name readable; appends nothing when it is not mangled.
typedef void CoverDemangle(void *ctx, Str linkage_name, StrBuf *out);

// Where a source file is here; gives the path itself when it has not moved.
typedef Str CoverMapPath(void *ctx, Str path);
// What the marks in a source file leave out, NULL for nothing. The same for the same
// path each time.
typedef CoverExclusions *CoverFindExclusions(void *ctx, Str path);

typedef struct CoverProject {
    CoverKeepFile *keep;
    void *keep_ctx;
    CoverDemangle *demangle; // NULL: names stay as they are
    void *demangle_ctx;
    CoverMapPath *map_path; // NULL: paths stay as they are
    void *map_ctx;
    CoverFindExclusions *exclusions; // NULL: marks are not looked for
    void *exclusions_ctx;
} CoverProject;

// The marks in a source; NULL when it has none, or when marks are not searched.
static inline const CoverExclusions *cover_exclusions_of(const CoverProject *how, Str path)
{
    return how->exclusions ? how->exclusions(how->exclusions_ctx, path) : NULL;
}

#endif // COVERAGE_ROWS_PROJECT_H
