// SPDX-License-Identifier: Apache-2.0
// Which sources a run counts, kept with its results so that every later report of
// them leaves out the same.

#ifndef COVERAGE_ROWS_SELECTION_H
#define COVERAGE_ROWS_SELECTION_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

// Globs on paths. No include means all; exclude goes first.
typedef struct CoverSelection {
    StrVec include, exclude;
} CoverSelection;

typedef Vec(CoverSelection) CoverSelectionVec;

// Whether the selection contains a path.
bool cover_selection_keep(const CoverSelection *s, Str path);

// The selection in a folder of results: "include GLOB" or "exclude GLOB" a line.
#define COVER_SOURCES_FILE STR("assay-sources")
// Appends the text of that file.
void cover_selection_write(const CoverSelection *s, StrBuf *out);
// Adds the globs of such a text to `ret`. The error names a line of any other form.
MUST_CHECK bool cover_selection_read(Arena *arena, Str text, CoverSelection *ret, Error *err);

#endif // COVERAGE_ROWS_SELECTION_H
