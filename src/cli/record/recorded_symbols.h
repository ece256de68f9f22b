// SPDX-License-Identifier: Apache-2.0
// Looks up the names of a recording that was just made, out of the objects that its
// sampling still holds open.

#ifndef CLI_RECORD_RECORDED_SYMBOLS_H
#define CLI_RECORD_RECORDED_SYMBOLS_H

#include "base/vec.h"
#include "collect/sampling/sampling.h"
#include "symbolise/symbolise.h"

typedef struct RecordedFiles {
    Sampling *sampling;
    const Profile *profile;
} RecordedFiles;

// Access to the files as they were mapped. `files` must outlive it.
SymboliseFiles recorded_files(RecordedFiles *files);

// Gives names to the frames of a new recording, from the files that were mapped while it ran, and
// keeps the text of the source lines that were hit. `sources` as symbols_source_options fills it;
// `help` for a process that has given up its rights, else NULL. With a NULL `sampling` files are
// those that lie at their paths now.
void symbols_resolve_recorded(Arena *arena, Profile *p, Sampling *sampling,
                              const StrVec *debug_dirs, const SourceOptions *sources,
                              const SymboliseHelp *help);

#endif // CLI_RECORD_RECORDED_SYMBOLS_H
