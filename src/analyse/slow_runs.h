// SPDX-License-Identifier: Apache-2.0
// Which runs of a command count as slow when they are compared with the others.

#ifndef ANALYSE_SLOW_RUNS_H
#define ANALYSE_SLOW_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Fewer runs are not split unless some stand out.
enum { SLOW_RUNS_LEAST = 12 };

typedef struct SlowRuns {
    double from_s;  // runs from here on are slow; infinite when none are
    bool stand_out; // they are apart from the others; else they are the slowest quarter
    uint32_t count;
} SlowRuns;

// Slow runs begin at the second mode of the times, else beyond Tukey's inner fence, else at the
// upper quartile.
SlowRuns slow_runs_split(const double *times_s, size_t n);

#endif // ANALYSE_SLOW_RUNS_H
