// SPDX-License-Identifier: Apache-2.0
// Recordings of runs, for programs.

#include "export/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/counted_runs.h"
#include "base/json.h"
#include "export/report_json.h"

// ---- JSON ------------------------------------------------------------------

static void add_time(JsonWriter *w, const char *key, int64_t ns)
{
    if (ns == TIME_NONE)
        json_null(w, key);
    else
        json_i64(w, key, ns);
}

// Doubles tell whole numbers apart up to here.
static bool is_whole(double value)
{
    return fabs(value) <= 0x1p53 && value == floor(value);
}

static void add_double(JsonWriter *w, const char *key, double value)
{
    if (is_whole(value))
        json_i64(w, key, (int64_t)value);
    else
        json_double(w, key, value);
}

static void add_event(JsonWriter *w, const Profile *p, MetricId metric, StrId part)
{
    json_str(w, "event", profile_text(p, p->metrics.name.at[metric.v]));
    if (part.v)
        json_str(w, "part", profile_text(p, part));
}

static void add_values(JsonWriter *w, const Profile *p, const RunValueRows *rows, uint32_t run)
{
    const RunValues *v = &p->run_values;
    json_begin_array(w, "values");
    for (size_t i = rows->starts[run]; i < rows->starts[run + 1]; i++) {
        uint32_t at = rows->order[i];
        json_begin_object(w, NULL);
        add_event(w, p, v->metric.at[at], v->part.at[at]);
        add_double(w, "value", v->value.at[at]);
        if (v->enabled_ns.at[at]) { // 0: no event was counted, but read off
            json_u64(w, "enabled_ns", v->enabled_ns.at[at]);
            json_u64(w, "running_ns", v->running_ns.at[at]);
        }
        json_end(w);
    }
    json_end(w);
}

static void add_runs(JsonWriter *w, const Profile *p)
{
    Arena scratch = {0};
    RunValueRows values = counts_values_by_run(&scratch, p);
    json_begin_array(w, "runs");
    for (uint32_t i = 0; i < p->runs.name.len; i++) {
        RunRow run = profile_run(p, (RunId){i});
        json_begin_object(w, NULL);
        json_str(w, "name", profile_text(p, run.name));
        json_str(w, "command", profile_text(p, run.command));
        if (run.revision.v)
            json_str(w, "revision", profile_text(p, run.revision));
        if (run.conditions.v)
            json_str(w, "conditions", profile_text(p, run.conditions));
        add_time(w, "start_ns", run.start_ns);
        add_time(w, "wall_ns", run.wall_ns);
        add_time(w, "user_ns", run.user_ns);
        add_time(w, "system_ns", run.system_ns);
        if (run.status == RUN_STATUS_NONE)
            json_null(w, "status");
        else
            json_u64(w, "status", run.status);
        json_u64(w, "round", run.round);
        json_u64(w, "position", run.position);
        json_bool(w, "warmup", run.flags & RUN_NO_STATISTIC);
        add_values(w, p, &values, i);
        json_end(w);
    }
    json_end(w);
    arena_deinit(&scratch);
}

static void add_mean(JsonWriter *w, const char *key, const CountMean *m)
{
    json_begin_object(w, key);
    add_double(w, "mean", m->mean);
    json_double(w, "error", m->error);
    json_double(w, "low", m->interval.low);
    json_double(w, "high", m->interval.high);
    json_end(w);
}

static void add_count(JsonWriter *w, const Profile *p, const CountRow *row)
{
    json_begin_object(w, NULL);
    add_event(w, p, row->metric, row->part);
    json_str(w, "unit", profile_text(p, p->metrics.unit.at[row->metric.v]));
    add_mean(w, "value", &row->value);
    json_u64(w, "running_ns", row->running_ns);
    json_double(w, "running_share", row->running_share / 100);
    if (row->derived.unit) {
        json_double(w, "derived", row->derived.value);
        json_str(w, "derived_unit", str_from_c(row->derived.unit));
    }
    json_end(w);
}

static void add_counts(JsonWriter *w, const Profile *p)
{
    Arena scratch = {0};
    StrIdVec names = counts_names(&scratch, p);
    json_begin_array(w, "counts");
    for (size_t i = 0; i < names.len; i++) {
        Counts c;
        counts_init(&c, &scratch, p, names.at[i]);
        json_begin_object(w, NULL);
        json_str(w, "name", profile_text(p, names.at[i]));
        json_u64(w, "runs", c.runs.len);
        add_mean(w, "wall_s", &c.wall_s);
        add_mean(w, "user_s", &c.user_s);
        add_mean(w, "system_s", &c.system_s);
        json_begin_array(w, "events");
        for (size_t r = 0; r < c.rows.len; r++)
            add_count(w, p, &c.rows.at[r]);
        json_end(w);
        json_end(w);
    }
    json_end(w);
    arena_deinit(&scratch);
}

static void add_series(JsonWriter *w, const Profile *p)
{
    const Series *s = &p->series;
    json_begin_array(w, "series");
    for (CountSpan span = {0}; counts_next_span(p, &span);)
        for (size_t i = span.first; i < span.first + span.count; i++) {
            json_begin_object(w, NULL);
            add_time(w, "time_ns", span.end_ns);
            json_i64(w, "length_ns", span.length_ns);
            add_event(w, p, s->metric.at[i], s->part.at[i]);
            add_double(w, "value", s->value.at[i]);
            json_u64(w, "enabled_ns", s->enabled_ns.at[i]);
            json_u64(w, "running_ns", s->running_ns.at[i]);
            json_end(w);
        }
    json_end(w);
}

void runs_add_json(StrBuf *out, const Profile *p, Str tool_version)
{
    JsonWriter w = json_writer(out, 1);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-runs"));
    json_u64(&w, "version", RUNS_JSON_VERSION);
    json_str(&w, "tool", tool_version);
    report_json_add_facts(&w, p);
    report_json_add_notes(&w, p);
    add_counts(&w, p);
    add_runs(&w, p);
    add_series(&w, p);
    json_end(&w);
}

// ---- CSV -------------------------------------------------------------------

// A number as short as reads back the same, counts in full; nothing for NaN.
static void add_number(StrBuf *out, double value)
{
    char text[40] = "";
    if (is_whole(value)) {
        strbuf_printf(out, "%lld", (long long)value);
        return;
    }
    for (int digits = 6; digits <= 17 && !isnan(value); digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    strbuf_add(out, str_from_c(text));
}

static void add_csv_time(StrBuf *out, int64_t ns)
{
    if (ns != TIME_NONE)
        strbuf_printf(out, "%lld", (long long)ns);
    strbuf_add_char(out, ',');
}

// The columns that each line of a run has.
static void add_csv_run(StrBuf *out, const Profile *p, uint32_t i)
{
    RunRow run = profile_run(p, (RunId){i});
    strbuf_printf(out, "%u,", i + 1);
    strbuf_add_csv(out, profile_text(p, run.name));
    strbuf_add_char(out, ',');
    strbuf_add_csv(out, profile_text(p, run.command));
    strbuf_printf(out, ",%u,%d,", run.round, (run.flags & RUN_NO_STATISTIC) != 0);
    add_csv_time(out, run.start_ns);
    add_csv_time(out, run.wall_ns);
    add_csv_time(out, run.user_ns);
    add_csv_time(out, run.system_ns);
    if (run.status != RUN_STATUS_NONE)
        strbuf_printf(out, "%u", run.status);
    strbuf_add_char(out, ',');
}

void runs_add_csv(StrBuf *out, const Profile *p)
{
    const RunValues *v = &p->run_values;
    Arena scratch = {0};
    RunValueRows values = counts_values_by_run(&scratch, p);
    strbuf_add(out, STR("run,name,command,round,warmup,start_ns,wall_ns,user_ns,system_ns,status,"
                        "event,unit,part,value,enabled_ns,running_ns\r\n"));
    for (uint32_t run = 0; run < p->runs.name.len; run++) {
        if (values.starts[run] == values.starts[run + 1]) {
            add_csv_run(out, p, run);
            strbuf_add(out, STR(",,,,,\r\n"));
        }
        for (size_t i = values.starts[run]; i < values.starts[run + 1]; i++) {
            uint32_t at = values.order[i];
            add_csv_run(out, p, run);
            strbuf_add_csv(out, profile_text(p, p->metrics.name.at[v->metric.at[at].v]));
            strbuf_add_char(out, ',');
            strbuf_add_csv(out, profile_text(p, p->metrics.unit.at[v->metric.at[at].v]));
            strbuf_add_char(out, ',');
            strbuf_add_csv(out, profile_text(p, v->part.at[at]));
            strbuf_add_char(out, ',');
            add_number(out, v->value.at[at]);
            strbuf_printf(out, ",%llu,%llu\r\n", (unsigned long long)v->enabled_ns.at[at],
                          (unsigned long long)v->running_ns.at[at]);
        }
    }
    arena_deinit(&scratch);
}
