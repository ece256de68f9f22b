// SPDX-License-Identifier: Apache-2.0
// Counted runs as text: the text that `assay stat` prints, and `assay report` for its recordings.

#ifndef CLI_RUNS_COUNTS_TEXT_H
#define CLI_RUNS_COUNTS_TEXT_H

#include "analyse/counted_runs.h"
#include "base/strbuf.h"

// Whether a row's value is a time in nanoseconds, shown in milliseconds.
bool counts_is_time(const Profile *p, const CountRow *row);

// "Counted for './prog', 5 runs (…):", an empty line after it.
void counts_add_heading(StrBuf *out, const Counts *c);

// A line for each row. `at_s` is where a span ends, and stands first; below 0: no span. Digits are
// in groups of three unless `plain`.
void counts_add_rows(StrBuf *out, const Profile *p, const CountRowVec *rows, double at_s,
                     bool plain);

// After the rows of a span that is shorter than -I says: how long it is.
void counts_add_span_length(StrBuf *out, const Profile *p, const CountSpan *span);

// Elapsed, user and system time, the runs one by one if `each_run`, an empty line.
void counts_add_times(StrBuf *out, const Counts *c, bool each_run);

// A line for each warning of the profile, e.g. events that are not available.
void counts_add_warnings(StrBuf *out, const Profile *p);

// A recording as `assay stat` printed it: the spans of a series, else the rows of the runs,
// then times and warnings, or all notes.
void counts_add_report(StrBuf *out, Arena *scratch, const Profile *p, bool all_notes);

// The parts of a row: "12 345", "4.21 ms", "not counted".
void counts_add_value(StrBuf *out, const Profile *p, const CountRow *row, bool plain);
// "± 1.20 %  [12 001 … 12 689]".
void counts_add_spread(StrBuf *out, const Profile *p, const CountRow *row);

#endif // CLI_RUNS_COUNTS_TEXT_H
