// SPDX-License-Identifier: Apache-2.0
// Figures of function benchmarks from rows of runs.

#include "analyse/function_summary.h"

#include <math.h>

#include "base/table.h"
#include "model/facts.h"
#include "model/run_names.h"
#include "stats/summary.h"

enum { BOOTSTRAP_RESAMPLES = 10000 };

// No sample has more; the squares and sums of such numbers are numbers.
#define ITERATIONS_MAX 1e18
#define SECONDS_MAX    1e10

bool function_summaries_apply(const Profile *p)
{
    return str_equal(profile_fact(p, STR(FACT_COLLECTOR)), STR(COLLECTOR_FUNCTIONS));
}

static double fact_share(const Profile *p, const char *key, double otherwise)
{
    double value;
    return str_parse_double(profile_fact(p, str_from_c(key)), &value) && value >= 0 && value < 1
               ? value
               : otherwise;
}

// ---- Rows ------------------------------------------------------------------

static uint32_t find_or_add(FunctionSummaries *f, Table *table, U32Vec *names, StrId name)
{
    uint64_t hash = hash_u64(name.v);
    uint32_t row;
    for (TableProbe t = table_probe(table, hash); table_next(table, &t, &row);)
        if (names->at[row] == name.v)
            return row;
    row = (uint32_t)f->list.len;
    table_insert(table, hash, row);
    vec_push(&f->arena, names, name.v);
    vec_push(
        &f->arena, &f->list,
        (FunctionRuns){
            .name = profile_text(f->profile, name), .bytes = NAN, .elements = NAN, .cycle = NAN});
    return row;
}

typedef struct SampleMetrics {
    uint32_t iterations, time, bytes, elements, cpu, cycle; // UINT32_MAX: the recording has none
} SampleMetrics;

static SampleMetrics sample_metrics(const Profile *p)
{
    SampleMetrics m = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < p->metrics.name.len; i++) {
        Str name = profile_text(p, p->metrics.name.at[i]);
        if (str_equal(name, STR(RUN_METRIC_SAMPLE_ITERATIONS)))
            m.iterations = i;
        else if (str_equal(name, STR(RUN_METRIC_SAMPLE_TIME)))
            m.time = i;
        else if (str_equal(name, STR(RUN_METRIC_BYTES)))
            m.bytes = i;
        else if (str_equal(name, STR(RUN_METRIC_ELEMENTS)))
            m.elements = i;
        else if (str_equal(name, STR(RUN_METRIC_CPU_TIME)))
            m.cpu = i;
        else if (str_equal(name, STR(RUN_METRIC_CYCLE)))
            m.cycle = i;
    }
    return m;
}

// The samples of one run: its rows from `from` to `to`.
static bool read_replicate(FunctionSummaries *f, FunctionRuns *function, int build,
                           const SampleMetrics *m, size_t from, size_t to, Error *err)
{
    const RunValues *v = &f->profile->run_values;
    double *each = arena_array(&f->arena, double, to - from + 1), iterations = NAN;
    Replicate r = {.cpu = NAN};
    for (size_t i = from; i < to; i++) {
        double value = v->value.at[i];
        uint32_t metric = v->metric.at[i].v;
        if (metric == m->iterations) {
            iterations = value;
        } else if (metric == m->time) {
            if (!(iterations >= 1 && iterations <= ITERATIONS_MAX) ||
                !(value >= 0 && value <= SECONDS_MAX))
                return error_set(err, ERROR_FORMAT, "a sample of '%" STR_FMT "' is not a time",
                                 STR_ARG(function->name));
            each[r.samples++] = value / iterations;
            r.sum_each += value / iterations;
            r.xy += iterations * value;
            r.xx += iterations * iterations;
            r.iterations += iterations;
            if (build == 0)
                vec_push(&f->arena, &function->each, value / iterations);
            iterations = NAN;
        } else if (build == 0 && metric == m->bytes) {
            function->bytes = value;
        } else if (build == 0 && metric == m->elements) {
            function->elements = value;
        } else if (build == 0 && metric == m->cycle) {
            function->cycle = value;
        } else if (metric == m->cpu) {
            r.cpu = value;
        }
    }
    if (r.samples == 0)
        return error_set(err, ERROR_FORMAT, "a run of '%" STR_FMT "' has no samples",
                         STR_ARG(function->name));
    r.median = stats_median(&f->arena, each, r.samples);
    vec_push(&f->arena, &function->runs[build], r);
    return true;
}

static bool read_runs(FunctionSummaries *f, Error *err)
{
    const Profile *p = f->profile;
    const RunValues *v = &p->run_values;
    const SampleMetrics metrics = sample_metrics(p);
    const Str against = STR("against");
    Table table = {0};
    U32Vec names = {0};
    size_t at = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->runs.name.len; i++) {
        size_t from = at;
        if (at < v->run.len && v->run.at[at].v < i)
            ok = error_set(err, ERROR_FORMAT, "values of run %u come after those of later runs",
                           v->run.at[at].v);
        while (at < v->run.len && v->run.at[at].v == i)
            at++;
        if (!ok || (p->runs.flags.at[i] & RUN_NO_STATISTIC))
            continue;
        uint32_t row = find_or_add(f, &table, &names, p->runs.name.at[i]);
        Str conditions = profile_text(p, p->runs.conditions.at[i]);
        Str build = run_conditions_find(&f->arena, conditions, STR(RUN_CONDITION_BUILD));
        bool is_against = str_equal(build, against);
        f->has_against |= is_against;
        if (!is_against && f->program.len == 0)
            f->program = profile_text(p, p->runs.command.at[i]);
        ok = read_replicate(f, &f->list.at[row], is_against, &metrics, from, at, err);
        if (ok) {
            Replicate *r = &vec_last(&f->list.at[row].runs[is_against]);
            r->start_ns = p->runs.start_ns.at[i];
            r->round = p->runs.round.at[i];
        }
    }
    table_deinit(&table);
    return ok;
}

bool function_summaries_init(FunctionSummaries *f, const Profile *p, Error *err)
{
    *f = (FunctionSummaries){.profile = p,
                             .level = fact_share(p, FACT_LEVEL, 0.95),
                             .margin = fact_share(p, FACT_MARGIN, 0.01)};
    (void)(profile_fact_u64(p, STR(FACT_SEED), &f->seed) || (f->seed = 1));
    (void)profile_fact_u64(p, STR(FACT_MAX_RUNS), &f->most);
    f->until = fact_share(p, FACT_UNTIL, 0);
    f->build_names[0] = profile_fact(p, STR(FACT_BUILD_NAME));
    f->build_names[1] = profile_fact(p, STR(FACT_AGAINST_NAME));
    f->without_waiting = str_equal(profile_fact(p, STR(FACT_WITHOUT_WAITING)), STR("yes"));
    f->waiting_share = fact_share(p, FACT_WAITING_SHARE, 0);
    if (read_runs(f, err))
        return true;
    function_summaries_deinit(f);
    return false;
}

void function_summaries_deinit(FunctionSummaries *f)
{
    arena_deinit(&f->arena);
    *f = (FunctionSummaries){0};
}

// ---- Figures ---------------------------------------------------------------

double *function_medians(Arena *arena, const ReplicateVec *runs)
{
    double *x = arena_array(arena, double, runs->len + 1);
    for (size_t i = 0; i < runs->len; i++)
        x[i] = runs->at[i].median;
    return x;
}

Interval function_typical(FunctionSummaries *f, const FunctionRuns *function)
{
    double *x = function_medians(&f->arena, &function->runs[0]);
    size_t n = function->runs[0].len;
    if (f->until > 0 && !function_compares(f))
        return stats_sequence_median(&f->arena, x, n, f->level, SEQUENCE_TUNED_AT);
    return stats_hodges_lehmann(&f->arena, x, n, f->level);
}

typedef double (*PooledFigure)(const Replicate *runs, const uint32_t *rows, size_t n);

static double pooled_slope(const Replicate *runs, const uint32_t *rows, size_t n)
{
    double xy = 0, xx = 0;
    for (size_t i = 0; i < n; i++) {
        xy += runs[rows[i]].xy;
        xx += runs[rows[i]].xx;
    }
    return xy / xx;
}

static double pooled_mean(const Replicate *runs, const uint32_t *rows, size_t n)
{
    double sum = 0, samples = 0;
    for (size_t i = 0; i < n; i++) {
        sum += runs[rows[i]].sum_each;
        samples += (double)runs[rows[i]].samples;
    }
    return sum / samples;
}

typedef struct PooledContext {
    const Replicate *runs;
    PooledFigure figure;
} PooledContext;

static double pooled(const void *ctx, const uint32_t *rows, size_t n)
{
    const PooledContext *p = ctx;
    return p->figure(p->runs, rows, n);
}

// A bootstrap that draws whole processes.
static Interval pooled_interval(FunctionSummaries *f, const FunctionRuns *function,
                                PooledFigure figure)
{
    PooledContext context = {function->runs[0].at, figure};
    Random random = random_seeded(f->seed);
    return stats_bootstrap(&f->arena, pooled, &context, function->runs[0].len, BOOTSTRAP_RESAMPLES,
                           f->level, &random)
        .percentile;
}

Interval function_slope(FunctionSummaries *f, const FunctionRuns *function)
{
    return pooled_interval(f, function, pooled_slope);
}

Interval function_mean(FunctionSummaries *f, const FunctionRuns *function)
{
    return pooled_interval(f, function, pooled_mean);
}

// ---- Doubts ----------------------------------------------------------------

// The work that an iteration states: elements, else bytes; 0 when neither.
static double stated_work(const FunctionRuns *function)
{
    return function->elements > 0 ? function->elements : function->bytes > 0 ? function->bytes : 0;
}

// "sort" of "sort/1000"; the whole name where it has no argument.
static Str without_argument(Str name)
{
    for (size_t i = name.len; i > 0; i--)
        if (name.ptr[i - 1] == '/')
            return str_slice(name, 0, i - 1);
    return name;
}

FunctionDoubt function_doubt(FunctionSummaries *f, const FunctionRuns *function)
{
    // No CPU reads or computes as much in a cycle.
    const double most_in_a_cycle = 256, grown = 16, same_time = 1.5;
    double work = stated_work(function), least = MAX(work, function->bytes);
    if (function->runs[0].len == 0)
        return DOUBT_NONE;
    double seconds = function_typical(f, function).point;
    // Disturbance only adds: the quick samples show the time of the work.
    double *sorted = stats_sorted(&f->arena, function->each.at, function->each.len);
    double quick = stats_percentile_sorted(sorted, function->each.len, 0.25);
    if (quick < function->cycle)
        return DOUBT_UNDER_A_CYCLE;
    if (least * function->cycle > most_in_a_cycle * quick)
        return DOUBT_TOO_FAST;
    Str name = without_argument(function->name);
    for (size_t i = 0; name.len < function->name.len && i < f->list.len; i++) {
        const FunctionRuns *other = &f->list.at[i];
        double other_work = stated_work(other);
        if (other_work > 0 && other->runs[0].len && other_work * grown <= work &&
            str_equal(without_argument(other->name), name) &&
            seconds < same_time * function_typical(f, other).point)
            return DOUBT_NO_GROWTH;
    }
    return DOUBT_NONE;
}

// ---- Changes ---------------------------------------------------------------

// Times of a and b, 0 left out: in pairs where `paired`.
static size_t keep_positive(double *a, size_t na, double *b, size_t nb, bool paired, size_t *kept_b)
{
    size_t ka = 0, kb = 0;
    if (paired) {
        for (size_t i = 0; i < MIN(na, nb); i++)
            if (a[i] > 0 && b[i] > 0) {
                a[ka] = a[i];
                b[ka++] = b[i];
            }
        *kept_b = ka;
        return ka;
    }
    for (size_t i = 0; i < na; i++)
        if (a[i] > 0)
            a[ka++] = a[i];
    for (size_t i = 0; i < nb; i++)
        if (b[i] > 0)
            b[kb++] = b[i];
    *kept_b = kb;
    return ka;
}

Str function_label(FunctionSummaries *f, const FunctionRuns *function, int build)
{
    Str name = f->build_names[build];
    if (name.len)
        return arena_printf(&f->arena, "%" STR_FMT ": %" STR_FMT, STR_ARG(name),
                            STR_ARG(function->name));
    if (build == 0)
        return function->name;
    return arena_printf(&f->arena, "%" STR_FMT " (%s)", STR_ARG(function->name),
                        f->has_against ? "against" : "baseline");
}

const SavedTimes *function_saved_times(const FunctionSummaries *f, const FunctionRuns *function)
{
    for (size_t i = 0; i < f->saved_count; i++)
        if (str_equal(f->saved[i].name, function->name))
            return &f->saved[i];
    return NULL;
}

bool function_compares(const FunctionSummaries *f)
{
    return f->has_against || f->compares_saved;
}

bool function_change(FunctionSummaries *f, const FunctionRuns *function, Comparison *ret)
{
    CompareOptions options = {.level = f->level,
                              .margin = f->until > 0 ? f->until : f->margin,
                              .sequence = f->until > 0,
                              .horizon = f->most};
    const SavedTimes *saved = function_saved_times(f, function);
    bool paired = f->has_against;
    double *now = function_medians(&f->arena, &function->runs[0]), *then = NULL;
    size_t n_now = function->runs[0].len, n_then = 0;
    if (paired) {
        then = function_medians(&f->arena, &function->runs[1]);
        n_then = function->runs[1].len;
    } else if (saved) {
        then = arena_array(&f->arena, double, saved->count + 1);
        n_then = saved->count;
        for (size_t i = 0; i < n_then; i++)
            then[i] = saved->seconds[i];
    }
    if (!then)
        return false;
    n_now = keep_positive(now, n_now, then, n_then, paired, &n_then);
    if (n_now == 0 || n_then == 0)
        return false;
    *ret = paired ? stats_compare_paired(&f->arena, then, now, n_now, &options)
                  : stats_compare_unpaired(&f->arena, then, n_then, now, n_now, &options);
    return true;
}

bool function_decided(FunctionSummaries *f)
{
    for (size_t i = 0; i < f->list.len; i++) {
        const FunctionRuns *function = &f->list.at[i];
        Comparison c;
        if (function->runs[0].len == 0 || (f->has_against && function->runs[1].len == 0))
            continue; // no other process will bring what this build does not have
        if (function_compares(f)) {
            if (function_change(f, function, &c) && c.verdict == VERDICT_INCONCLUSIVE)
                return false;
            continue;
        }
        Interval in = function_typical(f, function);
        if (!(in.low > 0) || !(log(in.high / in.low) / 2 <= log1p(f->until)))
            return false;
    }
    return true;
}

int function_gate(FunctionSummaries *f, double limit)
{
    int gate = 0;
    if (!function_compares(f))
        return 0;
    for (size_t i = 0; i < f->list.len; i++) {
        Comparison c;
        bool known = function_change(f, &f->list.at[i], &c);
        if (known && c.ratio.low > 1 + limit)
            return 3;
        if (!known || !(c.ratio.high <= 1 + limit))
            gate = 4;
    }
    return gate;
}
