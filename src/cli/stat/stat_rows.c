// SPDX-License-Identifier: Apache-2.0
// Rows of counts as CSV and JSON.

#include "cli/stat/stat_rows.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/runs/counts_text.h"

// The word instead of a count, as perf has it.
static Str uncounted(const Profile *p, const CountRow *row)
{
    return counts_reason(p, row->metric).len ? STR("<not supported>") : STR("<not counted>");
}

static uint32_t size_of_part(const StatRows *r, const CountRow *row)
{
    const CountingTargets *t = r->targets;
    for (size_t i = 0; i < t->parts.len; i++)
        if (str_equal(t->parts.at[i], profile_text(r->profile, row->part)))
            return t->sizes.at[i];
    return 0;
}

// Parts that are added up from several CPUs say from how many.
static bool has_size(const StatRows *r)
{
    CountingParts by = r->targets->by;
    return by != COUNTING_WHOLE && by != COUNTING_EACH && by != COUNTING_CGROUPS;
}

// A reason as the last field, without the separator and without commas, which readers count.
static void add_reason(StrBuf *out, Str reason, Str separator)
{
    for (size_t i = 0; i < reason.len; i++) {
        bool is_separator = reason.ptr[i] == ',' || reason.ptr[i] == '"' ||
                            (separator.len && reason.ptr[i] == separator.ptr[0]);
        strbuf_add_char(out, is_separator && reason.ptr[i] != ' ' ? ' ' : reason.ptr[i]);
    }
}

static void add_value_field(StrBuf *out, const StatRows *r, const CountRow *row)
{
    const Profile *p = r->profile;
    double mean = row->value.mean;
    bool is_tool = str_equal(profile_text(p, p->metrics.event.at[row->metric.v]), STR("")) &&
                   counts_is_time(p, row);
    const char *unit = is_tool ? "ns" : counts_is_time(p, row) ? "msec" : "";
    if (isnan(mean))
        strbuf_add(out, uncounted(p, row));
    else if (counts_is_time(p, row) && !is_tool)
        strbuf_printf(out, "%.6f", mean / 1e6);
    else
        strbuf_printf(out, "%.0f", mean);
    strbuf_add(out, r->separator);
    strbuf_add(out, str_from_c(unit));
    strbuf_add(out, r->separator);
}

static void add_csv_row(StrBuf *out, const StatRows *r, const CountRow *row)
{
    const Profile *p = r->profile;
    Str name = profile_text(p, p->metrics.name.at[row->metric.v]), sep = r->separator;
    Str part = profile_text(p, row->part), reason = counts_reason(p, row->metric);
    bool is_cgroup = r->targets->by == COUNTING_CGROUPS;
    if (part.len && !is_cgroup) {
        strbuf_add_csv(out, part);
        strbuf_add(out, sep);
        if (has_size(r))
            strbuf_printf(out, "%u%" STR_FMT, size_of_part(r, row), STR_ARG(sep));
    }
    add_value_field(out, r, row);
    if (str_find_char(name, ',') != SIZE_MAX)
        strbuf_add_csv(out, name);
    else
        strbuf_add(out, name);
    strbuf_add(out, sep);
    if (is_cgroup) {
        strbuf_add(out, part);
        strbuf_add(out, sep);
    }
    if (!isnan(row->value.error))
        strbuf_printf(out, "%.2f%%%" STR_FMT, row->value.error * 100, STR_ARG(sep));
    strbuf_printf(out, "%llu%" STR_FMT "%.2f%" STR_FMT, (unsigned long long)row->running_ns,
                  STR_ARG(sep), row->running_share, STR_ARG(sep));
    if (row->derived.unit)
        strbuf_printf(out, "%.6g%" STR_FMT "%s", row->derived.value, STR_ARG(sep),
                      row->derived.unit);
    else
        strbuf_add(out, sep);
    if (reason.len && isnan(row->value.mean))
        add_reason(out, reason, sep);
    strbuf_add_char(out, '\n');
}

static void add_prefix(StrBuf *out, const StatRows *r)
{
    if (r->prefix.len)
        strbuf_printf(out, "%" STR_FMT "%" STR_FMT, STR_ARG(r->prefix), STR_ARG(r->separator));
    if (r->at_s >= 0)
        strbuf_printf(out, "%.9f%" STR_FMT, r->at_s, STR_ARG(r->separator));
}

void stat_add_csv(StrBuf *out, const StatRows *r)
{
    for (size_t i = 0; i < r->rows->len; i++) {
        add_prefix(out, r);
        add_csv_row(out, r, &r->rows->at[i]);
    }
}

// The members that tell the part, by perf's names.
static void add_json_part(JsonWriter *w, const StatRows *r, const CountRow *row)
{
    static const char *const members[] = {[COUNTING_CORES] = "core",
                                          [COUNTING_DIES] = "die",
                                          [COUNTING_SOCKETS] = "socket",
                                          [COUNTING_NODES] = "node"};
    Str part = profile_text(r->profile, row->part);
    if (part.len == 0 || r->targets->by == COUNTING_CGROUPS)
        return;
    if (has_size(r)) {
        json_str(w, members[r->targets->by], part);
        json_u64(w, "aggregate-number", size_of_part(r, row));
    } else { // "CPU3" is cpu 3
        bool is_cpu = r->targets->cpus;
        json_str(w, is_cpu ? "cpu" : "thread", is_cpu ? str_slice(part, 3, part.len) : part);
    }
}

static void add_json_metric(JsonWriter *w, const StatRows *r, const CountRow *row)
{
    char number[64] = "0.000000";
    Str reason = counts_reason(r->profile, row->metric);
    if (row->derived.unit)
        snprintf(number, sizeof(number), "%.6f", row->derived.value);
    json_str(w, "metric-value", str_from_c(number));
    StrBuf unit = {0};
    if (row->derived.unit)
        strbuf_add(&unit, str_from_c(row->derived.unit));
    else if (isnan(row->value.mean))
        add_reason(&unit, reason, STR(""));
    json_str(w, "metric-unit", strbuf_str(&unit));
    strbuf_deinit(&unit);
}

static void add_json_row(StrBuf *out, const StatRows *r, const CountRow *row)
{
    JsonWriter w = json_writer(out, 0);
    const Profile *p = r->profile;
    const CountMean *v = &row->value;
    char number[64];
    bool is_time = counts_is_time(p, row);
    bool is_tool = is_time && profile_text(p, p->metrics.event.at[row->metric.v]).len == 0;
    double scale = is_time && !is_tool ? 1e6 : 1;
    json_begin_object(&w, NULL);
    if (r->at_s >= 0)
        json_double(&w, "interval", r->at_s);
    add_json_part(&w, r, row);
    snprintf(number, sizeof(number), "%.6f", v->mean / scale);
    json_str(&w, "counter-value", isnan(v->mean) ? uncounted(p, row) : str_from_c(number));
    json_str(&w, "unit", is_tool ? STR("ns") : is_time ? STR("msec") : STR(""));
    json_str(&w, "event", profile_text(p, p->metrics.name.at[row->metric.v]));
    if (r->targets->by == COUNTING_CGROUPS)
        json_str(&w, "cgroup", profile_text(p, row->part));
    if (!isnan(v->error)) {
        json_double(&w, "variance", v->error * 100);
        json_double(&w, "interval-low", MAX(0.0, v->interval.low) / scale);
        json_double(&w, "interval-high", v->interval.high / scale);
    }
    json_u64(&w, "event-runtime", row->running_ns);
    json_double(&w, "pcnt-running", row->running_share);
    add_json_metric(&w, r, row);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

void stat_add_json(StrBuf *out, const StatRows *r)
{
    for (size_t i = 0; i < r->rows->len; i++)
        add_json_row(out, r, &r->rows->at[i]);
}

// ---- Figures alone -----------------------------------------------------------

enum { METRIC_COLUMNS = 20 };

static void add_metric_names(StrBuf *out, const StatRows *r, StatForm form, size_t from, size_t end)
{
    if (form == STAT_TEXT && r->at_s >= 0)
        strbuf_printf(out, "%-14s", "#        time");
    else if (form == STAT_CSV && r->at_s >= 0)
        strbuf_printf(out, "time%" STR_FMT, STR_ARG(r->separator));
    for (size_t i = from; i < end; i++) {
        const char *unit = r->rows->at[i].derived.unit;
        if (unit && form == STAT_TEXT)
            strbuf_printf(out, "  %*s", METRIC_COLUMNS, unit);
        else if (unit)
            strbuf_printf(out, "%s%" STR_FMT, unit, STR_ARG(r->separator));
    }
    strbuf_add_char(out, '\n');
}

static void add_metric_values(StrBuf *out, const StatRows *r, StatForm form, size_t from,
                              size_t end)
{
    if (form == STAT_TEXT && r->at_s >= 0)
        strbuf_printf(out, "%14.6f", r->at_s);
    else if (form == STAT_CSV)
        add_prefix(out, r);
    for (size_t i = from; i < end; i++) {
        const Derived *d = &r->rows->at[i].derived;
        if (d->unit && form == STAT_TEXT)
            strbuf_printf(out, "  %*.3f", METRIC_COLUMNS, d->value);
        else if (d->unit)
            strbuf_printf(out, "%.6g%" STR_FMT, d->value, STR_ARG(r->separator));
    }
    strbuf_add_char(out, '\n');
}

static void add_metric_object(StrBuf *out, const StatRows *r, size_t from, size_t end)
{
    JsonWriter w = json_writer(out, 0);
    char number[64];
    json_begin_object(&w, NULL);
    if (r->at_s >= 0)
        json_double(&w, "interval", r->at_s);
    add_json_part(&w, r, &r->rows->at[from]);
    for (size_t i = from; i < end; i++) {
        const Derived *d = &r->rows->at[i].derived;
        snprintf(number, sizeof(number), "%.6f", d->value);
        if (d->unit)
            json_str(&w, d->unit, str_from_c(number));
    }
    json_end(&w);
    strbuf_add_char(out, '\n');
}

void stat_add_metrics(StrBuf *out, const StatRows *r, StatForm form, bool heading)
{
    for (size_t from = 0, end; from < r->rows->len; from = end) {
        for (end = from; end < r->rows->len && r->rows->at[end].part.v == r->rows->at[from].part.v;)
            end++;
        if (form == STAT_JSON) {
            add_metric_object(out, r, from, end);
            continue;
        }
        if (heading && from == 0)
            add_metric_names(out, r, form, from, end);
        add_metric_values(out, r, form, from, end);
    }
}
