// SPDX-License-Identifier: Apache-2.0
// Where the calls of --prof come from: recordings that counted, and what
// assay cover reads (programs, profiles, tracefiles, folders), in any order.

#ifndef CLI_LOOK_PROF_COUNTS_H
#define CLI_LOOK_PROF_COUNTS_H

#include "cli/cover/cover_inputs.h"

enum { PROF_COUNTS_MAX = 64 }; // operands

typedef struct ProfCounts {
    Profile recordings[PROF_COUNTS_MAX];
    size_t recording_count;
    CoverResult cover;
    bool has_cover;
    const Profile *all[PROF_COUNTS_MAX + 2]; // these and the recording reported on
    size_t all_count;
} ProfCounts;

// `own` counts too. Release with prof_counts_deinit, also on false.
MUST_CHECK bool prof_counts_load(ProfCounts *c, const Profile *own, const StrVec *operands,
                                 Arena *scratch, Error *err);
void prof_counts_deinit(ProfCounts *c);

#endif // CLI_LOOK_PROF_COUNTS_H
