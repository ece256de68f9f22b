// SPDX-License-Identifier: Apache-2.0
// Shows the folder of a survey: what `assay survey` prints at its end and `assay report` later.

#ifndef CLI_SURVEY_SURVEY_SHOW_H
#define CLI_SURVEY_SURVEY_SHOW_H

#include "cli/survey/survey_folder.h"
#include "cli/terminal.h"

typedef enum SurveyForm {
    SURVEY_TEXT,
    SURVEY_JSON,
    SURVEY_BRIEF, // the verdict, what changed, the time, and the line to look at first
} SurveyForm;

// Appends the first screen without colours, for lines of `columns`. False: a part cannot be read.
MUST_CHECK bool survey_add_text(Str folder, size_t columns, StrBuf *out, Error *err);

// Prints the first screen of the folder, or its JSON. Returns the exit status.
int survey_show(Str folder, const Terminal *t, SurveyForm form);

#endif // CLI_SURVEY_SURVEY_SHOW_H
