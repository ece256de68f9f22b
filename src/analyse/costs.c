// SPDX-License-Identifier: Apache-2.0
// Compares the costs of two programs.

#include "analyse/costs.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/report.h"

// Builds are in different folders, and edits move lines. So functions are identified by name and
// file name, and lines by file name, function and text; a line without a text by its number.
static uint64_t row_hash(const CostRow *r, bool by_line)
{
    uint64_t hash = hash_pair(str_hash(r->name), str_hash(str_base_name(r->file)));
    return !by_line ? hash : hash_pair(hash, r->text.len ? str_hash(r->text) : r->line);
}

static bool same_row(const CostRow *a, const CostRow *b, bool by_line)
{
    return str_equal(a->name, b->name) &&
           str_equal(str_base_name(a->file), str_base_name(b->file)) &&
           (!by_line || (str_equal(a->text, b->text) && (a->text.len || a->line == b->line)));
}

static const CostRow *find_row(const CostTable *t, const CostRow *like)
{
    uint32_t row;
    uint64_t hash = row_hash(like, t->by_line);
    for (TableProbe p = table_probe(&t->index, hash); table_next(&t->index, &p, &row);)
        if (same_row(&t->rows.at[row], like, t->by_line))
            return &t->rows.at[row];
    return NULL;
}

static void add_row(Costs *c, CostTable *t, const CostRow *row)
{
    CostRow *known = (CostRow *)(uintptr_t)find_row(t, row);
    if (!known) {
        CostRow kept = {.name = arena_str(&c->arena, row->name),
                        .file = arena_str(&c->arena, row->file),
                        .line = row->line,
                        .text = arena_str(&c->arena, row->text)};
        table_insert(&t->index, row_hash(row, t->by_line), (uint32_t)t->rows.len);
        vec_push(&c->arena, &t->rows, kept);
        known = &vec_last(&t->rows);
    }
    known->value += row->value;
    known->samples += row->samples;
    known->total += row->total;
    known->total_samples += row->total_samples;
}

bool costs_add(Costs *c, const Profile *p, Error *err)
{
    Report r;
    ReportRequest request = {.by = BY_FUNCTION, .sort = FLAT_BY_SELF, .want_lines = true};
    StrBuf name = {0};
    selection_init(&request.selection);
    if (!report_init(&r, p, &request, err))
        return false;
    c->lines.by_line = true;
    c->recordings++;
    c->value += r.weights.value;
    c->samples += r.weights.samples;
    for (size_t i = 0; i < r.rows.len; i++) {
        const FlatRow *flat = &r.rows.at[i];
        CostRow row = {.value = flat->self,
                       .samples = flat->self_samples,
                       .total = flat->total,
                       .total_samples = flat->total_samples};
        StrId file;
        strbuf_clear(&name);
        report_add_row_name(&r, flat, &name);
        row.name = strbuf_str(&name);
        if (report_row_place(&r, flat, &file, &row.line))
            row.file = profile_text(p, file);
        add_row(c, &c->functions, &row);
    }
    for (size_t i = 0; i < r.lines.len; i++) {
        const LineRow *line = &r.lines.at[i];
        CostRow row = {.file = profile_text(p, line->file),
                       .line = line->line,
                       .value = line->self,
                       .samples = line->samples};
        strbuf_clear(&name);
        frame_add_function_name(p, (FrameId){line->frame}, &name);
        row.name = strbuf_str(&name);
        if (line_text_find(p, line->file, line->line, &row.text))
            row.text = str_trim(row.text);
        add_row(c, &c->lines, &row);
    }
    report_deinit(&r);
    strbuf_deinit(&name);
    return true;
}

void costs_deinit(Costs *c)
{
    table_deinit(&c->functions.index);
    table_deinit(&c->lines.index);
    arena_deinit(&c->arena);
    *c = (Costs){0};
}

// ---- The difference ----------------------------------------------------------

static int compare_changes(const void *a, const void *b)
{
    const CostChange *x = a, *y = b;
    double dx = fabs(x->after_s - x->before_s), dy = fabs(y->after_s - y->before_s);
    if (dx != dy)
        return dx > dy ? -1 : 1;
    int by_name = str_compare(cost_change_row(x)->name, cost_change_row(y)->name);
    return by_name ? by_name
                   : (cost_change_row(x)->line > cost_change_row(y)->line) -
                         (cost_change_row(x)->line < cost_change_row(y)->line);
}

// The part of a row for one of the programs.
typedef struct Side {
    const Costs *costs;
    double cpu_s;
    CostBy by;
} Side;

static double seconds_of(const Side *s, const CostRow *row)
{
    uint64_t value = !row ? 0 : s->by == COST_CALLER ? row->total : row->value;
    return s->costs->value ? (double)value / (double)s->costs->value * s->cpu_s : 0;
}

// The variance of a row's seconds: its share of the samples is binomial. A row without samples is
// taken to have one.
static double variance_of(const Side *s, const CostRow *row)
{
    double n = (double)s->costs->samples;
    uint64_t hits = !row ? 0 : s->by == COST_CALLER ? row->total_samples : row->samples;
    if (n < 1)
        return 0;
    double share = ((double)hits + 0.5) / (n + 1);
    return s->cpu_s * s->cpu_s * share * (1 - share) / n;
}

static void add_change(Arena *arena, CostChangeVec *out, const Side *before, const CostRow *x,
                       const Side *after, const CostRow *y)
{
    vec_push(arena, out,
             (CostChange){.before = x,
                          .after = y,
                          .before_s = seconds_of(before, x),
                          .after_s = seconds_of(after, y),
                          .error_s = sqrt(variance_of(before, x) + variance_of(after, y))});
}

CostChangeVec costs_compare(Arena *arena, const Costs *before, double before_s, const Costs *after,
                            double after_s, CostBy by)
{
    CostChangeVec out = {0};
    const Side then = {before, before_s, by}, now = {after, after_s, by};
    const CostTable *x = by == COST_LINE ? &before->lines : &before->functions;
    const CostTable *y = by == COST_LINE ? &after->lines : &after->functions;
    for (size_t i = 0; i < x->rows.len; i++)
        add_change(arena, &out, &then, &x->rows.at[i], &now, find_row(y, &x->rows.at[i]));
    for (size_t i = 0; i < y->rows.len; i++)
        if (!find_row(x, &y->rows.at[i]))
            add_change(arena, &out, &then, NULL, &now, &y->rows.at[i]);
    if (out.len > 1)
        qsort(out.at, out.len, sizeof(CostChange), compare_changes);
    return out;
}
