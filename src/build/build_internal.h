// SPDX-License-Identifier: Apache-2.0
// The three build tools.

#ifndef BUILD_BUILD_INTERNAL_H
#define BUILD_BUILD_INTERNAL_H

#include "build/build.h"

// Each builds and fills `*ret`.
MUST_CHECK bool build_cargo(Arena *arena, const BuildRequest *r, BuiltProgram *ret, Error *err);
MUST_CHECK bool build_cmake(Arena *arena, const BuildRequest *r, BuiltProgram *ret, Error *err);
MUST_CHECK bool build_meson(Arena *arena, const BuildRequest *r, BuiltProgram *ret, Error *err);

// Appends the variables of build_variables for cargo.
void build_cargo_variables(Arena *arena, const StrVec *words, bool (*is_set)(const char *name),
                           BuildVariables *ret);

#endif // BUILD_BUILD_INTERNAL_H
