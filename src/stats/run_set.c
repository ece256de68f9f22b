// SPDX-License-Identifier: Apache-2.0
// Figures, outliers and comparisons of runs.

#include "stats/run_set.h"

#include <math.h>

#include "stats/hypothesis.h"

double *runs_times(Arena *arena, const RunGroup *g)
{
    double *x = arena_array(arena, double, g->runs.len + 1);
    for (size_t i = 0; i < g->runs.len; i++)
        x[i] = g->runs.at[i].time_s;
    return x;
}

size_t runs_completed_rounds(const RunSet *s)
{
    size_t least = SIZE_MAX;
    for (uint32_t i = 0; i < s->count; i++)
        least = MIN(least, s->groups[i].runs.len);
    return least;
}

uint64_t runs_peak_memory(const WeighedRun *weighed, const MeasuredRun *run)
{
    if (weighed->known && run->max_rss_bytes <= weighed->floor_bytes)
        return weighed->exact_bytes;
    int64_t bytes = (int64_t)run->max_rss_bytes + weighed->correction_bytes;
    return (uint64_t)MAX(bytes, (int64_t)0);
}

typedef double (*RunFigure)(const MeasuredRun *run);

static double figure_cpu(const MeasuredRun *r)
{
    return r->user_s + r->system_s;
}
static double figure_delay(const MeasuredRun *r)
{
    return (double)r->run_delay_ns * 1e-9;
}
static double figure_main_cpu(const MeasuredRun *r)
{
    return r->on_cpu_ns >= 0 ? (double)r->on_cpu_ns * 1e-9 : 0;
}
static double figure_minor(const MeasuredRun *r)
{
    return (double)r->minor_faults;
}
static double figure_major(const MeasuredRun *r)
{
    return (double)r->major_faults;
}
static double figure_switches(const MeasuredRun *r)
{
    return (double)(r->voluntary_switches + r->involuntary_switches);
}

static double median_figure(Arena *scratch, const MeasuredRunVec *runs, RunFigure figure)
{
    double *x = arena_array(scratch, double, runs->len + 1);
    for (size_t i = 0; i < runs->len; i++)
        x[i] = figure(&runs->at[i]);
    return stats_median(scratch, x, runs->len);
}

static void summarise_counts(Arena *scratch, const MeasuredRunVec *runs, uint32_t counters,
                             double *ret)
{
    double *x = arena_array(scratch, double, runs->len + 1);
    for (uint32_t c = 0; c < counters; c++) {
        size_t n = 0;
        for (size_t i = 0; i < runs->len; i++)
            if (isfinite(runs->at[i].counts[c]))
                x[n++] = MAX(0.0, runs->at[i].counts[c]);
        ret[c] = stats_median(scratch, x, n);
    }
}

static void summarise(Arena *scratch, RunGroup *group, uint32_t counters, uint64_t floor_bytes,
                      double level)
{
    const MeasuredRunVec *runs = &group->runs;
    size_t n = runs->len;
    RunSummary s = {.run_delay_s = NAN};
    if (n == 0) {
        group->summary = s;
        return;
    }
    double *x = arena_array(scratch, double, n);
    double *own = arena_array(scratch, double, n); // without the wait for a CPU, where known
    double user = 0, system = 0, delay = 0;
    bool delay_known = true;
    for (size_t i = 0; i < n; i++) {
        const MeasuredRun *run = &runs->at[i];
        x[i] = run->time_s;
        own[i] = isfinite(run->waiting_s) ? run->time_s - run->waiting_s : run->time_s;
        user += run->user_s;
        system += run->system_s;
        delay += (double)run->run_delay_ns * 1e-9;
        delay_known &= run->run_delay_ns >= 0;
        s.peak_rss_bytes = MAX(s.peak_rss_bytes, runs_peak_memory(&group->weighed, run));
        s.kernel_clocked += run->kernel_clocked;
    }
    if (!group->weighed.known) {
        s.peak_rss_error_bytes = RUN_RSS_ERROR;
        s.peak_rss_is_floor = s.peak_rss_bytes <= floor_bytes + RUN_RSS_ERROR;
    }
    double *sorted = stats_sorted(scratch, x, n);
    s.mean = stats_mean(x, n);
    s.deviation = stats_deviation(x, n);
    s.median = stats_median_sorted(sorted, n);
    s.mad = stats_mad(scratch, x, n);
    s.min = sorted[0];
    s.max = sorted[n - 1];
    s.user = user / (double)n;
    s.system = system / (double)n;
    s.run_delay_s = delay_known ? delay / (double)n : NAN;
    s.median_interval = stats_median_interval_sorted(sorted, n, level);
    s.minor_faults = median_figure(scratch, runs, figure_minor);
    s.major_faults = median_figure(scratch, runs, figure_major);
    s.switches = median_figure(scratch, runs, figure_switches);
    summarise_counts(scratch, runs, counters, s.counts);
    s.lag1 = stats_autocorrelation(x, n, 1);
    s.effective_runs = stats_effective_size(x, n);
    s.steady = stats_steady_state(scratch, own, n, 1);
    s.mode_count = (uint32_t)stats_modes(scratch, own, n, s.modes);
    TukeyFences fences = stats_fences_sorted(sorted, n);
    TypicalRun typical = {
        .time_s = s.median,
        .cpu_s = median_figure(scratch, runs, figure_cpu),
        .main_cpu_s = median_figure(scratch, runs, figure_main_cpu),
        .delay_s = delay_known ? median_figure(scratch, runs, figure_delay) : NAN,
        .major_faults = s.major_faults,
    };
    for (size_t i = 0; i < n; i++) {
        Outlier o = stats_outlier(&fences, x[i]);
        s.outliers[o]++;
        if (o == OUTLIER_HIGH_MILD || o == OUTLIER_HIGH_SEVERE)
            s.causes[run_cause(&runs->at[i], &typical)]++;
        if (i == 0)
            s.first_slow = o == OUTLIER_HIGH_SEVERE;
    }
    group->summary = s;
}

// Whether comparisons leave the wait for a CPU out: where it was a good part of the time
// and is known of every run. This does not tell the commands apart, so that the choice
// favours no outcome of a comparison.
static void choose_clock(RunSet *s)
{
    const double matters = 0.02;
    double all = 0, waited = 0;
    s->without_waiting = false;
    s->waiting_share = 0;
    if (s->plan.cpu_clock)
        return;
    for (uint32_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->groups[i].runs.len; k++) {
            all += s->groups[i].runs.at[k].time_s;
            waited += s->groups[i].runs.at[k].waiting_s;
        }
    if (!(all > 0) || !isfinite(waited))
        return;
    s->waiting_share = waited / all;
    s->without_waiting = s->waiting_share > matters && !s->plan.with_waiting;
}

static double compared_seconds(const MeasuredRun *run, bool without_waiting)
{
    bool known = without_waiting && isfinite(run->waiting_s);
    return known ? MAX(0.0, run->time_s - run->waiting_s) : run->time_s;
}

double runs_compared_seconds(const RunSet *s, const MeasuredRun *run)
{
    return compared_seconds(run, s->without_waiting);
}

// Pairs of complete rounds, without those that have a time of 0.
static Comparison compare(RunSet *s, Arena *scratch, uint32_t group, bool without_waiting,
                          const CompareOptions *options)
{
    const MeasuredRunVec *base = &s->groups[s->plan.reference].runs;
    const MeasuredRunVec *other = &s->groups[group].runs;
    size_t n = MIN(base->len, other->len), kept = 0;
    double *x = arena_array(scratch, double, MAX(base->len, other->len) + 1);
    double *y = arena_array(scratch, double, MAX(base->len, other->len) + 1);
    if (s->plan.grouped) {
        size_t nx = 0, ny = 0;
        for (size_t i = 0; i < base->len; i++)
            if ((x[nx] = compared_seconds(&base->at[i], without_waiting)) > 0)
                nx++;
        for (size_t i = 0; i < other->len; i++)
            if ((y[ny] = compared_seconds(&other->at[i], without_waiting)) > 0)
                ny++;
        return stats_compare_unpaired(scratch, x, nx, y, ny, options);
    }
    double *gaps = arena_array(scratch, double, n + 1);
    for (size_t i = 0; i < n; i++) {
        // A run that failed to be kept would shift the pairs: rounds are compared.
        if (base->at[i].round != other->at[i].round)
            break;
        x[kept] = compared_seconds(&base->at[i], without_waiting);
        y[kept] = compared_seconds(&other->at[i], without_waiting);
        if (x[kept] > 0 && y[kept] > 0) {
            // Unsigned, because a file may hold any start.
            int64_t gap =
                (int64_t)((uint64_t)base->at[i].start_ns - (uint64_t)other->at[i].start_ns);
            gaps[kept++] = fabs((double)gap) * 1e-9 / MAX(base->at[i].time_s, other->at[i].time_s);
        }
    }
    s->pairs_dropped += (uint32_t)(n - kept);
    s->gap_ratio = kept ? MAX(s->gap_ratio, stats_median(scratch, gaps, kept)) : s->gap_ratio;
    return stats_compare_paired(scratch, x, y, kept, options);
}

// Ratios of the counts, computed as compare() computes those of times.
static void compare_counts(RunSet *s, Arena *scratch, uint32_t group, const CompareOptions *given)
{
    const MeasuredRunVec *base = &s->groups[s->plan.reference].runs;
    RunGroup *other = &s->groups[group];
    size_t n = MIN(base->len, other->runs.len);
    double *x = arena_array(scratch, double, n + 1), *y = arena_array(scratch, double, n + 1);
    CompareOptions options = *given;
    options.sequence = false;
    for (uint32_t c = 0; c < s->counters; c++) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
            x[kept] = base->at[i].counts[c];
            y[kept] = other->runs.at[i].counts[c];
            kept += x[kept] > 0 && y[kept] > 0;
        }
        other->count_ratios[c] = (Interval){0};
        if (kept > n / 2 && s->plan.grouped)
            other->count_ratios[c] =
                stats_compare_unpaired(scratch, x, kept, y, kept, &options).ratio;
        else if (kept > n / 2)
            other->count_ratios[c] = stats_compare_paired(scratch, x, y, kept, &options).ratio;
    }
}

static void compare_all(RunSet *s, Arena *scratch)
{
    const RunPlan *plan = &s->plan;
    // Several comparisons: all intervals hold at once (Bonferroni).
    CompareOptions options = {
        .level = 1 - (1 - plan->level) / (double)(s->count - 1),
        .margin = plan->until > 0 ? plan->until : plan->margin,
        .sequence = plan->until > 0,
        .horizon = plan->max_runs,
    };
    double *p = arena_array(scratch, double, s->count);
    size_t others = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        RunGroup *g = &s->groups[i];
        if (i == plan->reference)
            continue;
        g->comparison = compare(s, scratch, i, s->without_waiting, &options);
        uint32_t dropped = s->pairs_dropped;
        g->elapsed_ratio =
            s->without_waiting ? compare(s, scratch, i, false, &options).ratio : (Interval){0};
        s->pairs_dropped = dropped;
        compare_counts(s, scratch, i, &options);
        p[others++] = g->comparison.p;
    }
    stats_adjust_holm(scratch, p, others);
    others = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (i != plan->reference)
            s->groups[i].adjusted_p = p[others++];
}

void runs_summarise(RunSet *s)
{
    Arena scratch = {0};
    for (uint32_t i = 0; i < s->count; i++)
        summarise(&scratch, &s->groups[i], s->counters, s->rss_floor_bytes, 0.95);
    if (s->count == 1 && s->plan.until > 0 && s->groups[0].runs.len)
        s->groups[0].summary.median_interval =
            stats_sequence_median(&scratch, runs_times(&scratch, &s->groups[0]),
                                  s->groups[0].runs.len, s->plan.level, SEQUENCE_TUNED_AT);
    s->pairs_dropped = 0;
    s->gap_ratio = 0;
    if (!s->clock_settled)
        choose_clock(s);
    if (s->count > 1 && runs_completed_rounds(s) > 0)
        compare_all(s, &scratch);
    arena_deinit(&scratch);
}

int runs_gate(const RunSet *s, double limit)
{
    int status = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const Comparison *c = &s->groups[i].comparison;
        if (i == s->plan.reference)
            continue;
        if (c->pairs && c->ratio.low > 1 + limit)
            return 3;
        if (!c->pairs || !(c->ratio.high <= 1 + limit))
            status = 4;
    }
    return status;
}
