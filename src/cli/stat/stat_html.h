// SPDX-License-Identifier: Apache-2.0
// The page of `assay stat --html`: what was counted as a table, and a picture for
// each event, over the runs or over time.

#ifndef CLI_STAT_STAT_HTML_H
#define CLI_STAT_STAT_HTML_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "stats/intervals.h"

// A row of the table; texts are shown as they are, escaped. "" leaves a cell empty.
typedef struct StatHtmlRow {
    Str group; // thread or CPU; "" without such rows
    Str event, value, derived, spread, counted;
    // Points of its picture: (run, value) or (seconds, value a second).
    DoubleVec x, y;
    Interval mean; // of the runs; NaN when there is none
    bool is_time;  // y is in nanoseconds
} StatHtmlRow;
typedef Vec(StatHtmlRow) StatHtmlRowVec;

typedef struct StatHtmlPage {
    Str heading; // "Counted for 'make', 5 runs"
    Str machine; // where
    Str text;    // below the table: elapsed times, what is missing
    StatHtmlRowVec rows;
    bool over_time; // x is seconds
} StatHtmlPage;

void stat_html(StrBuf *out, const StatHtmlPage *page);

#endif // CLI_STAT_STAT_HTML_H
