// SPDX-License-Identifier: Apache-2.0
// Text that --details adds to the first screen: the figures of each command, and further figures of
// each comparison.

#include "cli/runs/run_report.h"

#include <math.h>

#include "analyse/fit.h"

enum { DETAILS_COLUMNS = 80, LABEL_COLUMNS = 24 };

// "  Range (min … max):     ", so that values stand below each other.
static void add_label(StrBuf *out, Str label)
{
    size_t from = out->len;
    strbuf_add(out, STR("  "));
    strbuf_add(out, label);
    pad_to(out, from, LABEL_COLUMNS);
}

static void add_outliers(StrBuf *out, const RunGroup *r)
{
    const RunSummary *s = &r->summary;
    uint32_t high = s->outliers[OUTLIER_HIGH_MILD] + s->outliers[OUTLIER_HIGH_SEVERE];
    uint32_t low = s->outliers[OUTLIER_LOW_MILD] + s->outliers[OUTLIER_LOW_SEVERE];
    if (high + low == 0)
        return;
    add_label(out, STR("Outliers:"));
    strbuf_printf(out, "%u of %zu run%s", high + low, r->runs.len, plural_s(r->runs.len));
    if (s->outliers[OUTLIER_HIGH_SEVERE] + s->outliers[OUTLIER_LOW_SEVERE])
        strbuf_printf(out, ", %u far out",
                      s->outliers[OUTLIER_HIGH_SEVERE] + s->outliers[OUTLIER_LOW_SEVERE]);
    if (low)
        strbuf_printf(out, ", %u fast", low);
    const char *separator = "; slow ones: ";
    for (size_t c = CAUSE_COUNT; c-- > 0;) {
        if (!s->causes[c])
            continue;
        strbuf_printf(out, "%s%u %s", separator, s->causes[c], outlier_cause_name((OutlierCause)c));
        separator = ", ";
    }
    strbuf_add(out, STR(" (none is left out)\n"));
}

// A count in the fewest digits that tell it: "12", "3.45 M".
static void add_short_count(StrBuf *out, double value)
{
    static const struct {
        double from;
        const char *name;
    } scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}};
    for (size_t i = 0; i < ARRAY_LEN(scales); i++)
        if (value >= scales[i].from) {
            double by = scales[i].from >= 1e6 ? scales[i].from : 1e3;
            strbuf_printf(out, "%.4g %s", value / by, scales[i].name);
            return;
        }
    strbuf_printf(out, "%.0f", value);
}

static void add_counts(StrBuf *out, const RunSummaries *all, const RunSummary *s)
{
    for (uint32_t i = 0; i < all->set.counters; i++) {
        const RunCounter *c = &all->counters[i];
        if (i == 0)
            add_label(out, STR("Counted (median):"));
        strbuf_add(out, i ? STR(", ") : STR(""));
        strbuf_add_terminal(out, c->name);
        strbuf_add_char(out, ' ');
        if (!isfinite(s->counts[i]))
            strbuf_add(out, STR("not counted"));
        else if (c->is_time)
            run_add_time(out, s->counts[i] * 1e-9, RUN_UNIT_AUTO);
        else
            add_short_count(out, s->counts[i]);
    }
    if (all->set.counters)
        strbuf_add_char(out, '\n');
}

// The figures of one command have one unit, and a value has as many decimals as its spread.
typedef struct Figures {
    RunUnit unit;
    int decimals;
} Figures;

static void add_figure(StrBuf *out, const Figures *f, double seconds)
{
    enum { COLUMNS = 8 };
    StrBuf text = {0};
    if (isfinite(seconds))
        strbuf_printf(&text, "%.*f %" STR_FMT, f->decimals, run_in_unit(seconds, f->unit),
                      STR_ARG(run_unit_name(f->unit)));
    else
        strbuf_add(&text, STR("unknown"));
    size_t columns = str_columns(strbuf_str(&text));
    strbuf_add_repeated(out, ' ', columns < COLUMNS ? COLUMNS - columns : 0);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void add_times(StrBuf *out, const Figures *f, const RunSummary *s, size_t n)
{
    add_label(out, STR("Time (mean ± σ):"));
    add_figure(out, f, s->mean);
    strbuf_add(out, STR(" ± "));
    add_figure(out, f, n > 1 ? s->deviation : NAN);
    strbuf_add_char(out, '\n');
    add_label(out, STR("Median (95 %):"));
    add_figure(out, f, s->median);
    if (isfinite(s->median_interval.low)) {
        strbuf_add(out, STR(" ["));
        add_figure(out, f, s->median_interval.low);
        strbuf_add(out, STR(" … "));
        add_figure(out, f, s->median_interval.high);
        strbuf_add(out, STR("]\n"));
    } else {
        strbuf_add(out, STR(" [an interval takes 6 runs or more]\n"));
    }
    add_label(out, STR("Range (min … max):"));
    add_figure(out, f, s->min);
    strbuf_add(out, STR(" … "));
    add_figure(out, f, s->max);
    strbuf_printf(out, ", %zu run%s\n", n, n == 1 ? "" : "s");
}

// The kernel splits CPU time into user and system time by sampling at ticks, which is too coarse
// when only few ticks fell into the runs.
static void add_cpu_time(StrBuf *out, const Figures *f, const RunSummary *s, size_t n)
{
    bool split = (s->user + s->system) * (double)n >= 0.2;
    add_label(out, STR("CPU time:"));
    add_figure(out, f, s->user + s->system);
    if (split) {
        strbuf_add(out, STR(" [User: "));
        add_figure(out, f, s->user);
        strbuf_add(out, STR(", System: "));
        add_figure(out, f, s->system);
        strbuf_add_char(out, ']');
    }
    strbuf_add_char(out, '\n');
}

static void add_memory(StrBuf *out, const RunSummary *s)
{
    add_label(out, STR("Peak memory:"));
    if (s->peak_rss_is_floor)
        strbuf_add(out, STR("at most "));
    add_value(out, s->peak_rss_bytes, STR("bytes"));
    if (!s->peak_rss_is_floor && s->peak_rss_error_bytes * 100 > s->peak_rss_bytes) {
        strbuf_add(out, STR(" (perhaps "));
        add_value(out, s->peak_rss_error_bytes, STR("bytes"));
        strbuf_add(out, STR(" more)"));
    }
    strbuf_printf(out, ", %.0f page fault%s", s->minor_faults + s->major_faults,
                  s->minor_faults + s->major_faults == 1 ? "" : "s");
    if (s->major_faults >= 1)
        strbuf_printf(out, " (%.0f from disk)", s->major_faults);
    strbuf_add_char(out, '\n');
    add_label(out, STR("Waiting:"));
    strbuf_printf(out, "%.0f context switch%s", s->switches, s->switches == 1 ? "" : "es");
    if (isfinite(s->run_delay_s)) {
        strbuf_add(out, STR(", "));
        run_add_time(out, s->run_delay_s, RUN_UNIT_AUTO);
        strbuf_add(out, STR(" waiting for a CPU"));
    }
    strbuf_add_char(out, '\n');
}

static void add_command(StrBuf *out, const RunStyle *style, const RunSummaries *all,
                        uint32_t command)
{
    const Terminal *t = &style->terminal;
    const RunCommand *c = &all->commands[command];
    const RunGroup *r = &all->set.groups[command];
    const RunSummary *s = &r->summary;
    size_t n = r->runs.len;
    RunUnit unit = style->unit == RUN_UNIT_AUTO ? run_fitting_unit(s->mean) : style->unit;
    Figures figures = {unit, run_decimals(s->mean, s->deviation, unit, 2)};
    StrBuf lines = {0};

    style_begin(out, t, STYLE_BOLD);
    strbuf_printf(out, "Benchmark %u: ", command + 1);
    text_add_wrapped(out, c->name, DETAILS_COLUMNS, 2);
    out->len -= out->ptr[out->len - 1] == '\n';
    style_end(out, t, STYLE_BOLD);
    strbuf_add_char(out, '\n');
    if (n == 0) {
        strbuf_add(out, STR("  no run was finished\n\n"));
        return;
    }
    add_times(&lines, &figures, s, n);
    add_cpu_time(&lines, &figures, s, n);
    add_memory(&lines, s);
    add_counts(&lines, all, s);
    add_outliers(&lines, r);
    run_add_lines(out, strbuf_str(&lines), DETAILS_COLUMNS, LABEL_COLUMNS);
    strbuf_deinit(&lines);
    strbuf_add_char(out, '\n');
}

// The change of the whole time, where the comparison leaves a part of it out.
static void add_elapsed_change(StrBuf *out, const RunGroup *r)
{
    const Interval *ratio = &r->elapsed_ratio;
    if (!(ratio->point > 0))
        return;
    strbuf_add(out, STR("    with the wait for a CPU: "));
    if (ratio->low > 0 && ratio->high / ratio->low < 1e4)
        run_add_interval(out, ratio);
    else
        run_add_change(out, ratio->point);
    strbuf_add_char(out, '\n');
}

// Changes of the counts against the reference, of those that have an interval.
static void add_count_changes(StrBuf *out, const RunSummaries *s, const RunGroup *r)
{
    for (uint32_t i = 0; i < s->set.counters; i++) {
        const Interval *ratio = &r->count_ratios[i];
        if (!(ratio->low > 0) || !isfinite(ratio->high))
            continue;
        strbuf_add(out, STR("    counted: "));
        strbuf_add_terminal(out, s->counters[i].name);
        strbuf_add_char(out, ' ');
        run_add_interval(out, ratio);
        strbuf_add_char(out, '\n');
    }
}

static void add_comparison(StrBuf *out, const RunStyle *style, RunSummaries *s, uint32_t command)
{
    const RunSet *set = &s->set;
    const RunGroup *g = &set->groups[command];
    const Comparison *c = &g->comparison;
    double level = 1 - (1 - set->plan.level) / (double)(set->count - 1);
    style_begin(out, &style->terminal, STYLE_BOLD);
    strbuf_printf(out, "Benchmark %u against %u", command + 1, set->plan.reference + 1);
    style_end(out, &style->terminal, STYLE_BOLD);
    strbuf_printf(out, ", each interval at %.4g %%\n", 100 * level);
    StrBuf lines = {0};
    run_add_power(&lines, c);
    add_elapsed_change(&lines, g);
    add_count_changes(&lines, s, g);
    run_add_lines(out, strbuf_str(&lines), DETAILS_COLUMNS, 6);
    strbuf_deinit(&lines);
}

void run_report_details(StrBuf *out, const RunStyle *style, RunSummaries *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->set.count; i++)
        add_command(out, style, s, i);
    for (uint32_t i = 0; i < s->set.count; i++)
        if (i != s->set.plan.reference && s->set.groups[i].comparison.pairs) {
            add_comparison(out, style, s, i);
            any = true;
        }
    if (any)
        strbuf_add_char(out, '\n');
}
