// SPDX-License-Identifier: Apache-2.0
// The conditions of a measurement: the machine, the speed of its CPU now, and which files are
// in its page cache.

#ifndef COLLECT_BENCH_CONDITIONS_H
#define COLLECT_BENCH_CONDITIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "model/run_names.h"

// Reads the machine from /proc, /sys and uname. Members that cannot be read stay empty or 0.
void bench_machine(Arena *arena, RunMachine *ret);

// The least CPU time of a fixed piece of work over several tries. It depends on nothing but
// the CPU's frequency.
int64_t bench_speed_probe_ns(void);

// Drops a file's pages from the page cache. `*left` is the number of pages that stayed, or
// SIZE_MAX when the kernel cannot tell (before 6.5).
MUST_CHECK bool bench_drop_cache(Str path, size_t *left, Error *err);

#endif // COLLECT_BENCH_CONDITIONS_H
