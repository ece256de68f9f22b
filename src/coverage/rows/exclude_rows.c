// SPDX-License-Identifier: Apache-2.0
// Removes the rows that marks in the sources exclude.

#include "coverage/rows/exclude_rows.h"

#include <stdlib.h>

#include "model/schema.h"

// ---- Marks that depend on counts -------------------------------------------------

typedef struct Settling {
    Arena *arena;
    const Profile *p;
    const CoverProject *how;
    CoverMarkFaultVec *faults;
} Settling;

// NULL: the file has no such marks.
static CoverExclusions *counted_marks(const Settling *s, StrId file)
{
    CoverExclusions *e = s->how->exclusions(s->how->exclusions_ctx, profile_text(s->p, file));
    return cover_exclusions_need_counts(e) ? e : NULL;
}

// The first row at or behind `i` that is of another file.
static size_t file_end(const StrIdVec *files, size_t i)
{
    size_t end = i;
    while (end < files->len && files->at[end].v == files->at[i].v)
        end++;
    return end;
}

static void settle_lines(const Settling *s)
{
    const LineCounts *l = &s->p->line_counts;
    for (size_t i = 0, end; i < l->file.len; i = end) {
        end = file_end(&l->file, i);
        CoverExclusions *e = counted_marks(s, l->file.at[i]);
        for (size_t k = i; e && k < end; k++) {
            if (!cover_exclusions_is_unreachable(e, l->line.at[k]))
                continue;
            if (l->count.at[k] == 0)
                cover_exclusions_add_line(e, l->line.at[k], false);
            else
                vec_push(s->arena, s->faults,
                         (CoverMarkFault){.path = profile_text(s->p, l->file.at[k]),
                                          .line = l->line.at[k],
                                          .is_reached = true});
        }
    }
}

static void add_miss_fault(const Settling *s, StrId file, const CoverMissMark *mark,
                           uint32_t missed, uint32_t all)
{
    vec_push(s->arena, s->faults,
             (CoverMarkFault){profile_text(s->p, file), mark->line, false, mark->missed, mark->all,
                              missed, all});
}

// The branches of the line of row `i` against its mark; gives the first row behind them.
// The file's rows end at `end`.
static size_t settle_branches_of(const Settling *s, CoverExclusions *e, size_t i, size_t end)
{
    const BranchCounts *b = &s->p->branch_counts;
    StrId file = b->file.at[i];
    CoverMissMark *mark = cover_exclusions_miss_mark(e, b->line.at[i]);
    uint32_t line = b->line.at[i], missed = 0, all = 0;
    for (; i < end && b->line.at[i] == line; i++) {
        missed += b->count.at[i] == 0;
        all++;
    }
    if (!mark || mark->is_met)
        return i;
    mark->is_met = true;
    if (missed == mark->missed && all == mark->all)
        cover_exclusions_add_line(e, line, true);
    else
        add_miss_fault(s, file, mark, missed, all);
    return i;
}

static void settle_branches(const Settling *s)
{
    const StrIdVec *files = &s->p->branch_counts.file;
    for (size_t i = 0, end; i < files->len; i = end) {
        end = file_end(files, i);
        CoverExclusions *e = counted_marks(s, files->at[i]);
        for (size_t first = i; e && first < end;)
            first = settle_branches_of(s, e, first, end);
    }
}

// Every file with such marks has lines.
static void settle_rest(const Settling *s)
{
    const LineCounts *l = &s->p->line_counts;
    for (size_t i = 0; i < l->file.len; i = file_end(&l->file, i)) {
        CoverExclusions *e = counted_marks(s, l->file.at[i]);
        for (size_t k = 0; e && k < e->miss_marks.len; k++)
            if (!e->miss_marks.at[k].is_met)
                add_miss_fault(s, l->file.at[i], &e->miss_marks.at[k], 0, 0);
        if (e)
            cover_exclusions_counted(e);
    }
}

static int compare_faults(const void *a, const void *b)
{
    const CoverMarkFault *x = a, *y = b;
    int order = str_compare(x->path, y->path);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

void cover_profile_settle_marks(Arena *arena, const Profile *p, const CoverProject *how,
                                CoverMarkFaultVec *ret)
{
    Settling s = {arena, p, how, ret};
    if (!how->exclusions)
        return;
    settle_lines(&s);
    settle_branches(&s);
    settle_rest(&s);
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(ret->at[0]), compare_faults);
}

// ---- Taking rows out ---------------------------------------------------------------

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

// Whether any of the files, which stand in runs of rows, has marks.
static bool has_exclusions(Excluding *x, const StrIdVec *files)
{
    for (size_t i = 0; i < files->len; i++)
        if ((i == 0 || files->at[i].v != files->at[i - 1].v) && exclusions_of(x, files->at[i]))
            return true;
    return false;
}

typedef bool IsExcluded(const CoverExclusions *e, uint32_t line);

// Drops the excluded rows of one table; returns how many they were.
static uint64_t exclude(Excluding *x, TableId table, const StrIdVec *files, const U32Vec *lines,
                        IsExcluded *is_excluded)
{
    size_t before = lines->len;
    if (!has_exclusions(x, files))
        return 0;
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
