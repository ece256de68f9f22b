// SPDX-License-Identifier: Apache-2.0
// A comparison as JSON: docs/formats/diff-json.md.

#include "base/json.h"
#include "cli/look/diff_view.h"
#include "export/report_json.h"

#include <math.h>

enum { DIFF_JSON_VERSION = 1 };

static void add_known(JsonWriter *w, const char *key, bool known, uint64_t value)
{
    if (known)
        json_u64(w, key, value);
    else
        json_null(w, key);
}

static void add_finite(JsonWriter *w, const char *key, double value)
{
    if (isfinite(value))
        json_double(w, key, value);
    else
        json_null(w, key);
}

static void add_change(JsonWriter *w, const DiffView *v, const RowChange *change, bool with_p)
{
    json_begin_object(w, "change");
    add_finite(w, "ratio", change->ratio.point);
    add_finite(w, "low", change->ratio.low);
    add_finite(w, "high", change->ratio.high);
    if (with_p)
        add_finite(w, "p", change->p);
    json_str(w, "verdict", str_from_c(diff_verdict_word(v, change)));
    json_end(w);
}

static void add_values(JsonWriter *w, const DiffView *v, const DiffRow *row)
{
    json_begin_object(w, "values");
    for (size_t m = 0; m < v->d.metrics.len; m++) {
        const DiffMetric *metric = &v->d.metrics.at[m];
        if (row->value[DIFF_OLD][m] == 0 && row->value[DIFF_NEW][m] == 0)
            continue;
        json_key(w, metric->name);
        json_begin_object(w, NULL);
        for (int side = 0; side < DIFF_SIDES; side++)
            add_known(w, diff_side_names[side], metric->known[side], row->value[side][m]);
        json_end(w);
    }
    json_end(w);
}

static void add_row(JsonWriter *w, const DiffView *v, const DiffRow *row)
{
    json_begin_object(w, NULL);
    json_str(w, "name", row->name);
    if (row->path.len)
        json_str(w, "path", row->path);
    for (int side = 0; side < DIFF_SIDES; side++) {
        const DiffPlace *place = &row->place[side];
        if (!place->profile || place->profile->frames.file.at[place->frame.v].v == 0)
            continue;
        json_begin_object(w, side == DIFF_OLD ? "old_place" : "new_place");
        json_str(w, "file",
                 profile_text(place->profile, place->profile->frames.file.at[place->frame.v]));
        json_u64(w, "line", place->profile->frames.line.at[place->frame.v]);
        json_end(w);
    }
    add_values(w, v, row);
    if (row->change)
        add_change(w, v, row->change, true);
    json_end(w);
}

static void add_side(JsonWriter *w, const DiffView *v, int side)
{
    json_begin_object(w, diff_side_names[side]);
    json_str(w, "path", v->label[side]);
    json_u64(w, "recordings", v->d.set[side].count);
    report_json_add_facts(w, v->d.set[side].profile[0]);
    report_json_add_notes(w, v->d.set[side].profile[0]);
    json_end(w);
}

static void add_judgement(JsonWriter *w, const DiffView *v)
{
    const RowChanges *c = &v->changes.rows;
    json_begin_object(w, "judged");
    json_bool(w, "repeated", v->changes.repeated);
    json_double(w, "common", c->common);
    json_u64(w, "common_rows", c->common_rows);
    json_bool(w, "common_is_real", c->common_is_real);
    if (v->changes.repeated)
        add_change(w, v, &v->changes.total, true);
    json_end(w);
}

void diff_add_json(StrBuf *out, const DiffView *v)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-diff"));
    json_u64(&w, "version", DIFF_JSON_VERSION);
    for (int side = 0; side < DIFF_SIDES; side++)
        add_side(&w, v, side);
    json_str(&w, "by", v->by);
    json_str(&w, "sorted_by", v->d.metrics.at[v->metric].name);
    json_begin_array(&w, "metrics");
    for (size_t m = 0; m < v->d.metrics.len; m++) {
        const DiffMetric *metric = &v->d.metrics.at[m];
        json_begin_object(&w, NULL);
        json_str(&w, "name", metric->name);
        json_str(&w, "unit", metric->unit);
        for (int side = 0; side < DIFF_SIDES; side++)
            add_known(&w, diff_side_names[side], metric->known[side], metric->total[side]);
        json_end(&w);
    }
    json_end(&w);
    if (!v->changes.exact)
        add_judgement(&w, v);
    json_begin_array(&w, "rows");
    size_t limit = v->limit ? MIN(v->limit, v->d.rows.len) : v->d.rows.len;
    for (size_t i = 0; i < limit; i++)
        add_row(&w, v, &v->d.rows.at[i]);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}
