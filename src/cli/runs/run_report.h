// SPDX-License-Identifier: Apache-2.0
// A recording of runs as text and pictures: what `assay bench` prints when it has measured,
// and `assay report` later.

#ifndef CLI_RUNS_RUN_REPORT_H
#define CLI_RUNS_RUN_REPORT_H

#include "analyse/run_summary.h"
#include "cli/terminal.h"

typedef struct RunStyle {
    Terminal terminal;
    RunUnit unit;
    RunSort sort;
} RunStyle;

// "1.234 ms" in a fitting or the given unit.
void run_add_time(StrBuf *out, double seconds, RunUnit unit);

// The figures of one command: time, memory, counts, outliers, warnings.
void run_report_command(StrBuf *out, const RunStyle *style, const RunSummaries *s,
                        uint32_t command);
// All comparisons with the reference; nothing when there are none.
void run_report_comparisons(StrBuf *out, const RunStyle *style, RunSummaries *s);
// One comparison with a named command: ratio, interval, verdict. `pair_s` is the time of one
// more pair.
void run_add_comparison(StrBuf *out, const Terminal *t, Str name, const Comparison *c,
                        double margin, double level, double pair_s);
// Clock, order and warnings: the recording's notes.
void run_report_truth(StrBuf *out, const RunStyle *style, const RunSummaries *s);
// All of them in this order.
void run_report(StrBuf *out, const RunStyle *style, RunSummaries *s);

// A picture: distributions, runs over time, pairs, growth over a parameter.
void run_plot_svg(StrBuf *out, RunSummaries *s);
// The picture, and the report as text; `more` is text that stands before the truth line.
void run_plot_html(StrBuf *out, const RunStyle *style, RunSummaries *s, Str more);

#endif // CLI_RUNS_RUN_REPORT_H
