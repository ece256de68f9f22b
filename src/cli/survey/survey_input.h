// SPDX-License-Identifier: Apache-2.0
// Standard input of a command that is run several times: each run must read the same.

#ifndef CLI_SURVEY_SURVEY_INPUT_H
#define CLI_SURVEY_SURVEY_INPUT_H

#include "base/arena.h"
#include "base/error.h"

// Finds what each run gets as standard input. `given` is the user's --input: a file, "null", or ""
// for our own standard input: a file is read from its start, or from where it stands, by each run;
// a pipe is kept in a file without a name first; of a terminal the runs get nothing. `*ret` is a
// path that stays valid as long as this process lives.
MUST_CHECK bool survey_input_find(Arena *arena, Str given, Str *ret, Error *err);

#endif // CLI_SURVEY_SURVEY_INPUT_H
