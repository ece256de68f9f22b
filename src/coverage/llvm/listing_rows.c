// SPDX-License-Identifier: Apache-2.0
// From evaluated functions to the rows of listings.

#include "coverage/llvm/listing_rows.h"

#include <stdlib.h>

#include "coverage/llvm/branches.h"

typedef struct Filler {
    CoverFilling *filling;
    const CoverData *d;
    unsigned wants;
    Profile *into;
    CovSpanVec spans;
    CovSegmentVec segments;
    CovLineVec lines;
    StrBuf text;
    // Of the present file:
    uint32_t row; // of CoverData.files
    StrId file;
    const CoverExclusions *marks;
    const uint32_t *functions; // with text in it, rows of CoverData.functions
    size_t function_count;
} Filler;

static StrId file_name(const Filler *x, const CoverFunction *f, uint32_t file_id)
{
    uint32_t row = x->d->function_files.at[f->files_first + file_id];
    return profile_str(x->into, intern_get(&x->d->files, row));
}

// ---- Branches ------------------------------------------------------------------------

static void fill_sites(Filler *x, CoverBranchLister *lister)
{
    BranchSites *to = &x->into->branch_sites;
    Arena *arena = &x->into->arena;
    cover_branches_list(x->d, &x->filling->index, x->row, lister);
    for (size_t i = 0; i < lister->at.len; i++) {
        const CoverBranch *branch = &lister->at.at[i];
        const CoverRegion *r = branch->region;
        uint32_t line = branch->line;
        if (cover_excludes_branch(x->marks, line))
            continue;
        vec_push(arena, &to->file, x->file);
        vec_push(arena, &to->listed_line, line);
        vec_push(arena, &to->line, r->line);
        vec_push(arena, &to->column, r->column);
        vec_push(arena, &to->true_count, branch->count);
        vec_push(arena, &to->false_count, branch->false_count);
        vec_push(arena, &to->is_folded, (uint8_t)branch->is_folded);
    }
}

// ---- Segments ------------------------------------------------------------------------

static void fill_segments(Filler *x)
{
    CoverSegments *to = &x->into->segments;
    Arena *arena = &x->into->arena;
    x->spans.len = 0;
    for (size_t i = 0; i < x->function_count; i++) {
        const CoverFunction *f = &x->d->functions.at[x->functions[i]];
        for (uint32_t id = 0; id < f->file_count; id++)
            if (x->d->function_files.at[f->files_first + id] == x->row)
                cover_add_spans(cover_regions_of(x->d, f, id), &x->spans);
    }
    cov_segments(&x->spans, &x->segments);
    for (size_t i = 0; i < x->segments.len; i++) {
        const CovSegment *s = &x->segments.at[i];
        int flags = (s->has_count ? SEGMENT_HAS_COUNT : 0) | (s->is_entry ? SEGMENT_IS_ENTRY : 0) |
                    (s->is_gap ? SEGMENT_IS_GAP : 0);
        vec_push(arena, &to->file, x->file);
        vec_push(arena, &to->line, s->line);
        vec_push(arena, &to->column, s->column);
        vec_push(arena, &to->count, s->count);
        vec_push(arena, &to->flags, (uint8_t)flags);
    }
}

// ---- Macros and instances --------------------------------------------------------------

// An excerpt on its way to its place.
typedef struct Excerpt {
    uint32_t line; // below which it is shown
    ExcerptKind kind;
    uint32_t function; // row of CoverData.functions
    uint32_t file_id;  // of the function: the text to show
} Excerpt;

typedef Vec(Excerpt) ExcerptVec;

static int compare_excerpts(const void *a, const void *b)
{
    const Excerpt *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->file_id > y->file_id) - (x->file_id < y->file_id);
}

static void add_expansions(const CoverData *d, uint32_t function, ExcerptVec *out)
{
    const CoverFunction *f = &d->functions.at[function];
    CoverRegionRange range = cover_regions_of(d, f, f->main_file);
    for (size_t i = 0; i < range.len; i++)
        if (range.at[i].kind == COV_EXPANSION)
            vec_push(NULL, out,
                     (Excerpt){range.at[i].line, EXCERPT_EXPANSION, function,
                               range.at[i].expanded_file});
}

// A function on its way to its group.
typedef struct Placed {
    uint64_t place;
    uint32_t function, end_line;
} Placed;

typedef Vec(Placed) PlacedVec;

static int compare_placed(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static void place_function(const CoverData *d, uint32_t function, PlacedVec *out)
{
    const CoverFunction *f = &d->functions.at[function];
    CoverRegionRange range = cover_regions_of(d, f, f->main_file);
    if (range.len)
        vec_push(NULL, out,
                 (Placed){(uint64_t)range.at[0].line << 32 | range.at[0].column, function,
                          range.at[0].end_line});
}

// A function that is alone at its place is no instance.
static void add_instances(const CoverData *d, PlacedVec *placed, ExcerptVec *out)
{
    if (placed->len)
        qsort(placed->at, placed->len, sizeof(placed->at[0]), compare_placed);
    for (size_t i = 0, end; i < placed->len; i = end) {
        for (end = i + 1; end < placed->len && placed->at[end].place == placed->at[i].place; end++)
            ;
        for (size_t k = i; k < end && end - i > 1; k++)
            vec_push(NULL, out,
                     (Excerpt){placed->at[i].end_line, EXCERPT_INSTANCE, placed->at[k].function,
                               d->functions.at[placed->at[k].function].main_file});
    }
}

static void fill_excerpt(Filler *x, const Excerpt *e)
{
    const CoverFunction *f = &x->d->functions.at[e->function];
    Excerpts *to = &x->into->excerpts;
    ExcerptLines *lines = &x->into->excerpt_lines;
    Arena *arena = &x->into->arena;
    uint32_t row = (uint32_t)to->line.len;
    vec_push(arena, &to->file, x->file);
    vec_push(arena, &to->line, e->line);
    vec_push(arena, &to->kind, (uint8_t)e->kind);
    vec_push(arena, &to->function, cover_filling_function(x->filling, e->function));
    vec_push(arena, &to->count, f->count);
    vec_push(arena, &to->text, file_name(x, f, e->file_id));
    x->spans.len = 0;
    cover_add_spans(cover_regions_of(x->d, f, e->file_id), &x->spans);
    cov_segments(&x->spans, &x->segments);
    cov_lines(&x->segments, &x->lines);
    for (size_t i = 0; i < x->lines.len; i++) {
        vec_push(arena, &lines->excerpt, row);
        vec_push(arena, &lines->line, x->lines.at[i].line);
        vec_push(arena, &lines->count, x->lines.at[i].count);
    }
}

static void fill_excerpts(Filler *x)
{
    PlacedVec placed = {0};
    ExcerptVec excerpts = {0};
    for (size_t i = 0; i < x->function_count; i++) {
        uint32_t function = x->functions[i];
        if (!cover_is_written_in(x->d, &x->d->functions.at[function], x->row))
            continue;
        if (x->wants & COVER_WANT_EXPANSIONS)
            add_expansions(x->d, function, &excerpts);
        if (x->wants & COVER_WANT_INSTANCES)
            place_function(x->d, function, &placed);
    }
    add_instances(x->d, &placed, &excerpts);
    if (excerpts.len)
        qsort(excerpts.at, excerpts.len, sizeof(excerpts.at[0]), compare_excerpts);
    for (size_t i = 0; i < excerpts.len; i++)
        fill_excerpt(x, &excerpts.at[i]);
    vec_free(&placed);
    vec_free(&excerpts);
}

// ---- Decisions -------------------------------------------------------------------------

// A decision on its way to its place.
typedef struct PlacedDecision {
    uint32_t end_line;
    uint32_t function; // row of CoverData.functions
    uint32_t decision; // row of CoverData.decisions
} PlacedDecision;

static int compare_decisions(const void *a, const void *b)
{
    const PlacedDecision *x = a, *y = b;
    if (x->end_line != y->end_line)
        return x->end_line < y->end_line ? -1 : 1;
    return (x->decision > y->decision) - (x->decision < y->decision);
}

// The states of the conditions as letters, in the order in which they are listed.
static StrId vectors_of(Filler *x, const CoverDecision *d)
{
    static const char shown[] = {'F', 'T', '-'};
    const CoverCondition *conditions = x->d->conditions.at + d->conditions_first;
    uint32_t n = d->condition_count;
    strbuf_clear(&x->text);
    for (uint32_t k = 0; k < d->vector_count; k++) {
        const uint8_t *states = x->d->vectors.at + d->vectors_first + (size_t)k * (n + 1);
        for (uint32_t i = 0; i < n; i++)
            strbuf_add_char(&x->text,
                            conditions[i].is_folded ? 'C' : shown[states[conditions[i].node]]);
        strbuf_add_char(&x->text, states[n] ? 'T' : 'F');
    }
    return profile_str(x->into, strbuf_str(&x->text));
}

static void fill_decision(Filler *x, const PlacedDecision *p)
{
    const CoverDecision *d = &x->d->decisions.at[p->decision];
    Decisions *to = &x->into->decisions;
    DecisionConditions *conditions = &x->into->decision_conditions;
    Arena *arena = &x->into->arena;
    uint32_t row = (uint32_t)to->line.len;
    vec_push(arena, &to->file, x->file);
    vec_push(arena, &to->line, d->line);
    vec_push(arena, &to->column, d->column);
    vec_push(arena, &to->end_line, d->end_line);
    vec_push(arena, &to->end_column, d->end_column);
    vec_push(arena, &to->function, cover_filling_function(x->filling, p->function));
    vec_push(arena, &to->flags,
             (uint8_t)(cover_excludes_branch(x->marks, d->line) ? DECISION_IS_EXCLUDED : 0));
    vec_push(arena, &to->vectors, vectors_of(x, d));
    for (uint32_t i = 0; i < d->condition_count; i++) {
        const CoverCondition *c = &x->d->conditions.at[d->conditions_first + i];
        int flags = (c->is_folded ? CONDITION_IS_FOLDED : 0) |
                    (c->file != d->file ? CONDITION_IS_ELSEWHERE : 0);
        vec_push(arena, &conditions->decision, row);
        vec_push(arena, &conditions->line, c->line);
        vec_push(arena, &conditions->column, c->column);
        vec_push(arena, &conditions->end_line, c->end_line);
        vec_push(arena, &conditions->end_column, c->end_column);
        vec_push(arena, &conditions->flags, (uint8_t)flags);
        vec_push(arena, &conditions->pair_first, c->pair[0]);
        vec_push(arena, &conditions->pair_second, c->pair[1]);
    }
}

// Those within macros belong to the file in which the macro is written.
static void fill_decisions(Filler *x)
{
    Vec(PlacedDecision) placed = {0};
    for (size_t i = 0; i < x->function_count; i++) {
        const CoverFunction *f = &x->d->functions.at[x->functions[i]];
        for (uint32_t k = 0; k < f->decision_count; k++) {
            uint32_t row = (uint32_t)f->decisions_first + k;
            const CoverDecision *d = &x->d->decisions.at[row];
            if (x->d->function_files.at[f->files_first + d->file] == x->row)
                vec_push(NULL, &placed, ((PlacedDecision){d->end_line, x->functions[i], row}));
        }
    }
    if (placed.len)
        qsort(placed.at, placed.len, sizeof(placed.at[0]), compare_decisions);
    for (size_t i = 0; i < placed.len; i++)
        fill_decision(x, &placed.at[i]);
    vec_free(&placed);
}

// ---- Files -----------------------------------------------------------------------------

void cover_listing_fill(CoverFilling *filling, unsigned wants)
{
    const CoverData *d = filling->d;
    const CoverFileIndex *index = &filling->index;
    Filler x = {.filling = filling, .d = d, .wants = wants, .into = filling->into};
    CoverBranchLister lister = {0};
    for (size_t i = 0; i < index->order.len; i++) {
        Str path = intern_get(&d->files, index->order.at[i]);
        x.row = index->order.at[i];
        x.file = profile_str(x.into, path);
        x.marks = cover_exclusions_of(filling->how, path);
        x.functions = index->functions.at + index->starts.at[x.row];
        x.function_count = index->starts.at[x.row + 1] - index->starts.at[x.row];
        if (wants & COVER_WANT_BRANCH_SITES)
            fill_sites(&x, &lister);
        if (wants & COVER_WANT_SEGMENTS)
            fill_segments(&x);
        if (wants & (COVER_WANT_EXPANSIONS | COVER_WANT_INSTANCES))
            fill_excerpts(&x);
        if (wants & COVER_WANT_DECISIONS)
            fill_decisions(&x);
    }
    cover_branch_lister_free(&lister);
    vec_free(&x.spans);
    vec_free(&x.segments);
    vec_free(&x.lines);
    strbuf_deinit(&x.text);
}
