// SPDX-License-Identifier: Apache-2.0
// A survey's folder, loaded: what its first screen and its JSON show.

#ifndef CLI_SURVEY_SURVEY_DATA_H
#define CLI_SURVEY_SURVEY_DATA_H

#include "analyse/run_summary.h"
#include "analyse/survey/first_line.h"
#include "analyse/truth.h"
#include "analyse/waits.h"
#include "cli/survey/survey_folder.h"

typedef struct SurveyData {
    Arena arena;
    Str folder;
    SurveyManifest manifest;
    // Recordings of the new side, by step; waits are in that of the CPU time.
    Profile profile[SURVEY_STEPS];
    bool has[SURVEY_STEPS]; // the profile is loaded, or its waits are there
    RunSummaries runs;
    uint32_t run_group; // of runs.set: the command itself
    Truth truth;        // of the CPU samples
    LineCosts costs;
    FirstLine first;
    HeapView heap;
    HeapAdviceVec advice;
    uint64_t lines_ran, lines_counted; // of the sources
    Str most_run_file;                 // the line that ran most often; "" without counts
    uint32_t most_run_line;
    uint64_t most_run_count;
} SurveyData;

// Loads the recordings that the folder has and chooses the line to look at first. A recording that
// cannot be read is an error. Release with survey_data_deinit, also on false.
MUST_CHECK bool survey_data_load(SurveyData *d, Str folder, Error *err);
void survey_data_deinit(SurveyData *d);

#endif // CLI_SURVEY_SURVEY_DATA_H
