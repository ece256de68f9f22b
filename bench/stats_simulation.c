// SPDX-License-Identifier: Apache-2.0
// The long form of tests/unit/stats/test_stats_simulation.c: coverage, false verdicts and stopping
// on seeded data; rows for bench/results.md. stats_simulation [TRIALS [PART ...]]: TRIALS is the
// number of experiments of each family (10000), a part one of the table in main. Fails when a
// share is beyond its target by 4 Monte-Carlo errors.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static bool analysis_time(size_t trials)
{
    (void)trials;
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
          steady.kind == STEADY_FLAT)) {
        arena_deinit(&a);
        return false;
    }
    printf("| analysis of 10^5 runs: intervals of the location, spread, steady state, CPU | - | "
           "<= 0.2 s | %.3f s | " COMMAND " |\n",
           took);
    arena_deinit(&a);
    return true;
}

// Shares of trials by family, in percent, as a row. With `skip_changing` without the families whose
// level changes for good.
static void print_shares(const double *shares, bool skip_changing)
{
    double highest = 0;
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++) {
        if (skip_changing && (k == SIMULATED_DRIFT || k == SIMULATED_STEP))
            continue;
        printf("%s%s %.1f", k ? ", " : "", simulated_name(k), 100 * shares[k]);
        highest = shares[k] > highest ? shares[k] : highest;
    }
    printf(" (highest %.1f %%) | " COMMAND " |\n", 100 * highest);
}

// The bound of a share that is asked to be <= 5 %, by 4 Monte-Carlo errors.
static bool all_below(const double *shares, size_t trials, double limit, bool skip_changing)
{
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++) {
        bool skipped = skip_changing && (k == SIMULATED_DRIFT || k == SIMULATED_STEP);
        if (!skipped && shares[k] > limit + 4 * sqrt(limit * (1 - limit) / (double)trials)) {
            fprintf(stderr, "%s: %.4f\n", simulated_name(k), shares[k]);
            return false;
        }
    }
    return true;
}

static bool coverage(size_t trials)
{
    static const size_t pairs[] = {10, 30, 100};
    bool ok = true;
    for (size_t p = 0; p < 3; p++) {
        printf(
            "| coverage of the 95 %% interval, %zu pairs, %zu experiments each | - | 93-97 %% | ",
            pairs[p], trials);
        double shares[SIMULATED_COUNT], missed[SIMULATED_COUNT];
        for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++) {
            shares[k] = simulate_coverage(k, pairs[p], 1.02, trials, 0.95, 1 + k);
            missed[k] = 1 - shares[k];
        }
        print_shares(shares, false);
        ok = all_below(missed, trials, 0.07, false) && all_below(shares, trials, 0.97, false) && ok;
    }
    return ok;
}

static bool false_verdicts(size_t trials)
{
    static const size_t pairs[] = {2, 3, 4, 5, 6, 7, 10, 30};
    double shares[SIMULATED_COUNT];
    bool ok = true;
    for (size_t p = 0; p < sizeof(pairs) / sizeof(*pairs); p++) {
        printf("| wrong verdicts on identical commands, %zu pairs, %zu experiments each | - | "
               "<= 5 %% | ",
               pairs[p], trials);
        for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++)
            shares[k] = simulate_false_verdicts(k, pairs[p], trials, 7 + k);
        print_shares(shares, false);
        ok = all_below(shares, trials, 0.05, false) && ok;
    }
    return ok;
}

static bool stopping(size_t trials)
{
    enum { PAIRS = 200 };
    double shares[SIMULATED_COUNT];
    bool ok = true;
    for (int known_end = 0; known_end < 2; known_end++) {
        printf("| wrong at any of the looks of `--until`%s, %d pairs, %zu experiments each | "
               "peeking 34 %% | <= 5 %% | ",
               known_end ? " with `-M`" : "", (int)PAIRS, trials);
        for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++)
            shares[k] = simulate_stopping(k, PAIRS, 1.0, trials, known_end, 0.95, 3).stopped;
        print_shares(shares, false);
        ok = all_below(shares, trials, 0.05, false) && ok;
    }
    for (int known_end = 0; known_end < 2; known_end++) {
        printf("| +2 %% found in 400 pairs, median pairs%s | - | - | ", known_end ? ", `-M`" : "");
        for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++) {
            Stopping s = simulate_stopping(k, 400, 1.02, 200, known_end, 0.95, 3);
            printf("%s%s %.0f %%, %.0f", k ? "; " : "", simulated_name(k), 100 * s.stopped,
                   s.median_pairs);
        }
        printf(" | " COMMAND " |\n");
    }
    return ok;
}

static bool other_rules(size_t trials)
{
    double shares[SIMULATED_COUNT];
    printf("| median of one command outside its interval when `--until` stops | - | <= 5 %% | ");
    for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++)
        shares[k] = simulate_one_command(k, 300, trials, 9);
    print_shares(shares, true);
    bool ok = all_below(shares, trials, 0.05, true);
    static const size_t runs[] = {15, 100};
    for (size_t r = 0; r < 2; r++) {
        printf("| steady runs advised to warm up, %zu runs | - | <= 5 %% | ", runs[r]);
        for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++)
            shares[k] = simulate_warm_up_advice(k, runs[r], trials, 4);
        print_shares(shares, true);
        ok = all_below(shares, trials, 0.05, true) && ok;
    }
    static const size_t samples[] = {6, 10, 30, 100};
    for (size_t n = 0; n < sizeof(samples) / sizeof(*samples); n++) {
        printf("| two samples of %zu in sequence called different (`--grouped`, baselines) | Welch "
               "under drift %.0f %% | <= 5 %% where nothing changes in time | ",
               samples[n], 100 * simulate_sequential(SIMULATED_DRIFT, samples[n], true, 2000, 9));
        for (SimulatedKind k = 0; k < SIMULATED_COUNT; k++)
            shares[k] = simulate_sequential(k, samples[n], false, trials, 5);
        print_shares(shares, false);
        // Nothing can tell a drift or a step from a difference.
        ok = all_below(shares, trials, 0.05, true) && ok;
    }
    return ok;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*run)(size_t trials);
    } parts[] = {{"coverage", coverage},
                 {"verdicts", false_verdicts},
                 {"rules", other_rules},
                 {"stopping", stopping},
                 {"analysis", analysis_time}};
    size_t trials = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    bool ok = true;
    for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++) {
        bool wanted = argc <= 2;
        for (int i = 2; i < argc; i++)
            wanted = wanted || strcmp(argv[i], parts[p].name) == 0;
        if (wanted && !parts[p].run(trials))
            ok = false;
    }
    return ok ? 0 : 1;
}
