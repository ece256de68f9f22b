// SPDX-License-Identifier: Apache-2.0
// What changed between the two commands of a survey, line by line.

#ifndef CLI_SURVEY_SURVEY_CHANGES_H
#define CLI_SURVEY_SURVEY_CHANGES_H

#include "cli/survey/survey_data.h"

// Appends the changes of CPU time, heap and counts by line, as `assay diff` finds them. Appends
// nothing for a survey of one command.
void survey_changes_add(StrBuf *out, SurveyData *d);

#endif // CLI_SURVEY_SURVEY_CHANGES_H
