// SPDX-License-Identifier: Apache-2.0
// Lines of counts for people.

#include "cli/runs/counts_text.h"

#include <math.h>

#include "cli/terminal.h"
#include "model/facts.h"

bool counts_is_time(const Profile *p, const CountRow *row)
{
    return str_equal(profile_text(p, p->metrics.unit.at[row->metric.v]), STR("ns"));
}

static void add_right(StrBuf *out, const StrBuf *text, size_t columns)
{
    size_t wide = str_columns(strbuf_str(text));
    strbuf_add_repeated(out, ' ', wide < columns ? columns - wide : 0);
    strbuf_add(out, strbuf_str(text));
}

void counts_add_value(StrBuf *out, const Profile *p, const CountRow *row, bool plain)
{
    double mean = row->value.mean;
    if (isnan(mean))
        strbuf_add(out,
                   counts_reason(p, row->metric).len ? STR("not supported") : STR("not counted"));
    else if (plain && !counts_is_time(p, row) && mean == floor(mean))
        strbuf_printf(out, "%.0f", mean);
    else if (counts_is_time(p, row))
        strbuf_printf(out, "%.2f ms", mean / 1e6);
    else if (mean < 100 && mean != floor(mean))
        strbuf_printf(out, "%.2f", mean); // the mean of few: 0.20, not 0
    else
        add_count(out, (uint64_t)MAX(0.0, MIN(mean + 0.5, 0x1p63)));
}

void counts_add_spread(StrBuf *out, const Profile *p, const CountRow *row)
{
    bool is_time = counts_is_time(p, row);
    double scale = is_time ? 1e-6 : 1;
    int places = is_time || row->value.mean < 100 ? 2 : 0;
    strbuf_printf(out, "± %.2f %%  [%.*f … %.*f]", row->value.error * 100, places,
                  MAX(0.0, row->value.interval.low * scale), places,
                  row->value.interval.high * scale);
}

static void add_row(StrBuf *out, const Profile *p, const CountRow *row, bool plain)
{
    StrBuf value = {0};
    size_t from = out->len;
    Str part = profile_text(p, row->part);
    if (part.len) {
        strbuf_add_terminal(out, part);
        pad_to(out, from, 16);
        strbuf_add_char(out, ' ');
    }
    counts_add_value(&value, p, row, plain);
    add_right(out, &value, 18);
    strbuf_deinit(&value);
    bool is_counted = !isnan(row->value.mean);
    strbuf_add(out, counts_is_time(p, row) && is_counted ? STR("  ") : STR("     "));
    from = out->len;
    strbuf_add_terminal(out, profile_text(p, p->metrics.name.at[row->metric.v]));
    pad_to(out, from, 24);
    from = out->len;
    if (row->derived.unit)
        strbuf_printf(out, " %10.3f %s", row->derived.value, row->derived.unit);
    if (!isnan(row->value.error)) {
        pad_to(out, from, 38);
        strbuf_add_char(out, ' ');
        counts_add_spread(out, p, row);
    }
    Str reason = is_counted ? STR("") : counts_reason(p, row->metric);
    if (reason.len) {
        strbuf_add_char(out, ' ');
        strbuf_add_terminal(out, reason);
    }
    if (is_counted && row->running_share < 99.995)
        strbuf_printf(out, "  (counted %.1f %% of the time, scaled)", row->running_share);
    while (out->len && out->ptr[out->len - 1] == ' ')
        out->len--;
    strbuf_add_char(out, '\n');
}

void counts_add_rows(StrBuf *out, const Profile *p, const CountRowVec *rows, double at_s,
                     bool plain)
{
    for (size_t i = 0; i < rows->len; i++) {
        if (at_s >= 0)
            strbuf_printf(out, "%12.6f ", at_s);
        add_row(out, p, &rows->at[i], plain);
    }
}

void counts_add_span_length(StrBuf *out, const Profile *p, const CountSpan *span)
{
    double asked = (double)counts_fact(p, STR(FACT_INTERVAL)), length = (double)span->length_ns;
    if (length < asked * 0.95)
        strbuf_printf(out, "# this interval: %.3g ms instead of %.10g ms\n", length / 1e6,
                      asked / 1e6);
}

void counts_add_heading(StrBuf *out, const Counts *c)
{
    uint64_t cpus = counts_fact(c->profile, STR(FACT_COUNTED_CPUS));
    uint64_t threads = counts_fact(c->profile, STR(FACT_COUNTED_THREADS));
    strbuf_add(out, STR("Counted "));
    if (c->name.v) {
        strbuf_add(out, cpus ? STR("on the machine during '") : STR("for '"));
        strbuf_add_terminal(out, profile_text(c->profile, c->name));
        strbuf_add_char(out, '\'');
    } else if (cpus) {
        strbuf_printf(out, "on %llu CPU%s", (unsigned long long)cpus, cpus == 1 ? "" : "s");
    } else {
        strbuf_printf(out, "for %llu thread%s", (unsigned long long)threads,
                      threads == 1 ? "" : "s");
    }
    if (c->runs.len > 1)
        strbuf_printf(out, ", %zu runs (mean ± standard error, 95 %% interval of the mean)",
                      c->runs.len);
    strbuf_add(out, STR(":\n\n"));
}

static void add_seconds(StrBuf *out, const CountMean *m, const char *what)
{
    strbuf_printf(out, "%18.6f s   %s", m->mean, what);
    if (!isnan(m->error) && m->mean > 0)
        strbuf_printf(out, "  ± %.2f %%  [%.6f … %.6f]", m->error * 100, MAX(0.0, m->interval.low),
                      m->interval.high);
    strbuf_add_char(out, '\n');
}

static void add_each_run(StrBuf *out, const Counts *c)
{
    strbuf_add(out, STR("\n  run   seconds   against the mean\n"));
    for (size_t i = 0; i < c->runs.len; i++) {
        int64_t wall_ns = c->profile->runs.wall_ns.at[c->runs.at[i].v];
        double seconds = (double)wall_ns * 1e-9;
        if (wall_ns != TIME_NONE)
            strbuf_printf(out, "%5zu %9.6f   %+.6f\n", i + 1, seconds, seconds - c->wall_s.mean);
    }
}

void counts_add_times(StrBuf *out, const Counts *c, bool each_run)
{
    bool is_machine = counts_fact(c->profile, STR(FACT_COUNTED_CPUS)) > 0;
    if (!isnan(c->wall_s.mean))
        add_seconds(out, &c->wall_s, "elapsed");
    // The command's own times say nothing about what ran on the whole CPUs.
    if (!isnan(c->user_s.mean) && !is_machine)
        add_seconds(out, &c->user_s, "user");
    if (!isnan(c->system_s.mean) && !is_machine)
        add_seconds(out, &c->system_s, "system");
    if (each_run)
        add_each_run(out, c);
    strbuf_add_char(out, '\n');
}

static void add_notes(StrBuf *out, const Profile *p, bool all)
{
    for (size_t i = 0; i < p->notes.text.len; i++) {
        if (p->notes.level.at[i] != NOTE_WARNING && !all)
            continue;
        strbuf_add_terminal(out, profile_text(p, p->notes.text.at[i]));
        strbuf_add_char(out, '\n');
    }
}

void counts_add_warnings(StrBuf *out, const Profile *p)
{
    add_notes(out, p, false);
}

void counts_add_report(StrBuf *out, Arena *scratch, const Profile *p, bool all_notes)
{
    bool has_series = p->series.time_ns.len > 0;
    StrIdVec names = counts_names(scratch, p);
    for (CountSpan span = {0}; counts_next_span(p, &span);) {
        CountRowVec rows = counts_of_span(scratch, p, &span);
        counts_add_rows(out, p, &rows, (double)span.end_ns * 1e-9, false);
        counts_add_span_length(out, p, &span);
    }
    if (has_series)
        strbuf_add_char(out, '\n');
    for (size_t i = 0; i < names.len; i++) {
        Counts c;
        counts_init(&c, scratch, p, names.at[i]);
        counts_add_heading(out, &c);
        if (!has_series && c.rows.len) {
            counts_add_rows(out, p, &c.rows, -1, false);
            strbuf_add_char(out, '\n');
        }
        counts_add_times(out, &c, false);
    }
    add_notes(out, p, all_notes);
}
