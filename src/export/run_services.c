// SPDX-License-Identifier: Apache-2.0
// github-action-benchmark's and Bencher's JSON.

#include "export/run_services.h"

#include <math.h>

#include "analyse/function_summary.h"
#include "base/json.h"

static void add_rows(Arena *arena, const RunSummaries *s, uint32_t from, ServiceRowVec *rows)
{
    for (uint32_t i = from; i < s->set.count; i++) {
        const RunSummary *r = &s->set.groups[i].summary;
        ServiceRow row = {.name = s->commands[i].name,
                          .median_s = r->median,
                          .interval = r->median_interval,
                          .runs = s->set.groups[i].runs.len,
                          .peak_bytes = r->peak_rss_is_floor ? 0 : r->peak_rss_bytes};
        if (row.runs)
            vec_push(arena, rows, row);
    }
}

ServiceRowVec service_rows(const RunFamilies *all)
{
    ServiceRowVec rows = {0};
    bool functions = all->len && function_summaries_apply(all->at[0].profile);
    for (size_t i = 0; i < all->len; i++)
        add_rows(&all->at[0].arena, &all->at[i], functions ? all->at[i].set.count - 1 : 0, &rows);
    return rows;
}

static bool has_interval(const ServiceRow *row)
{
    return isfinite(row->interval.low) && isfinite(row->interval.high);
}

void service_rows_github(StrBuf *out, const ServiceRowVec *rows)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_array(&w, NULL);
    for (size_t i = 0; i < rows->len; i++) {
        const ServiceRow *row = &rows->at[i];
        StrBuf text = {0};
        json_begin_object(&w, NULL);
        json_str(&w, "name", row->name);
        json_str(&w, "unit", STR("ms"));
        json_double(&w, "value", row->median_s * 1e3);
        if (has_interval(row)) {
            strbuf_printf(&text, "%.4g … %.4g", row->interval.low * 1e3, row->interval.high * 1e3);
            json_str(&w, "range", strbuf_str(&text));
            strbuf_clear(&text);
        }
        strbuf_printf(&text, "median of %zu runs%s", row->runs,
                      has_interval(row) ? ", 95 % interval" : "");
        json_str(&w, "extra", strbuf_str(&text));
        json_end(&w);
        strbuf_deinit(&text);
    }
    json_end(&w);
    strbuf_add_char(out, '\n');
}

// Times are nanoseconds there.
static void add_latency(JsonWriter *w, const ServiceRow *row)
{
    json_begin_object(w, "latency");
    json_double(w, "value", row->median_s * 1e9);
    if (has_interval(row)) {
        json_double(w, "lower_value", row->interval.low * 1e9);
        json_double(w, "upper_value", row->interval.high * 1e9);
    }
    json_end(w);
}

void service_rows_bencher(StrBuf *out, const ServiceRowVec *rows)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    for (size_t i = 0; i < rows->len; i++) {
        const ServiceRow *row = &rows->at[i];
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first &= !str_equal(rows->at[k].name, row->name);
        if (!is_first)
            continue;
        json_key(&w, row->name);
        json_begin_object(&w, NULL);
        add_latency(&w, row);
        if (row->peak_bytes) {
            json_begin_object(&w, "peak-memory");
            json_double(&w, "value", (double)row->peak_bytes);
            json_end(&w);
        }
        json_end(&w);
    }
    json_end(&w);
    strbuf_add_char(out, '\n');
}
