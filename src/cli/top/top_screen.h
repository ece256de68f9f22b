// SPDX-License-Identifier: Apache-2.0
// The text of one screen of `assay top`.

#ifndef CLI_TOP_TOP_SCREEN_H
#define CLI_TOP_TOP_SCREEN_H

#include "cli/terminal.h"
#include "cli/top/top_view.h"

typedef struct TopScreen {
    Terminal terminal;
    Str target;    // what is observed: "the whole machine"
    size_t rows;   // of the table, at most
    size_t first;  // row of the view that is at the top of the table, of those that match
    size_t chosen; // row that is marked, of those that match
    bool has_chosen;
    Str filter;     // only names that contain this, in any case unless it has capitals; "": all
    bool is_typing; // the filter is being typed
} TopScreen;

// Appends the screen. `view` NULL: nothing has been recorded yet.
void top_screen_add(StrBuf *out, const TopView *view, const TopScreen *screen);

// The number of rows of the view that match the filter.
size_t top_screen_matches(const TopView *view, Str filter);
// The row of that number among those that match; NULL when there are not so many.
const TopRow *top_screen_row(const TopView *view, Str filter, size_t number);

enum { TOP_HEAD_LINES = 5 }; // above the table, with its title

#endif // CLI_TOP_TOP_SCREEN_H
