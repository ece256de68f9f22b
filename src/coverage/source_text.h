// SPDX-License-Identifier: Apache-2.0
// The text of source files. A file is searched under the path that the compiler recorded, then
// below the folders that the user names.

#ifndef COVERAGE_SOURCE_TEXT_H
#define COVERAGE_SOURCE_TEXT_H

#include "base/vec.h"
#include "os/source_file.h"

typedef struct CoverSources {
    StrVec folders;
    // Text is only from below these; what a tracefile names elsewhere is not read. NULL: from
    // anywhere, for what is not shown.
    const SourceRoots *roots;
    MappedFile file; // the last one asked for
    Arena arena;     // of its path
    bool is_outside; // the last one lies outside the roots
} CoverSources;

// Frees what the lookups have read.
void cover_sources_deinit(CoverSources *s);

// The text of a source file, until the next call. `ctx` is a CoverSources. False: there is none, or
// it lies outside.
bool cover_source_text(void *ctx, Str path, Str *text);

#endif // COVERAGE_SOURCE_TEXT_H
