// SPDX-License-Identifier: Apache-2.0
// The text forms of a report: the first screen, longer tables, trees.

#ifndef CLI_LOOK_REPORT_SCREEN_H
#define CLI_LOOK_REPORT_SCREEN_H

#include "analyse/report_counts.h"
#include "cli/terminal.h"

// Lines of the first screen: with the prompt it fits 24 lines. The head and the blank line after it
// have SCREEN_HEAD lines; a longer head leaves fewer lines to the functions.
enum { SCREEN_HEAD = 5, SCREEN_FUNCTIONS = 10, SCREEN_LINES = 3, TABLE_ROWS = 20 };

typedef struct ScreenStyle {
    Terminal terminal;
    size_t columns; // lines are cut to this; SIZE_MAX: never (--wide)
    size_t limit;   // of rows; 0: all
    bool all_notes;
    bool no_metric;             // the head does not name the metric: all are shown
    double percent_limit;       // of tree nodes and rows
    const ReportCounts *counts; // columns of calls and executions; NULL: none
} ScreenStyle;

// Appends the command that ran, and how far its numbers can be trusted. Returns the number of
// lines, at most SCREEN_HEAD + 5 unless all notes are shown.
size_t screen_add_head(StrBuf *out, const Report *r, const ScreenStyle *style);

// Appends the table of functions (lines, modules, threads …).
void screen_add_table(StrBuf *out, const Report *r, const ScreenStyle *style);

// Appends the hottest source lines with their text.
void screen_add_lines(StrBuf *out, const Report *r, const ScreenStyle *style);

// Appends three commands to run next, with the recording's and the hottest function's name.
void screen_add_next(StrBuf *out, const Report *r, Str path, const ScreenStyle *style);

// Appends a call tree, which must be sorted, indented where it branches.
void screen_add_tree(StrBuf *out, const CallTree *t, const ScreenStyle *style);

// Appends the callers and the callees of the function `key`.
void screen_add_around(StrBuf *out, const Report *r, uint32_t key, const ScreenStyle *style);

#endif // CLI_LOOK_REPORT_SCREEN_H
