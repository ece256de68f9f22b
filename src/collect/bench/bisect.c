// SPDX-License-Identifier: Apache-2.0
// Bursts of pairs, looked at after each.

#include "collect/bench/bisect.h"

#include <math.h>

#include "os/clock.h"
#include "stats/intervals.h"

enum { BURST_LEAST = 8, BURST_MOST = 64, BURST_NS = 400000000, TUNED_AT = 60 };

// The wait for a CPU is left out where it is known of both runs.
static double time_of(const MeasuredRun *run, const MeasuredRun *other)
{
    bool known = isfinite(run->waiting_s) && isfinite(other->waiting_s);
    return run->time_s - (known ? run->waiting_s : 0);
}

static double value_of(const BisectStep *s, const MeasuredRun *run, const MeasuredRun *other)
{
    switch (s->quantity) {
    case BISECT_MEMORY:
        return (double)run->max_rss_bytes;
    case BISECT_COUNTER:
        return run->counts[s->counter];
    case BISECT_TIME:
        break;
    }
    return time_of(run, other);
}

// Runs so many pairs and appends their log ratios.
static bool run_burst(const BisectStep *s, uint64_t pairs, uint64_t burst, DoubleVec *logs,
                      bool *interrupted, Error *err)
{
    BenchOptions options = *s->options;
    Bench b;
    options.runs = pairs;
    options.warmup = burst ? 0 : MAX(options.warmup, (uint64_t)1);
    options.seed += burst;
    options.reference = 0;
    options.grouped = false;
    options.until = 0;
    bench_init(&b, &options, s->server);
    vec_push(&b.arena, &b.commands, *s->good);
    vec_push(&b.arena, &b.commands, *s->other);
    bool ok = bench_run(&b, err);
    if (ok && s->quantity == BISECT_COUNTER && !b.counters[s->counter].open) {
        *err = b.counters[s->counter].reason;
        ok = false;
    }
    for (size_t i = 0; ok && i < runs_completed_rounds(&b.set); i++) {
        const MeasuredRun *good = &b.set.groups[0].runs.at[i], *other = &b.set.groups[1].runs.at[i];
        double before = value_of(s, good, other), after = value_of(s, other, good);
        if (before > 0 && after > 0)
            vec_push(NULL, logs, log(after / before));
    }
    *interrupted = b.interrupted;
    bench_deinit(&b);
    return ok;
}

static bool is_decided(const BisectStep *s, const Interval *log_ratio)
{
    if (s->limit > 0)
        return log_ratio->low > log(s->limit) || log_ratio->high < log(s->limit);
    double half = (log_ratio->high - log_ratio->low) / 2;
    return (log_ratio->low > 0 && half <= log_ratio->point / 3) || log_ratio->high < log(s->least);
}

bool bisect_measure(const BisectStep *s, BisectResult *ret, Error *err)
{
    BisectResult r = {0};
    DoubleVec logs = {0};
    Arena scratch = {0};
    Interval in = {-INFINITY, 0, INFINITY};
    int64_t begin = os_monotonic_ns();
    uint64_t pairs = BURST_LEAST;
    bool ok = true;
    for (uint64_t burst = 0; ok && !r.decided && !r.interrupted; burst++) {
        int64_t start = os_monotonic_ns();
        ok = run_burst(s, pairs, burst, &logs, &r.interrupted, err);
        int64_t now = os_monotonic_ns(), each = (now - start) / (int64_t)pairs + 1;
        if (!ok || logs.len == 0)
            break;
        in = stats_sequence_location(&scratch, logs.at, logs.len, s->level, TUNED_AT, 0);
        arena_clear(&scratch);
        r.decided = is_decided(s, &in);
        Interval ratio = {exp(in.low), exp(in.point), exp(in.high)};
        if (s->progress)
            s->progress(s->ctx, &ratio, logs.len);
        if (now - begin > s->max_ns || (s->max_pairs && logs.len >= s->max_pairs))
            break;
        pairs = (uint64_t)MAX((int64_t)BURST_LEAST, MIN(BURST_NS / each, (int64_t)BURST_MOST));
    }
    if (ok && logs.len == 0 && !r.interrupted)
        ok = error_set(err, ERROR_UNSUPPORTED, "the judged quantity was 0 in every run");
    r.ratio = (Interval){exp(in.low), exp(in.point), exp(in.high)};
    r.pairs = logs.len;
    r.is_slow = in.point > (s->limit > 0 ? log(s->limit) : 0);
    vec_free(&logs);
    arena_deinit(&scratch);
    if (ok)
        *ret = r;
    return ok;
}
