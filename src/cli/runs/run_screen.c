// SPDX-License-Identifier: Apache-2.0
// The first screen of a bench, for people who never read a book on statistics: the verdict, a
// ranking, and a line for each comparison.

#include "cli/runs/run_report.h"

#include <math.h>
#include <stdio.h>

#include "analyse/fit.h"

enum {
    SCREEN_COLUMNS = 80,       // lines are not made longer, however wide the terminal is
    VERDICT_NAME_COLUMNS = 25, // so that the sentence about two commands fits one line
    RELATIVE_COLUMNS = 8,
    MEMORY_COLUMNS = 8,
    PICTURE_COLUMNS = 18,
    NAME_COLUMNS_LEAST = 12
};

static size_t screen_columns(const RunStyle *style)
{
    return MAX((size_t)40, MIN(style->terminal.columns ? style->terminal.columns : SCREEN_COLUMNS,
                               (size_t)SCREEN_COLUMNS));
}

static double margin_of(const RunPlan *plan)
{
    return plan->until > 0 ? plan->until : plan->margin;
}

static bool is_compared(const RunSet *set, uint32_t command)
{
    return command != set->plan.reference && set->groups[command].comparison.pairs > 0;
}

// ---- The verdict -------------------------------------------------------------

// Two texts, on two lines where one does not hold both.
static void add_sentence(StrBuf *out, const RunStyle *style, const StrBuf *first,
                         const StrBuf *second)
{
    Str a = strbuf_str(first), b = strbuf_str(second);
    size_t columns = screen_columns(style);
    bool fits = str_columns(a) + str_columns(b) <= columns;
    style_begin(out, &style->terminal, STYLE_BOLD);
    if (str_columns(a) < columns) { // the comma behind it fits, too
        strbuf_add(out, a);
    } else {
        text_add_wrapped(out, a, columns, 2);
        out->len--; // its line feed
    }
    style_end(out, &style->terminal, STYLE_BOLD);
    if (b.len && !fits) {
        // "A does this, 95 % sure": the comma ends the first line.
        size_t space = str_find_char(b, ' ');
        strbuf_add(out, str_slice(b, 0, space));
        strbuf_add(out, STR("\n  "));
        text_add_wrapped(out, str_slice(b, space + 1, b.len), columns - 2, 4);
    } else {
        strbuf_add(out, b);
        strbuf_add_char(out, '\n');
    }
}

static double percent_less(double ratio)
{
    return fabs(ratio - 1) * 100;
}

// The change of `ratio` as a sentence about two commands, and about its interval.
static void say_different(StrBuf *a, StrBuf *b, const RunSet *set, Str reference, Str other,
                          const Comparison *c)
{
    const char *fastest = set->count > 2 ? "fastest: " : "";
    double sure = 100 * set->plan.level;
    const char *quantity = set->plan.cpu_clock ? "CPU time" : "time";
    bool is_slower = c->ratio.point > 1;
    double times = is_slower ? c->ratio.point : 1 / c->ratio.point;
    if (times >= 1.5) {
        double low = is_slower ? c->ratio.low : 1 / c->ratio.high;
        double high = is_slower ? c->ratio.high : 1 / c->ratio.low;
        Str fast = is_slower ? reference : other, slow = is_slower ? other : reference;
        strbuf_printf(a, "%s%" STR_FMT " is %.3g times as fast as %" STR_FMT, fastest,
                      STR_ARG(fast), times, STR_ARG(slow));
        strbuf_printf(b, ", %.4g %% sure it is between %.*f and %.*f", sure, low < 9.95 ? 1 : 0,
                      low, high < 9.95 ? 1 : 0, high);
        return;
    }
    double point = percent_less(c->ratio.point);
    int decimals = point < 1 ? 2 : 1;
    if (is_slower && set->count > 2)
        strbuf_printf(a, "fastest: %" STR_FMT "; %" STR_FMT " takes %.*f %% more %s",
                      STR_ARG(reference), STR_ARG(other), decimals, point, quantity);
    else
        strbuf_printf(a, "%s%" STR_FMT " takes %.*f %% %s %s than %" STR_FMT, fastest,
                      STR_ARG(other), decimals, point, is_slower ? "more" : "less", quantity,
                      STR_ARG(reference));
    strbuf_printf(b, ", %.4g %% sure it is between %.*f and %.*f %%", sure, decimals,
                  percent_less(is_slower ? c->ratio.low : c->ratio.high), decimals,
                  percent_less(is_slower ? c->ratio.high : c->ratio.low));
}

// "between 0.52 % less and 1.11 % more time", "between 1.2 and 3.0 % more time".
static void add_range(StrBuf *b, const RunSet *set, const Interval *ratio)
{
    const char *quantity = set->plan.cpu_clock ? "CPU time" : "time";
    bool is_above = ratio->low >= 1, is_below = ratio->high <= 1;
    int decimals = ratio->high - ratio->low < 0.05 ? 2 : ratio->high - ratio->low < 0.5 ? 1 : 0;
    if (ratio->high > 2 || ratio->low < 0.5)
        strbuf_printf(b, "between %.2g and %.2g times as much %s", ratio->low, ratio->high,
                      quantity);
    else if (is_above || is_below)
        strbuf_printf(b, "between %.*f and %.*f %% %s %s", decimals,
                      percent_less(is_above ? ratio->low : ratio->high), decimals,
                      percent_less(is_above ? ratio->high : ratio->low), is_above ? "more" : "less",
                      quantity);
    else
        strbuf_printf(b, "between %.*f %% less and %.*f %% more %s", decimals,
                      percent_less(ratio->low), decimals, percent_less(ratio->high), quantity);
}

static void say_alike(StrBuf *a, StrBuf *b, const RunSet *set, Str reference, Str other,
                      const Comparison *c)
{
    double sure = 100 * set->plan.level, margin = 100 * margin_of(&set->plan);
    bool is_known = c->verdict == VERDICT_EQUIVALENT || run_has_interval(c);
    if (c->verdict == VERDICT_EQUIVALENT)
        strbuf_printf(a, "%" STR_FMT " and %" STR_FMT " take the same time within %.3g %%",
                      STR_ARG(reference), STR_ARG(other), margin);
    else if (!is_known)
        strbuf_printf(a, "%" STR_FMT " and %" STR_FMT ": too few runs to say anything",
                      STR_ARG(reference), STR_ARG(other));
    else if (c->differs)
        strbuf_printf(a, "%" STR_FMT " is %s than %" STR_FMT ", perhaps by less than %.3g %%",
                      STR_ARG(other), c->ratio.point > 1 ? "slower" : "faster", STR_ARG(reference),
                      margin);
    else
        strbuf_printf(a, "undecided whether %" STR_FMT " or %" STR_FMT " is faster",
                      STR_ARG(reference), STR_ARG(other));
    if (!is_known)
        return;
    strbuf_printf(b, ", %.4g %% sure %" STR_FMT " takes ", sure, STR_ARG(other));
    add_range(b, set, &c->ratio);
}

// The one command of which the verdict speaks beside the reference: the fastest one, or when that
// is the reference, the next.
static uint32_t spoken_of(const RunSet *set, const uint32_t *order)
{
    for (uint32_t k = 0; k < set->count; k++)
        if (is_compared(set, order[k]))
            return order[k];
    return set->plan.reference;
}

static void add_settling(StrBuf *out, const RunSet *set);

static void add_verdict_of_many(StrBuf *out, const RunStyle *style, RunSummaries *s,
                                const uint32_t *order)
{
    const RunSet *set = &s->set;
    StrBuf a = {0}, b = {0};
    uint32_t other = spoken_of(set, order), reference = set->plan.reference;
    const Comparison *c = &set->groups[other].comparison;
    const Str *labels = run_labels(s, VERDICT_NAME_COLUMNS);
    bool is_decided = c->verdict == VERDICT_FASTER || c->verdict == VERDICT_SLOWER;
    if (set->count > 2 && !is_decided)
        strbuf_add(&a,
                   c->verdict == VERDICT_EQUIVALENT ? STR("fastest: ") : STR("fastest perhaps: "));
    if (is_decided)
        say_different(&a, &b, set, labels[reference], labels[other], c);
    else
        say_alike(&a, &b, set, labels[reference], labels[other], c);
    add_sentence(out, style, &a, &b);
    strbuf_deinit(&a);
    strbuf_deinit(&b);
    add_settling(out, set);
}

static void add_verdict_of_one(StrBuf *out, const RunStyle *style, RunSummaries *s)
{
    const RunSummary *r = &s->set.groups[0].summary;
    size_t n = s->set.groups[0].runs.len;
    const Interval *in = &r->median_interval;
    StrBuf a = {0}, b = {0};
    RunUnit unit = style->unit == RUN_UNIT_AUTO ? run_fitting_unit(r->median) : style->unit;
    double half = isfinite(in->low) ? (in->high - in->low) / 2 : r->deviation;
    int decimals = run_decimals(r->median, half, unit, 1);
    Str name = run_unit_name(unit);
    strbuf_add(&a, run_labels(s, 2 * VERDICT_NAME_COLUMNS)[0]);
    strbuf_printf(&a, " takes %.*f %" STR_FMT, decimals, run_in_unit(r->median, unit),
                  STR_ARG(name));
    if (isfinite(in->low))
        strbuf_printf(&b, ", 95 %% sure it is between %.*f and %.*f (%zu runs)", decimals,
                      run_in_unit(in->low, unit), decimals, run_in_unit(in->high, unit), n);
    else
        strbuf_printf(&b, ", of %zu run%s: too few to be sure", n, n == 1 ? "" : "s");
    add_sentence(out, style, &a, &b);
    strbuf_deinit(&a);
    strbuf_deinit(&b);
}

// "about 6 more seconds would settle …": undecided comparisons, with the time of further rounds.
static void add_settling(StrBuf *out, const RunSet *set)
{
    double more = 0, round_s = 0;
    uint32_t undecided = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const Comparison *c = &set->groups[i].comparison;
        round_s += set->groups[i].summary.mean;
        if (!is_compared(set, i) || c->verdict != VERDICT_INCONCLUSIVE)
            continue;
        undecided++;
        more = MAX(more, run_has_interval(c) ? c->more_pairs : INFINITY);
    }
    if (undecided == 0)
        return;
    double margin = 100 * margin_of(&set->plan), seconds = more * round_s;
    if (!isfinite(more) || seconds > 86400)
        strbuf_printf(out, "  more runs may settle %.3g %%: --until %.3g%% goes on until then\n",
                      margin, margin);
    else if (seconds < 120)
        strbuf_printf(out, "  about %.0f more second%s would settle %.3g %% (--until %.3g%%)\n",
                      ceil(seconds), ceil(seconds) == 1 ? "" : "s", margin, margin);
    else
        strbuf_printf(out, "  about %.0f more minutes would settle %.3g %% (--until %.3g%%)\n",
                      ceil(seconds / 60), margin, margin);
}

// ---- The ranking -------------------------------------------------------------

// The place of a command in the ranking: its time as a multiple of the reference's.
static double rank_of(const RunSet *set, uint32_t command, RunSort sort)
{
    const RunGroup *g = &set->groups[command];
    if (g->runs.len == 0)
        return INFINITY;
    if (sort == RUN_SORT_COMMAND)
        return command;
    if (sort == RUN_SORT_MEAN)
        return g->summary.mean;
    return is_compared(set, command) ? g->comparison.ratio.point : 1;
}

static uint32_t *ranking(RunSummaries *s, RunSort sort)
{
    uint32_t n = s->set.count;
    uint32_t *order = arena_array(&s->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at > 0 && rank_of(&s->set, order[at - 1], sort) > rank_of(&s->set, i, sort); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

// Properties shared by all rows of the ranking.
typedef struct Ranking {
    RunUnit unit; // AUTO: each row has its own
    int decimals;
    size_t value_columns, spread_columns, name_columns;
    double from, to; // of the pictures
    const Str *labels;
} Ranking;

static RunUnit unit_of_row(const Ranking *t, const RunSummary *r)
{
    return t->unit == RUN_UNIT_AUTO ? run_fitting_unit(r->mean) : t->unit;
}

static int decimals_of_row(const Ranking *t, const RunSummary *r)
{
    return t->unit == RUN_UNIT_AUTO ? run_decimals(r->mean, r->deviation, unit_of_row(t, r), 2)
                                    : t->decimals;
}

// One unit and one number of decimals for all rows where they are within three orders.
static void choose_figures(Ranking *t, const RunStyle *style, const RunSet *set)
{
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->groups[i].runs.len) {
            least = MIN(least, set->groups[i].summary.mean);
            most = MAX(most, set->groups[i].summary.mean);
        }
    t->unit = style->unit;
    if (t->unit == RUN_UNIT_AUTO && most < least * 1000)
        t->unit = run_fitting_unit(least);
    t->decimals = 3;
    int needed = 0;
    for (uint32_t i = 0; i < set->count && t->unit != RUN_UNIT_AUTO; i++) {
        const RunSummary *r = &set->groups[i].summary;
        if (set->groups[i].runs.len == 0)
            continue;
        t->decimals = MIN(t->decimals, run_decimals(r->mean, r->deviation, t->unit, 2));
        needed = MAX(needed, run_decimals(r->mean, r->deviation, t->unit, 1));
    }
    t->decimals = MAX(t->decimals, needed);
}

static void add_mean(StrBuf *out, const Ranking *t, const RunSummary *r)
{
    strbuf_printf(out, "%.*f", decimals_of_row(t, r), run_in_unit(r->mean, unit_of_row(t, r)));
}

static void add_spread(StrBuf *out, const Ranking *t, const RunSummary *r)
{
    if (isfinite(r->deviation))
        strbuf_printf(out, "%.*f", decimals_of_row(t, r),
                      run_in_unit(r->deviation, unit_of_row(t, r)));
    else
        strbuf_add_char(out, '?');
}

static size_t columns_of(void (*add)(StrBuf *out, const Ranking *t, const RunSummary *r),
                         const Ranking *t, const RunSet *set)
{
    size_t most = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        StrBuf text = {0};
        if (set->groups[i].runs.len)
            add(&text, t, &set->groups[i].summary);
        most = MAX(most, str_columns(strbuf_str(&text)));
        strbuf_deinit(&text);
    }
    return most;
}

static void choose_range(Ranking *t, RunSummaries *s)
{
    t->from = INFINITY;
    for (uint32_t i = 0; i < s->set.count; i++) {
        size_t n = s->set.groups[i].runs.len;
        double *times = runs_times(&s->arena, &s->set.groups[i]);
        if (n == 0)
            continue;
        stats_sort(times, n);
        t->from = MIN(t->from, times[0]);
        t->to = MAX(t->to, run_picture_end(times, n));
    }
}

// Appends `text` so that it ends at the column `columns` behind `from`.
static void add_right(StrBuf *out, Str text, size_t columns)
{
    size_t wide = str_columns(text);
    strbuf_add_repeated(out, ' ', wide < columns ? columns - wide : 0);
    strbuf_add(out, text);
}

static void add_made_right(StrBuf *out, void (*add)(StrBuf *, const Ranking *, const RunSummary *),
                           const Ranking *t, const RunSummary *r, size_t columns)
{
    StrBuf text = {0};
    add(&text, t, r);
    add_right(out, strbuf_str(&text), columns);
    strbuf_deinit(&text);
}

static void add_unit(StrBuf *out, const Ranking *t, const RunSummary *r, size_t columns)
{
    size_t from = out->len;
    strbuf_add_char(out, ' ');
    strbuf_add(out, run_unit_name(unit_of_row(t, r)));
    pad_to(out, from, columns);
}

static void add_relative(StrBuf *out, const RunSet *set, uint32_t command)
{
    double ratio = is_compared(set, command) ? set->groups[command].comparison.ratio.point : 1;
    char text[32];
    int decimals = ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0;
    snprintf(text, sizeof(text), "%.*f", decimals, ratio);
    bool has_ratio = command == set->plan.reference || is_compared(set, command);
    add_right(out, has_ratio ? str_from_c(text) : STR("-"), RELATIVE_COLUMNS);
}

static void add_rank_row(StrBuf *out, const Ranking *t, RunSummaries *s, uint32_t command)
{
    const RunGroup *g = &s->set.groups[command];
    const RunSummary *r = &g->summary;
    add_relative(out, &s->set, command);
    strbuf_add(out, STR("  "));
    if (g->runs.len == 0) {
        strbuf_add(out, STR("no run was finished: "));
    } else {
        StrBuf memory = {0};
        add_made_right(out, add_mean, t, r, t->value_columns);
        strbuf_add(out, STR(" ± "));
        add_made_right(out, add_spread, t, r, t->spread_columns);
        add_unit(out, t, r, 3);
        if (r->peak_rss_is_floor)
            strbuf_add_char(&memory, '<');
        add_value(&memory, r->peak_rss_bytes, STR("bytes"));
        strbuf_add_char(out, ' ');
        add_right(out, strbuf_str(&memory), MEMORY_COLUMNS);
        strbuf_deinit(&memory);
        strbuf_add(out, STR("  "));
        double *times = runs_times(&s->arena, g);
        stats_sort(times, g->runs.len);
        run_add_blocks(out, times, g->runs.len, t->from, t->to, PICTURE_COLUMNS);
        strbuf_add(out, STR("  "));
    }
    strbuf_add(out, t->labels[command]);
    strbuf_add_char(out, '\n');
}

static void add_end(StrBuf *out, const Ranking *t, double seconds)
{
    RunUnit unit = run_fitting_unit(seconds);
    int decimals = run_decimals(seconds, (t->to - t->from) / 10, unit, 1);
    double value = run_in_unit(seconds, unit);
    strbuf_printf(out, "%.*f %" STR_FMT, value < 10 ? MIN(decimals, 2) : MIN(decimals, 1), value,
                  STR_ARG(run_unit_name(unit)));
}

// The ends of the pictures' range stand above them.
static void add_rank_heading(StrBuf *out, const RunStyle *style, const Ranking *t,
                             size_t time_columns)
{
    StrBuf from = {0}, to = {0};
    style_begin(out, &style->terminal, STYLE_DIM);
    add_right(out, STR("relative"), RELATIVE_COLUMNS);
    strbuf_add(out, STR("  "));
    add_right(out, STR("mean ± spread"), time_columns);
    strbuf_add_char(out, ' ');
    add_right(out, STR("memory"), MEMORY_COLUMNS);
    strbuf_add(out, STR("  "));
    add_end(&from, t, t->from);
    add_end(&to, t, t->to);
    Str first = strbuf_str(&from);
    strbuf_add(out, first);
    add_right(out, strbuf_str(&to),
              PICTURE_COLUMNS - MIN(str_columns(first), (size_t)PICTURE_COLUMNS));
    strbuf_add(out, STR("  command"));
    style_end(out, &style->terminal, STYLE_DIM);
    strbuf_add_char(out, '\n');
    strbuf_deinit(&from);
    strbuf_deinit(&to);
}

static void add_ranking(StrBuf *out, const RunStyle *style, RunSummaries *s, const uint32_t *order)
{
    Ranking t = {0};
    choose_figures(&t, style, &s->set);
    choose_range(&t, s);
    t.value_columns = columns_of(add_mean, &t, &s->set);
    t.spread_columns = columns_of(add_spread, &t, &s->set);
    size_t figures = t.value_columns + t.spread_columns + 6; // " ± ", " ms"
    size_t heading = str_columns(STR("mean ± spread"));
    t.value_columns += heading > figures ? heading - figures : 0;
    figures = MAX(figures, heading);
    size_t taken = RELATIVE_COLUMNS + 2 + figures + 1 + MEMORY_COLUMNS + 2 + PICTURE_COLUMNS + 2;
    size_t columns = screen_columns(style);
    t.name_columns = columns > taken + NAME_COLUMNS_LEAST ? columns - taken : NAME_COLUMNS_LEAST;
    t.labels = run_labels(s, t.name_columns);
    add_rank_heading(out, style, &t, figures);
    for (uint32_t k = 0; k < s->set.count; k++)
        add_rank_row(out, &t, s, order[k]);
}

// ---- The comparisons ---------------------------------------------------------

// "Compared with './old': elapsed time, 30 pairs of runs": the common part of all lines.
static void add_comparison_heading(StrBuf *out, const RunStyle *style, RunSummaries *s,
                                   size_t pairs)
{
    const RunSet *set = &s->set;
    StrBuf text = {0};
    strbuf_add(&text, STR("Compared with "));
    strbuf_add(&text, run_labels(s, VERDICT_NAME_COLUMNS)[set->plan.reference]);
    strbuf_add(&text, set->plan.cpu_clock ? STR(": CPU time") : STR(": elapsed time"));
    strbuf_printf(&text, ", %zu %s%s", pairs, set->plan.grouped ? "runs each" : "pair",
                  set->plan.grouped || pairs == 1 ? "" : "s");
    style_begin(out, &style->terminal, STYLE_BOLD);
    strbuf_add(out, strbuf_str(&text));
    style_end(out, &style->terminal, STYLE_BOLD);
    if (set->without_waiting) {
        StrBuf left = {0};
        strbuf_printf(&left, "; left out: the wait for a CPU, %.0f %%", 100 * set->waiting_share);
        bool fits = text.len + left.len <= screen_columns(style);
        strbuf_add(out, fits ? STR("") : STR("\n "));
        strbuf_add(out, str_slice(strbuf_str(&left), fits ? 0 : 1, left.len));
        strbuf_deinit(&left);
    }
    strbuf_add_char(out, '\n');
    strbuf_deinit(&text);
}

static void add_short_verdict(StrBuf *out, const Terminal *t, const Comparison *c, double margin)
{
    StrBuf text = {0};
    if (c->verdict == VERDICT_EQUIVALENT)
        strbuf_printf(&text, "same within %.3g %%", margin * 100);
    else if (c->verdict == VERDICT_SLOWER || c->verdict == VERDICT_FASTER)
        strbuf_add(&text, str_from_c(verdict_name(c->verdict)));
    else if (c->differs)
        strbuf_printf(&text, "%s, maybe < %.3g %%", c->ratio.point > 1 ? "slower" : "faster",
                      margin * 100);
    else
        strbuf_add(&text, STR("undecided"));
    style_begin(out, t, STYLE_BOLD);
    strbuf_add(out, strbuf_str(&text));
    style_end(out, t, STYLE_BOLD);
    strbuf_deinit(&text);
}

static void add_comparisons(StrBuf *out, const RunStyle *style, RunSummaries *s,
                            const uint32_t *order)
{
    enum { FIGURES = 34, VERDICT = 20 };
    const RunSet *set = &s->set;
    size_t pairs = 0, longest = 0, room = screen_columns(style) - FIGURES - VERDICT - 6;
    bool any_few = false;
    const Str *labels = run_labels(s, MAX(room, (size_t)NAME_COLUMNS_LEAST));
    for (uint32_t i = 0; i < set->count; i++) {
        const Comparison *c = &set->groups[i].comparison;
        pairs = MAX(pairs, c->pairs);
        longest = is_compared(set, i) ? MAX(longest, str_columns(labels[i])) : longest;
        any_few |= is_compared(set, i) && c->method == COMPARE_PAIRED_FEW;
    }
    add_comparison_heading(out, style, s, pairs);
    for (uint32_t k = 0; k < set->count; k++) {
        const Comparison *c = &set->groups[order[k]].comparison;
        if (!is_compared(set, order[k]))
            continue;
        size_t from = out->len;
        strbuf_add(out, STR("  "));
        strbuf_add(out, labels[order[k]]);
        pad_to(out, from, longest + 4);
        from = out->len;
        if (run_has_interval(c)) {
            run_add_interval(out, &c->ratio);
        } else {
            run_add_change(out, c->ratio.point);
            strbuf_add(out, STR(" [too few runs]"));
        }
        pad_to(out, from, FIGURES);
        add_short_verdict(out, &style->terminal, c, margin_of(&set->plan));
        strbuf_add_char(out, '\n');
    }
    if (any_few)
        strbuf_printf(out, "  with so few pairs (%zu), the runs are compared as two samples\n",
                      pairs);
}

// ---- Many commands -----------------------------------------------------------

// The word in a column of 9.
static Str verdict_word(const Comparison *c)
{
    if (c->verdict == VERDICT_EQUIVALENT)
        return STR("same");
    if (c->verdict == VERDICT_SLOWER || c->verdict == VERDICT_FASTER)
        return str_from_c(verdict_name(c->verdict));
    if (c->differs)
        return c->ratio.point > 1 ? STR("slower?") : STR("faster?");
    return STR("undecided");
}

static void add_crowded_change(StrBuf *out, const RunSet *set, uint32_t command)
{
    const RunGroup *g = &set->groups[command];
    strbuf_add(out, STR("  "));
    if (command == set->plan.reference)
        strbuf_add(out, STR("reference"));
    else if (!is_compared(set, command))
        strbuf_add(out, STR("not compared"));
    else if (run_has_interval(&g->comparison))
        run_add_interval(out, &g->comparison.ratio);
    else
        run_add_change(out, g->comparison.ratio.point);
}

// The columns of the changes: an interval of some pairs may be wide.
static size_t crowded_columns(const RunSet *set)
{
    enum { USUAL = 28 };
    size_t most = USUAL;
    for (uint32_t i = 0; i < set->count; i++) {
        StrBuf text = {0};
        add_crowded_change(&text, set, i);
        most = MAX(most, str_columns(strbuf_str(&text)) + 1);
        strbuf_deinit(&text);
    }
    return most;
}

// Ranking and comparison in one row, so that ten commands fit a screen.
static void add_crowded_row(StrBuf *out, const Ranking *t, const RunSet *set, uint32_t command,
                            size_t change_columns)
{
    enum { WORD = 11 };
    const RunGroup *g = &set->groups[command];
    size_t from = out->len;
    add_crowded_change(out, set, command);
    pad_to(out, from, change_columns);
    from = out->len;
    if (is_compared(set, command))
        strbuf_add(out, verdict_word(&g->comparison));
    pad_to(out, from, WORD);
    if (g->runs.len == 0) {
        strbuf_add(out, STR("no run was finished: "));
    } else {
        add_made_right(out, add_mean, t, &g->summary, t->value_columns);
        strbuf_add(out, STR(" ± "));
        add_made_right(out, add_spread, t, &g->summary, t->spread_columns);
        add_unit(out, t, &g->summary, 5);
    }
    strbuf_add(out, t->labels[command]);
    strbuf_add_char(out, '\n');
}

static void add_crowded(StrBuf *out, const RunStyle *style, RunSummaries *s, const uint32_t *order)
{
    enum { WORD = 11 };
    Ranking t = {0};
    size_t pairs = 0, change_columns = crowded_columns(&s->set);
    choose_figures(&t, style, &s->set);
    t.value_columns = columns_of(add_mean, &t, &s->set);
    t.spread_columns = columns_of(add_spread, &t, &s->set);
    size_t taken = change_columns + WORD + t.value_columns + t.spread_columns + 8,
           columns = screen_columns(style);
    t.name_columns = columns > taken + NAME_COLUMNS_LEAST ? columns - taken : NAME_COLUMNS_LEAST;
    t.labels = run_labels(s, t.name_columns);
    for (uint32_t i = 0; i < s->set.count; i++)
        pairs = MAX(pairs, s->set.groups[i].comparison.pairs);
    add_comparison_heading(out, style, s, pairs);
    for (uint32_t k = 0; k < s->set.count; k++)
        add_crowded_row(out, &t, &s->set, order[k], change_columns);
}

void run_report_screen(StrBuf *out, const RunStyle *style, RunSummaries *s)
{
    enum { CROWDED = 6 };
    bool any = false;
    for (uint32_t i = 0; i < s->set.count; i++)
        any |= is_compared(&s->set, i);
    if (s->set.count == 1 && s->set.groups[0].runs.len) {
        add_verdict_of_one(out, style, s);
        return;
    }
    uint32_t *order = ranking(s, style->sort);
    if (any)
        add_verdict_of_many(out, style, s, ranking(s, RUN_SORT_AUTO));
    else
        strbuf_add(out, STR("nothing can be compared yet\n"));
    strbuf_add_char(out, '\n');
    if (any && s->set.count > CROWDED) {
        add_crowded(out, style, s, order);
        return;
    }
    add_ranking(out, style, s, order);
    if (!any)
        return;
    strbuf_add_char(out, '\n');
    add_comparisons(out, style, s, order);
}
