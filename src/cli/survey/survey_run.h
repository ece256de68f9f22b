// SPDX-License-Identifier: Apache-2.0
// The steps of a survey: each runs the command once more under another collector and leaves a
// recording in the survey's folder.

#ifndef CLI_SURVEY_SURVEY_RUN_H
#define CLI_SURVEY_SURVEY_RUN_H

#include "cli/survey/survey_folder.h"

// A command, and what is known of it.
typedef struct SurveyCommand {
    StrVec words;
    Str quoted;        // the words for a shell
    StrVec sources;    // OLD=NEW: where its source files are read, when not at their paths
    StrVec counted;    // the same program built to count its lines; no words: the command itself
    bool instrumented; // set by the run: the command itself counts its lines
    double cpu_s;      // of one run; 0: not known
} SurveyCommand;

typedef struct SurveyPlan {
    Arena *arena;
    SurveyCommand side[SURVEY_SIDES]; // no words on the old side: there is none
    Str folder;                       // exists, and belongs to the survey
    Str input;                        // the path of standard input
    bool wanted[SURVEY_STEPS];
    bool show_output; // of the run that is sampled
    int64_t max_time_ns;
    double precision; // per cent that the interval of the time is to have
} SurveyPlan;

// The words for a shell.
Str survey_quote_words(Arena *arena, const StrVec *words);
// Runs all steps and fills `m` but for its page. False: the command cannot be run at all.
MUST_CHECK bool survey_run(SurveyPlan *plan, SurveyManifest *m, Error *err);

#endif // CLI_SURVEY_SURVEY_RUN_H
