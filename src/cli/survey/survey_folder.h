// SPDX-License-Identifier: Apache-2.0
// The folder that a survey leaves: a recording for each step, and survey.json, which says what the
// survey did and what it could not do (docs/formats/survey-json.md).

#ifndef CLI_SURVEY_SURVEY_FOLDER_H
#define CLI_SURVEY_SURVEY_FOLDER_H

#include "base/error.h"
#include "base/vec.h"

#define SURVEY_MANIFEST "survey.json"

typedef enum SurveyStep {
    SURVEY_TIME,   // runs with their times and counted events; of both commands with --against
    SURVEY_CPU,    // samples of CPU time
    SURVEY_WAITS,  // what threads wait for: part of the file of SURVEY_CPU
    SURVEY_HEAP,   // blocks of the heap
    SURVEY_COUNTS, // executions of lines
    SURVEY_STEPS
} SurveyStep;

// "time", "cpu", "waits", "heap", "counts".
const char *survey_step_name(SurveyStep step);
// Finds a step by that name.
MUST_CHECK bool survey_step_find(Str name, SurveyStep *ret);

enum { SURVEY_NEW, SURVEY_OLD, SURVEY_SIDES };

// What became of a step.
typedef struct SurveyPart {
    Str file;         // within the folder; "": there is no result
    Str why;          // why there is none
    Str cure;         // what would enable it; "": nothing is known
    bool skipped;     // the user did not ask for it
    uint32_t repeats; // further recordings are there up to this number; 0 or 1: there is just one
} SurveyPart;

typedef struct SurveyManifest {
    Str command[SURVEY_SIDES]; // words quoted for a shell; "" for no other command
    SurveyPart part[SURVEY_SIDES][SURVEY_STEPS];
    Str page;         // path of the HTML page, as the user named it; "": none was written
    double seconds;   // that the survey took
    uint32_t status;  // of the command: exit status, or 128 + signal
    bool interrupted; // the user ended it
    bool counting[SURVEY_SIDES]; // the timed program itself is built to count
} SurveyManifest;

// Whether a path is a survey's folder.
bool survey_folder_is(Str path);
// Reads the manifest of a survey's folder. Texts live in the arena. A file that is named outside of
// the folder is an error.
MUST_CHECK bool survey_manifest_read(Arena *arena, Str folder, SurveyManifest *ret, Error *err);
// Writes the manifest into a folder.
MUST_CHECK bool survey_manifest_write(Str folder, const SurveyManifest *m, Error *err);

// "FOLDER/FILE" of a part; "" when there is no result.
Str survey_part_path(Arena *arena, Str folder, const SurveyPart *part);
// The path of recording `number`, from 2, of a part whose first one is `path`: "cpu.2.assay".
Str survey_repeat_path(Arena *arena, Str path, uint32_t number);
// Appends the recordings of a survey in the order of steps, each file once: those that a page of
// them shows.
MUST_CHECK bool survey_folder_files(Arena *arena, Str folder, StrVec *ret, Error *err);

#endif // CLI_SURVEY_SURVEY_FOLDER_H
