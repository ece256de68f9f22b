// SPDX-License-Identifier: Apache-2.0
// Builds a program by the tool that was asked for.

#include "build/build.h"

#include "build/build_internal.h"

void build_variables(Arena *arena, const BuildRequest *r, bool (*is_set)(const char *name),
                     BuildVariables *ret)
{
    if (r->cargo)
        build_cargo_variables(arena, &r->cargo_words, is_set, ret);
}

bool build_program(Arena *arena, const BuildRequest *r, BuiltProgram *ret, Error *err)
{
    BuiltProgram built = {0};
    if (r->cargo + (r->cmake.len > 0) + (r->meson.len > 0) > 1)
        return error_set(err, ERROR_USAGE, "--cargo, --cmake and --meson cannot be combined");
    bool ok = r->cargo       ? build_cargo(arena, r, &built, err)
              : r->cmake.len ? build_cmake(arena, r, &built, err)
                             : build_meson(arena, r, &built, err);
    if (ok)
        *ret = built;
    return ok;
}
