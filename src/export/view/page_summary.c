// SPDX-License-Identifier: Apache-2.0
// The summary of a page in plain HTML: the part for browsers without scripts, printers and screen
// readers.

#include "export/view/view_internal.h"

#include "analyse/arguments.h"
#include "analyse/fit.h"
#include "model/facts.h"

enum { ROWS_MAX = 20, PLACE_COLUMNS = 60, NAME_COLUMNS = 90 };

void view_add_shown(StrBuf *out, Str text, size_t columns, bool keep_end)
{
    StrBuf cut = {0};
    text_add_fitting(&cut, text, columns, keep_end);
    strbuf_add_xml(out, strbuf_str(&cut));
    strbuf_deinit(&cut);
}

static void add_name(StrBuf *out, Str name)
{
    StrBuf cut = {0};
    name_add_fitting(&cut, name, NAME_COLUMNS);
    strbuf_add_xml(out, strbuf_str(&cut));
    strbuf_deinit(&cut);
}

static void add_place(StrBuf *out, const Profile *p, StrId file, uint32_t line)
{
    StrBuf place = {0};
    strbuf_add(&place, str_base_name(profile_text(p, file)));
    if (line)
        strbuf_printf(&place, ":%u", line);
    view_add_shown(out, strbuf_str(&place), PLACE_COLUMNS, true);
    strbuf_deinit(&place);
}

static void add_functions(StrBuf *out, const Report *r)
{
    StrBuf name = {0};
    strbuf_add(out, STR("<h2>Functions</h2>\n<table><thead><tr><th scope=\"col\">self</th>"
                        "<th scope=\"col\">total</th><th scope=\"col\">function</th>"
                        "<th scope=\"col\">declared at</th></tr></thead><tbody>\n"));
    for (size_t i = 0; i < r->rows.len && i < ROWS_MAX; i++) {
        const FlatRow *row = &r->rows.at[i];
        strbuf_clear(&name);
        report_add_row_name(r, row, &name);
        strbuf_printf(out, "<tr><td>%.1f%%</td><td>%.1f%%</td><td><code>",
                      percent_of(row->self, r->weights.value),
                      percent_of(row->total, r->weights.value));
        add_name(out, strbuf_str(&name));
        strbuf_add(out, row->inlined ? STR("</code> (inlined)</td><td>") : STR("</code></td><td>"));
        StrId file;
        uint32_t line;
        if (report_row_place(r, row, &file, &line))
            add_place(out, r->profile, file, line);
        strbuf_add(out, STR("</td></tr>\n"));
    }
    strbuf_add(out, STR("</tbody></table>\n"));
    strbuf_deinit(&name);
}

static void add_lines(StrBuf *out, const Report *r, bool with_text)
{
    if (r->lines.len == 0)
        return;
    strbuf_add(out, STR("<h2>Lines</h2>\n<table><thead><tr><th scope=\"col\">self</th>"
                        "<th scope=\"col\">line</th><th scope=\"col\">source</th></tr></thead>"
                        "<tbody>\n"));
    for (size_t i = 0; i < r->lines.len && i < ROWS_MAX; i++) {
        const LineRow *row = &r->lines.at[i];
        Str text;
        strbuf_printf(out, "<tr><td>%.1f%%</td><td>", percent_of(row->self, r->weights.value));
        add_place(out, r->profile, row->file, row->line);
        strbuf_add(out, STR("</td><td><code>"));
        if (with_text && line_text_find(r->profile, row->file, row->line, &text))
            view_add_shown(out, str_trim(text), NAME_COLUMNS, false);
        strbuf_add(out, STR("</code></td></tr>\n"));
    }
    strbuf_add(out, STR("</tbody></table>\n"));
}

static void add_notes(StrBuf *out, const Profile *p)
{
    if (p->notes.text.len == 0)
        return;
    strbuf_add(out, STR("<h2>Notes</h2>\n<ul>\n"));
    for (size_t i = 0; i < p->notes.text.len; i++) {
        strbuf_add(out, p->notes.level.at[i] == NOTE_WARNING ? STR("<li><strong>Warning:</strong> ")
                                                             : STR("<li>"));
        view_add_shown(out, profile_text(p, p->notes.text.at[i]), 2000, false);
        strbuf_add(out, STR("</li>\n"));
    }
    strbuf_add(out, STR("</ul>\n"));
}

// The texts that arguments of a probe had, the most frequent first.
static void add_texts(StrBuf *out, const Report *r)
{
    Arena arena = {0};
    ArgumentValuesVec all = {0};
    const Profile *p = r->profile;
    bool has_values = arguments_of(&arena, r, &all, NULL);
    for (size_t i = 0; has_values && i < all.len; i++) {
        const ArgumentValues *v = &all.at[i];
        if (!v->is_text || v->buckets.len == 0)
            continue;
        strbuf_add(out, STR("<h2>"));
        view_add_shown(out, profile_text(p, p->metrics.name.at[v->metric.v]), NAME_COLUMNS, false);
        strbuf_add(out, STR("</h2>\n<table><thead><tr><th scope=\"col\">count</th>"
                            "<th scope=\"col\">text</th></tr></thead><tbody>\n"));
        for (size_t k = 0; k < v->buckets.len; k++) {
            strbuf_printf(out, "<tr><td>%llu</td><td><code>",
                          (unsigned long long)v->buckets.at[k].count);
            view_add_shown(out, profile_text(p, (StrId){(uint32_t)v->buckets.at[k].low}), 250,
                           false);
            strbuf_add(out, STR("</code></td></tr>\n"));
        }
        strbuf_add(out, STR("</tbody></table>\n"));
        if (v->other_texts)
            strbuf_printf(out, "<p>%zu other texts: %llu</p>\n", v->other_texts,
                          (unsigned long long)v->other_count);
    }
    arena_deinit(&arena);
}

void view_add_truth(StrBuf *out, const Report *r, const ViewOptions *o)
{
    if (o->runs > 1)
        strbuf_printf(out, "means of %zu recordings", o->runs);
    truth_add_text(&r->truth, out);
}

void view_add_summary(StrBuf *out, const Report *r, const ViewOptions *o)
{
    StrBuf truth = {0};
    view_add_truth(&truth, r, o);
    strbuf_add(out, STR("<h1>"));
    view_add_shown(out, o->title, 200, false);
    strbuf_add(out, STR("</h1>\n<p>"));
    strbuf_add_u64(out, r->truth.kept);
    strbuf_add(out, r->truth.aggregated ? STR(" sums of ") : STR(" samples of "));
    view_add_shown(out, report_metric_name(r), 80, false);
    strbuf_add(out, STR(" · "));
    strbuf_add_xml(out, strbuf_str(&truth));
    strbuf_add(out, STR("</p>\n"));
    if (r->rows.len)
        add_functions(out, r);
    add_lines(out, r, !o->no_source);
    add_texts(out, r);
    add_notes(out, r->profile);
    strbuf_deinit(&truth);
}
