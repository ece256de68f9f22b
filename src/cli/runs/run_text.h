// SPDX-License-Identifier: Apache-2.0
// Parts of the reports of runs: times with their spread, changes, names that fit a column, and a
// small picture of a distribution.

#ifndef CLI_RUNS_RUN_TEXT_H
#define CLI_RUNS_RUN_TEXT_H

#include "analyse/run_summary.h"

// "1.234 ms" in a fitting or the given unit.
void run_add_time(StrBuf *out, double seconds, RunUnit unit);

// The unit in which a time has one to three digits before its point.
RunUnit run_fitting_unit(double seconds);
// "µs", "ms" or "s".
Str run_unit_name(RunUnit unit);
// A time as a number of that unit.
double run_in_unit(double seconds, RunUnit unit);

// The number of decimals, at most 3, with which a spread in `unit` has `digits` significant ones.
// A value and its spread are both shown with it. A spread that is not known counts as a hundredth
// of the value.
int run_decimals(double seconds, double spread_s, RunUnit unit, int digits);

// "+5.03 %" of a ratio of 1.0503; from twice on "11.6 times".
void run_add_change(StrBuf *out, double ratio);
// "+5.03 % [+4.91 … +5.14 %]", "11.6 times [6.1 … 23]".
void run_add_interval(StrBuf *out, const Interval *ratio);

// The interval of a comparison says something: of two pairs it rests on one difference, and of
// three it may be so wide that its figures mean nothing, unless even that much decides.
bool run_has_interval(const Comparison *c);

// "    a difference of 0.15 % would have been found 4 times in 5", where that is known, and whether
// there were so few pairs that their interval is a rough one.
void run_add_power(StrBuf *out, const Comparison *c);

// Lines that are broken at spaces where they are wider than `columns`; their rest is indented.
void run_add_lines(StrBuf *out, Str lines, size_t columns, size_t indent);

// Names of the commands for a column: the common beginning of long names is left out, then they are
// cut. Two different commands never get one label. `s->set.count` escaped texts in `s->arena`.
Str *run_labels(RunSummaries *s, size_t columns);

// A picture of sorted values in one line of `columns` block characters, from `from` to `to`, both
// above 0; values beyond are drawn at the edge. Where `to` is more than 10 times `from` the scale
// is logarithmic.
void run_add_blocks(StrBuf *out, const double *sorted, size_t n, double from, double to,
                    size_t columns);

// Up to where a picture of sorted values reaches: far-out values would press all others into a
// line.
double run_picture_end(const double *sorted, size_t n);

#endif // CLI_RUNS_RUN_TEXT_H
