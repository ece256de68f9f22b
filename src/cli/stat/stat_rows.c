// SPDX-License-Identifier: Apache-2.0
// Rows of counts as CSV and JSON.

#include "cli/stat/stat_rows.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/runs/counts_text.h"
#include "model/facts.h"

static void add_csv_row(StrBuf *out, const Profile *p, const CountRow *row, Str sep)
{
    Str name = profile_text(p, p->metrics.name.at[row->metric.v]);
    double mean = row->value.mean;
    if (row->part.v) {
        strbuf_add_csv(out, profile_text(p, row->part));
        strbuf_add(out, sep);
    }
    if (isnan(mean))
        strbuf_printf(out, "<not counted>%" STR_FMT, STR_ARG(sep));
    else if (counts_is_time(p, row))
        strbuf_printf(out, "%.6f%" STR_FMT "msec", mean / 1e6, STR_ARG(sep));
    else
        strbuf_printf(out, "%.0f%" STR_FMT, mean, STR_ARG(sep));
    strbuf_add(out, sep);
    if (str_find_char(name, ',') != SIZE_MAX)
        strbuf_add_csv(out, name);
    else
        strbuf_add(out, name);
    strbuf_add(out, sep);
    if (!isnan(row->value.error))
        strbuf_printf(out, "%.2f%%%" STR_FMT, row->value.error * 100, STR_ARG(sep));
    strbuf_printf(out, "%llu%" STR_FMT "%.2f%" STR_FMT, (unsigned long long)row->running_ns,
                  STR_ARG(sep), row->running_share, STR_ARG(sep));
    if (row->derived.unit)
        strbuf_printf(out, "%.6g%" STR_FMT "%s", row->derived.value, STR_ARG(sep),
                      row->derived.unit);
    else
        strbuf_add(out, sep);
    strbuf_add_char(out, '\n');
}

void stat_add_csv(StrBuf *out, const Profile *p, const CountRowVec *rows, Str separator,
                  double at_s)
{
    for (size_t i = 0; i < rows->len; i++) {
        if (at_s >= 0)
            strbuf_printf(out, "%.9f%" STR_FMT, at_s, STR_ARG(separator));
        add_csv_row(out, p, &rows->at[i], separator);
    }
}

static void add_json_row(StrBuf *out, const Profile *p, const CountRow *row, bool of_cpus,
                         double at_s)
{
    JsonWriter w = json_writer(out, 0);
    const CountMean *v = &row->value;
    Str part = profile_text(p, row->part);
    char number[64];
    json_begin_object(&w, NULL);
    if (at_s >= 0)
        json_double(&w, "interval", at_s);
    if (part.len) // "CPU3" is cpu 3
        json_str(&w, of_cpus ? "cpu" : "thread", of_cpus ? str_slice(part, 3, part.len) : part);
    bool is_time = counts_is_time(p, row);
    snprintf(number, sizeof(number), "%.6f", is_time ? v->mean / 1e6 : v->mean);
    json_str(&w, "counter-value", isnan(v->mean) ? STR("<not counted>") : str_from_c(number));
    json_str(&w, "unit", is_time ? STR("msec") : STR(""));
    json_str(&w, "event", profile_text(p, p->metrics.name.at[row->metric.v]));
    if (!isnan(v->error)) {
        json_double(&w, "variance", v->error * 100);
        json_double(&w, "interval-low", MAX(0.0, v->interval.low) / (is_time ? 1e6 : 1));
        json_double(&w, "interval-high", v->interval.high / (is_time ? 1e6 : 1));
    }
    json_u64(&w, "event-runtime", row->running_ns);
    json_double(&w, "pcnt-running", row->running_share);
    if (row->derived.unit) {
        snprintf(number, sizeof(number), "%.6f", row->derived.value);
        json_str(&w, "metric-value", str_from_c(number));
        json_str(&w, "metric-unit", str_from_c(row->derived.unit));
    }
    json_str(&w, "schema", STR(STAT_JSON_SCHEMA)); // last: perf's own members keep their places
    json_end(&w);
    strbuf_add_char(out, '\n');
}

void stat_add_json(StrBuf *out, const Profile *p, const CountRowVec *rows, double at_s)
{
    bool of_cpus = counts_fact(p, STR(FACT_COUNTED_CPUS)) > 0;
    for (size_t i = 0; i < rows->len; i++)
        add_json_row(out, p, &rows->at[i], of_cpus, at_s);
}
