// SPDX-License-Identifier: Apache-2.0
// Runs as text.

#include "cli/runs/run_report.h"

#include <math.h>

#include "model/run_names.h"

static RunUnit fitting(double seconds)
{
    return seconds < 0.001 ? RUN_UNIT_US : seconds < 1 ? RUN_UNIT_MS : RUN_UNIT_S;
}

void run_add_time(StrBuf *out, double seconds, RunUnit unit)
{
    if (!isfinite(seconds)) {
        strbuf_add(out, STR("unknown"));
        return;
    }
    switch (unit == RUN_UNIT_AUTO ? fitting(seconds) : unit) {
    case RUN_UNIT_US:
        strbuf_printf(out, "%.1f µs", seconds * 1e6);
        break;
    case RUN_UNIT_MS:
        strbuf_printf(out, seconds < 0.01 ? "%.3f ms" : "%.1f ms", seconds * 1e3);
        break;
    case RUN_UNIT_AUTO:
    case RUN_UNIT_S:
        strbuf_printf(out, "%.3f s", seconds);
        break;
    }
}

static void add_padded_time(StrBuf *out, double seconds, RunUnit unit)
{
    StrBuf text = {0};
    run_add_time(&text, seconds, unit);
    size_t columns = str_columns(strbuf_str(&text));
    strbuf_add_repeated(out, ' ', columns < 10 ? 10 - columns : 0);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void add_outliers(StrBuf *out, const RunGroup *r)
{
    const RunSummary *s = &r->summary;
    uint32_t high = s->outliers[OUTLIER_HIGH_MILD] + s->outliers[OUTLIER_HIGH_SEVERE];
    uint32_t low = s->outliers[OUTLIER_LOW_MILD] + s->outliers[OUTLIER_LOW_SEVERE];
    if (high + low == 0)
        return;
    strbuf_printf(out, "  Outliers:             %u of %zu runs", high + low, r->runs.len);
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
    const char *separator = "  Counted (median):     ";
    for (uint32_t i = 0; i < all->set.counters; i++) {
        const RunCounter *c = &all->counters[i];
        strbuf_add(out, str_from_c(separator));
        strbuf_add_terminal(out, c->name);
        strbuf_add_char(out, ' ');
        if (!isfinite(s->counts[i]))
            strbuf_add(out, STR("not counted"));
        else if (c->is_time)
            run_add_time(out, s->counts[i] * 1e-9, RUN_UNIT_AUTO);
        else
            add_short_count(out, s->counts[i]);
        separator = ", ";
    }
    if (separator[0] == ',')
        strbuf_add_char(out, '\n');
}

void run_report_command(StrBuf *out, const RunStyle *style, const RunSummaries *all,
                        uint32_t command)
{
    const Terminal *t = &style->terminal;
    const RunCommand *c = &all->commands[command];
    const RunGroup *r = &all->set.groups[command];
    const RunSummary *s = &r->summary;
    size_t n = r->runs.len;
    RunUnit unit = style->unit == RUN_UNIT_AUTO ? fitting(s->mean) : style->unit;

    style_begin(out, t, STYLE_BOLD);
    strbuf_printf(out, "Benchmark %u: ", command + 1);
    strbuf_add_terminal(out, c->name);
    style_end(out, t, STYLE_BOLD);
    strbuf_add_char(out, '\n');
    if (n == 0) {
        strbuf_add(out, STR("  no run was finished\n\n"));
        return;
    }
    // The kernel splits CPU time into user and system time by sampling at ticks, which is too
    // coarse when only few ticks fell into the runs.
    bool split = (s->user + s->system) * (double)n >= 0.2;
    strbuf_add(out, STR("  Time (mean ± σ):     "));
    add_padded_time(out, s->mean, unit);
    strbuf_add(out, STR(" ±"));
    if (n > 1)
        add_padded_time(out, s->deviation, unit);
    else
        strbuf_add(out, STR("   unknown"));
    strbuf_add(out, split ? STR("    [User: ") : STR("    [CPU: "));
    run_add_time(out, split ? s->user : s->user + s->system, unit);
    if (split) {
        strbuf_add(out, STR(", System: "));
        run_add_time(out, s->system, unit);
    }
    strbuf_add(out, STR("]\n  Median (95 %):       "));
    add_padded_time(out, s->median, unit);
    if (isfinite(s->median_interval.low)) {
        strbuf_add(out, STR("    ["));
        run_add_time(out, s->median_interval.low, unit);
        strbuf_add(out, STR(" … "));
        run_add_time(out, s->median_interval.high, unit);
        strbuf_add(out, STR("]\n"));
    } else {
        strbuf_add(out, STR("    [an interval takes 6 runs or more]\n"));
    }
    strbuf_add(out, STR("  Range (min … max):   "));
    add_padded_time(out, s->min, unit);
    strbuf_add(out, STR(" …"));
    add_padded_time(out, s->max, unit);
    strbuf_printf(out, "    %zu run%s\n", n, n == 1 ? "" : "s");
    strbuf_add(out, STR("  Peak memory:          "));
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
    strbuf_printf(out, ", %.0f context switch%s", s->switches, s->switches == 1 ? "" : "es");
    if (isfinite(s->run_delay_s)) {
        strbuf_add(out, STR(", "));
        run_add_time(out, s->run_delay_s, RUN_UNIT_AUTO);
        strbuf_add(out, STR(" waiting for a CPU"));
    }
    strbuf_add_char(out, '\n');
    add_counts(out, all, s);
    add_outliers(out, r);

    if (s->steady.kind == STEADY_WARM_UP || s->steady.kind == STEADY_SLOWDOWN)
        strbuf_printf(out,
                      "  Warning: the first %zu runs were %s than the rest; try --warmup %zu\n",
                      s->steady.prefix, s->steady.kind == STEADY_WARM_UP ? "slower" : "faster",
                      s->steady.prefix);
    else if (s->steady.kind == STEADY_NONE)
        strbuf_add(out, STR("  Warning: the times had not settled when the runs ended\n"));
    else if (s->first_slow)
        strbuf_add(out, STR("  Warning: the first run was far slower than the rest; "
                            "try --warmup 1\n"));
    if (s->effective_runs < (double)n / 2 && n >= 20)
        strbuf_printf(out,
                      "  Warning: neighbouring runs depend on each other (lag 1: %.2f); these runs "
                      "tell as much as %.0f independent ones\n",
                      s->lag1, s->effective_runs);
    if (c->via_shell && s->min < 0.005) {
        strbuf_add(out, STR("  Warning: short beside the shell's own "));
        run_add_time(out, all->shell_time_s, RUN_UNIT_AUTO);
        strbuf_add(out, STR(" ± "));
        run_add_time(out, all->shell_error_s, RUN_UNIT_AUTO);
        strbuf_add(out, STR(", which is taken off; -N runs it without a shell\n"));
    }
    uint32_t failed = 0;
    for (size_t i = 0; i < n; i++)
        failed += r->runs.at[i].status != 0;
    if (failed)
        strbuf_printf(out, "  Warning: %u of the runs ended with a status other than 0\n", failed);
    strbuf_add_char(out, '\n');
}

static void add_change(StrBuf *out, double ratio)
{
    strbuf_printf(out, "%+.2f %%", (ratio - 1) * 100);
}

// Of two pairs an interval rests on one difference, and of three it may be so wide
// that its figures say nothing, unless even that much decides.
static bool has_interval(const Comparison *c)
{
    return (c->pairs > 2 || c->verdict != VERDICT_INCONCLUSIVE) && isfinite(c->ratio.low) &&
           isfinite(c->ratio.high) && c->ratio.low > 0 && c->ratio.high / c->ratio.low < 1e4;
}

static void add_verdict(StrBuf *out, const Terminal *t, const Comparison *c, double margin,
                        double pair_s)
{
    style_begin(out, t, STYLE_BOLD);
    switch (c->verdict) {
    case VERDICT_SLOWER:
        strbuf_add(out, STR("slower"));
        break;
    case VERDICT_FASTER:
        strbuf_printf(out, "faster, %.3g times as fast", 1 / c->ratio.point);
        break;
    case VERDICT_EQUIVALENT:
        strbuf_printf(out, "the same within %.3g %%", margin * 100);
        break;
    case VERDICT_INCONCLUSIVE:
        if (c->differs)
            strbuf_printf(out, "different, but perhaps by less than %.3g %%", margin * 100);
        else
            strbuf_add(out, STR("inconclusive"));
        break;
    }
    style_end(out, t, STYLE_BOLD);
    if (c->verdict != VERDICT_INCONCLUSIVE)
        return;
    if (!has_interval(c)) {
        strbuf_add(out, STR("; so few tell nothing yet, not even how many more it takes"));
    } else if (c->more_pairs < 1e6) {
        strbuf_printf(out, "; needs about %.0f more %s (", c->more_pairs,
                      c->method == COMPARE_UNPAIRED ? "runs of each" : "pairs");
        run_add_time(out, c->more_pairs * pair_s, RUN_UNIT_AUTO);
        strbuf_add_char(out, ')');
    } else {
        strbuf_add(out, STR("; no number of runs that could be waited for would tell"));
    }
}

void run_add_comparison(StrBuf *out, const Terminal *t, Str name, const Comparison *c,
                        double margin, double level, double pair_s)
{
    strbuf_add(out, STR("  '"));
    strbuf_add_terminal(out, name);
    strbuf_printf(out, "': %.4g times as long, ", c->ratio.point);
    add_change(out, c->ratio.point);
    if (has_interval(c)) {
        strbuf_printf(out, " [%.4g %% interval ", 100 * level);
        add_change(out, c->ratio.low);
        strbuf_add(out, STR(" … "));
        add_change(out, c->ratio.high);
        strbuf_add_char(out, ']');
    } else {
        strbuf_add(out, STR(" [too few runs for an interval]"));
    }
    strbuf_add(out, STR("\n    "));
    add_verdict(out, t, c, margin, pair_s);
    if (isfinite(c->least_seen) && c->least_seen < 10)
        strbuf_printf(out, "\n    a difference of %.*f %% would have been found 4 times in 5",
                      c->least_seen < 0.01  ? 2
                      : c->least_seen < 0.1 ? 1
                                            : 0,
                      c->least_seen * 100);
    if (c->method == COMPARE_PAIRED_FEW)
        strbuf_printf(out, "\n    so few pairs (%zu) hold only if the times are normal", c->pairs);
    strbuf_add_char(out, '\n');
}

// The change of the whole time, where the comparison leaves a part of it out.
static void add_elapsed_change(StrBuf *out, const RunGroup *r)
{
    const Interval *ratio = &r->elapsed_ratio;
    if (!(ratio->point > 0))
        return;
    strbuf_add(out, STR("    with the wait for a CPU: "));
    add_change(out, ratio->point);
    if (ratio->low > 0 && ratio->high / ratio->low < 1e4) {
        strbuf_add(out, STR(" ["));
        add_change(out, ratio->low);
        strbuf_add(out, STR(" … "));
        add_change(out, ratio->high);
        strbuf_add_char(out, ']');
    }
    strbuf_add_char(out, '\n');
}

// Changes of the counts against the reference, of those that have an interval.
static void add_count_changes(StrBuf *out, const RunSummaries *s, const RunGroup *r)
{
    const char *separator = "    counted: ";
    for (uint32_t i = 0; i < s->set.counters; i++) {
        const Interval *ratio = &r->count_ratios[i];
        if (!(ratio->low > 0) || !isfinite(ratio->high))
            continue;
        strbuf_add(out, str_from_c(separator));
        strbuf_add_terminal(out, s->counters[i].name);
        strbuf_add_char(out, ' ');
        add_change(out, ratio->point);
        strbuf_add(out, STR(" ["));
        add_change(out, ratio->low);
        strbuf_add(out, STR(" … "));
        add_change(out, ratio->high);
        strbuf_add_char(out, ']');
        separator = ", ";
    }
    if (separator[0] == ',')
        strbuf_add_char(out, '\n');
}

void run_report_comparisons(StrBuf *out, const RunStyle *style, RunSummaries *s)
{
    const RunSet *set = &s->set;
    const RunPlan *plan = &set->plan;
    const Terminal *t = &style->terminal;
    size_t pairs = 0;
    for (uint32_t i = 0; i < set->count; i++)
        pairs = MAX(pairs, set->groups[i].comparison.pairs);
    if (set->count < 2 || pairs == 0)
        return;
    uint32_t *order =
        run_summaries_order(s, style->sort == RUN_SORT_AUTO ? RUN_SORT_MEAN : style->sort);
    style_begin(out, t, STYLE_BOLD);
    strbuf_add(out, STR("Compared with '"));
    strbuf_add_terminal(out, s->commands[plan->reference].name);
    strbuf_printf(out, "', %zu %s", pairs, plan->grouped ? "runs each" : "pairs");
    style_end(out, t, STYLE_BOLD);
    if (set->without_waiting)
        strbuf_printf(out, "; left out: the wait for a CPU, %.0f %% of the time",
                      100 * set->waiting_share);
    strbuf_add_char(out, '\n');
    double reference_s = set->groups[plan->reference].summary.mean;
    double level = 1 - (1 - plan->level) / (double)(set->count - 1);
    for (uint32_t k = 0; k < set->count; k++) {
        const RunGroup *g = &set->groups[order[k]];
        const Comparison *c = &g->comparison;
        if (order[k] == plan->reference || c->pairs == 0)
            continue;
        run_add_comparison(out, t, s->commands[order[k]].name, c,
                           plan->until > 0 ? plan->until : plan->margin, level,
                           reference_s + g->summary.mean);
        add_elapsed_change(out, g);
        add_count_changes(out, s, g);
    }
    strbuf_add_char(out, '\n');
}

static bool note_has_key(const Profile *p, size_t note, Str key)
{
    return str_equal(profile_text(p, p->notes.key.at[note]), key);
}

// "Clock: …. Order: …." of the notes of that key.
static void add_stated(StrBuf *out, const Profile *p, Str key, Str title)
{
    for (size_t i = 0; i < p->notes.text.len; i++) {
        if (!note_has_key(p, i, key))
            continue;
        strbuf_add(out, title);
        strbuf_add_terminal(out, profile_text(p, p->notes.text.at[i]));
        strbuf_add_char(out, '.');
    }
}

void run_report_truth(StrBuf *out, const RunStyle *style, const RunSummaries *s)
{
    const Profile *p = s->profile;
    style_begin(out, &style->terminal, STYLE_DIM);
    add_stated(out, p, STR(NOTE_CLOCK), STR("Clock: "));
    add_stated(out, p, STR(NOTE_ORDER), STR(" Order: "));
    style_end(out, &style->terminal, STYLE_DIM);
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < p->notes.text.len; i++) {
        if (p->notes.level.at[i] != NOTE_WARNING)
            continue;
        bool is_missing = note_has_key(p, i, STR(NOTE_NOT_COUNTED));
        strbuf_add(out, is_missing ? STR("Not counted: ") : STR("Warning: "));
        strbuf_add_terminal(out, profile_text(p, p->notes.text.at[i]));
        strbuf_add_char(out, '\n');
    }
}

void run_report(StrBuf *out, const RunStyle *style, RunSummaries *s)
{
    for (uint32_t i = 0; i < s->set.count; i++)
        run_report_command(out, style, s, i);
    run_report_comparisons(out, style, s);
    run_report_truth(out, style, s);
}
