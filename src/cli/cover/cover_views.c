// SPDX-License-Identifier: Apache-2.0
// Branches, regions, macros, instances and decisions below source lines.

#include "cli/cover/cover_views.h"

#include "analyse/cover/decisions.h"
#include "cli/terminal.h"
#include "coverage/rows/wants.h"

#define RULE STR("  ------------------\n")

unsigned cover_views_wants(const CoverViewOptions *o)
{
    return (o->branches.len ? COVER_WANT_BRANCH_SITES : 0) |
           (o->regions ? COVER_WANT_SEGMENTS : 0) | (o->expansions ? COVER_WANT_EXPANSIONS : 0) |
           (o->instantiations ? COVER_WANT_INSTANCES : 0) |
           (o->decisions ? COVER_WANT_DECISIONS : 0);
}

void cover_views_begin(CoverViews *v, const CoverFileRows *f)
{
    v->f = f;
    v->branch = f->branches.first;
    v->site = f->branch_sites.first;
    v->segment = f->segments.first;
    v->excerpt = f->excerpts.first;
    v->decision = f->decisions.first;
}

void cover_views_deinit(CoverViews *v)
{
    vec_free(&v->starts);
    cover_sources_deinit(&v->sources);
}

// Passes over rows of lines before `line`; whether the next one is of that line.
static bool is_next(const U32Vec *lines, const U32Vec *order, CoverRows rows, uint32_t *at,
                    uint32_t line)
{
    while (*at < rows.end && lines->at[order->at[*at]] < line)
        ++*at;
    return *at < rows.end && lines->at[order->at[*at]] == line;
}

// ---- Regions -------------------------------------------------------------------

// "^11    ^7" below the columns where regions start, when one has another count
// than the line.
static void add_regions(CoverViews *v, uint32_t line, uint64_t count, size_t indent, StrBuf *out)
{
    const CoverSegments *s = &v->p->segments;
    size_t at_column = 1;
    bool any = false;
    for (; is_next(&s->line, &v->c->segments, v->f->segments, &v->segment, line); v->segment++) {
        uint32_t row = v->c->segments.at[v->segment], column = s->column.at[row];
        if ((s->flags.at[row] & (SEGMENT_IS_ENTRY | SEGMENT_HAS_COUNT | SEGMENT_IS_GAP)) !=
                (SEGMENT_IS_ENTRY | SEGMENT_HAS_COUNT) ||
            s->count.at[row] == count)
            continue;
        if (!any)
            strbuf_add_repeated(out, ' ', indent);
        any = true;
        if (column > at_column)
            strbuf_add_repeated(out, ' ', MIN((size_t)column - at_column, (size_t)1000));
        size_t start = out->len;
        strbuf_printf(out, "^%llu", (unsigned long long)s->count.at[row]);
        at_column = MAX((size_t)column, at_column) + (out->len - start);
    }
    if (any)
        strbuf_add_char(out, '\n');
}

// ---- Branches ------------------------------------------------------------------

static void add_side(StrBuf *out, bool percent, uint64_t count, uint64_t all)
{
    if (percent)
        strbuf_printf(out, "%.2f%%", all ? 100.0 * (double)count / (double)all : 0.0);
    else
        strbuf_add_u64(out, count);
}

// LLVM's branches have two sides each.
static void add_sites(CoverViews *v, uint32_t line, StrBuf *out)
{
    const BranchSites *b = &v->p->branch_sites;
    bool percent = str_equal(v->o->branches, STR("percent")), any = false;
    for (; is_next(&b->listed_line, &v->c->branch_sites, v->f->branch_sites, &v->site, line);
         v->site++) {
        uint32_t row = v->c->branch_sites.at[v->site];
        uint64_t all = b->true_count.at[row] + b->false_count.at[row];
        strbuf_add(out, any ? STR("") : RULE);
        any = true;
        strbuf_printf(out, "  |  Branch (%u:%u): [", b->line.at[row], b->column.at[row]);
        if (b->is_folded.at[row]) {
            strbuf_add(out, STR("Folded - Ignored]\n"));
            continue;
        }
        strbuf_add(out, STR("True: "));
        add_side(out, percent, b->true_count.at[row], all);
        strbuf_add(out, STR(", False: "));
        add_side(out, percent, b->false_count.at[row], all);
        strbuf_add(out, STR("]\n"));
    }
    if (any)
        strbuf_add(out, RULE);
}

// gcc's and lcov's branches stand alone.
static void add_rows(CoverViews *v, uint32_t line, StrBuf *out)
{
    const BranchCounts *b = &v->p->branch_counts;
    bool any = false;
    for (; is_next(&b->line, &v->c->branches, v->f->branches, &v->branch, line); v->branch++) {
        uint32_t row = v->c->branches.at[v->branch];
        strbuf_add(out, any ? STR("") : RULE);
        any = true;
        strbuf_printf(out, "  |  Branch %u: %llu\n", b->branch.at[row],
                      (unsigned long long)b->count.at[row]);
    }
    if (any)
        strbuf_add(out, RULE);
}

// ---- Macros and instances --------------------------------------------------------

static bool open_text(CoverViews *v, Str path)
{
    if (str_equal(v->path, path))
        return v->text.ptr != NULL;
    v->path = path;
    v->starts.len = 0;
    v->text = (Str){0};
    if (!cover_source_text(&v->sources, path, &v->text))
        return false;
    for (size_t at = 0; at < v->text.len;) {
        vec_push(NULL, &v->starts, at);
        size_t end = str_find_char(str_slice(v->text, at, v->text.len), '\n');
        at = end == SIZE_MAX ? v->text.len : at + end + 1;
    }
    return true;
}

static void add_text_lines(CoverViews *v, uint32_t excerpt, StrBuf *out)
{
    const ExcerptLines *l = &v->p->excerpt_lines;
    Str line = {0};
    bool found = open_text(v, profile_text(v->p, v->p->excerpts.text.at[excerpt]));
    size_t i = PARTITION_POINT(k, l->excerpt.len, l->excerpt.at[k] < excerpt);
    for (; i < l->excerpt.len && l->excerpt.at[i] == excerpt; i++) {
        uint32_t number = l->line.at[i];
        strbuf_printf(out, "  |%10llu [%u] ", (unsigned long long)l->count.at[i], number);
        if (found && number && number <= v->starts.len) {
            Str rest = str_slice(v->text, v->starts.at[number - 1], v->text.len);
            if (str_next_line(&rest, &line))
                strbuf_add_terminal(out, line);
        }
        strbuf_add_char(out, '\n');
    }
}

static Str function_name(const Profile *p, FunctionId id)
{
    return profile_text(p, p->functions.name.at[id.v]);
}

static void add_excerpt(CoverViews *v, uint32_t row, StrBuf *out)
{
    const Excerpts *e = &v->p->excerpts;
    strbuf_add(out, RULE);
    if (e->kind.at[row] == EXCERPT_INSTANCE) {
        strbuf_add(out, STR("  | "));
        strbuf_add_terminal(out, function_name(v->p, e->function.at[row]));
        strbuf_printf(out, ": %llu\n", (unsigned long long)e->count.at[row]);
    }
    add_text_lines(v, row, out);
    strbuf_add(out, RULE);
}

// The excerpts of one kind below a line: expansions come before instances.
static void add_excerpts(CoverViews *v, uint32_t line, ExcerptKind kind, StrBuf *out)
{
    const Excerpts *e = &v->p->excerpts;
    for (; is_next(&e->line, &v->c->excerpts, v->f->excerpts, &v->excerpt, line) &&
           e->kind.at[v->c->excerpts.at[v->excerpt]] == kind;
         v->excerpt++)
        add_excerpt(v, v->c->excerpts.at[v->excerpt], out);
}

// ---- Decisions ---------------------------------------------------------------------

// A line for each vector; `n` conditions.
static void add_vectors(Str vectors, uint32_t n, StrBuf *out)
{
    strbuf_add(out, STR("  |  Executed MC/DC Test Vectors:\n  |\n  |     "));
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(out, "%sC%u", i ? ", " : "", i + 1);
    strbuf_add(out, STR("    Result\n"));
    for (size_t at = 0; at + n < vectors.len; at += n + 1) {
        strbuf_printf(out, "  |  %zu { ", at / (n + 1) + 1);
        for (uint32_t i = 0; i < n; i++) {
            strbuf_add(out, i ? STR(",  ") : STR(""));
            strbuf_add_char(out, vectors.ptr[at + i]);
        }
        strbuf_printf(out, "  = %c      }\n", vectors.ptr[at + n]);
    }
}

static void add_pairs(const DecisionConditions *c, CoverRows conditions, StrBuf *out)
{
    uint32_t covered = 0, counted = 0;
    for (uint32_t i = conditions.first; i < conditions.end; i++) {
        uint32_t number = i - conditions.first + 1;
        bool is_folded = c->flags.at[i] & CONDITION_IS_FOLDED;
        counted += !is_folded;
        covered += c->pair_first.at[i] != 0;
        if (is_folded)
            strbuf_printf(out, "  |  C%u-Pair: constant folded\n", number);
        else if (c->pair_first.at[i])
            strbuf_printf(out, "  |  C%u-Pair: covered: (%u,%u)\n", number, c->pair_first.at[i],
                          c->pair_second.at[i]);
        else
            strbuf_printf(out, "  |  C%u-Pair: not covered\n", number);
    }
    strbuf_printf(out, "  |  MC/DC Coverage for Decision: %.2f%%\n  |\n",
                  counted ? 100.0 * covered / counted : 0.0);
}

// As llvm-cov shows it.
static void add_decision(const Profile *p, uint32_t row, StrBuf *out)
{
    const Decisions *d = &p->decisions;
    const DecisionConditions *c = &p->decision_conditions;
    CoverRows conditions = cover_decision_conditions(p, row);
    uint32_t n = conditions.end - conditions.first;
    strbuf_add(out, RULE);
    strbuf_printf(out,
                  "  |---> MC/DC Decision Region (%u:%u) to (%u:%u)\n  |\n"
                  "  |  Number of Conditions: %u\n",
                  d->line.at[row], d->column.at[row], d->end_line.at[row], d->end_column.at[row],
                  n);
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(out, "  |     Condition C%u --> (%u:%u)\n", i + 1,
                      c->line.at[conditions.first + i], c->column.at[conditions.first + i]);
    strbuf_add(out, STR("  |\n"));
    add_vectors(profile_text(p, d->vectors.at[row]), n, out);
    strbuf_add(out, STR("  |\n"));
    add_pairs(c, conditions, out);
    strbuf_add(out, RULE);
}

static void add_decisions(CoverViews *v, uint32_t line, StrBuf *out)
{
    const U32Vec *lines = &v->p->decisions.end_line;
    for (; is_next(lines, &v->c->decisions, v->f->decisions, &v->decision, line); v->decision++)
        add_decision(v->p, v->c->decisions.at[v->decision], out);
}

void cover_views_add(CoverViews *v, uint32_t line, uint64_t count, size_t indent, StrBuf *out)
{
    if (v->o->regions)
        add_regions(v, line, count, indent, out);
    add_excerpts(v, line, EXCERPT_EXPANSION, out);
    if (v->f->branch_sites.end > v->f->branch_sites.first)
        add_sites(v, line, out);
    else if (v->o->branches.len)
        add_rows(v, line, out);
    add_decisions(v, line, out);
    add_excerpts(v, line, EXCERPT_INSTANCE, out);
}
