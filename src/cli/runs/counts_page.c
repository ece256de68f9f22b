// SPDX-License-Identifier: Apache-2.0
// Counted events as a block of the page and a table of its summary.

#include <math.h>

#include "cli/runs/counts_text.h"
#include "cli/runs/runs_page.h"
#include "model/facts.h"

enum { LEVEL = 6, NAME_COLUMNS = 400 };

typedef void (*AddPart)(StrBuf *out, const Profile *p, const CountRow *row);

static void add_value(StrBuf *out, const Profile *p, const CountRow *row)
{
    counts_add_value(out, p, row, false);
}

static void add_derived(StrBuf *out, const Profile *p, const CountRow *row)
{
    (void)p;
    if (row->derived.unit)
        strbuf_printf(out, "%.3f %s", row->derived.value, row->derived.unit);
}

static void add_spread(StrBuf *out, const Profile *p, const CountRow *row)
{
    if (!isnan(row->value.error))
        counts_add_spread(out, p, row);
}

static void add_share(StrBuf *out, const Profile *p, const CountRow *row)
{
    (void)p;
    if (!isnan(row->value.mean) && row->running_share < 99.995)
        strbuf_printf(out, "%.1f %% of the time, scaled", row->running_share);
}

// The columns of the table that are text.
static const struct {
    const char *key, *title;
    AddPart add;
} parts[] = {{"value", "count", add_value},
             {"derived", "that is", add_derived},
             {"spread", "± error [95 % interval]", add_spread},
             {"share", "counted", add_share}};

static Str title_of(const Counts *c)
{
    Str name = profile_text(c->profile, c->name);
    return name.len ? name : STR("assay stat");
}

// ---- The summary -----------------------------------------------------------------------

static void add_summary(StrBuf *out, const Counts *c, Str report)
{
    const Profile *p = c->profile;
    StrBuf text = {0};
    strbuf_add(out, STR("<h1>"));
    view_add_shown(out, title_of(c), NAME_COLUMNS, false);
    strbuf_add(out, STR("</h1>\n<table class=\"runs\"><thead><tr>"));
    for (size_t k = 0; k < ARRAY_LEN(parts); k++)
        strbuf_printf(out, "<th scope=\"col\">%s</th>", parts[k].title);
    strbuf_add(out, STR("<th scope=\"col\">event</th></tr></thead><tbody>\n"));
    for (size_t i = 0; i < c->rows.len; i++) {
        const CountRow *row = &c->rows.at[i];
        strbuf_add(out, STR("<tr>"));
        for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
            strbuf_clear(&text);
            parts[k].add(&text, p, row);
            strbuf_add(out, STR("<td>"));
            strbuf_add_xml(out, str_trim(strbuf_str(&text)));
            strbuf_add(out, STR("</td>"));
        }
        strbuf_add(out, STR("<td><code>"));
        view_add_shown(out, profile_text(p, p->metrics.name.at[row->metric.v]), NAME_COLUMNS,
                       false);
        strbuf_add(out, STR("</code> "));
        view_add_shown(out, profile_text(p, row->part), NAME_COLUMNS, false);
        strbuf_add(out, STR("</td></tr>\n"));
    }
    strbuf_add(out, STR("</tbody></table>\n"));
    runs_page_add_report(out, report);
    strbuf_deinit(&text);
}

// ---- The block -------------------------------------------------------------------------

static void add_row(JsonWriter *json, const Counts *c, const CountRow *row,
                    const CountPoints *points)
{
    const Profile *p = c->profile;
    StrBuf text = {0};
    double sum = 0;
    for (size_t i = 0; i < points->y.len; i++)
        sum += points->y.at[i];
    json_begin_object(json, NULL);
    json_str(json, "part", profile_text(p, row->part));
    json_str(json, "event", profile_text(p, p->metrics.name.at[row->metric.v]));
    for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
        strbuf_clear(&text);
        parts[k].add(&text, p, row);
        json_str(json, parts[k].key, str_trim(strbuf_str(&text)));
    }
    json_double(json, "mean", row->value.mean);
    json_double(json, "low", row->value.interval.low);
    json_double(json, "high", row->value.interval.high);
    json_bool(json, "is_time", counts_is_time(p, row));
    json_u64(json, "points", points->x.len);
    json_double(json, "sum", sum);
    json_end(json);
    strbuf_deinit(&text);
}

static void add_about(StrBuf *about, const ViewPage *page, const Counts *c,
                      const CountPoints *points, Str report)
{
    static const char *const facts[] = {FACT_HOSTNAME, FACT_CPU_MODEL, FACT_KERNEL};
    JsonWriter json;
    uint64_t cpus;
    view_about_begin(&json, about, page->recordings, "runs");
    json_str(&json, "form", STR("counts"));
    json_str(&json, "title", title_of(c));
    json_begin_array(&json, "machine");
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        json_str(&json, NULL, profile_fact(c->profile, str_from_c(facts[i])));
    json_end(&json);
    if (profile_fact_u64(c->profile, STR(FACT_CPU_COUNT), &cpus))
        json_u64(&json, "cpus", cpus);
    json_str(&json, "report", report);
    json_u64(&json, "runs", c->runs.len);
    json_bool(&json, "over_time", c->profile->series.time_ns.len > 0);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < c->rows.len; i++)
        add_row(&json, c, &c->rows.at[i], &points[i]);
    json_end(&json);
    json_end(&json);
}

static void add_column(ViewBlock *b, const char *name, const Counts *c, const CountPoints *points,
                       bool is_y)
{
    view_column_begin(b);
    for (size_t i = 0; i < c->rows.len; i++) {
        const DoubleVec *v = is_y ? &points[i].y : &points[i].x;
        for (size_t k = 0; k < v->len; k++)
            view_add_double(b, v->at[k]);
    }
    view_column_end(b, name, VIEW_DOUBLE);
}

bool counts_page_add(ViewPage *page, Arena *scratch, const Counts *c, bool each_run, Error *err)
{
    ViewBlock b = {0};
    StrBuf about = {0}, report = {0};
    const CountPoints *points = counts_points(scratch, c);
    counts_add_heading(&report, c);
    counts_add_times(&report, c, each_run);
    counts_add_warnings(&report, c->profile);
    add_about(&about, page, c, points, strbuf_str(&report));
    add_column(&b, "x", c, points, false);
    add_column(&b, "y", c, points, true);
    bool ok = view_block_add(&b, strbuf_str(&about), LEVEL, &page->first, err);
    if (ok) {
        add_summary(&page->summary, c, strbuf_str(&report));
        page->recordings++;
    }
    view_block_deinit(&b);
    strbuf_deinit(&about);
    strbuf_deinit(&report);
    return ok;
}

bool counts_page_write(StrBuf *out, Arena *scratch, const Counts *c, bool each_run, Error *err)
{
    ViewPage page = {0};
    bool ok = counts_page_add(&page, scratch, c, each_run, err);
    if (ok)
        view_page_write(&page, title_of(c), out);
    view_page_deinit(&page);
    return ok;
}
