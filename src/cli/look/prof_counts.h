// SPDX-License-Identifier: Apache-2.0
// The inputs of --prof that hold counts of calls: recordings with counts, and the inputs of
// `assay cover` (programs, profiles, tracefiles, folders), in any order.

#ifndef CLI_LOOK_PROF_COUNTS_H
#define CLI_LOOK_PROF_COUNTS_H

#include "model/profile.h"

enum { PROF_COUNTS_MAX = 64 }; // operands

typedef struct ProfCounts {
    Profile recordings[PROF_COUNTS_MAX];
    size_t recording_count;
    Profile cover;
    bool has_cover;
    const Profile *all[PROF_COUNTS_MAX + 2]; // these and the recording reported on
    size_t all_count;
} ProfCounts;

// Loads the operands; the counts of the recording `own` are used too. Release with
// prof_counts_deinit, also on false.
MUST_CHECK bool prof_counts_load(ProfCounts *c, const Profile *own, const StrVec *operands,
                                 Arena *scratch, Error *err);
// Releases all profiles and counts that were loaded; `own` stays.
void prof_counts_deinit(ProfCounts *c);

#endif // CLI_LOOK_PROF_COUNTS_H
