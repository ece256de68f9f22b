// SPDX-License-Identifier: Apache-2.0
// The text forms of a report: the first screen, longer tables, trees.

#ifndef CLI_LOOK_REPORT_SCREEN_H
#define CLI_LOOK_REPORT_SCREEN_H

#include "analyse/report_counts.h"
#include "cli/terminal.h"

// Lines of the first screen, so that a prompt still fits below it on 24.
// The head and the blank line behind it share SCREEN_HEAD lines; a longer head
// takes from the functions.
enum { SCREEN_HEAD = 5, SCREEN_FUNCTIONS = 10, SCREEN_LINES = 3, TABLE_ROWS = 20 };

typedef struct ScreenStyle {
    Terminal terminal;
    size_t columns; // lines are cut to this; SIZE_MAX: never (--wide)
    size_t limit;   // of rows; 0: all
    bool all_notes;
    double percent_limit;       // of tree nodes and rows
    const ReportCounts *counts; // columns of calls and executions; NULL: none
} ScreenStyle;

// What ran, and how far it can be trusted. Gives the lines it took, at most
// SCREEN_HEAD + 5 unless all notes are wanted.
size_t screen_add_head(StrBuf *out, const Report *r, const ScreenStyle *style);

// The table of functions (lines, modules, threads …).
void screen_add_table(StrBuf *out, const Report *r, const ScreenStyle *style);

// The hottest source lines with their text.
void screen_add_lines(StrBuf *out, const Report *r, const ScreenStyle *style);

// The next three commands, with the recording's and the hottest function's name.
void screen_add_next(StrBuf *out, const Report *r, Str path, const ScreenStyle *style);

// A call tree, indented where it branches. The tree is sorted already.
void screen_add_tree(StrBuf *out, const CallTree *t, const ScreenStyle *style);

// Who calls `key` and what it calls.
void screen_add_around(StrBuf *out, const Report *r, uint32_t key, const ScreenStyle *style);

#endif // CLI_LOOK_REPORT_SCREEN_H
