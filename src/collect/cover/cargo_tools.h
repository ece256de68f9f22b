// SPDX-License-Identifier: Apache-2.0
// Scripts that cargo calls in place of rustc and rustdoc while 'assay cover run' builds. They add
// the instrumentation to the flags of the user, from any place where cargo reads flags.

#ifndef COLLECT_COVER_CARGO_TOOLS_H
#define COLLECT_COVER_CARGO_TOOLS_H

#include "collect/cover/cargo.h"

// The user's own wrappers, from the environment; "" when not set. The scripts call them.
typedef struct CoverCargoTools {
    Str rustc_wrapper, rustc_workspace_wrapper, rustdoc;
} CoverCargoTools;

// Writes the scripts below the target folder and appends the environment of build and run. `keep`
// is the folder for links to the programs of doctests.
MUST_CHECK bool cover_cargo_tools(Arena *arena, const CoverCargo *c, const CoverCargoTools *user,
                                  Str keep, CoverVariables *ret, Error *err);

// A variable for the build only: the file to which procedural macros, which run while crates are
// compiled, write their profiles.
CoverVariable cover_cargo_build_variable(Arena *arena, const CoverCargo *c);
// Adds these profiles to the pool, for the crates of this build.
void cover_cargo_add_build(Arena *arena, const CoverCargo *c, CoverPool *pool);

#endif // COLLECT_COVER_CARGO_TOOLS_H
