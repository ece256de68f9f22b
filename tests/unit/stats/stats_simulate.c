// SPDX-License-Identifier: Apache-2.0
// Synthetic experiments.

#include "stats_simulate.h"

#include "random_normal.h"
#include "stats/compare.h"
#include "stats/distributions.h"
#include "stats/series.h"
#include "stats/summary.h"

#include <math.h>

static const struct {
    const char *name;
    double apart, share; // of families with two modes
} families[SIMULATED_COUNT] = {
    [SIMULATED_NORMAL] = {"normal", 0, 0},
    [SIMULATED_LOG_NORMAL] = {"log-normal 10 %", 0, 0},
    [SIMULATED_MODES_1_2_05] = {"modes 1.2x 5/95", 1.2, 0.05},
    [SIMULATED_MODES_1_2_20] = {"modes 1.2x 20/80", 1.2, 0.2},
    [SIMULATED_MODES_1_2_50] = {"modes 1.2x 50/50", 1.2, 0.5},
    [SIMULATED_MODES_2_05] = {"modes 2x 5/95", 2, 0.05},
    [SIMULATED_MODES_2_20] = {"modes 2x 20/80", 2, 0.2},
    [SIMULATED_MODES_2_50] = {"modes 2x 50/50", 2, 0.5},
    [SIMULATED_MODES_6_05] = {"modes 6x 5/95", 6, 0.05},
    [SIMULATED_MODES_6_20] = {"modes 6x 20/80", 6, 0.2},
    [SIMULATED_MODES_6_50] = {"modes 6x 50/50", 6, 0.5},
    [SIMULATED_PARETO] = {"Pareto 2.1", 0, 0},
    [SIMULATED_DRIFT] = {"drift", 0, 0},
    [SIMULATED_AR1] = {"AR(1) 0.3", 0, 0},
    [SIMULATED_PERIODIC] = {"periodic", 0, 0},
    [SIMULATED_STEP] = {"step", 0, 0},
};

const char *simulated_name(SimulatedKind kind)
{
    return families[kind].name;
}

// The log noise of run t of `runs`; `carry` is the state of the AR(1) series, or the phase of the
// interference.
static double noise(SimulatedKind kind, size_t t, size_t runs, double *carry, Random *r)
{
    double z = random_normal(r);
    if (families[kind].apart > 0) {
        bool slow = (double)random_below(r, 1000) < 1000 * families[kind].share;
        return 0.005 * z + (slow ? log(families[kind].apart) : 0);
    }
    switch (kind) {
    case SIMULATED_NORMAL:
        return log1p(0.05 * z);
    case SIMULATED_PARETO:
        return -log(((double)random_below(r, 1u << 30) + 0.5) / (1u << 30)) / 2.1;
    case SIMULATED_DRIFT:
        return 0.03 * z + 0.2 * (double)t / (double)runs;
    case SIMULATED_AR1:
        *carry = 0.3 * *carry + z;
        return 0.05 * *carry;
    case SIMULATED_PERIODIC:
        return 0.02 * z + ((t + (*carry > 0)) % 4 < 2 ? log(1.5) : 0);
    case SIMULATED_STEP:
        return 0.03 * z + (2 * t >= runs ? log(1.3) : 0);
    default:
        return 0.1 * z;
    }
}

static void interleaved_runs(SimulatedKind kind, size_t pairs, double ratio, double *a, double *b,
                             Random *r)
{
    double carry = random_normal(r);
    for (size_t p = 0; p < pairs; p++) {
        bool a_first = random_below(r, 2) == 0;
        double first = noise(kind, 2 * p, 2 * pairs, &carry, r);
        double second = noise(kind, 2 * p + 1, 2 * pairs, &carry, r);
        a[p] = exp(a_first ? first : second);
        b[p] = ratio * exp(a_first ? second : first);
    }
}

static Comparison compared(Arena *s, SimulatedKind kind, size_t pairs, double ratio,
                           const CompareOptions *options, Random *random)
{
    double *a = arena_array(s, double, pairs), *b = arena_array(s, double, pairs);
    interleaved_runs(kind, pairs, ratio, a, b, random);
    return stats_compare_paired(s, a, b, pairs, options);
}

double simulate_coverage(SimulatedKind kind, size_t pairs, double ratio, size_t trials,
                         double level, uint64_t seed)
{
    CompareOptions options = {.level = level, .margin = 0.01};
    Random random = random_seeded(seed);
    size_t held = 0;
    for (size_t t = 0; t < trials; t++) {
        Arena s = {0};
        Comparison c = compared(&s, kind, pairs, ratio, &options, &random);
        held += c.ratio.low <= ratio && ratio <= c.ratio.high;
        arena_deinit(&s);
    }
    return (double)held / (double)trials;
}

double simulate_false_verdicts(SimulatedKind kind, size_t pairs, size_t trials, uint64_t seed)
{
    CompareOptions options = {.level = 0.95, .margin = 0.01};
    Random random = random_seeded(seed);
    size_t wrong = 0;
    for (size_t t = 0; t < trials; t++) {
        Arena s = {0};
        Comparison c = compared(&s, kind, pairs, 1, &options, &random);
        wrong += c.verdict == VERDICT_FASTER || c.verdict == VERDICT_SLOWER;
        arena_deinit(&s);
    }
    return (double)wrong / (double)trials;
}

// Whether Welch's test, which takes runs one after the other, tells two samples apart.
static bool welch_differs(const double *x, const double *y, size_t n, double level)
{
    double vx = stats_variance(x, n) / (double)n, vy = stats_variance(y, n) / (double)n;
    double t = (stats_mean(x, n) - stats_mean(y, n)) / sqrt(vx + vy);
    double df = (vx + vy) * (vx + vy) * (double)(n - 1) / (vx * vx + vy * vy);
    return fabs(t) > student_quantile(0.5 + level / 2, df);
}

double simulate_sequential(SimulatedKind kind, size_t pairs, bool welch, size_t trials,
                           uint64_t seed)
{
    CompareOptions options = {.level = 0.95, .margin = 0.01};
    Random random = random_seeded(seed);
    size_t differ = 0;
    for (size_t t = 0; t < trials; t++) {
        Arena s = {0};
        double *x = arena_array(&s, double, 2 * pairs), carry = random_normal(&random);
        for (size_t i = 0; i < 2 * pairs; i++)
            x[i] = exp(noise(kind, i, 2 * pairs, &carry, &random));
        differ += welch ? welch_differs(x, x + pairs, pairs, 0.95)
                        : stats_compare_unpaired(&s, x, pairs, x + pairs, pairs, &options).differs;
        arena_deinit(&s);
    }
    return (double)differ / (double)trials;
}

// The next look of `--until`: after each round at first, then after 5 % more.
static size_t next_look(size_t n)
{
    return n + MAX((size_t)1, n / 20);
}

enum { LOOK_FROM = 8 };

Stopping simulate_stopping(SimulatedKind kind, size_t pairs, double ratio, size_t trials,
                           bool known_end, double level, uint64_t seed)
{
    CompareOptions options = {
        .level = level, .margin = 0, .sequence = true, .horizon = known_end ? pairs : 0};
    Random random = random_seeded(seed);
    Arena keep = {0};
    double *at = arena_array(&keep, double, trials);
    size_t stopped = 0;
    for (size_t t = 0; t < trials; t++) {
        Arena s = {0};
        double *a = arena_array(&s, double, pairs), *b = arena_array(&s, double, pairs);
        interleaved_runs(kind, pairs, ratio, a, b, &random);
        for (size_t n = LOOK_FROM; n <= pairs; n = next_look(n)) {
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

// The lower and upper ends of what is a median of the family, as a factor of a run without noise.
static void true_median(SimulatedKind kind, double *low, double *high)
{
    *low = *high = 1;
    if (kind == SIMULATED_PARETO)
        *low = *high = exp(log(2) / 2.1);
    if (families[kind].share > 0 && families[kind].share < 0.5) // of the mode that holds it
        *low = *high = exp(0.005 * normal_quantile(0.5 / (1 - families[kind].share)));
    if (families[kind].share >= 0.5)
        *high = families[kind].apart;
    if (kind == SIMULATED_PERIODIC)
        *high = 1.5;
}

double simulate_one_command(SimulatedKind kind, size_t runs, size_t trials, uint64_t seed)
{
    Random random = random_seeded(seed);
    size_t wrong = 0;
    double low, high;
    true_median(kind, &low, &high);
    for (size_t t = 0; t < trials; t++) {
        Arena s = {0};
        double *x = arena_array(&s, double, runs), carry = random_normal(&random);
        Interval i = {0};
        for (size_t k = 0; k < runs; k++)
            x[k] = exp(noise(kind, k, runs, &carry, &random));
        for (size_t n = LOOK_FROM; n <= runs; n = next_look(n)) {
            i = stats_sequence_median(&s, x, n, 0.95, 100);
            if (i.low > high || i.high < low || (i.low > 0 && log(i.high / i.low) / 2 < 0.01))
                break;
        }
        wrong += i.low > high || i.high < low;
        arena_deinit(&s);
    }
    return (double)wrong / (double)trials;
}

double simulate_warm_up_advice(SimulatedKind kind, size_t runs, size_t trials, uint64_t seed)
{
    Random random = random_seeded(seed);
    size_t wrong = 0;
    for (size_t t = 0; t < trials; t++) {
        Arena s = {0};
        double *x = arena_array(&s, double, runs), carry = random_normal(&random);
        for (size_t k = 0; k < runs; k++)
            x[k] = 0.02 * exp(noise(kind, k, runs, &carry, &random));
        Steady steady = stats_steady_state(&s, x, runs, 1);
        wrong += steady.kind == STEADY_WARM_UP || steady.kind == STEADY_SLOWDOWN;
        arena_deinit(&s);
    }
    return (double)wrong / (double)trials;
}
