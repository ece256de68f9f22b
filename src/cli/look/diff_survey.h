// SPDX-License-Identifier: Apache-2.0
// Recordings of two surveys that can be compared.

#ifndef CLI_LOOK_DIFF_SURVEY_H
#define CLI_LOOK_DIFF_SURVEY_H

#include "analyse/diff/profile_diff.h"
#include "base/error.h"
#include "base/vec.h"

// Recordings of one step of two surveys.
typedef struct DiffPart {
    const char *title;        // "CPU time"
    StrVec files[DIFF_SIDES]; // of repeated runs, where there are some
} DiffPart;
typedef Vec(DiffPart) DiffParts;

// Sets `*ret` to the steps that both surveys have, in the order of a survey's screen. Fails when a
// path is no folder of a survey, or when no step is in both. Everything lives in the arena.
MUST_CHECK bool diff_survey_parts(Arena *arena, const Str folders[DIFF_SIDES], DiffParts *ret,
                                  Error *err);

#endif // CLI_LOOK_DIFF_SURVEY_H
