// SPDX-License-Identifier: Apache-2.0
// The text of source files. A file is searched under the path that the compiler recorded, then
// below the folders that the user names.

#ifndef COVERAGE_SOURCE_TEXT_H
#define COVERAGE_SOURCE_TEXT_H

#include "base/vec.h"
#include "os/file.h"

typedef struct CoverSources {
    StrVec folders;
    U8Vec file; // the last one asked for
    FileIdentity identity;
    Arena arena; // of its path
} CoverSources;

// Frees what the lookups have read.
void cover_sources_deinit(CoverSources *s);

// The text of a source file, until the next call. `ctx` is a CoverSources.
bool cover_source_text(void *ctx, Str path, Str *text);

#endif // COVERAGE_SOURCE_TEXT_H
