// SPDX-License-Identifier: Apache-2.0
// Command lines to run: variables filled in, words split, programs found.

#ifndef COLLECT_BENCH_COMMAND_H
#define COLLECT_BENCH_COMMAND_H

#include "collect/bench/bench.h"

// One variable and its values, in order.
typedef struct BenchVariable {
    Str name;
    StrVec values;
} BenchVariable;
typedef Vec(BenchVariable) BenchVariableVec;

// "a,b\,c" -> "a", "b,c".
void bench_split_list(Arena *arena, Str text, StrVec *ret);
// min, min + step … up to max, with the decimals of min and step.
MUST_CHECK bool bench_scan_values(Arena *arena, Str min, Str max, Str step, StrVec *ret,
                                  Error *err);

// `text` with each {NAME} replaced by its value.
Str bench_fill_in(Arena *arena, Str text, const RunParameterVec *parameters);

// A shell would do nothing with `text` but start one program: no
// metacharacters, no assignment, no built-in.
bool bench_is_plain(Str text);

// The program that `name` stands for, searched in `path` (PATH) unless it has a
// slash; as a C string. False when there is none that can be executed.
MUST_CHECK bool bench_find_program(Arena *arena, Str name, Str path, const char **ret);

// Finds the program of a command whose path is not known yet.
MUST_CHECK bool bench_find_late(Arena *arena, BenchCommand *c, Error *err);

// Fills path, argv and via_shell of c out of its text. Of a program that is not there yet the path
// stays NULL if there is a setup or prepare command, which may make it. `shell` is the shell's
// words up to "-c", NULL for none; `plain_direct` leaves the shell out where
// bench_is_plain.
MUST_CHECK bool bench_prepare_command(Arena *arena, BenchCommand *c, const char *const *shell,
                                      bool plain_direct, Str path, Error *err);

#endif // COLLECT_BENCH_COMMAND_H
