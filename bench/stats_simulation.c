// SPDX-License-Identifier: Apache-2.0
// The long form of tests/unit/stats/test_stats_simulation.c: coverage, false
// positives and stopping on seeded data; rows for bench/results.md.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "random_normal.h"
#include "stats/intervals.h"
#include "stats/series.h"
#include "stats/stats_simulate.h"
#include "stats/summary.h"

#define COMMAND "`bench/bench.sh simulation`"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void analysis_time(void)
{
    enum { N = 100000 };
    Arena a = {0};
    Random random = random_seeded(1);
    double *x = arena_array(&a, double, N);
    for (size_t i = 0; i < N; i++)
        x[i] = 0.01 * __builtin_exp(0.1 * random_normal(&random));
    double start = seconds();
    Interval median = stats_median_interval_sorted(stats_sorted(&a, x, N), N, 0.95);
    Interval hl = stats_hodges_lehmann(&a, x, N, 0.95);
    double mad = stats_mad(&a, x, N);
    double size = stats_effective_size(x, N);
    Steady steady = stats_steady_state(&a, x, N, 1);
    double took = seconds() - start;
    if (!(median.low < median.high && hl.low < hl.high && mad > 0 && size > 1 &&
          steady.kind == STEADY_FLAT))
        exit(1);
    printf("| analysis of 10^5 runs: intervals of the location, spread, steady state, CPU | - | "
           "<= 0.2 s | %.3f s | " COMMAND " |\n",
           took);
    arena_deinit(&a);
}

int main(void)
{
    static const size_t pairs[] = {10, 30, 100};
    for (size_t p = 0; p < 3; p++) {
        printf("| coverage of the 95 %% interval, %zu pairs | - | 94-96.5 %% |", pairs[p]);
        for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++)
            printf("%s %s %.1f", k ? "," : "", simulated_name(k),
                   100 * simulate_coverage(k, pairs[p], 1.02, 10000, 0.95, 1 + k));
        printf(" | " COMMAND " |\n");
    }
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++) {
        for (int known_end = 0; known_end < 2; known_end++) {
            Stopping same = simulate_stopping(k, 300, 1.0, 400, known_end, 0.95, 3);
            Stopping slower = simulate_stopping(k, 400, 1.02, 100, known_end, 0.95, 3);
            printf("| stopping at any time%s, %s: false positives in 300 looks; +2 %% found in 400 "
                   "pairs, median | peeking 34 %% | <= 5 %%; >= 95 %%, 250 | %.1f %%; %.0f %%, "
                   "%.0f | " COMMAND " |\n",
                   known_end ? " up to a known end (-M)" : "", simulated_name(k),
                   100 * same.stopped, 100 * slower.stopped, slower.median_pairs);
        }
    }
    double inter = simulate_false_positives(SIMULATED_DRIFT, 30, true, 2000, 0.95, 9);
    double seq = simulate_false_positives(SIMULATED_DRIFT, 30, false, 2000, 0.95, 9);
    printf("| false positives under drift, 30 pairs | sequential Welch %.0f %% | 3-7 %% | %.1f %% "
           "| " COMMAND " |\n",
           100 * seq, 100 * inter);
    analysis_time();
    return 0;
}
