// SPDX-License-Identifier: Apache-2.0
// Steps of a survey run in processes of their own: this program with other arguments. What one step
// sets up, gives up or breaks then does not reach the next.

#ifndef CLI_SURVEY_SURVEY_CHILD_H
#define CLI_SURVEY_SURVEY_CHILD_H

#include <signal.h>

#include "base/error.h"
#include "base/vec.h"

typedef struct SurveyChild {
    const StrVec *words;       // behind "assay"
    Str input;                 // a path for standard input
    const StrVec *environment; // "NAME=VALUE" to add; NULL: nothing
    const sigset_t *mask;      // of signals that the step starts with; NULL: those of the caller
    bool show_output;          // the outputs are those of this process; else they are dropped
    const char *what;          // for the line of progress: "CPU samples"
    unsigned number, count;    // it is step `number` of `count`; 0: not one of several
} SurveyChild;

typedef struct SurveyChildEnd {
    int status;       // exit status, or 128 + signal
    bool interrupted; // the user asked to stop
    Str said;         // the end of what it wrote to standard error
} SurveyChildEnd;

// Runs a step to its end. On Ctrl-C the step ends and `interrupted` is set. Texts live in the
// arena.
MUST_CHECK bool survey_child_run(Arena *arena, const SurveyChild *child, SurveyChildEnd *ret,
                                 Error *err);

// Runs this program with `words` and gives its standard output. False: it failed.
MUST_CHECK bool survey_child_capture(Arena *arena, const StrVec *words, Str *ret, Error *err);

// The last line that assay itself wrote to standard error of a step, without "assay: ", and the
// hint behind it; both "" when there is none.
void survey_child_reason(Str said, Str *why, Str *cure);

#endif // CLI_SURVEY_SURVEY_CHILD_H
