// SPDX-License-Identifier: Apache-2.0
// Synthetic experiments.

#include "stats_simulate.h"

#include "random_normal.h"
#include "stats/compare.h"
#include "stats/distributions.h"
#include "stats/summary.h"

#include <math.h>

const char *simulated_name(SimulatedKind kind)
{
    static const char *const names[] = {"normal", "log-normal", "bimodal", "drift", "AR(1) 0.3"};
    return names[kind];
}

// The log noise of run t of `runs`; `carry` is the state of the AR(1) series.
static double noise(SimulatedKind kind, size_t t, size_t runs, double *carry, Random *r)
{
    double z = random_normal(r);
    switch (kind) {
    case SIMULATED_NORMAL:
        return log1p(0.05 * z);
    case SIMULATED_BIMODAL:
        return 0.02 * z + (random_below(r, 3) == 0 ? log(1.2) : 0);
    case SIMULATED_DRIFT:
        return 0.03 * z + 0.2 * (double)t / (double)runs;
    case SIMULATED_AR1:
        *carry = 0.3 * *carry + z;
        return 0.05 * *carry;
    case SIMULATED_LOG_NORMAL:
    case SIMULATED_COUNT:
        break;
    }
    return 0.1 * z;
}

static void interleaved_runs(SimulatedKind kind, size_t pairs, double ratio, double *a, double *b,
                             Random *r)
{
    double carry = random_normal(r);
    bool a_first = true;
    for (size_t p = 0; p < pairs; p++) {
        a_first = p % 2 ? !a_first : random_below(r, 2) == 0;
        double first = noise(kind, 2 * p, 2 * pairs, &carry, r);
        double second = noise(kind, 2 * p + 1, 2 * pairs, &carry, r);
        a[p] = exp(a_first ? first : second);
        b[p] = ratio * exp(a_first ? second : first);
    }
}

double simulate_coverage(SimulatedKind kind, size_t pairs, double ratio, size_t trials,
                         double level, uint64_t seed)
{
    CompareOptions options = {.level = level, .margin = 0.01, .block_pairs = 2};
    Random random = random_seeded(seed);
    size_t held = 0;
    for (size_t t = 0; t < trials; t++) {
        Arena s = {0};
        double *a = arena_array(&s, double, pairs), *b = arena_array(&s, double, pairs);
        interleaved_runs(kind, pairs, ratio, a, b, &random);
        Comparison c = stats_compare_paired(&s, a, b, pairs, &options);
        held += c.ratio.low <= ratio && ratio <= c.ratio.high;
        arena_deinit(&s);
    }
    return (double)held / (double)trials;
}

// Whether Welch's test, which takes runs one after the other, tells two samples apart.
static bool welch_differs(const double *x, const double *y, size_t n, double level)
{
    double vx = stats_variance(x, n) / (double)n, vy = stats_variance(y, n) / (double)n;
    double t = (stats_mean(x, n) - stats_mean(y, n)) / sqrt(vx + vy);
    double df = (vx + vy) * (vx + vy) * (double)(n - 1) / (vx * vx + vy * vy);
    return fabs(t) > student_quantile(0.5 + level / 2, df);
}

double simulate_false_positives(SimulatedKind kind, size_t pairs, bool interleaved, size_t trials,
                                double level, uint64_t seed)
{
    if (interleaved)
        return 1 - simulate_coverage(kind, pairs, 1, trials, level, seed);
    Random random = random_seeded(seed);
    size_t differ = 0;
    for (size_t t = 0; t < trials; t++) {
        Arena s = {0};
        double *x = arena_array(&s, double, 2 * pairs), carry = random_normal(&random);
        for (size_t i = 0; i < 2 * pairs; i++)
            x[i] = exp(noise(kind, i, 2 * pairs, &carry, &random));
        differ += welch_differs(x, x + pairs, pairs, level);
        arena_deinit(&s);
    }
    return (double)differ / (double)trials;
}

Stopping simulate_stopping(SimulatedKind kind, size_t pairs, double ratio, size_t trials,
                           bool known_end, double level, uint64_t seed)
{
    enum { LOOK_FROM = 6 }; // pairs, as the tool does
    CompareOptions options = {.level = level,
                              .margin = 0,
                              .sequence = true,
                              .block_pairs = 2,
                              .horizon = known_end ? pairs : 0};
    Random random = random_seeded(seed);
    Arena keep = {0};
    double *at = arena_array(&keep, double, trials);
    size_t stopped = 0;
    for (size_t t = 0; t < trials; t++) {
        Arena s = {0};
        double *a = arena_array(&s, double, pairs), *b = arena_array(&s, double, pairs);
        interleaved_runs(kind, pairs, ratio, a, b, &random);
        for (size_t n = LOOK_FROM; n <= pairs; n++) {
            if (stats_compare_paired(&s, a, b, n, &options).differs) {
                at[stopped++] = (double)n;
                break;
            }
        }
        arena_deinit(&s);
    }
    Stopping r = {(double)stopped / (double)trials, stats_median(&keep, at, stopped)};
    arena_deinit(&keep);
    return r;
}
