// SPDX-License-Identifier: Apache-2.0
// --baseline of the commands that show coverage beside that of an earlier state.

#ifndef CLI_COVER_COVER_BASELINE_H
#define CLI_COVER_COVER_BASELINE_H

#include "analyse/cover/change.h"
#include "cli/cover/cover_options.h"

typedef struct CoverBaselineOptions {
    StrVec inputs; // coverage of the earlier state; none: no comparison
    Str diff_file; // how the sources changed since; empty: they did not
} CoverBaselineOptions;

#define COVER_BASELINE_OPTION(S, field)                                                            \
    OPT_LIST(0, "baseline", S, field, "INPUT",                                                     \
             "coverage before the change: a tracefile, a folder of results; may be repeated")
#define COVER_BASELINE_OPTIONS(S, field)                                                           \
    COVER_BASELINE_OPTION(S, field.inputs),                                                        \
        OPT_TEXT(0, "diff-file", S, field.diff_file, "FILE",                                       \
                 "with --baseline: the change of the sources since, as a unified diff; without "   \
                 "it, lines are compared by their numbers")

// Whether the options make sense together. Prints the mistake when they do not.
bool cover_baseline_check(const Command *cmd, const CoverBaselineOptions *o);

// Coverage of the earlier state. The caller keeps it where it is until cover_baseline_deinit.
typedef struct CoverBaseline {
    Profile profile;
    CoverFiles files;
    bool is_loaded; // the profile is to be freed
} CoverBaseline;

// Loads the coverage of the sources before `diff`, with the filters of `request`. `criteria`:
// COVER_WANT_* beside the rows. On false, too, free it with cover_baseline_deinit.
MUST_CHECK bool cover_baseline_load(const CoverRequest *request, const StrVec *inputs,
                                    DiffFiles *diff, unsigned criteria, CoverBaseline *ret,
                                    Error *err);
// Frees the profile; does nothing without one.
void cover_baseline_deinit(CoverBaseline *b);

// Loads the coverage that the options name and compares `now` with it. Prints a hint when no file
// is in both. `root` is as cover_diff_classify has it. `ret` is the arena's and borrows from `b`.
MUST_CHECK bool cover_baseline_compare(const CoverRequest *request, const CoverBaselineOptions *o,
                                       CoverSide now, Str root, Arena *arena, CoverBaseline *b,
                                       CoverChanges *ret, Error *err);

#endif // CLI_COVER_COVER_BASELINE_H
