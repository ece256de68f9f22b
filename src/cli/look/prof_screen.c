// SPDX-License-Identifier: Apache-2.0
// prof(1)'s table. A count that was not taken stays blank, not 0.

#include "cli/look/prof_screen.h"

#include <math.h>

#include "analyse/fit.h"
#include "base/json.h"

static bool is_time(const ProfView *v)
{
    return str_equal(report_metric_unit(v->report), STR("ns"));
}

static void add_title(StrBuf *out, const ProfView *v, const ScreenStyle *style)
{
    style_begin(out, &style->terminal, STYLE_DIM);
    if (is_time(v))
        strbuf_add(out, STR(" %Time   Seconds   Cumsecs      #Calls  msec/call  Name"));
    else
        strbuf_add(out, STR("%Total         Value           Sum      #Calls      /call  Name"));
    style_end(out, &style->terminal, STYLE_DIM);
    strbuf_add_char(out, '\n');
}

static void add_values(StrBuf *out, const ProfView *v, const ProfRow *row)
{
    if (is_time(v) && row->key == PROF_NO_KEY)
        strbuf_printf(out, "%6s %9s %9s", "", "", "");
    else if (row->key == PROF_NO_KEY)
        strbuf_printf(out, "%6s %13s %13s", "", "", "");
    else if (is_time(v))
        strbuf_printf(out, "%6.1f %9.3f %9.3f", percent_of(row->self, v->report->weights.value),
                      (double)row->self / 1e9, (double)row->cumulated / 1e9);
    else
        strbuf_printf(out, "%6.1f %13llu %13llu", percent_of(row->self, v->report->weights.value),
                      (unsigned long long)row->self, (unsigned long long)row->cumulated);
}

static void add_calls(StrBuf *out, const ProfView *v, const ProfRow *row)
{
    if (!row->has_calls) {
        strbuf_printf(out, " %11s %10s", "", "");
        return;
    }
    strbuf_printf(out, " %11llu", (unsigned long long)row->calls);
    double per_call = (double)row->self / (double)row->calls / (is_time(v) ? 1e6 : 1);
    if (row->calls && row->self)
        strbuf_printf(out, " %10.*f", is_time(v) ? 4 : 1, per_call);
    else
        strbuf_printf(out, " %10s", "");
}

void prof_add_doubts(StrBuf *out, const Report *r, const ProfJoin *j)
{
    if (j->timed == 0)
        return;
    if (j->matched == 0)
        strbuf_printf(out,
                      "! none of the %zu functions with time is among the %zu that were counted: "
                      "the counts are of another program\n",
                      j->timed, j->counted);
    if (j->moved > j->matched / 10)
        strbuf_printf(out,
                      "! %zu of %zu functions begin elsewhere where they were counted: the counts "
                      "are of another version of the source\n",
                      j->moved, j->matched);
    if (j->silent)
        strbuf_printf(out,
                      "! %zu function%s with %.1f %% ran by the samples and never by the counts: "
                      "those are of other input, or of another version\n",
                      j->silent, j->silent == 1 ? "" : "s",
                      percent_of(j->silent_self, r->weights.value));
}

void prof_add_text(StrBuf *out, const ProfView *v, const ScreenStyle *style)
{
    if (!v->any_counts)
        strbuf_add(out, STR("calls were not counted: give a recording that counted them too, of "
                            "assay cover or callgrind\n"));
    if (v->any_counts)
        prof_add_doubts(out, v->report, v->join);
    add_title(out, v, style);
    for (size_t i = 0; i < v->rows->len; i++) {
        const ProfRow *row = &v->rows->at[i];
        if (style->limit && i == style->limit) {
            strbuf_printf(out, "… %zu more (--limit 0)\n", v->rows->len - i);
            break;
        }
        size_t from = out->len;
        add_values(out, v, row);
        add_calls(out, v, row);
        strbuf_add(out, STR("  "));
        size_t taken = out->len - from;
        name_add_fitting(out, row->name,
                         style->columns == SIZE_MAX    ? SIZE_MAX
                         : style->columns > taken + 12 ? style->columns - taken
                                                       : 12);
        strbuf_add_char(out, '\n');
    }
}

void prof_add_json(StrBuf *out, const ProfView *v, size_t limit)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-prof"));
    json_u64(&w, "version", 1);
    json_begin_object(&w, "metric");
    json_str(&w, "name", report_metric_name(v->report));
    json_str(&w, "unit", report_metric_unit(v->report));
    json_u64(&w, "total", v->report->weights.value);
    json_end(&w);
    json_bool(&w, "calls_counted", v->any_counts);
    json_begin_object(&w, "join");
    json_u64(&w, "counted", v->join->counted);
    json_u64(&w, "timed", v->join->timed);
    json_u64(&w, "matched", v->join->matched);
    json_u64(&w, "moved", v->join->moved);
    json_u64(&w, "silent", v->join->silent);
    json_end(&w);
    json_u64(&w, "row_count", v->rows->len);
    json_begin_array(&w, "rows");
    for (size_t i = 0; i < v->rows->len && (limit == 0 || i < limit); i++) {
        const ProfRow *row = &v->rows->at[i];
        json_begin_object(&w, NULL);
        json_str(&w, "name", row->name);
        if (row->key == PROF_NO_KEY)
            json_null(&w, "self");
        else
            json_u64(&w, "self", row->self);
        if (row->has_calls)
            json_u64(&w, "calls", row->calls);
        else
            json_null(&w, "calls");
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}
