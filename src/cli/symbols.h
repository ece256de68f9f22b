// SPDX-License-Identifier: Apache-2.0
// The inputs of symbolising that come from the environment and from the options --debug-dir and
// --source-path, which several commands share.

#ifndef CLI_SYMBOLS_H
#define CLI_SYMBOLS_H

#include "cli/option.h"
#include "symbolise/symbolise.h"

// Fills the folder of the cache, debuginfod's servers and the folder of its client, and the user's
// --debug-dir list, which must outlive the options. The other members become zero.
void symbols_options(Arena *arena, const StrVec *debug_dirs, SymboliseOptions *ret);

// Fills the mappings from --source-path OLD=NEW and the folder of the Rust library's source. The
// other members become zero. Fails with ERROR_USAGE for a text without '='.
MUST_CHECK bool symbols_source_options(Arena *arena, const StrVec *source_paths, SourceOptions *ret,
                                       Error *err);

// Runs symbolise_profile and shows its progress on a terminal. The first Ctrl-C ends it: the result
// is false then, and a note in the profile says that names are missing.
bool symbols_resolve(Profile *p, const SymboliseOptions *options);

#endif // CLI_SYMBOLS_H
