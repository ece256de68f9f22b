// SPDX-License-Identifier: Apache-2.0
// Runs a helper program and captures its output.

#ifndef OS_CAPTURE_H
#define OS_CAPTURE_H

#include "base/arena.h"
#include "base/error.h"
#include "os/spawn.h"

// Runs the program to its end and returns its stdout, in the arena, and its wait status. stdin is
// /dev/null; stderr is that of this process, or /dev/null with `quiet`. `argv` ends in NULL.
// More than `max_bytes` of output is ERROR_LIMIT.
MUST_CHECK bool os_capture(Arena *arena, const Program *program, char *const argv[], bool quiet,
                           size_t max_bytes, Bytes *output, int *wait_status, Error *err);

#endif // OS_CAPTURE_H
