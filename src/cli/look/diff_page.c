// SPDX-License-Identifier: Apache-2.0
// A comparison as a block of the page and a table of its summary.

#include "cli/look/diff_page.h"

#include <math.h>

#include "analyse/fit.h"
#include "base/intern.h"

enum { LEVEL = 6, SUMMARY_ROWS = 40, NAME_COLUMNS = 110 };

// How the page numbers verdicts; words are in the block.
enum { PAGE_NOT_JUDGED, PAGE_LESS, PAGE_MORE, PAGE_SAME, PAGE_UNSURE, PAGE_VERDICTS };

static uint64_t page_verdict(const RowChange *change)
{
    static const uint8_t of[] = {[VERDICT_FASTER] = PAGE_LESS,
                                 [VERDICT_SLOWER] = PAGE_MORE,
                                 [VERDICT_EQUIVALENT] = PAGE_SAME,
                                 [VERDICT_INCONCLUSIVE] = PAGE_UNSURE};
    return change ? of[change->verdict] : PAGE_NOT_JUDGED;
}

static uint64_t value_of(const DiffView *v, const DiffRow *row, int side)
{
    return row->value[side][v->metric];
}

// ---- Columns ---------------------------------------------------------------------------

// A number of a row. `ctx` is for numbers of texts.
typedef uint64_t (*RowNumber)(const DiffView *v, const DiffRow *row, Intern *texts);

static Str file_of(const DiffRow *row, int side)
{
    const DiffPlace *place = &row->place[side];
    return place->profile
               ? profile_text(place->profile, place->profile->frames.file.at[place->frame.v])
               : STR("");
}

static uint64_t line_of(const DiffRow *row, int side)
{
    const DiffPlace *place = &row->place[side];
    return place->profile ? place->profile->frames.line.at[place->frame.v] : 0;
}

static uint64_t row_name(const DiffView *v, const DiffRow *row, Intern *texts)
{
    (void)v;
    return intern_add(texts, row->name);
}

static uint64_t row_path(const DiffView *v, const DiffRow *row, Intern *texts)
{
    (void)v;
    return intern_add(texts, row->path);
}

static uint64_t row_before(const DiffView *v, const DiffRow *row, Intern *texts)
{
    (void)texts;
    return value_of(v, row, DIFF_OLD);
}

static uint64_t row_after(const DiffView *v, const DiffRow *row, Intern *texts)
{
    (void)texts;
    return value_of(v, row, DIFF_NEW);
}

static uint64_t row_verdict(const DiffView *v, const DiffRow *row, Intern *texts)
{
    (void)v, (void)texts;
    return page_verdict(row->change);
}

static uint64_t row_old_file(const DiffView *v, const DiffRow *row, Intern *texts)
{
    (void)v;
    return intern_add(texts, file_of(row, DIFF_OLD));
}

static uint64_t row_new_file(const DiffView *v, const DiffRow *row, Intern *texts)
{
    (void)v;
    return intern_add(texts, file_of(row, DIFF_NEW));
}

static uint64_t row_old_line(const DiffView *v, const DiffRow *row, Intern *texts)
{
    (void)v, (void)texts;
    return line_of(row, DIFF_OLD);
}

static uint64_t row_new_line(const DiffView *v, const DiffRow *row, Intern *texts)
{
    (void)v, (void)texts;
    return line_of(row, DIFF_NEW);
}

static const struct {
    const char *name;
    RowNumber number;
    ViewColumnKind kind;
} columns[] = {
    {"name", row_name, VIEW_U32},         {"path", row_path, VIEW_U32},
    {"before", row_before, VIEW_U64},     {"after", row_after, VIEW_U64},
    {"verdict", row_verdict, VIEW_U32},   {"old_file", row_old_file, VIEW_U32},
    {"old_line", row_old_line, VIEW_U32}, {"file", row_new_file, VIEW_U32},
    {"line", row_new_line, VIEW_U32},
};

// "function.before"
static void end_column(ViewBlock *b, const DiffView *v, const char *name, ViewColumnKind kind)
{
    StrBuf full = {0};
    strbuf_printf(&full, "%" STR_FMT ".%s%c", STR_ARG(v->by), name, '\0');
    view_column_end(b, full.ptr, kind);
    strbuf_deinit(&full);
}

static void add_change_column(ViewBlock *b, const DiffView *v, const char *name, size_t at)
{
    view_column_begin(b);
    for (size_t i = 0; i < v->d.rows.len; i++) {
        const RowChange *c = v->d.rows.at[i].change;
        view_add_double(b, c ? *(const double *)((const char *)c + at) : NAN);
    }
    end_column(b, v, name, VIEW_DOUBLE);
}

static void add_table(ViewBlock *b, const DiffView *v, Intern *texts)
{
    for (size_t k = 0; k < ARRAY_LEN(columns); k++) {
        view_column_begin(b);
        for (size_t i = 0; i < v->d.rows.len; i++)
            view_add_u64(b, columns[k].number(v, &v->d.rows.at[i], texts));
        end_column(b, v, columns[k].name, columns[k].kind);
    }
    if (v->changes.exact)
        return;
    add_change_column(b, v, "ratio", offsetof(RowChange, ratio.point));
    add_change_column(b, v, "low", offsetof(RowChange, ratio.low));
    add_change_column(b, v, "high", offsetof(RowChange, ratio.high));
}

static void add_texts(ViewBlock *b, const Intern *texts)
{
    view_column_begin(b);
    for (size_t i = 0; i < texts->texts.len; i++)
        view_add_u64(b, texts->texts.at[i].len);
    view_column_end(b, "str.len", VIEW_U32);
    view_column_begin(b);
    for (size_t i = 0; i < texts->texts.len; i++)
        view_add_text(b, texts->texts.at[i]);
    view_column_end(b, "str.text", VIEW_BYTES);
}

// ---- What the block says ---------------------------------------------------------------

static void add_sides(JsonWriter *json, const DiffTables *t)
{
    const DiffView *v = &t->at[0];
    json_begin_array(json, "sides");
    for (int side = 0; side < DIFF_SIDES; side++) {
        json_begin_object(json, NULL);
        json_str(json, "label", v->label[side]);
        json_u64(json, "recordings", v->d.set[side].count);
        if (t->recording[side] != UINT32_MAX)
            json_u64(json, "recording", t->recording[side]);
        json_u64(json, "shown", t->shown[side]);
        json_bool(json, "known", v->d.metrics.at[v->metric].known[side]);
        json_u64(json, "total", v->d.metrics.at[v->metric].total[side]);
        json_end(json);
    }
    json_end(json);
}

// Sums of the rows, which the page adds up again.
static void add_tables(JsonWriter *json, const DiffTables *t)
{
    json_begin_array(json, "tables");
    for (size_t i = 0; i < t->len; i++) {
        const DiffView *v = &t->at[i];
        uint64_t sum[DIFF_SIDES] = {0};
        for (size_t r = 0; r < v->d.rows.len; r++)
            for (int side = 0; side < DIFF_SIDES; side++)
                sum[side] += value_of(v, &v->d.rows.at[r], side);
        json_begin_object(json, NULL);
        json_str(json, "by", v->by);
        json_u64(json, "rows", v->d.rows.len);
        json_u64(json, "before", sum[DIFF_OLD]);
        json_u64(json, "after", sum[DIFF_NEW]);
        json_end(json);
    }
    json_end(json);
}

static void add_verdicts(JsonWriter *json, const DiffView *v)
{
    static const Verdict of[PAGE_VERDICTS] = {[PAGE_LESS] = VERDICT_FASTER,
                                              [PAGE_MORE] = VERDICT_SLOWER,
                                              [PAGE_SAME] = VERDICT_EQUIVALENT,
                                              [PAGE_UNSURE] = VERDICT_INCONCLUSIVE};
    json_begin_array(json, "verdicts");
    json_str(json, NULL, STR(""));
    for (int i = PAGE_LESS; i < PAGE_VERDICTS; i++)
        json_str(json, NULL, str_from_c(diff_verdict_word(v, &(RowChange){.verdict = of[i]})));
    json_end(json);
}

// Totals of the metrics that are not shown but matter: [name, unit, before, after].
static void add_others(JsonWriter *json, const DiffView *v)
{
    size_t shown[DIFF_SUMS_MAX], count = diff_sums(v, shown);
    json_begin_array(json, "others");
    for (size_t i = 0; i < count; i++) {
        const DiffMetric *m = &v->d.metrics.at[shown[i]];
        if (shown[i] == v->metric || !m->known[DIFF_OLD] || !m->known[DIFF_NEW])
            continue;
        json_begin_array(json, NULL);
        json_str(json, NULL, m->name);
        json_str(json, NULL, m->unit);
        json_u64(json, NULL, m->total[DIFF_OLD]);
        json_u64(json, NULL, m->total[DIFF_NEW]);
        json_end(json);
    }
    json_end(json);
}

static void add_about(StrBuf *about, const ViewPage *page, const DiffTables *t)
{
    const DiffView *v = &t->at[0];
    const DiffMetric *m = &v->d.metrics.at[v->metric];
    JsonWriter json;
    view_about_begin(&json, about, page->recordings, "diff");
    json_begin_object(&json, "metric");
    json_str(&json, "name", m->name);
    json_str(&json, "unit", m->unit);
    json_bool(&json, "sampled", m->sampled);
    json_end(&json);
    add_others(&json, v);
    add_sides(&json, t);
    add_tables(&json, t);
    add_verdicts(&json, v);
    json_bool(&json, "exact", v->changes.exact);
    json_bool(&json, "repeated", v->changes.repeated);
    if (!v->changes.exact) {
        json_double(&json, "common", v->changes.rows.common);
        json_bool(&json, "common_is_real", v->changes.rows.common_is_real);
    }
    if (v->changes.repeated) {
        json_begin_array(&json, "total_change");
        json_double(&json, NULL, v->changes.total.ratio.point);
        json_double(&json, NULL, v->changes.total.ratio.low);
        json_double(&json, NULL, v->changes.total.ratio.high);
        json_u64(&json, NULL, page_verdict(&v->changes.total));
        json_end(&json);
    }
    json_end(&json);
}

// ---- The summary -----------------------------------------------------------------------

static void add_row(StrBuf *out, const DiffView *v, const DiffRow *row)
{
    const DiffMetric *m = &v->d.metrics.at[v->metric];
    strbuf_add(out, STR("<tr><td>"));
    diff_add_amount(out, value_of(v, row, DIFF_OLD), m, m->known[DIFF_OLD]);
    strbuf_add(out, STR("</td><td>"));
    diff_add_amount(out, value_of(v, row, DIFF_NEW), m, m->known[DIFF_NEW]);
    strbuf_add(out, STR("</td><td>"));
    diff_add_percentage(out, value_of(v, row, DIFF_OLD), value_of(v, row, DIFF_NEW), row->change);
    strbuf_add(out, STR("</td><td>"));
    if (row->change)
        strbuf_add(out, str_from_c(diff_verdict_word(v, row->change)));
    strbuf_add(out, STR("</td><td><code>"));
    view_add_shown(out, row->name, NAME_COLUMNS, false);
    strbuf_add(out, STR("</code></td></tr>\n"));
}

static void add_summary(StrBuf *out, const DiffTables *t)
{
    for (size_t k = 0; k < t->len; k++) {
        const DiffView *v = &t->at[k];
        const DiffMetric *m = &v->d.metrics.at[v->metric];
        strbuf_add(out, k ? STR("<h2>") : STR("<h1>"));
        view_add_shown(out, m->name, NAME_COLUMNS, false);
        strbuf_printf(out, " by %" STR_FMT ": ", STR_ARG(v->by));
        view_add_shown(out, v->label[DIFF_OLD], NAME_COLUMNS, true);
        strbuf_add(out, STR(" → "));
        view_add_shown(out, v->label[DIFF_NEW], NAME_COLUMNS, true);
        strbuf_add(out, k ? STR("</h2>") : STR("</h1>"));
        strbuf_printf(out,
                      "\n<table class=\"runs\"><thead><tr><th scope=\"col\">before</th>"
                      "<th scope=\"col\">after</th><th scope=\"col\">change</th>"
                      "<th scope=\"col\">verdict</th><th scope=\"col\">%" STR_FMT "</th></tr>"
                      "</thead><tbody>\n",
                      STR_ARG(v->by));
        for (size_t i = 0; i < v->d.rows.len && i < SUMMARY_ROWS; i++)
            add_row(out, v, &v->d.rows.at[i]);
        strbuf_add(out, STR("</tbody></table>\n"));
    }
}

bool diff_page_add(ViewPage *page, const DiffTables *t, Error *err)
{
    Arena arena = {0};
    Intern texts;
    ViewBlock b = {0};
    StrBuf about = {0};
    intern_init(&texts, &arena);
    for (size_t i = 0; i < t->len; i++)
        add_table(&b, &t->at[i], &texts);
    add_texts(&b, &texts);
    add_about(&about, page, t);
    bool ok = view_block_add(&b, strbuf_str(&about), LEVEL, &page->first, err);
    if (ok) {
        add_summary(&page->summary, t);
        page->recordings++;
    }
    view_block_deinit(&b);
    strbuf_deinit(&about);
    intern_deinit(&texts);
    arena_deinit(&arena);
    return ok;
}
