// SPDX-License-Identifier: Apache-2.0
// Source files for listings: where the compiler saw them, or below folders that
// the user names.

#ifndef CLI_COVER_COVER_SOURCE_H
#define CLI_COVER_COVER_SOURCE_H

#include "base/vec.h"
#include "os/file.h"

typedef struct CoverSources {
    StrVec folders;
    U8Vec file; // the last one asked for
    FileIdentity identity;
    Arena arena; // of its path
} CoverSources;

void cover_sources_deinit(CoverSources *s);

// The text of a source file, until the next call. `ctx` is a CoverSources.
bool cover_source_text(void *ctx, Str path, Str *text);

#endif // CLI_COVER_COVER_SOURCE_H
