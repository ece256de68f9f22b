// SPDX-License-Identifier: Apache-2.0
// Coverage in the page of assay view: the files with their totals as one block, a block for each
// file's lines and source, which the page unpacks when they are looked at, and a summary in plain
// HTML. Format: docs/formats/view.md.

#include "export/cover/formats_internal.h"

#include <stdlib.h>

#include "analyse/cover/decisions.h"

enum { LEVEL = 1 }; // of gzip: 4 makes the page 8 % smaller and takes an eighth more time

static const CoverCriterion criteria[] = {COVER_LINES, COVER_FUNCTIONS, COVER_BRANCHES,
                                          COVER_CONDITIONS};

static size_t column_count(const CoverWriter *w)
{
    return cover_has_conditions(w) ? ARRAY_LEN(criteria) : ARRAY_LEN(criteria) - 1;
}

static Str shown_path(const CoverWriter *w, Str path)
{
    return w->base_names ? str_base_name(path) : path;
}

// ---- Summary ---------------------------------------------------------------------------

// "97.51% 46/59"
static void add_share(StrBuf *out, CoverTally t)
{
    if (t.count == 0) {
        strbuf_add(out, STR("<td>-</td>"));
        return;
    }
    strbuf_printf(out, "<td>%.2f%% <small>%llu/%llu</small></td>", cover_shown_percent(t),
                  (unsigned long long)t.covered, (unsigned long long)t.count);
}

static void add_shares(StrBuf *out, const CoverWriter *w, const CoverTotals *t)
{
    for (size_t i = 0; i < column_count(w); i++)
        add_share(out, t->of[criteria[i]]);
}

typedef struct MissedLines {
    uint64_t lines;
    uint32_t file; // of w->c->files
} MissedLines;

static int by_missed(const void *a, const void *b)
{
    const MissedLines *x = a, *y = b;
    if (x->lines != y->lines)
        return x->lines < y->lines ? 1 : -1;
    return x->file < y->file ? -1 : x->file > y->file;
}

// The files with the most lines that did not run first.
static void add_summary(StrBuf *out, const CoverWriter *w, const CoverTotals *sum)
{
    enum { ROWS_MAX = 2000, PATH_COLUMNS = 400 };
    size_t count = w->c->files.len;
    MissedLines *order = heap_alloc((count + 1) * sizeof(MissedLines));
    for (size_t i = 0; i < count; i++) {
        CoverTotals t = cover_writer_totals(w, &w->c->files.at[i]);
        order[i] = (MissedLines){t.of[COVER_LINES].count - t.of[COVER_LINES].covered, (uint32_t)i};
    }
    if (count)
        qsort(order, count, sizeof(MissedLines), by_missed);
    strbuf_add(out, STR("<h1>Coverage</h1>\n<table class=\"coverage\"><thead><tr>"
                        "<th scope=\"col\">lines</th><th scope=\"col\">functions</th>"
                        "<th scope=\"col\">branches</th>"));
    if (cover_has_conditions(w))
        strbuf_add(out, STR("<th scope=\"col\">MC/DC</th>"));
    strbuf_add(out, STR("<th scope=\"col\">file</th></tr></thead><tbody>\n"
                        "<tr class=\"sum\">"));
    add_shares(out, w, sum);
    strbuf_add(out, STR("<th scope=\"row\">Total</th></tr>\n"));
    for (size_t i = 0; i < count && i < ROWS_MAX; i++) {
        const CoverFileRows *f = &w->c->files.at[order[i].file];
        CoverTotals t = cover_writer_totals(w, f);
        strbuf_add(out, STR("<tr>"));
        add_shares(out, w, &t);
        strbuf_add(out, STR("<td><code>"));
        view_add_shown(out, shown_path(w, profile_text(w->p, f->file)), PATH_COLUMNS, true);
        strbuf_add(out, STR("</code></td></tr>\n"));
    }
    strbuf_add(out, STR("</tbody></table>\n"));
    if (count > ROWS_MAX)
        strbuf_printf(out, "<p>Files that are in the pictures only: %zu.</p>\n", count - ROWS_MAX);
    heap_free(order);
}

// ---- Files -----------------------------------------------------------------------------

static void add_tallies(JsonWriter *json, const char *key, const CoverTotals *t)
{
    json_begin_array(json, key);
    for (size_t i = 0; i < ARRAY_LEN(criteria); i++) {
        json_u64(json, NULL, t->of[criteria[i]].covered);
        json_u64(json, NULL, t->of[criteria[i]].count);
    }
    json_end(json);
}

// "lost, new and missed, new and ran, gained": the lines whose state a change made.
static void classes_of(const uint64_t counts[], uint64_t ret[4])
{
    ret[0] = counts[COVER_LBC];
    ret[1] = counts[COVER_UNC] + counts[COVER_UIC];
    ret[2] = counts[COVER_GNC] + counts[COVER_GIC];
    ret[3] = counts[COVER_GBC];
}

// A row of the table of files; `change` is NULL without a baseline.
typedef struct TableRow {
    Str path;
    CoverTotals now, before;
    uint64_t classes[4];
    bool is_gone;
} TableRow;

typedef Vec(TableRow) TableRowVec;

static void table_rows(const CoverWriter *w, TableRowVec *ret)
{
    for (size_t i = 0; i < w->c->files.len; i++) {
        const CoverFileRows *f = &w->c->files.at[i];
        TableRow row = {.path = profile_text(w->p, f->file), .now = cover_writer_totals(w, f)};
        const CoverFileChange *change = w->changes ? cover_changes_get(w->changes, row.path) : NULL;
        if (change)
            row.before = change->before;
        if (change && change->lines)
            classes_of(change->lines->counts, row.classes);
        row.path = shown_path(w, row.path);
        vec_push(NULL, ret, row);
    }
    for (size_t i = 0; w->changes && i < w->changes->files.len; i++) {
        const CoverFileChange *change = &w->changes->files.at[i];
        if (!change->has_now)
            vec_push(NULL, ret,
                     (TableRow){.path = shown_path(w, change->path),
                                .before = change->before,
                                .is_gone = true});
    }
}

static void add_tally_column(ViewBlock *b, const char *name, const TableRowVec *rows, bool before)
{
    view_column_begin(b);
    for (size_t i = 0; i < rows->len; i++)
        for (size_t k = 0; k < ARRAY_LEN(criteria); k++) {
            const CoverTotals *t = before ? &rows->at[i].before : &rows->at[i].now;
            view_add_u64(b, t->of[criteria[k]].covered);
            view_add_u64(b, t->of[criteria[k]].count);
        }
    view_column_end(b, name, VIEW_U64);
}

static bool add_table(const CoverWriter *w, const CoverTotals *sum, Error *err)
{
    ViewBlock b = {0};
    StrBuf about = {0};
    JsonWriter json;
    TableRowVec rows = {0};
    uint64_t classes[4] = {0};
    table_rows(w, &rows);
    view_about_begin(&json, &about, w->page->recordings, "coverage");
    json_str(&json, "title", w->title.len && !w->base_names ? w->title : STR("Coverage"));
    json_bool(&json, "conditions", cover_has_conditions(w));
    json_bool(&json, "beside", w->changes != NULL);
    add_tallies(&json, "total", sum);
    if (w->changes) {
        add_tallies(&json, "before", &w->changes->before);
        classes_of(w->changes->counts, classes);
    }
    json_begin_array(&json, "classes");
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        json_u64(&json, NULL, classes[i]);
    json_end(&json);
    json_end(&json);
    view_column_begin(&b);
    for (size_t i = 0; i < rows.len; i++)
        view_add_u64(&b, rows.at[i].path.len);
    view_column_end(&b, "path.len", VIEW_U32);
    view_column_begin(&b);
    for (size_t i = 0; i < rows.len; i++)
        view_add_text(&b, rows.at[i].path);
    view_column_end(&b, "path.text", VIEW_BYTES);
    add_tally_column(&b, "tally", &rows, false);
    if (w->changes) {
        add_tally_column(&b, "before", &rows, true);
        view_column_begin(&b);
        for (size_t i = 0; i < rows.len; i++)
            for (size_t k = 0; k < ARRAY_LEN(classes); k++)
                view_add_u64(&b, rows.at[i].classes[k]);
        view_column_end(&b, "classes", VIEW_U64);
        view_column_begin(&b);
        for (size_t i = 0; i < rows.len; i++)
            view_add_u64(&b, rows.at[i].is_gone);
        view_column_end(&b, "gone", VIEW_U32);
    }
    bool ok = view_block_add(&b, strbuf_str(&about), LEVEL, &w->page->first, err);
    vec_free(&rows);
    view_block_deinit(&b);
    strbuf_deinit(&about);
    return ok;
}

static CoverTotals all_totals(const CoverWriter *w)
{
    CoverTotals sum = {0};
    for (size_t i = 0; i < w->c->files.len; i++) {
        CoverTotals t = cover_writer_totals(w, &w->c->files.at[i]);
        cover_totals_add(&sum, &t);
    }
    return sum;
}

// ---- One file --------------------------------------------------------------------------

// How the page writes a class: a letter for those that a change made.
static char letter_of(CoverClass class)
{
    static const char letters[COVER_CLASS_COUNT] = {
        [COVER_UNC] = 'u', [COVER_LBC] = 'l', [COVER_UIC] = 'i',
        [COVER_GBC] = 'g', [COVER_GIC] = 'j', [COVER_GNC] = 'n'};
    return letters[class];
}

static void add_lines(CoverWriter *w, const CoverFileRows *f, const CoverDiffFile *classes,
                      ViewBlock *b)
{
    CoverLine l;
    U64Vec count = {0};
    U32Vec taken = {0}, branches = {0};
    U8Vec letter = {0};
    size_t at = 0; // the lines of the new file stand first in `classes`
    view_column_begin(b);
    for (CoverLineWalk walk = cover_line_walk(w, f); cover_line_next(&walk, &l);) {
        view_add_delta(b, l.line);
        vec_push(NULL, &count, l.count);
        vec_push(NULL, &taken, l.branches_hit);
        vec_push(NULL, &branches, l.branches);
        while (classes && at < classes->lines.len && classes->lines.at[at].line < l.line)
            at++;
        bool has_class = classes && at < classes->lines.len && classes->lines.at[at].line == l.line;
        vec_push(NULL, &letter, (uint8_t)(has_class ? letter_of(classes->lines.at[at].class) : 0));
    }
    view_column_end(b, "line", VIEW_DELTA);
    view_column_begin(b);
    for (size_t i = 0; i < count.len; i++)
        view_add_u64(b, count.at[i]);
    view_column_end(b, "count", VIEW_U64);
    view_column_u32(b, "taken", taken.at, taken.len);
    view_column_u32(b, "branches", branches.at, branches.len);
    if (classes) {
        view_column_begin(b);
        view_add_text(b, str_over((const char *)letter.at, letter.len));
        view_column_end(b, "class", VIEW_BYTES);
    }
    vec_free(&count);
    vec_free(&taken);
    vec_free(&branches);
    vec_free(&letter);
}

// [[line, count, name], …]
static void add_functions(const CoverWriter *w, const CoverFileRows *f, JsonWriter *json)
{
    const Profile *p = w->p;
    json_begin_array(json, "functions");
    for (uint32_t i = f->places.first; i < f->places.end; i++) {
        uint32_t row = w->c->places.at[i];
        FunctionId id = p->function_counts.function.at[row];
        json_begin_array(json, NULL);
        json_u64(json, NULL, p->functions.line.at[id.v]);
        json_u64(json, NULL, w->c->entries.at[i]);
        json_str(json, NULL, profile_text(p, p->functions.name.at[id.v]));
        json_end(json);
    }
    json_end(json);
}

static void add_place(JsonWriter *json, uint32_t line, uint32_t column)
{
    json_u64(json, NULL, line);
    json_u64(json, NULL, column);
}

// [line, column, end line, end column, conditions, [vector, …], function, more], of a
// condition [line, column, end line, end column, vector, vector]: without an end where its
// text is elsewhere, without vectors where the compiler knew it.
static void add_decision(JsonWriter *json, const Profile *p, const CoverDecisionGroup *group)
{
    const Decisions *d = &p->decisions;
    const DecisionConditions *c = &p->decision_conditions;
    uint32_t row = group->row;
    CoverRows conditions = cover_decision_conditions(p, row);
    size_t letters = (size_t)(conditions.end - conditions.first) + 1;
    Str vectors = profile_text(p, d->vectors.at[row]);
    Str function = profile_text(p, p->functions.name.at[d->function.at[row].v]);
    json_begin_array(json, NULL);
    add_place(json, d->line.at[row], d->column.at[row]);
    add_place(json, d->end_line.at[row], d->end_column.at[row]);
    json_begin_array(json, NULL);
    for (uint32_t i = conditions.first; i < conditions.end; i++) {
        bool is_elsewhere = c->flags.at[i] & CONDITION_IS_ELSEWHERE;
        json_begin_array(json, NULL);
        add_place(json, c->line.at[i], c->column.at[i]);
        add_place(json, is_elsewhere ? 0 : c->end_line.at[i],
                  is_elsewhere ? 0 : c->end_column.at[i]);
        if (!(c->flags.at[i] & CONDITION_IS_FOLDED))
            add_place(json, c->pair_first.at[i], c->pair_second.at[i]);
        json_end(json);
    }
    json_end(json);
    json_begin_array(json, NULL);
    for (size_t at = 0; at < vectors.len; at += letters)
        json_str(json, NULL, str_slice(vectors, at, at + letters));
    json_end(json);
    json_str(json, NULL, group->is_shared ? function : STR(""));
    json_u64(json, NULL, group->more);
    json_end(json);
}

// [line, [[text, times true, times false], …]]: what tracefiles know of a decision. Gives
// the row behind it.
static uint32_t add_decision_rows(CoverWriter *w, const CoverFileRows *f, uint32_t first,
                                  JsonWriter *json)
{
    const ConditionCounts *c = &w->p->condition_counts;
    const uint32_t *rows = w->c->conditions.at;
    uint32_t at = first;
    json_begin_array(json, NULL);
    json_u64(json, NULL, c->line.at[rows[first]]);
    json_begin_array(json, NULL);
    while (at < f->conditions.end && c->line.at[rows[at]] == c->line.at[rows[first]] &&
           c->group.at[rows[at]] == c->group.at[rows[first]]) {
        uint64_t counts[2] = {0};
        uint32_t row = rows[at];
        for (;
             at < f->conditions.end && c->line.at[rows[at]] == c->line.at[row] &&
             c->group.at[rows[at]] == c->group.at[row] && c->index.at[rows[at]] == c->index.at[row];
             at++)
            counts[c->sense.at[rows[at]] != 0] += c->count.at[rows[at]];
        json_begin_array(json, NULL);
        json_str(json, NULL, profile_text(w->p, c->expression.at[row]));
        json_u64(json, NULL, counts[1]);
        json_u64(json, NULL, counts[0]);
        json_end(json);
    }
    json_end(json);
    json_end(json);
    return at;
}

// As they stand in the file.
static void add_decisions(CoverWriter *w, const CoverFileRows *f, JsonWriter *json)
{
    json_begin_array(json, "decisions");
    if (cover_is_of_llvm_alone(w->p)) {
        CoverDecisionGroupVec decisions = {0};
        cover_decisions_group(w->p, w->c, f, &decisions);
        for (size_t i = 0; i < decisions.len; i++)
            add_decision(json, w->p, &decisions.at[i]);
        vec_free(&decisions);
    } else {
        for (uint32_t at = f->conditions.first; at < f->conditions.end;)
            at = add_decision_rows(w, f, at, json);
    }
    json_end(json);
}

static void html_file(CoverWriter *w, const CoverFileRows *f)
{
    Str path = profile_text(w->p, f->file), text = {0};
    const CoverFileChange *change = w->changes ? cover_changes_get(w->changes, path) : NULL;
    StrBuf about = {0};
    JsonWriter json;
    Error err;
    view_about_begin(&json, &about, w->page->recordings, "file");
    json_u64(&json, "file", (uint64_t)(f - w->c->files.at));
    add_functions(w, f, &json);
    add_decisions(w, f, &json);
    if (w->source && w->source(w->source_ctx, path, &text))
        json_bool(&json, "has_text", true);
    json_end(&json);
    add_lines(w, f, change ? change->lines : NULL, &w->block);
    view_column_begin(&w->block);
    view_add_text(&w->block, text);
    view_column_end(&w->block, "text", VIEW_BYTES);
    // Without memory the file's row stands without its lines.
    if (!view_block_add_for_later(&w->block, strbuf_str(&about), LEVEL, &w->page->bulk, &err))
        strbuf_add(&w->page->bulk, STR("<template class=\"assay-later\"></template>\n"));
    strbuf_deinit(&about);
}

// ---- The page --------------------------------------------------------------------------

bool cover_page_add(CoverWriter *w, ViewPage *page, Error *err)
{
    CoverTotals sum = all_totals(w);
    w->page = page;
    if (!add_table(w, &sum, err))
        return false;
    add_summary(&page->summary, w, &sum);
    for (size_t i = 0; i < w->c->files.len; i++)
        html_file(w, &w->c->files.at[i]);
    view_block_deinit(&w->block);
    page->recordings++;
    return true;
}

static void html_begin(CoverWriter *w)
{
    (void)w; // everything is written at the end: the page begins with a summary
}

static void html_no_file(CoverWriter *w, const CoverFileRows *f)
{
    (void)w;
    (void)f;
}

static void html_end(CoverWriter *w)
{
    ViewPage page = {0};
    Error err;
    if (cover_page_add(w, &page, &err))
        view_page_write(&page, STR("Coverage"), w->out);
    view_page_deinit(&page);
}

const CoverFormat cover_html_format = {html_begin, html_no_file, html_end};
