// SPDX-License-Identifier: Apache-2.0
// Forgets the oldest rows of a recording that runs for days.

#ifndef MODEL_FORGET_H
#define MODEL_FORGET_H

#include "model/profile.h"

// The memory that rows with times take: samples, single waits, calls, intervals, points. Names and
// stacks do not count.
uint64_t profile_timed_bytes(const Profile *p);
// Removes those that ended before a time. Rows of a table stand in the order of their ends, or
// nearly: the first one that ended later ends the search.
void profile_forget(Profile *p, int64_t before_ns);

#endif // MODEL_FORGET_H
