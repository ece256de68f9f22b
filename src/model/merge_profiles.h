// SPDX-License-Identifier: Apache-2.0
// Joins recordings of several machines, or of one machine at several times.

#ifndef MODEL_MERGE_PROFILES_H
#define MODEL_MERGE_PROFILES_H

#include "model/profile.h"

// Adds everything of `from` to `into`. Times of both then count from the earlier start, by the
// clocks of their machines. Processes and threads stay apart, also those of equal numbers; when the
// recordings are of several machines, "@HOST" stands behind the names of processes. Names, stacks
// and metrics of both are one. Facts that differ are joined by "; "; times and losses are sums.
//
// It is associative: (A + B) + C gives the same tables as A + (B + C). Counts of coverage, and
// accounts of the heap, cannot be added like this: false. `into` is changed on true only.
// `into` begins as an empty profile, to which each recording is added: rows of a profile that was
// loaded are not found again.
MUST_CHECK bool profile_merge(Profile *into, const Profile *from, Error *err);

// The same for parts of one recording, in the order of their times: a process or thread of `from`
// that ran already at its beginning is that of `into` which has not ended, and rows of the same
// start are one.
MUST_CHECK bool profile_join(Profile *into, const Profile *from, Error *err);

// The same as profile_merge for runs of one program whose values a view adds up: accounts of the
// heap, too.
MUST_CHECK bool profile_merge_runs(Profile *into, const Profile *from, Error *err);

#endif // MODEL_MERGE_PROFILES_H
