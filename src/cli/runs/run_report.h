// SPDX-License-Identifier: Apache-2.0
// A recording of runs as text and pictures: the text that `assay bench` prints after measuring, and
// `assay report` later.

#ifndef CLI_RUNS_RUN_REPORT_H
#define CLI_RUNS_RUN_REPORT_H

#include "cli/runs/run_text.h"
#include "cli/terminal.h"

typedef struct RunStyle {
    Terminal terminal;
    RunUnit unit;
    RunSort sort;
    bool details; // show run_report_details too
} RunStyle;

// The first screen: the verdict as its first line, a ranking of all commands, a line for each
// comparison, and warnings. No line is longer than the terminal is wide.
void run_report_screen(StrBuf *out, const RunStyle *style, RunSummaries *s);
// The figures of each command: time, memory, counts, outliers; and further figures of each
// comparison.
void run_report_details(StrBuf *out, const RunStyle *style, RunSummaries *s);
// One comparison with a named command: ratio, interval, verdict. `pair_s` is the time of one
// more pair.
void run_add_comparison(StrBuf *out, const Terminal *t, Str name, const Comparison *c,
                        double margin, double level, double pair_s);
// Clock, order and warnings: the recording's notes.
void run_report_truth(StrBuf *out, const RunStyle *style, RunSummaries *s);
// All of them in this order. A single command has its details on the first screen.
void run_report(StrBuf *out, const RunStyle *style, RunSummaries *s);

// A picture: distributions, runs over time, pairs, growth over a parameter.
void run_plot_svg(StrBuf *out, RunSummaries *s);
// The same of functions, panel by panel; `growths` as function_growths_init makes them.
void run_plot_functions_svg(StrBuf *out, const RunFamilies *functions, const RunFamilies *growths);
#endif // CLI_RUNS_RUN_REPORT_H
