// SPDX-License-Identifier: Apache-2.0
// What pictures of runs show, before it is drawn: the range of the times, growth over a parameter.

#ifndef CLI_RUNS_RUN_SHAPES_H
#define CLI_RUNS_RUN_SHAPES_H

#include "analyse/run_summary.h"
#include "stats/summary.h"

// The range of times that pictures of all commands show, in seconds; far-out values, which would
// press all others into a line, are beyond its end.
void run_times_range(RunSummaries *all, double *ret_from, double *ret_to);

// Medians over a parameter of numbers, and the fitted power: both logarithms are natural. Arrays
// of `count` live in the summaries' arena.
typedef struct RunGrowth {
    Str parameter;
    const double *log_value, *log_median;
    size_t count;
    LineFit fit; // its slope is the exponent
} RunGrowth;

// False: the commands have no parameter of three or more numbers above 0.
bool run_growth(RunSummaries *all, RunGrowth *ret);

#endif // CLI_RUNS_RUN_SHAPES_H
