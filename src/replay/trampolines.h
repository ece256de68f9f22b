// SPDX-License-Identifier: Apache-2.0
// Unwind tables for generated code that repeats one known piece: 'python -X perf' calls each
// Python function through a trampoline of its own, and no rules tell how to leave these.

#ifndef REPLAY_TRAMPOLINES_H
#define REPLAY_TRAMPOLINES_H

#include "unwind/unwind_table.h"

// Makes the table of a stretch of x86-64 code at `start` in the process. False: it does not begin
// with such a trampoline.
bool trampolines_table(Arena *arena, Bytes code, uint64_t start, UnwindTable *ret);

#endif // REPLAY_TRAMPOLINES_H
