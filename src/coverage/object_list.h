// SPDX-License-Identifier: Apache-2.0
// The list of objects in a folder of results of 'assay cover run': a line "BUILD-ID PATH" for
// each program or library that counted, "-" where it states no build-id.

#ifndef COVERAGE_OBJECT_LIST_H
#define COVERAGE_OBJECT_LIST_H

#include "base/strbuf.h"
#include "elf/build_id.h"

#define COVER_OBJECTS_FILE STR("assay-objects")
// In a folder of what programs wrote during a run that has not come to its end.
#define COVER_UNFINISHED_FILE ".assay-unfinished"

// Appends the line of one object; `id` may be NULL. Paths with a line end are left out: a line
// cannot hold them.
void cover_object_list_add(StrBuf *out, const BuildId *id, Str path);

// Splits a line of the list; `id` gets length 0 for "-". False when it is no such line.
MUST_CHECK bool cover_object_list_split(Str line, BuildId *id, Str *path);

#endif // COVERAGE_OBJECT_LIST_H
