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
    bool any_counts; // some recording holds calls; otherwise the screen says that none does
} ProfView;

// Appends warnings when time and calls appear to come from different programs.
void prof_add_doubts(StrBuf *out, const Report *r, const ProfJoin *join);

// Appends the table as text.
void prof_add_text(StrBuf *out, const ProfView *v, const ScreenStyle *style);
// Appends the table as JSON, at most `limit` rows, 0 for all. Format: docs/formats/report-json.md,
// "--prof".
void prof_add_json(StrBuf *out, const ProfView *v, size_t limit);

#endif // CLI_LOOK_PROF_SCREEN_H
