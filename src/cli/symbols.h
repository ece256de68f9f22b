// SPDX-License-Identifier: Apache-2.0
// What symbolising takes from the environment and from options that several
// commands share: --debug-dir, --source-path.

#ifndef CLI_SYMBOLS_H
#define CLI_SYMBOLS_H

#include "cli/option.h"
#include "symbolise/symbolise.h"

// Cache folder, debuginfod's servers and its client's folder, and the user's
// --debug-dir list, which must outlive the options. Leaves the rest zero.
void symbols_options(Arena *arena, const StrVec *debug_dirs, SymboliseOptions *ret);

// Mappings from --source-path OLD=NEW, and where the Rust library's source is.
// Leaves the rest zero. ERROR_USAGE for a text without '='.
MUST_CHECK bool symbols_source_options(Arena *arena, const StrVec *source_paths, SourceOptions *ret,
                                       Error *err);

// symbolise_profile with a line of progress on a terminal that waits for it, and
// the first Ctrl-C ending it: false then, with a note in the profile that says so.
bool symbols_resolve(Profile *p, const SymboliseOptions *options);

#endif // CLI_SYMBOLS_H
