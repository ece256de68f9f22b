// SPDX-License-Identifier: Apache-2.0
// prof(1)'s table as text and JSON.

#ifndef CLI_PROF_SCREEN_H
#define CLI_PROF_SCREEN_H

#include "analyse/prof.h"
#include "cli/report_screen.h"

typedef struct ProfView {
    const Report *report;
    const ProfRowVec *rows;
    const ProfJoin *join;
    bool any_counts; // some recording holds calls; without, the column is empty and says so
} ProfView;

void prof_add_text(StrBuf *out, const ProfView *v, const ScreenStyle *style);
// docs/formats/report-json.md, "--prof".
void prof_add_json(StrBuf *out, const ProfView *v, size_t limit);

#endif // CLI_PROF_SCREEN_H
