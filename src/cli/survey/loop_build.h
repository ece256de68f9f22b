// SPDX-License-Identifier: Apache-2.0
// How a program is built: what the user says, or what its folders show.

#ifndef CLI_SURVEY_LOOP_BUILD_H
#define CLI_SURVEY_LOOP_BUILD_H

#include <signal.h>

#include "base/arena.h"
#include "base/error.h"

// The shell command that builds the program at `path`: cargo's for one below target/, that of
// CMake, Ninja or Meson for one in a build folder, make where a Makefile is. "" when nothing shows
// it.
Str loop_build_find(Arena *arena, Str path);

// Runs a shell command; its outputs go to standard error. `*status` is its exit status, or
// 128 + signal. `mask` is that of the signals which the build starts with.
MUST_CHECK bool loop_build_run(Arena *arena, Str command, const sigset_t *mask, int *status,
                               Error *err);

#endif // CLI_SURVEY_LOOP_BUILD_H
