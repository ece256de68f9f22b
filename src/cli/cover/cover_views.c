// SPDX-License-Identifier: Apache-2.0
// Branches, regions, macros, instances and decisions below source lines.

#include "cli/cover/cover_views.h"

#include "cli/terminal.h"

#define RULE STR("  ------------------\n")

void cover_views_begin(CoverViews *v, const CoverFileRows *f)
{
    unsigned kinds = (v->o->expansions ? 1u << COVER_DETAIL_EXPANSION : 0) |
                     (v->o->decisions ? 1u << COVER_DETAIL_DECISION : 0) |
                     (v->o->instantiations ? 1u << COVER_DETAIL_INSTANCE : 0);
    Str path = profile_text(&v->r->profile, f->file);
    v->f = f;
    v->detail = v->segment = v->site = 0;
    v->branch = f->branches.first;
    bool sites = v->o->branches.len && cover_is_of_llvm_alone(v->r);
    v->details.len = v->segments.len = v->sites.len = 0;
    if ((kinds || sites || v->o->regions) && v->index.starts.len == 0)
        cover_index_files(&v->r->data, &v->r->project, &v->index);
    if (kinds)
        cover_details_find(&v->r->data, &v->index, path, kinds, &v->details);
    if (sites)
        cover_file_branches(&v->r->data, &v->index, &v->r->project, path, &v->sites);
    if (v->o->regions)
        cover_file_segments(&v->r->data, &v->index, path, &v->segments);
}

void cover_views_deinit(CoverViews *v)
{
    vec_free(&v->details);
    vec_free(&v->segments);
    vec_free(&v->sites);
    vec_free(&v->starts);
    cover_index_free(&v->index);
    cover_sources_deinit(&v->sources);
}

// ---- Regions -------------------------------------------------------------------

// "^11    ^7" below the columns where regions start, when one has another count
// than the line.
static void add_regions(CoverViews *v, uint32_t line, uint64_t count, size_t indent, StrBuf *out)
{
    size_t column = 1;
    bool any = false;
    while (v->segment < v->segments.len && v->segments.at[v->segment].line < line)
        v->segment++;
    for (; v->segment < v->segments.len && v->segments.at[v->segment].line == line; v->segment++) {
        const CovSegment *s = &v->segments.at[v->segment];
        if (!s->is_entry || !s->has_count || s->is_gap || s->count == count)
            continue;
        if (!any)
            strbuf_add_repeated(out, ' ', indent);
        any = true;
        if (s->column > column)
            strbuf_add_repeated(out, ' ', MIN((size_t)s->column - column, (size_t)1000));
        size_t start = out->len;
        strbuf_printf(out, "^%llu", (unsigned long long)s->count);
        column = MAX((size_t)s->column, column) + (out->len - start);
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

// llvm-cov's decisions have two sides each.
static void add_sites(CoverViews *v, uint32_t line, StrBuf *out)
{
    bool percent = str_equal(v->o->branches, STR("percent")), any = false;
    while (v->site < v->sites.len && v->sites.at[v->site].listed_line < line)
        v->site++;
    for (; v->site < v->sites.len && v->sites.at[v->site].listed_line == line; v->site++) {
        const CoverBranchSite *b = &v->sites.at[v->site];
        uint64_t all = b->count + b->false_count;
        strbuf_add(out, any ? STR("") : RULE);
        any = true;
        strbuf_printf(out, "  |  Branch (%u:%u): [", b->line, b->column);
        if (b->is_folded) {
            strbuf_add(out, STR("Folded - Ignored]\n"));
            continue;
        }
        strbuf_add(out, STR("True: "));
        add_side(out, percent, b->count, all);
        strbuf_add(out, STR(", False: "));
        add_side(out, percent, b->false_count, all);
        strbuf_add(out, STR("]\n"));
    }
    if (any)
        strbuf_add(out, RULE);
}

// gcc's and lcov's branches stand alone.
static void add_rows(CoverViews *v, uint32_t line, StrBuf *out)
{
    const BranchCounts *b = &v->r->profile.branch_counts;
    bool any = false;
    while (v->branch < v->f->branches.end && b->line.at[v->c->branches.at[v->branch]] < line)
        v->branch++;
    for (; v->branch < v->f->branches.end; v->branch++) {
        uint32_t row = v->c->branches.at[v->branch];
        if (b->line.at[row] != line)
            break;
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
    v->sources.folders = v->r->filter->o->source_folders;
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

static void add_text_lines(CoverViews *v, const CoverDetail *detail, StrBuf *out)
{
    CovLineVec lines = {0};
    Str path = cover_detail_lines(&v->r->data, detail, &lines), line = {0};
    bool found = open_text(v, path);
    for (size_t i = 0; i < lines.len; i++) {
        uint32_t number = lines.at[i].line;
        strbuf_printf(out, "  |%10llu [%u] ", (unsigned long long)lines.at[i].count, number);
        if (found && number && number <= v->starts.len) {
            Str rest = str_slice(v->text, v->starts.at[number - 1], v->text.len);
            if (str_next_line(&rest, &line))
                strbuf_add_terminal(out, line);
        }
        strbuf_add_char(out, '\n');
    }
    vec_free(&lines);
}

static void add_instance_name(const CoverViews *v, const CoverDetail *detail, StrBuf *out)
{
    const CoverFunction *f = &v->r->data.functions.at[detail->function];
    StrBuf name = {0};
    if (v->r->project.demangle)
        v->r->project.demangle(v->r->project.demangle_ctx, f->name, &name);
    strbuf_add(out, STR("  | "));
    strbuf_add_terminal(out, name.len ? strbuf_str(&name) : f->name);
    strbuf_printf(out, ": %llu\n", (unsigned long long)f->count);
    strbuf_deinit(&name);
}

// ---- Decisions ---------------------------------------------------------------------

static void add_vectors(const CoverData *d, const CoverDecision *decision, StrBuf *out)
{
    const CoverCondition *conditions = d->conditions.at + decision->conditions_first;
    uint32_t n = decision->condition_count;
    strbuf_add(out, STR("  |  Executed MC/DC Test Vectors:\n  |\n  |     "));
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(out, "%sC%u", i ? ", " : "", i + 1);
    strbuf_add(out, STR("    Result\n"));
    for (uint32_t k = 0; k < decision->vector_count; k++) {
        const uint8_t *states = d->vectors.at + decision->vectors_first + (size_t)k * (n + 1);
        strbuf_printf(out, "  |  %u { ", k + 1);
        for (uint32_t i = 0; i < n; i++) {
            static const char shown[] = {'F', 'T', '-'};
            const CoverCondition *c = &conditions[i];
            strbuf_add(out, i ? STR(",  ") : STR(""));
            strbuf_add_char(out, c->is_folded ? 'C' : shown[states[c->node]]);
        }
        strbuf_printf(out, "  = %c      }\n", states[n] ? 'T' : 'F');
    }
}

// As llvm-cov shows it.
static void add_decision(const CoverData *d, const CoverDecision *decision, StrBuf *out)
{
    const CoverCondition *conditions = d->conditions.at + decision->conditions_first;
    uint32_t covered = 0, counted = 0;
    strbuf_printf(out,
                  "  |---> MC/DC Decision Region (%u:%u) to (%u:%u)\n  |\n"
                  "  |  Number of Conditions: %u\n",
                  decision->line, decision->column, decision->end_line, decision->end_column,
                  decision->condition_count);
    for (uint32_t i = 0; i < decision->condition_count; i++)
        strbuf_printf(out, "  |     Condition C%u --> (%u:%u)\n", i + 1, conditions[i].line,
                      conditions[i].column);
    strbuf_add(out, STR("  |\n"));
    add_vectors(d, decision, out);
    strbuf_add(out, STR("  |\n"));
    for (uint32_t i = 0; i < decision->condition_count; i++) {
        const CoverCondition *c = &conditions[i];
        counted += !c->is_folded;
        covered += c->pair[0] != 0;
        if (c->is_folded)
            strbuf_printf(out, "  |  C%u-Pair: constant folded\n", i + 1);
        else if (c->pair[0])
            strbuf_printf(out, "  |  C%u-Pair: covered: (%u,%u)\n", i + 1, c->pair[0], c->pair[1]);
        else
            strbuf_printf(out, "  |  C%u-Pair: not covered\n", i + 1);
    }
    strbuf_printf(out, "  |  MC/DC Coverage for Decision: %.2f%%\n  |\n",
                  counted ? 100.0 * covered / counted : 0.0);
}

static void add_detail(CoverViews *v, const CoverDetail *detail, StrBuf *out)
{
    strbuf_add(out, RULE);
    if (detail->kind == COVER_DETAIL_DECISION) {
        add_decision(&v->r->data, &v->r->data.decisions.at[detail->which], out);
    } else {
        if (detail->kind == COVER_DETAIL_INSTANCE)
            add_instance_name(v, detail, out);
        add_text_lines(v, detail, out);
    }
    strbuf_add(out, RULE);
}

void cover_views_add(CoverViews *v, uint32_t line, uint64_t count, size_t indent, StrBuf *out)
{
    if (v->o->regions)
        add_regions(v, line, count, indent, out);
    while (v->detail < v->details.len && v->details.at[v->detail].line < line)
        v->detail++;
    for (; v->detail < v->details.len && v->details.at[v->detail].line == line &&
           v->details.at[v->detail].kind == COVER_DETAIL_EXPANSION;
         v->detail++)
        add_detail(v, &v->details.at[v->detail], out);
    if (v->sites.len)
        add_sites(v, line, out);
    else if (v->o->branches.len)
        add_rows(v, line, out);
    for (; v->detail < v->details.len && v->details.at[v->detail].line == line; v->detail++)
        add_detail(v, &v->details.at[v->detail], out);
}
