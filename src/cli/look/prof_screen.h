// SPDX-License-Identifier: Apache-2.0
// prof(1)'s table as text and JSON.

#ifndef CLI_LOOK_PROF_SCREEN_H
#define CLI_LOOK_PROF_SCREEN_H

#include "analyse/prof.h"
#include "cli/look/report_screen.h"

typedef struct ProfView {
    const Report *report;
    const ProfRowVec *rows;
    const ProfJoin *join;
    bool any_counts; // some recording holds calls; without, the column is empty and says so
} ProfView;

// What says that time and calls are not of the same program.
void prof_add_doubts(StrBuf *out, const Report *r, const ProfJoin *join);

void prof_add_text(StrBuf *out, const ProfView *v, const ScreenStyle *style);
// docs/formats/report-json.md, "--prof".
void prof_add_json(StrBuf *out, const ProfView *v, size_t limit);

#endif // CLI_LOOK_PROF_SCREEN_H
