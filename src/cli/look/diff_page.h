// SPDX-License-Identifier: Apache-2.0
// A comparison as a part of the page (viewer/): what changed, by function, line and module.
// Format: docs/formats/view.md, kind "diff".

#ifndef CLI_LOOK_DIFF_PAGE_H
#define CLI_LOOK_DIFF_PAGE_H

#include "cli/look/diff_view.h"
#include "export/view/view.h"

// The same recordings compared by several things: one table of the page each.
typedef struct DiffTables {
    const DiffView *at; // judged and sorted; the first has the title's numbers
    size_t len;
    const uint32_t *recording; // [side]: number of its recording in the page; UINT32_MAX: none
    size_t shown[DIFF_SIDES];  // how many recordings that is the mean of
} DiffTables;

// Adds the comparison to a page: its block, and its first rows to the summary.
MUST_CHECK bool diff_page_add(ViewPage *page, const DiffTables *tables, Error *err);

#endif // CLI_LOOK_DIFF_PAGE_H
