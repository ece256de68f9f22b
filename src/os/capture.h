// SPDX-License-Identifier: Apache-2.0
// Running a helper program for what it prints.

#ifndef OS_CAPTURE_H
#define OS_CAPTURE_H

#include "base/arena.h"
#include "base/error.h"
#include "os/spawn.h"

// Runs the program to its end and gives its stdout and wait status. stdin is
// /dev/null; stderr is ours, or /dev/null when `quiet`. `argv` ends in NULL.
// More than `max_bytes` of output is ERROR_LIMIT.
MUST_CHECK bool os_capture(Arena *arena, const Program *program, char *const argv[], bool quiet,
                           size_t max_bytes, Bytes *output, int *wait_status, Error *err);

#endif // OS_CAPTURE_H
