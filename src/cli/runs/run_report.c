// SPDX-License-Identifier: Apache-2.0
// Runs as text: all parts of a report in their order, and comparisons with saved runs.

#include "cli/runs/run_report.h"

#include <math.h>

#include "analyse/fit.h"
#include "cli/runs/run_modes.h"
#include "model/run_names.h"

enum { REPORT_COLUMNS = 80 };

// ---- A comparison of its own ---------------------------------------------------

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
            strbuf_add(out, STR("undecided"));
        break;
    }
    style_end(out, t, STYLE_BOLD);
    if (c->verdict != VERDICT_INCONCLUSIVE)
        return;
    if (!run_has_interval(c)) {
        strbuf_add(out, STR("; too few runs to say how many more are needed"));
    } else if (c->more_pairs < 1e6) {
        strbuf_add(out, STR("; about "));
        run_add_time(out, c->more_pairs * pair_s, RUN_UNIT_AUTO);
        strbuf_printf(out, " more would settle %.3g %% (%.0f %s)", margin * 100, c->more_pairs,
                      c->method == COMPARE_UNPAIRED ? "runs of each" : "pairs");
    } else {
        strbuf_add(out, STR("; no practical number of runs would show a difference"));
    }
}

void run_add_comparison(StrBuf *out, const Terminal *t, Str name, const Comparison *c,
                        double margin, double level, double pair_s)
{
    StrBuf first = {0};
    strbuf_add(&first, STR("'"));
    strbuf_add_terminal(&first, name);
    strbuf_printf(&first, "': %.4g times as long, ", c->ratio.point);
    if (run_has_interval(c)) {
        run_add_interval(&first, &c->ratio);
        strbuf_printf(&first, ", %.4g %% sure", 100 * level);
    } else {
        run_add_change(&first, c->ratio.point);
        strbuf_add(&first, STR(" [too few runs for an interval]"));
    }
    strbuf_add(out, STR("  "));
    text_add_wrapped(out, strbuf_str(&first), REPORT_COLUMNS, 4);
    strbuf_deinit(&first);
    strbuf_add(out, STR("    "));
    add_verdict(out, t, c, margin, pair_s);
    strbuf_add_char(out, '\n');
    run_add_power(out, c);
}

// ---- The notes -----------------------------------------------------------------

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
        strbuf_add(out, profile_text(p, p->notes.text.at[i]));
        strbuf_add_char(out, '.');
    }
}

// "Warning: 'make': the first run was far slower": the name where there is more than one command.
static void begin_warning(StrBuf *out, RunSummaries *all, uint32_t command)
{
    enum { NAME_COLUMNS = 40 };
    strbuf_add(out, STR("Warning: "));
    if (all->set.count > 1)
        strbuf_printf(out, "'%" STR_FMT "': ", STR_ARG(run_labels(all, NAME_COLUMNS)[command]));
}

static void end_warning(StrBuf *out, StrBuf *text)
{
    text_add_wrapped(out, strbuf_str(text), REPORT_COLUMNS, 2);
    strbuf_clear(text);
}

static void add_settling_warning(StrBuf *out, RunSummaries *all, uint32_t command)
{
    const RunSummary *s = &all->set.groups[command].summary;
    size_t n = all->set.groups[command].runs.len;
    StrBuf text = {0};
    begin_warning(&text, all, command);
    size_t begun = text.len;
    // On a loaded machine other programs come and go, and move the level of the times.
    bool is_loaded = all->machine.cpus && all->machine.load > (double)all->machine.cpus;
    if (s->steady.kind == STEADY_WARM_UP && !is_loaded)
        strbuf_printf(&text, "the first %zu runs were slower than the rest; try --warmup %zu",
                      s->steady.prefix, s->steady.prefix);
    else if (s->steady.kind == STEADY_SLOWDOWN && !is_loaded)
        strbuf_printf(&text,
                      "the first %zu runs were faster than the rest: the machine, or what the "
                      "command leaves behind, has slowed it",
                      s->steady.prefix);
    else if (s->steady.kind == STEADY_NONE && !is_loaded)
        strbuf_add(&text, STR("the times had not settled when the runs ended"));
    else if (s->first_slow)
        strbuf_add(&text, STR("the first run was far slower than the rest; try --warmup 1"));
    if (text.len > begun)
        end_warning(out, &text);
    if (s->effective_runs < (double)n / 2 && n >= 20) {
        strbuf_clear(&text);
        begin_warning(&text, all, command);
        strbuf_printf(
            &text,
            "neighbouring runs depend on each other (lag 1: %.2f); these %zu runs tell as "
            "much as %.0f independent ones",
            s->lag1, n, s->effective_runs);
        end_warning(out, &text);
    }
    strbuf_deinit(&text);
}

static void add_command_warnings(StrBuf *out, RunSummaries *all, uint32_t command)
{
    const RunGroup *r = &all->set.groups[command];
    size_t n = r->runs.len;
    uint32_t failed = 0;
    StrBuf text = {0};
    if (n == 0)
        return;
    add_settling_warning(out, all, command);
    if (all->commands[command].via_shell && r->summary.min < 0.005) {
        begin_warning(&text, all, command);
        strbuf_add(&text, STR("short beside the shell's own "));
        run_add_time(&text, all->shell_time_s, RUN_UNIT_AUTO);
        strbuf_add(&text, STR(" ± "));
        run_add_time(&text, all->shell_error_s, RUN_UNIT_AUTO);
        strbuf_add(&text, STR(", which is taken off; -N runs it without a shell"));
        end_warning(out, &text);
    }
    for (size_t i = 0; i < n; i++)
        failed += r->runs.at[i].status != 0;
    if (failed) {
        begin_warning(&text, all, command);
        strbuf_printf(&text, "%u of the runs ended with a status other than 0", failed);
        end_warning(out, &text);
    }
    strbuf_deinit(&text);
}

static void add_warnings(StrBuf *out, RunSummaries *s)
{
    const Profile *p = s->profile;
    run_add_modes(out, s, REPORT_COLUMNS);
    for (uint32_t i = 0; i < s->set.count; i++)
        add_command_warnings(out, s, i);
    for (size_t i = 0; i < p->notes.text.len; i++) {
        if (p->notes.level.at[i] != NOTE_WARNING)
            continue;
        bool is_missing = note_has_key(p, i, STR(NOTE_NOT_COUNTED));
        strbuf_add(out, is_missing ? STR("Not counted: ") : STR("Warning: "));
        text_add_wrapped(out, profile_text(p, p->notes.text.at[i]), REPORT_COLUMNS, 2);
    }
}

static size_t line_count(Str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

void run_report_truth(StrBuf *out, const RunStyle *style, RunSummaries *s)
{
    const Profile *p = s->profile;
    const Terminal *t = &style->terminal;
    StrBuf stated = {0}, warnings = {0};
    add_stated(&stated, p, STR(NOTE_CLOCK), STR("Clock: "));
    add_stated(&stated, p, STR(NOTE_ORDER), STR(" Order: "));
    add_warnings(&warnings, s);
    // A screen that is full has room for the verdict before all.
    size_t lines = line_count(strbuf_str(out)) + line_count(strbuf_str(&warnings)) + 3;
    bool folds = t->is_tty && !style->details && lines > t->rows;
    if (folds) {
        strbuf_printf(out, "%zu lines of warnings and details: --details\n",
                      line_count(strbuf_str(&warnings)) + 1);
    } else {
        style_begin(out, t, STYLE_DIM);
        text_add_wrapped(out, strbuf_str(&stated), REPORT_COLUMNS, 2);
        style_end(out, t, STYLE_DIM);
        strbuf_add(out, strbuf_str(&warnings));
    }
    strbuf_deinit(&stated);
    strbuf_deinit(&warnings);
}

void run_report(StrBuf *out, const RunStyle *style, RunSummaries *s)
{
    run_report_screen(out, style, s);
    strbuf_add_char(out, '\n');
    if (style->details || s->set.count == 1)
        run_report_details(out, style, s);
    run_report_truth(out, style, s);
}
