// SPDX-License-Identifier: Apache-2.0
// One round of assay loop: surveys the program as it is now, against the last one where that can
// still be run, and prints what changed.

#ifndef CLI_SURVEY_LOOP_MEASURE_H
#define CLI_SURVEY_LOOP_MEASURE_H

#include <signal.h>

#include "base/vec.h"
#include "cli/terminal.h"

typedef struct LoopMeasure {
    Arena *arena;
    Terminal terminal;
    StrVec words;         // the command
    Str program;          // the file that it runs; a copy of it stands for the last build
    Str folder;           // where surveys and the copy are kept
    Str input;            // standard input of each run
    Str steps, max_time;  // as for assay survey
    const sigset_t *mask; // of signals that the steps start with
    // Of the last round:
    Str copy;         // of the program; "": there is none
    StrVec sources;   // OLD=NEW: copies of the source files of that program
    bool has_last;    // its survey is in the folder
    bool copy_is_bad; // copies do not run as the program does
    uint32_t status;  // of the command
} LoopMeasure;

typedef enum LoopResult {
    LOOP_MEASURED,
    LOOP_FAILED, // the reason was printed
    LOOP_STOPPED // the user asked to end
} LoopResult;

// Runs and prints a round.
LoopResult loop_measure(LoopMeasure *m);
// Removes the copy of the program.
void loop_measure_end(LoopMeasure *m);

#endif // CLI_SURVEY_LOOP_MEASURE_H
