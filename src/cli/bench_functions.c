// SPDX-License-Identifier: Apache-2.0
// Function benchmarks, a process being one replicate: samples within a process
// share its layout and its luck, and say little about the next one.

#include "cli/bench_functions.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "collect/bench/schedule.h"
#include "os/file.h"

enum { BOOTSTRAP_RESAMPLES = 10000 };

// One process' samples of one function. Times per iteration in seconds.
typedef struct Replicate {
    double median;
    double sum_each; // of the samples' times per iteration
    double xy, xx;   // for the slope: Σ iterations · time, Σ iterations²
    size_t samples;
} Replicate;
typedef Vec(Replicate) ReplicateVec;

typedef struct Function {
    Str name;
    ReplicateVec runs[2]; // [1]: of the build that is compared with
    DoubleVec each;       // all samples of the new build, for outliers
    double bytes, elements;
} Function;
typedef Vec(Function) FunctionVec;

typedef struct Functions {
    Arena arena;
    const FunctionsOptions *options;
    FunctionVec list;
} Functions;

static Function *find_or_add(Functions *f, Str name)
{
    for (size_t i = 0; i < f->list.len; i++)
        if (str_equal(f->list.at[i].name, name))
            return &f->list.at[i];
    vec_push(&f->arena, &f->list, (Function){.name = arena_str(&f->arena, name)});
    return &vec_last(&f->list);
}

static double number_of(const JsonValue *v)
{
    return v && v->kind == JSON_NUMBER ? v->number : NAN;
}

// One line of a process' output.
static bool take_line(Functions *f, Str line, int build, Error *err)
{
    JsonValue *v;
    if (!json_parse(&f->arena, line, &v, err))
        return false;
    const JsonValue *name = json_find(v, "name"), *iterations = json_find(v, "iters");
    const JsonValue *times = json_find(v, "times");
    if (!name || name->kind != JSON_STRING || !iterations || !times || iterations->count == 0 ||
        iterations->count != times->count)
        return error_set(err, ERROR_FORMAT, "a line is no result");
    Function *function = find_or_add(f, name->text);
    double *each = arena_array(&f->arena, double, iterations->count);
    Replicate r = {0};
    const JsonValue *t = times->child;
    for (const JsonValue *i = iterations->child; i && t; i = i->next, t = t->next) {
        double n = number_of(i), seconds = number_of(t) * 1e-9;
        if (!(n > 0) || !(seconds >= 0))
            return error_set(err, ERROR_FORMAT, "a sample of '%" STR_FMT "' is no time",
                             STR_ARG(name->text));
        each[r.samples++] = seconds / n;
        r.sum_each += seconds / n;
        r.xy += n * seconds;
        r.xx += n * n;
        if (build == 0)
            vec_push(&f->arena, &function->each, seconds / n);
    }
    r.median = stats_median(&f->arena, each, r.samples);
    vec_push(&f->arena, &function->runs[build], r);
    if (build == 0) {
        function->bytes = number_of(json_find(v, "bytes"));
        function->elements = number_of(json_find(v, "elements"));
    }
    return true;
}

static bool run_process(Functions *f, SpawnServer *server, int build, uint64_t number, Error *err)
{
    const FunctionsOptions *o = f->options;
    const char *program = build ? o->against : o->program;
    const char *path =
        arena_c_str(&f->arena, arena_printf(&f->arena, "%" STR_FMT "/assay-functions-%d",
                                            STR_ARG(o->scratch), (int)getpid()));
    const char *time = arena_c_str(&f->arena, arena_printf(&f->arena, "%.6g", o->time_s));
    const char *warm = arena_c_str(&f->arena, arena_printf(&f->arena, "%.6g", o->time_s / 4));
    const char *argv[16];
    size_t n = 0;
    argv[n++] = program;
    argv[n++] = "--json";
    argv[n++] = "--time";
    argv[n++] = time;
    argv[n++] = "--warm-up";
    argv[n++] = warm;
    argv[n++] = "--samples";
    argv[n++] = "20";
    argv[n++] = "--filter";
    argv[n++] = arena_c_str(&f->arena, o->filter);
    // Every other process goes through the functions from the end, so that none
    // always runs in the wake of the same other.
    if (number % 2)
        argv[n++] = "--reverse";
    argv[n] = NULL;
    SpawnRequest request = {.path = program,
                            .argv = argv,
                            .output = SPAWN_OUTPUT_FILE,
                            .output_file = path,
                            .errors = SPAWN_OUTPUT_INHERIT};
    SpawnResult result;
    Bytes text = {0};
    bool ok = spawn_server_run(server, &request, &result, err);
    bool stopped = o->interrupted && *o->interrupted;
    if (ok && !stopped && result.status != 0) {
        ok = error_set(err, ERROR_OS, "'%s' failed with status %d", program,
                       WIFSIGNALED(result.status) ? 128 + WTERMSIG(result.status)
                                                  : WEXITSTATUS(result.status));
        error_hint(err, "is it made with <assay/bench.h>?");
    }
    ok =
        ok && (stopped || os_read_file(&f->arena, str_from_c(path), OS_READ_MAX_BYTES, &text, err));
    unlink(path);
    Str rest = str_from_bytes(text), line;
    while (ok && str_next_line(&rest, &line))
        if (line.len && !take_line(f, line, build, err)) {
            ok = error_context(err, "cannot understand '%s'", program);
            error_hint(err, "is it made with <assay/bench.h>?");
        }
    return ok;
}

// ---- Figures ---------------------------------------------------------------

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

// Bootstrap with whole processes as what is drawn.
static Interval pooled_interval(Functions *f, const Function *function, PooledFigure figure)
{
    PooledContext context = {function->runs[0].at, figure};
    Random random = random_seeded(f->options->seed);
    return stats_bootstrap(&f->arena, pooled, &context, function->runs[0].len, BOOTSTRAP_RESAMPLES,
                           f->options->level, &random)
        .percentile;
}

static double *medians(Arena *arena, const ReplicateVec *runs)
{
    double *x = arena_array(arena, double, runs->len + 1);
    for (size_t i = 0; i < runs->len; i++)
        x[i] = runs->at[i].median;
    return x;
}

static void add_per_iteration(StrBuf *out, double seconds)
{
    if (seconds < 1e-6)
        strbuf_printf(out, "%.3f ns", seconds * 1e9);
    else if (seconds < 1e-3)
        strbuf_printf(out, "%.3f µs", seconds * 1e6);
    else
        bench_add_time(out, seconds, BENCH_UNIT_AUTO);
}

static void add_interval(StrBuf *out, const char *what, Interval i)
{
    strbuf_printf(out, "  %-8s [", what);
    const double ends[] = {i.low, i.point, i.high};
    for (size_t k = 0; k < ARRAY_LEN(ends); k++) {
        if (k)
            strbuf_add(out, STR("  "));
        if (isfinite(ends[k]))
            add_per_iteration(out, ends[k]);
        else
            strbuf_add(out, STR("?"));
    }
    strbuf_add_char(out, ']');
}

static void add_rate(StrBuf *out, double per_iteration, double seconds, const char *unit)
{
    if (!(per_iteration > 0) || !(seconds > 0))
        return;
    double rate = per_iteration / seconds;
    const char *scale = rate >= 1e9 ? "G" : rate >= 1e6 ? "M" : rate >= 1e3 ? "k" : "";
    double by = rate >= 1e9 ? 1e9 : rate >= 1e6 ? 1e6 : rate >= 1e3 ? 1e3 : 1;
    strbuf_printf(out, "  %-8s %.2f %s%s/s\n", "rate", rate / by, scale, unit);
}

// Criterion's words for its three outcomes.
static const char *change_words(const Comparison *c)
{
    if (!c->differs)
        return "No change in performance detected.";
    return c->verdict == VERDICT_FASTER   ? "Performance has improved."
           : c->verdict == VERDICT_SLOWER ? "Performance has regressed."
                                          : "Change within noise threshold.";
}

static void add_change(Functions *f, StrBuf *out, const Terminal *t, const Function *function,
                       double limit, int *gate)
{
    size_t n = MIN(function->runs[0].len, function->runs[1].len), kept = 0;
    double *now = medians(&f->arena, &function->runs[0]);
    double *then = medians(&f->arena, &function->runs[1]);
    for (size_t i = 0; i < n; i++)
        if (now[i] > 0 && then[i] > 0) {
            now[kept] = now[i];
            then[kept++] = then[i];
        }
    if (kept == 0) {
        strbuf_add(out, STR("  change   unknown: no times of both builds\n"));
        *gate = *gate == 3 ? 3 : 4;
        return;
    }
    CompareOptions options = {
        .level = f->options->level, .margin = f->options->margin, .block_pairs = 2};
    Comparison c = stats_compare_paired(&f->arena, then, now, kept, &options);
    strbuf_printf(
        out, "  change   [%+.2f %%  %+.2f %%  %+.2f %%] (p = %.3f, %zu pairs of processes)\n",
        (c.ratio.low - 1) * 100, (c.ratio.point - 1) * 100, (c.ratio.high - 1) * 100, c.p, c.pairs);
    strbuf_add(out, STR("           "));
    style_begin(out, t, STYLE_BOLD);
    strbuf_add(out, str_from_c(change_words(&c)));
    style_end(out, t, STYLE_BOLD);
    if (c.verdict == VERDICT_INCONCLUSIVE && isfinite(c.more_pairs) && c.more_pairs < 1e6)
        strbuf_printf(out, " Undecided at %.3g %%: needs about %.0f more processes.",
                      f->options->margin * 100, c.more_pairs);
    strbuf_add_char(out, '\n');
    int here = c.ratio.low > 1 + limit ? 3 : c.ratio.high <= 1 + limit ? 0 : 4;
    *gate = *gate == 3 || here == 3 ? 3 : MAX(*gate, here);
}

static void add_text(Functions *f, StrBuf *out, const Terminal *t, double limit, int *gate)
{
    for (size_t i = 0; i < f->list.len; i++) {
        const Function *function = &f->list.at[i];
        size_t n = function->runs[0].len;
        style_begin(out, t, STYLE_BOLD);
        strbuf_add_terminal(out, function->name);
        style_end(out, t, STYLE_BOLD);
        strbuf_add_char(out, '\n');
        if (n == 0) {
            strbuf_add(out, STR("  only in the build that is compared with\n"));
            continue;
        }
        Interval typical = stats_hodges_lehmann(&f->arena, medians(&f->arena, &function->runs[0]),
                                                n, f->options->level);
        add_interval(out, "time", typical);
        strbuf_printf(out, " an iteration, %zu process%s\n", n, n == 1 ? "" : "es");
        add_interval(out, "slope", pooled_interval(f, function, pooled_slope));
        strbuf_add_char(out, '\n');
        add_interval(out, "mean", pooled_interval(f, function, pooled_mean));
        strbuf_add_char(out, '\n');
        add_rate(out, function->bytes, typical.point, "B");
        add_rate(out, function->elements, typical.point, " elements");
        double *sorted = stats_sorted(&f->arena, function->each.at, function->each.len);
        TukeyFences fences = stats_fences_sorted(sorted, function->each.len);
        size_t classes[5] = {0};
        for (size_t k = 0; k < function->each.len; k++)
            classes[stats_outlier(&fences, sorted[k])]++;
        if (classes[OUTLIER_NONE] != function->each.len)
            strbuf_printf(out,
                          "  outliers %zu of %zu samples: %zu low severe, %zu low mild, %zu "
                          "high mild, %zu high severe\n",
                          function->each.len - classes[OUTLIER_NONE], function->each.len,
                          classes[OUTLIER_LOW_SEVERE], classes[OUTLIER_LOW_MILD],
                          classes[OUTLIER_HIGH_MILD], classes[OUTLIER_HIGH_SEVERE]);
        if (f->options->against)
            add_change(f, out, t, function, limit, gate);
    }
}

// "test NAME ... bench:       1,234 ns/iter (+/- 56)": rustc's library/test.
static void add_grouped(StrBuf *out, double value)
{
    StrBuf digits = {0};
    strbuf_add_u64(&digits, (uint64_t)(value + 0.5));
    for (size_t i = 0; i < digits.len; i++) {
        if (i && (digits.len - i) % 3 == 0)
            strbuf_add_char(out, ',');
        strbuf_add_char(out, digits.ptr[i]);
    }
    strbuf_deinit(&digits);
}

static void add_libtest(Functions *f, StrBuf *out)
{
    for (size_t i = 0; i < f->list.len; i++) {
        const Function *function = &f->list.at[i];
        size_t n = function->runs[0].len;
        if (n == 0)
            continue;
        double *x = stats_sorted(&f->arena, medians(&f->arena, &function->runs[0]), n);
        double median = stats_median_sorted(x, n);
        StrBuf value = {0};
        add_grouped(&value, median * 1e9);
        strbuf_add(out, STR("test "));
        strbuf_add_terminal(out, function->name);
        strbuf_printf(out, " ... bench: %*s%" STR_FMT " ns/iter (+/- ",
                      (int)(value.len < 11 ? 11 - value.len : 0), "", STR_ARG(strbuf_str(&value)));
        add_grouped(out, (x[n - 1] - x[0]) * 1e9);
        strbuf_add_char(out, ')');
        if (function->bytes > 0 && median > 0)
            strbuf_printf(out, " = %.0f MB/s", function->bytes / median / 1e6);
        strbuf_add_char(out, '\n');
        strbuf_deinit(&value);
    }
}

// Google Benchmark's JSON: a process is a repetition.
static void add_gbench(Functions *f, StrBuf *out)
{
    BenchMachine machine;
    bench_machine(&f->arena, &machine);
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_begin_object(&w, "context");
    json_str(&w, "host_name", machine.hostname);
    json_str(&w, "executable", str_from_c(f->options->program));
    json_u64(&w, "num_cpus", machine.cpus);
    json_str(&w, "library_version", STR("assay " ASSAY_VERSION));
    json_u64(&w, "json_schema_version", 1);
    json_end(&w);
    json_begin_array(&w, "benchmarks");
    for (size_t i = 0; i < f->list.len; i++) {
        const Function *function = &f->list.at[i];
        for (size_t r = 0; r < function->runs[0].len; r++) {
            double seconds = function->runs[0].at[r].median;
            json_begin_object(&w, NULL);
            json_str(&w, "name", function->name);
            json_u64(&w, "family_index", i);
            json_str(&w, "run_name", function->name);
            json_str(&w, "run_type", STR("iteration"));
            json_u64(&w, "repetitions", function->runs[0].len);
            json_u64(&w, "repetition_index", r);
            json_u64(&w, "threads", 1);
            json_double(&w, "real_time", seconds * 1e9);
            json_str(&w, "time_unit", STR("ns"));
            if (function->bytes > 0)
                json_double(&w, "bytes_per_second", function->bytes / seconds);
            if (function->elements > 0)
                json_double(&w, "items_per_second", function->elements / seconds);
            json_end(&w);
        }
    }
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

static void add_json(Functions *f, StrBuf *out)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_begin_array(&w, "results");
    for (size_t i = 0; i < f->list.len; i++) {
        const Function *function = &f->list.at[i];
        size_t n = function->runs[0].len;
        if (n == 0)
            continue;
        double *x = medians(&f->arena, &function->runs[0]);
        double *sorted = stats_sorted(&f->arena, x, n);
        json_begin_object(&w, NULL);
        json_str(&w, "command", function->name);
        json_double(&w, "mean", stats_mean(x, n));
        json_double(&w, "stddev", stats_deviation(x, n));
        json_double(&w, "median", stats_median_sorted(sorted, n));
        json_double(&w, "min", sorted[0]);
        json_double(&w, "max", sorted[n - 1]);
        json_begin_array(&w, "times");
        for (size_t k = 0; k < n; k++)
            json_double(&w, NULL, x[k]);
        json_end(&w);
        json_end(&w);
    }
    json_end(&w);
    json_begin_object(&w, "assay");
    json_u64(&w, "schema", 1);
    json_str(&w, "version", STR(ASSAY_VERSION));
    json_str(&w, "kind", STR("functions"));
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

bool bench_functions(StrBuf *out, StrBuf *json, const Terminal *t, SpawnServer *server,
                     const FunctionsOptions *options, double limit, int *gate, Error *err)
{
    Functions f = {.options = options};
    Schedule schedule;
    uint32_t builds = options->against ? 2 : 1;
    bool ok = true;
    schedule_init(&schedule, &f.arena, builds, options->seed);
    for (uint64_t p = 0; ok && p < options->processes; p++) {
        const uint32_t *order = schedule_next(&schedule);
        for (uint32_t i = 0; ok && i < builds && !(options->interrupted && *options->interrupted);
             i++)
            ok = run_process(&f, server, (int)order[i], p, err);
    }
    if (ok && f.list.len == 0)
        ok =
            error_set(err, ERROR_NOT_FOUND, "'%s' has no benchmark that matches", options->program);
    *gate = 0;
    if (ok) {
        if (str_equal(options->format, STR("libtest")))
            add_libtest(&f, out);
        else if (str_equal(options->format, STR("gbench")))
            add_gbench(&f, out);
        else
            add_text(&f, out, t, limit, gate);
        if (json)
            add_json(&f, json);
    }
    arena_deinit(&f.arena);
    return ok;
}
