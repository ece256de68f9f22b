// SPDX-License-Identifier: Apache-2.0
// Decisions of a file out of its functions; instances that show the same become one.

#include "cli/cover/cover_decisions.h"

#include <stdlib.h>

#include "coverage/llvm/details.h"

// A decision on its way to those at its place.
typedef struct Placed {
    const CoverDecision *decision;
    uint32_t function; // row of CoverData.functions
} Placed;

static uint64_t start_of(const CoverDecision *d)
{
    return (uint64_t)d->line << 32 | d->column;
}

static uint64_t end_of(const CoverDecision *d)
{
    return (uint64_t)d->end_line << 32 | d->end_column;
}

static int compare_places(const CoverDecision *x, const CoverDecision *y)
{
    uint64_t p = start_of(x), q = start_of(y);
    if (p == q) {
        p = end_of(x);
        q = end_of(y);
    }
    return (p > q) - (p < q);
}

static int compare_placed(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    int order = compare_places(x->decision, y->decision);
    if (order)
        return order;
    return x->decision < y->decision ? -1 : x->decision > y->decision;
}

static const CoverShownCondition *conditions_of(CoverResult *r, const CoverDecision *d)
{
    CoverShownCondition *ret = arena_array(&r->arena, CoverShownCondition, d->condition_count);
    for (uint32_t i = 0; i < d->condition_count; i++) {
        const CoverCondition *c = &r->data.conditions.at[d->conditions_first + i];
        ret[i] = (CoverShownCondition){.line = c->line,
                                       .column = c->column,
                                       .end_line = c->end_line,
                                       .end_column = c->end_column,
                                       .is_elsewhere = c->file != d->file,
                                       .is_folded = c->is_folded,
                                       .pair = {c->pair[0], c->pair[1]}};
    }
    return ret;
}

// The states of a decision's conditions as letters, in the order in which they are listed.
static void add_vectors(const CoverData *data, const CoverDecision *d, StrBuf *out)
{
    static const char shown[] = {'F', 'T', '-'};
    uint32_t n = d->condition_count;
    for (uint32_t k = 0; k < d->vector_count; k++) {
        const uint8_t *states = data->vectors.at + d->vectors_first + (size_t)k * (n + 1);
        for (uint32_t i = 0; i < n; i++) {
            const CoverCondition *c = &data->conditions.at[d->conditions_first + i];
            strbuf_add_char(out, c->is_folded ? 'C' : shown[states[c->node]]);
        }
        strbuf_add_char(out, states[n] ? 'T' : 'F');
    }
}

static Str name_of(CoverResult *r, uint32_t function)
{
    Str linkage = r->data.functions.at[function].name;
    StrBuf name = {0};
    if (r->project.demangle)
        r->project.demangle(r->project.demangle_ctx, linkage, &name);
    Str ret = name.len ? arena_str(&r->arena, strbuf_str(&name)) : linkage;
    strbuf_deinit(&name);
    return ret;
}

// The decisions of one place. Pairs follow from the vectors, so that those tell whether two
// instances show the same.
static void add_place(CoverResult *r, const Placed *placed, size_t count,
                      CoverShownDecisionVec *ret)
{
    Intern kinds;
    StrBuf vectors = {0};
    size_t first = ret->len;
    intern_init(&kinds, &r->arena);
    for (size_t i = 0; i < count; i++) {
        const CoverDecision *d = placed[i].decision;
        strbuf_clear(&vectors);
        add_vectors(&r->data, d, &vectors);
        uint32_t kind = intern_add(&kinds, strbuf_str(&vectors));
        if (first + kind < ret->len) {
            ret->at[first + kind].more++;
            continue;
        }
        vec_push(NULL, ret,
                 ((CoverShownDecision){.line = d->line,
                                       .column = d->column,
                                       .end_line = d->end_line,
                                       .end_column = d->end_column,
                                       .conditions = conditions_of(r, d),
                                       .condition_count = d->condition_count,
                                       .vectors = intern_get(&kinds, kind),
                                       .function =
                                           count > 1 ? name_of(r, placed[i].function) : STR("")}));
    }
    strbuf_deinit(&vectors);
    intern_deinit(&kinds);
}

void cover_find_decisions(void *ctx, Str path, CoverShownDecisionVec *ret)
{
    CoverDecisionFinder *f = ctx;
    CoverResult *r = f->r;
    const CoverProject *how = &r->project;
    CoverDetailVec details = {0};
    Vec(Placed) placed = {0};
    if (r->data.decisions.len == 0)
        return;
    if (f->index.starts.len == 0)
        cover_index_files(&r->data, how, &f->index);
    const CoverExclusions *e = how->exclusions ? how->exclusions(how->exclusions_ctx, path) : NULL;
    cover_details_find(&r->data, &f->index, path, 1u << COVER_DETAIL_DECISION, &details);
    for (size_t i = 0; i < details.len; i++) {
        const CoverDecision *d = &r->data.decisions.at[details.at[i].which];
        if (!cover_excludes_branch(e, d->line))
            vec_push(NULL, &placed, ((Placed){d, details.at[i].function}));
    }
    if (placed.len)
        qsort(placed.at, placed.len, sizeof(placed.at[0]), compare_placed);
    for (size_t i = 0, end; i < placed.len; i = end) {
        for (end = i + 1; end < placed.len &&
                          compare_places(placed.at[i].decision, placed.at[end].decision) == 0;
             end++)
            ;
        add_place(r, placed.at + i, end - i, ret);
    }
    vec_free(&placed);
    vec_free(&details);
}

void cover_decision_finder_deinit(CoverDecisionFinder *f)
{
    cover_index_free(&f->index);
}
