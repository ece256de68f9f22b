// SPDX-License-Identifier: Apache-2.0
// Takes rows out of a profile that marks in the sources exclude.

#include "collect/cover/summary_internal.h"

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
            if (!cover_is_written_in(d, f, row))
                continue;
            CoverRegionRange regions = cover_regions_of(d, f, f->main_file);
            if (regions.len)
                cover_exclusions_add_function(
                    e, (CoverFunctionPlace){regions.at->line, regions.at->column,
                                            regions.at->end_line, regions.at->end_column});
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

static void keep_rows(void *column, size_t size, size_t *len, const U32Vec *kept)
{
    uint8_t *at = column;
    for (size_t i = 0; i < kept->len; i++)
        if (kept->at[i] != i)
            memcpy(at + i * size, at + kept->at[i] * size, size);
    *len = kept->len;
}

#define KEEP_ROWS(x, column)                                                                       \
    keep_rows((column).at, sizeof((column).at[0]), &(column).len, &(x)->kept)

typedef bool IsExcluded(const CoverExclusions *e, uint32_t line);

// Finds the rows of one table that stay.
static uint64_t find_kept(Excluding *x, const StrIdVec *files, const U32Vec *lines,
                          IsExcluded *is_excluded)
{
    x->kept.len = 0;
    for (uint32_t i = 0; i < lines->len; i++)
        if (!is_excluded(exclusions_of(x, files->at[i]), lines->at[i]))
            vec_push(NULL, &x->kept, i);
    return lines->len - x->kept.len;
}

static void exclude_functions(Excluding *x)
{
    FunctionCounts *t = &x->p->function_counts;
    const Functions *f = &x->p->functions;
    x->kept.len = 0;
    for (uint32_t i = 0; i < t->function.len; i++) {
        uint32_t row = t->function.at[i].v;
        if (!cover_excludes_line(exclusions_of(x, f->file.at[row]), f->line.at[row]))
            vec_push(NULL, &x->kept, i);
    }
    KEEP_ROWS(x, t->function);
    KEEP_ROWS(x, t->count);
    KEEP_ROWS(x, t->hash);
}

static void exclude_branches(Excluding *x)
{
    BranchCounts *t = &x->p->branch_counts;
    find_kept(x, &t->file, &t->line, cover_excludes_branch);
    KEEP_ROWS(x, t->file);
    KEEP_ROWS(x, t->line);
    KEEP_ROWS(x, t->column);
    KEEP_ROWS(x, t->block);
    KEEP_ROWS(x, t->branch);
    KEEP_ROWS(x, t->count);
    ConditionCounts *c = &x->p->condition_counts;
    find_kept(x, &c->file, &c->line, cover_excludes_branch);
    KEEP_ROWS(x, c->file);
    KEEP_ROWS(x, c->line);
    KEEP_ROWS(x, c->group);
    KEEP_ROWS(x, c->index);
    KEEP_ROWS(x, c->sense);
    KEEP_ROWS(x, c->expression);
    KEEP_ROWS(x, c->count);
}

static void exclude_regions(Excluding *x)
{
    RegionCounts *t = &x->p->region_counts;
    find_kept(x, &t->file, &t->line, cover_excludes_line);
    KEEP_ROWS(x, t->function);
    KEEP_ROWS(x, t->file);
    KEEP_ROWS(x, t->line);
    KEEP_ROWS(x, t->column);
    KEEP_ROWS(x, t->end_line);
    KEEP_ROWS(x, t->end_column);
    KEEP_ROWS(x, t->kind);
    KEEP_ROWS(x, t->count);
}

uint64_t cover_profile_exclude(Profile *p, const CoverProject *how)
{
    if (!how->exclusions)
        return 0;
    Excluding x = {.p = p, .how = how};
    vec_extend(NULL, &x.found, p->strings.texts.len);
    vec_extend(NULL, &x.asked, p->strings.texts.len);
    LineCounts *t = &p->line_counts;
    uint64_t lines = find_kept(&x, &t->file, &t->line, cover_excludes_line);
    KEEP_ROWS(&x, t->file);
    KEEP_ROWS(&x, t->line);
    KEEP_ROWS(&x, t->count);
    exclude_functions(&x);
    exclude_branches(&x);
    exclude_regions(&x);
    vec_free(&x.found);
    vec_free(&x.asked);
    vec_free(&x.kept);
    return lines;
}
