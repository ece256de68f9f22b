// SPDX-License-Identifier: Apache-2.0
// What stands between cargo and the compiler while 'assay cover run' builds: scripts
// that add the instrumentation to what the user's own flags say, wherever he says it.

#ifndef COLLECT_COVER_CARGO_TOOLS_H
#define COLLECT_COVER_CARGO_TOOLS_H

#include "collect/cover/cargo.h"

// Variables of the user for the same purpose; "" when not set. They are called in turn.
typedef struct CoverCargoTools {
    Str rustc_wrapper, rustc_workspace_wrapper, rustdoc;
} CoverCargoTools;

// Writes the scripts below the target folder and appends the environment of the build
// and of the run. `keep` is the folder that programs of doctests are linked into.
MUST_CHECK bool cover_cargo_tools(Arena *arena, const CoverCargo *c, const CoverCargoTools *user,
                                  Str keep, CoverVariables *ret, Error *err);

// Set for the build alone: where macros write what they count while crates are compiled.
CoverVariable cover_cargo_build_variable(Arena *arena, const CoverCargo *c);
// Adds that to the pool, of the crates that the build has.
void cover_cargo_add_build(Arena *arena, const CoverCargo *c, CoverPool *pool);

#endif // COLLECT_COVER_CARGO_TOOLS_H
