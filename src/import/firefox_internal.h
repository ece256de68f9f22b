// SPDX-License-Identifier: Apache-2.0
// The forms of profiles of Firefox that are not those of the Firefox Profiler.

#ifndef IMPORT_FIREFOX_INTERNAL_H
#define IMPORT_FIREFOX_INTERNAL_H

#include "base/json.h"
#include "model/profile.h"

// Whether a parsed file is in the form of Firefox's own profiler, which simpleperf also writes:
// rows by a schema, frames as texts.
bool gecko_is(const JsonValue *root);

// Adds the threads of all processes to the profile. On false `p` holds a part of them.
MUST_CHECK bool gecko_load(Arena *scratch, Profile *p, const JsonValue *root, Error *err);

#endif // IMPORT_FIREFOX_INTERNAL_H
