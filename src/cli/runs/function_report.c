// SPDX-License-Identifier: Apache-2.0
// Function benchmarks as text in Criterion's words, as libtest's line, and as the JSON of Google
// Benchmark and hyperfine.

#include "cli/runs/function_report.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "model/facts.h"
#include "stats/summary.h"

static void add_per_iteration(StrBuf *out, double seconds, RunUnit unit)
{
    if (unit != RUN_UNIT_AUTO)
        strbuf_printf(out, "%.6g %" STR_FMT, run_in_unit(seconds, unit),
                      STR_ARG(run_unit_name(unit)));
    else if (seconds < 1e-6)
        strbuf_printf(out, "%.3f ns", seconds * 1e9);
    else if (seconds < 1e-3)
        strbuf_printf(out, "%.3f µs", seconds * 1e6);
    else
        run_add_time(out, seconds, RUN_UNIT_AUTO);
}

static void add_interval(StrBuf *out, const char *what, Interval i, RunUnit unit)
{
    strbuf_printf(out, "  %-8s [", what);
    const double ends[] = {i.low, i.point, i.high};
    for (size_t k = 0; k < ARRAY_LEN(ends); k++) {
        if (k)
            strbuf_add(out, STR("  "));
        if (isfinite(ends[k]))
            add_per_iteration(out, ends[k], unit);
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

static void add_change(FunctionSummaries *f, StrBuf *out, const Terminal *t,
                       const FunctionRuns *function)
{
    Comparison c;
    if (!function_compares(f))
        return;
    if (!function_change(f, function, &c)) {
        strbuf_add(out, STR("  change   unknown: no times to compare with\n"));
        return;
    }
    strbuf_printf(
        out, "  change   [%+.2f %%  %+.2f %%  %+.2f %%] (p = %.3f, %zu %s)\n",
        (c.ratio.low - 1) * 100, (c.ratio.point - 1) * 100, (c.ratio.high - 1) * 100, c.p, c.pairs,
        c.method == COMPARE_UNPAIRED ? "processes, not interleaved" : "pairs of processes");
    strbuf_add(out, STR("           "));
    style_begin(out, t, STYLE_BOLD);
    strbuf_add(out, str_from_c(change_words(&c)));
    style_end(out, t, STYLE_BOLD);
    if (c.verdict == VERDICT_INCONCLUSIVE && isfinite(c.more_pairs) && c.more_pairs < 1e6)
        strbuf_printf(out, " Undecided at %.3g %%: needs about %.0f more processes.",
                      f->margin * 100, c.more_pairs);
    strbuf_add_char(out, '\n');
}

static void add_doubt(FunctionSummaries *f, StrBuf *out, const FunctionRuns *function)
{
    static const char *const doubts[] = {
        [DOUBT_UNDER_A_CYCLE] = "an iteration takes less than one CPU cycle",
        [DOUBT_TOO_FAST] = "no CPU works through so much in this time",
        [DOUBT_NO_GROWTH] = "16 times the work or more takes no longer"};
    FunctionDoubt doubt = function_doubt(f, function);
    if (doubt != DOUBT_NONE)
        strbuf_printf(out,
                      "  Warning: %s. The compiler has probably\n"
                      "  removed the work: ASSAY_USE its result, ASSAY_HIDE its input.\n",
                      doubts[doubt]);
}

// Numbers of the functions in the order of --sort.
static uint32_t *function_order(FunctionSummaries *f, RunSort sort)
{
    uint32_t *order = arena_array(&f->arena, uint32_t, f->list.len + 1);
    double *means = arena_array(&f->arena, double, f->list.len + 1);
    for (uint32_t i = 0; i < f->list.len; i++) {
        const ReplicateVec *runs = &f->list.at[i].runs[0];
        uint32_t at = i;
        means[i] = runs->len ? stats_mean(function_medians(&f->arena, runs), runs->len) : INFINITY;
        for (; sort == RUN_SORT_MEAN && at > 0 && means[order[at - 1]] > means[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

// What --details shows: how far the processes differ, and what they computed.
static void add_processes(FunctionSummaries *f, StrBuf *out, const FunctionRuns *function,
                          RunUnit unit)
{
    size_t n = function->runs[0].len;
    double *x = stats_sorted(&f->arena, function_medians(&f->arena, &function->runs[0]), n);
    double cpu = 0;
    for (size_t i = 0; i < n; i++)
        cpu += function->runs[0].at[i].cpu / (double)n;
    strbuf_add(out, STR("  processes from "));
    add_per_iteration(out, x[0], unit);
    strbuf_add(out, STR(" to "));
    add_per_iteration(out, x[n - 1], unit);
    strbuf_printf(out, ", %zu sample%s", function->each.len, plural_s(function->each.len));
    if (isfinite(cpu)) {
        strbuf_add(out, STR(", CPU time "));
        add_per_iteration(out, cpu, unit);
    }
    strbuf_add_char(out, '\n');
}

// ---- The verdict ---------------------------------------------------------------

typedef struct FunctionChange {
    const FunctionRuns *function;
    Comparison c;
} FunctionChange;
typedef Vec(FunctionChange) FunctionChanges;

static int by_size(const void *a, const void *b)
{
    const FunctionChange *x = a, *y = b;
    double p = fabs(log(x->c.ratio.point)), q = fabs(log(y->c.ratio.point));
    return (p < q) - (p > q);
}

// "slower  parse  +12.1 % [+10.2 ... +14.0 %]", the largest first.
static void add_verdict_rows(StrBuf *out, const FunctionChanges *changes, Verdict verdict)
{
    enum { SHOWN = 8, NAME = 36 };
    size_t shown = 0, all = 0;
    for (size_t i = 0; i < changes->len; i++) {
        const FunctionChange *at = &changes->at[i];
        all += at->c.verdict == verdict;
        if (at->c.verdict != verdict || shown == SHOWN)
            continue;
        StrBuf name = {0};
        strbuf_add_terminal(&name, at->function->name);
        strbuf_printf(out, "  %s  %-*.*s %+.1f %% [%+.1f ... %+.1f %%]\n", verdict_name(verdict),
                      NAME, (int)name.len, name.ptr, (at->c.ratio.point - 1) * 100,
                      (at->c.ratio.low - 1) * 100, (at->c.ratio.high - 1) * 100);
        strbuf_deinit(&name);
        shown++;
    }
    if (all > shown)
        strbuf_printf(out, "  %s  %zu more, see below\n", verdict_name(verdict), all - shown);
}

// The first lines of a comparison: how many functions changed, and which.
static void add_verdict(FunctionSummaries *f, StrBuf *out, const Terminal *t)
{
    FunctionChanges changes = {0};
    size_t counts[4] = {0}, unknown = 0;
    for (size_t i = 0; i < f->list.len; i++) {
        FunctionChange change = {.function = &f->list.at[i]};
        if (!function_change(f, change.function, &change.c)) {
            unknown++;
            continue;
        }
        counts[change.c.verdict]++;
        vec_push(&f->arena, &changes, change);
    }
    if (changes.len)
        qsort(changes.at, changes.len, sizeof(*changes.at), by_size);
    style_begin(out, t, STYLE_BOLD);
    strbuf_printf(out, "%zu function%s: %zu slower, %zu faster, %zu the same within %.3g %%",
                  f->list.len, f->list.len == 1 ? "" : "s", counts[VERDICT_SLOWER],
                  counts[VERDICT_FASTER], counts[VERDICT_EQUIVALENT],
                  (f->until > 0 ? f->until : f->margin) * 100);
    if (counts[VERDICT_INCONCLUSIVE])
        strbuf_printf(out, ", %zu undecided", counts[VERDICT_INCONCLUSIVE]);
    if (unknown)
        strbuf_printf(out, ", %zu in one build only", unknown);
    strbuf_add_char(out, '\n');
    style_end(out, t, STYLE_BOLD);
    add_verdict_rows(out, &changes, VERDICT_SLOWER);
    add_verdict_rows(out, &changes, VERDICT_FASTER);
}

static void add_text(FunctionSummaries *f, StrBuf *out, const RunStyle *style)
{
    const Terminal *t = &style->terminal;
    if (function_compares(f))
        add_verdict(f, out, t);
    const uint32_t *order = function_order(f, style->sort);
    for (size_t i = 0; i < f->list.len; i++) {
        const FunctionRuns *function = &f->list.at[order[i]];
        size_t n = function->runs[0].len;
        style_begin(out, t, STYLE_BOLD);
        strbuf_add_terminal(out, function_label(f, function, 0));
        style_end(out, t, STYLE_BOLD);
        strbuf_add_char(out, '\n');
        if (n == 0) {
            strbuf_add(out, STR("  only in the build that is compared with\n"));
            continue;
        }
        Interval typical = function_typical(f, function);
        add_interval(out, "time", typical, style->unit);
        strbuf_printf(out, " an iteration, %zu process%s\n", n, n == 1 ? "" : "es");
        add_interval(out, "slope", function_slope(f, function), style->unit);
        strbuf_add_char(out, '\n');
        add_interval(out, "mean", function_mean(f, function), style->unit);
        strbuf_add_char(out, '\n');
        if (style->details)
            add_processes(f, out, function, style->unit);
        if (function_doubt(f, function) == DOUBT_NONE) {
            add_rate(out, function->bytes, typical.point, "B");
            add_rate(out, function->elements, typical.point, " elements");
        }
        add_doubt(f, out, function);
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
        add_change(f, out, t, function);
    }
    if (f->without_waiting && f->waiting_share > 0.02)
        strbuf_printf(out, "Left out: the wait for a CPU, %.0f %% of the time.\n",
                      100 * f->waiting_share);
    for (size_t i = 0; i < f->profile->notes.text.len; i++)
        if (f->profile->notes.level.at[i] == NOTE_WARNING) {
            strbuf_add(out, STR("Warning: "));
            strbuf_add_terminal(out, profile_text(f->profile, f->profile->notes.text.at[i]));
            strbuf_add_char(out, '\n');
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

static void add_libtest(FunctionSummaries *f, StrBuf *out)
{
    for (size_t i = 0; i < f->list.len; i++) {
        const FunctionRuns *function = &f->list.at[i];
        size_t n = function->runs[0].len;
        if (n == 0)
            continue;
        double *x = stats_sorted(&f->arena, function_medians(&f->arena, &function->runs[0]), n);
        double median = stats_median_sorted(x, n);
        StrBuf value = {0};
        add_grouped(&value, median * 1e9);
        strbuf_add(out, STR("test "));
        strbuf_add_terminal(out, function_label(f, function, 0));
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
static void add_gbench(FunctionSummaries *f, StrBuf *out)
{
    uint64_t cpus = 0;
    (void)(profile_fact_u64(f->profile, STR(FACT_CPU_COUNT), &cpus));
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_begin_object(&w, "context");
    json_str(&w, "host_name", profile_fact(f->profile, STR(FACT_HOSTNAME)));
    json_str(&w, "executable", f->program);
    json_u64(&w, "num_cpus", cpus);
    json_str(&w, "library_version", STR("assay " ASSAY_VERSION));
    json_u64(&w, "json_schema_version", 1);
    json_end(&w);
    json_begin_array(&w, "benchmarks");
    for (size_t i = 0; i < f->list.len; i++) {
        const FunctionRuns *function = &f->list.at[i];
        for (size_t r = 0; r < function->runs[0].len; r++) {
            double seconds = function->runs[0].at[r].median;
            json_begin_object(&w, NULL);
            json_str(&w, "name", function_label(f, function, 0));
            json_u64(&w, "family_index", i);
            json_u64(&w, "per_family_instance_index", 0);
            json_str(&w, "run_name", function_label(f, function, 0));
            json_str(&w, "run_type", STR("iteration"));
            json_u64(&w, "repetitions", function->runs[0].len);
            json_u64(&w, "repetition_index", r);
            json_u64(&w, "threads", 1);
            json_u64(&w, "iterations", (uint64_t)function->runs[0].at[r].iterations);
            json_double(&w, "real_time", seconds * 1e9);
            if (isfinite(function->runs[0].at[r].cpu))
                json_double(&w, "cpu_time", function->runs[0].at[r].cpu * 1e9);
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

static void json_interval(JsonWriter *w, const char *key, Interval i)
{
    json_begin_object(w, key);
    json_double(w, "low", i.low);
    json_double(w, "point", i.point);
    json_double(w, "high", i.high);
    json_end(w);
}

// What is ours of a function: intervals of an iteration's time, and the change.
static void json_extras(FunctionSummaries *f, JsonWriter *w, const FunctionRuns *function)
{
    Comparison c;
    json_begin_object(w, "assay");
    json_interval(w, "time", function_typical(f, function));
    json_interval(w, "slope", function_slope(f, function));
    json_interval(w, "mean", function_mean(f, function));
    if (function->bytes > 0)
        json_double(w, "bytes", function->bytes);
    if (function->elements > 0)
        json_double(w, "elements", function->elements);
    if (function_change(f, function, &c)) {
        json_begin_object(w, "change");
        json_str(w, "method", str_from_c(compare_method_name(c.method)));
        json_str(w, "verdict", str_from_c(verdict_name(c.verdict)));
        json_bool(w, "differs", c.differs);
        json_interval(w, "ratio", c.ratio);
        json_double(w, "p", c.p);
        json_end(w);
    }
    json_end(w);
}

void function_report_json(StrBuf *out, FunctionSummaries *f)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_begin_array(&w, "results");
    for (size_t i = 0; i < f->list.len; i++) {
        const FunctionRuns *function = &f->list.at[i];
        size_t n = function->runs[0].len;
        if (n == 0)
            continue;
        double *x = function_medians(&f->arena, &function->runs[0]);
        double *sorted = stats_sorted(&f->arena, x, n);
        json_begin_object(&w, NULL);
        json_str(&w, "command", function_label(f, function, 0));
        json_double(&w, "mean", stats_mean(x, n));
        json_double(&w, "stddev", stats_deviation(x, n));
        json_double(&w, "median", stats_median_sorted(sorted, n));
        json_double(&w, "min", sorted[0]);
        json_double(&w, "max", sorted[n - 1]);
        json_begin_array(&w, "times");
        for (size_t k = 0; k < n; k++)
            json_double(&w, NULL, x[k]);
        json_end(&w);
        json_extras(f, &w, function);
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

void function_report(StrBuf *out, const RunStyle *style, FunctionSummaries *f, Str format)
{
    if (str_equal(format, STR("libtest")))
        add_libtest(f, out);
    else if (str_equal(format, STR("gbench")))
        add_gbench(f, out);
    else
        add_text(f, out, style);
}
