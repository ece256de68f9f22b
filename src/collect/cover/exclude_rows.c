// SPDX-License-Identifier: Apache-2.0
// Takes rows out of a profile that marks in the sources exclude.

#include "collect/cover/summary_internal.h"
#include "model/schema.h"

// rustc's first region is the head of the function only: from the first start to the
// last end.
static CoverFunctionPlace place_of(CoverRegionRange regions)
{
    const CoverRegion *r = regions.at;
    CoverFunctionPlace p = {r->line, r->column, r->end_line, r->end_column};
    for (size_t i = 1; i < regions.len; i++) {
        r = &regions.at[i];
        if (r->line < p.line || (r->line == p.line && r->column < p.column)) {
            p.line = r->line;
            p.column = r->column;
        }
        if (r->end_line > p.end_line ||
            (r->end_line == p.end_line && r->end_column > p.end_column)) {
            p.end_line = r->end_line;
            p.end_column = r->end_column;
        }
    }
    return p;
}

void cover_data_place_functions(const CoverData *d, const CoverProject *how)
{
    CoverFileIndex x = {0};
    if (!how->exclusions)
        return;
    cover_index_files(d, how, &x);
    for (size_t i = 0; i < x.order.len; i++) {
        uint32_t row = x.order.at[i];
        CoverExclusions *e = how->exclusions(how->exclusions_ctx, intern_get(&d->files, row));
        for (uint32_t k = x.starts.at[row]; k < x.starts.at[row + 1] && e; k++) {
            const CoverFunction *f = &d->functions.at[x.functions.at[k]];
            if (e->function_marks.len == 0 || !cover_is_written_in(d, f, row))
                continue;
            CoverRegionRange regions = cover_regions_of(d, f, f->main_file);
            if (regions.len)
                cover_exclusions_add_function(e, place_of(regions));
        }
    }
    cover_index_free(&x);
}

typedef struct Excluding {
    Profile *p;
    const CoverProject *how;
    // By StrId: asked once for each file.
    Vec(const CoverExclusions *) found;
    U8Vec asked;
    U32Vec kept; // rows of the present table
} Excluding;

static const CoverExclusions *exclusions_of(Excluding *x, StrId file)
{
    if (!x->asked.at[file.v]) {
        x->asked.at[file.v] = 1;
        x->found.at[file.v] = cover_exclusions_of(x->how, profile_text(x->p, file));
    }
    return x->found.at[file.v];
}

typedef bool IsExcluded(const CoverExclusions *e, uint32_t line);

// Drops the excluded rows of one table; returns how many they were.
static uint64_t exclude(Excluding *x, TableId table, const StrIdVec *files, const U32Vec *lines,
                        IsExcluded *is_excluded)
{
    size_t before = lines->len;
    x->kept.len = 0;
    for (uint32_t i = 0; i < before; i++)
        if (!is_excluded(exclusions_of(x, files->at[i]), lines->at[i]))
            vec_push(NULL, &x->kept, i);
    profile_keep_rows(x->p, table, &x->kept);
    return before - x->kept.len;
}

static void exclude_functions(Excluding *x)
{
    const FunctionCounts *t = &x->p->function_counts;
    const Functions *f = &x->p->functions;
    x->kept.len = 0;
    for (uint32_t i = 0; i < t->function.len; i++) {
        uint32_t row = t->function.at[i].v;
        if (!cover_excludes_line(exclusions_of(x, f->file.at[row]), f->line.at[row]))
            vec_push(NULL, &x->kept, i);
    }
    profile_keep_rows(x->p, TABLE_FUNCTION_COUNTS, &x->kept);
}

uint64_t cover_profile_exclude(Profile *p, const CoverProject *how)
{
    if (!how->exclusions)
        return 0;
    Excluding x = {.p = p, .how = how};
    vec_extend(NULL, &x.found, p->strings.texts.len);
    vec_extend(NULL, &x.asked, p->strings.texts.len);
    const LineCounts *l = &p->line_counts;
    const BranchCounts *b = &p->branch_counts;
    const ConditionCounts *c = &p->condition_counts;
    const RegionCounts *r = &p->region_counts;
    uint64_t lines = exclude(&x, TABLE_LINE_COUNTS, &l->file, &l->line, cover_excludes_line);
    exclude_functions(&x);
    exclude(&x, TABLE_BRANCH_COUNTS, &b->file, &b->line, cover_excludes_branch);
    exclude(&x, TABLE_CONDITION_COUNTS, &c->file, &c->line, cover_excludes_branch);
    exclude(&x, TABLE_REGION_COUNTS, &r->file, &r->line, cover_excludes_line);
    vec_free(&x.found);
    vec_free(&x.asked);
    vec_free(&x.kept);
    return lines;
}
