// SPDX-License-Identifier: Apache-2.0
// A folder of our own in which Criterion keeps its results, so that those of the user stay as they
// are.

#ifndef COLLECT_BENCH_CRITERION_HOME_H
#define COLLECT_BENCH_CRITERION_HOME_H

#include "collect/bench/harness.h"

// Makes an empty folder below `scratch` that only this user may read. Its path lies in the arena.
MUST_CHECK bool criterion_home_make(Arena *arena, Str scratch, const char **ret, Error *err);
// Appends all results that a process has left there, by the names of their folders.
MUST_CHECK bool criterion_home_read(Arena *arena, const char *home, HarnessResults *ret,
                                    Error *err);
// Removes the folder with all that is in it. Accepts NULL.
void criterion_home_remove(const char *home);

#endif // COLLECT_BENCH_CRITERION_HOME_H
