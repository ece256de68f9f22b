// SPDX-License-Identifier: Apache-2.0
// Sums of waits, made from single waits.

#ifndef MODEL_STATE_SUMS_H
#define MODEL_STATE_SUMS_H

#include "model/profile.h"

// Fills the tables of sums of waits, which must be empty, from the rows of `states`: one sum for
// each thread, stack, class and object, with its histogram and its sample without a time. A thread
// runs as long as its samples say. For a profile that holds a part of a recording only; waits that
// have no row of their own are missing. Nothing is done without the metrics of waits.
void profile_sum_states(Profile *p);

#endif // MODEL_STATE_SUMS_H
