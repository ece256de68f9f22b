// SPDX-License-Identifier: Apache-2.0
// The first screen of a survey: how long and how sure, where the CPU time is, what waits, what
// allocates, which line to look at first and why.

#ifndef CLI_SURVEY_SURVEY_SCREEN_H
#define CLI_SURVEY_SURVEY_SCREEN_H

#include "cli/survey/survey_data.h"
#include "cli/terminal.h"

// Appends the screen: at most 24 lines when all steps have a result. `changes` stands where another
// command was compared: what changed, from survey_changes_add; "" for none.
void survey_screen_add(StrBuf *out, const Terminal *t, SurveyData *d, Str changes);

// Appends what matters after a change: verdict, changes, time, CPU time, the line to look at first.
void survey_brief_add(StrBuf *out, const Terminal *t, SurveyData *d, Str changes);

// Appends all of it as docs/formats/survey-json.md describes.
void survey_json_add(StrBuf *out, SurveyData *d);

// Appends the reason for the choice of the line to look at first, one sentence without a full stop:
// "31% of the time, most of it in malloc and free; …".
void survey_reason_add(StrBuf *out, const SurveyData *d);

#endif // CLI_SURVEY_SURVEY_SCREEN_H
