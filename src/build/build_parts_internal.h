// SPDX-License-Identifier: Apache-2.0
// What the three build tools share.

#ifndef BUILD_BUILD_PARTS_INTERNAL_H
#define BUILD_BUILD_PARTS_INTERNAL_H

#include "base/json.h"
#include "base/vec.h"

// The text of a member; "" when it is absent or no text.
Str build_json_text(const JsonValue *object, const char *key);

// Runs a tool with these words; the first is its name, found in PATH. Its stdout goes to `*output`,
// its stderr to ours. `*status` is its wait status.
MUST_CHECK bool build_run(Arena *arena, Str search_path, const StrVec *words, Bytes *output,
                          int *status, Error *err);

// Finds the build folder: `wanted`, or the present folder, or the one below it, at most two levels
// deep, whose `marker` was written last. `option` is named in the error.
MUST_CHECK bool build_folder_find(Arena *arena, Str wanted, const char *marker, const char *option,
                                  Str *ret, Error *err);

#endif // BUILD_BUILD_PARTS_INTERNAL_H
