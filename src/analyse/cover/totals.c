// SPDX-License-Identifier: Apache-2.0
// Totals that a profile states, or sums of its rows.

#include "analyse/cover/totals.h"

#include <stdlib.h>

#include "model/facts.h"
#include "model/instances.h"

static void count(CoverTally *t, uint64_t executions)
{
    t->count++;
    t->covered += executions > 0;
}

bool cover_is_of_llvm_alone(const Profile *p)
{
    return str_equal(profile_fact(p, STR(FACT_COVER_ORIGINS)), STR("llvm"));
}

// ---- Stated totals -----------------------------------------------------------------

// Whether row `i` goes on with the file or function of the row before.
static bool is_same_subject(const CoverTotalRows *t, size_t i)
{
    return i && t->file.at[i].v == t->file.at[i - 1].v &&
           t->function.at[i].v == t->function.at[i - 1].v &&
           t->criterion.at[i] > t->criterion.at[i - 1];
}

// Gives the criteria that are stated, a bit each.
static unsigned add_stated(Arena *arena, const Profile *p, bool functions, CoverSubjectVec *ret)
{
    const CoverTotalRows *t = &p->cover_totals;
    unsigned criteria = 0;
    for (size_t i = 0; i < t->file.len; i++) {
        uint8_t criterion = t->criterion.at[i];
        if ((t->function.at[i].v != 0) != functions)
            continue;
        if (!is_same_subject(t, i))
            vec_push(arena, ret,
                     ((CoverSubject){.path = profile_text(p, t->file.at[i]),
                                     .function = t->function.at[i]}));
        if (criterion >= COVER_CRITERION_COUNT)
            continue;
        vec_last(ret).totals.of[criterion] = (CoverTally){t->covered.at[i], t->count.at[i]};
        criteria |= 1u << criterion;
    }
    return criteria;
}

// ---- Sums of rows ------------------------------------------------------------------

typedef struct Summing {
    Arena *arena;
    const Profile *p;
    CoverSubjectVec *files;
    U32Vec rows; // StrId -> row of `files`, + 1
} Summing;

static inline CoverTotals *totals_of(Summing *s, StrId file)
{
    if (UNLIKELY(s->rows.at[file.v] == 0)) {
        vec_push(s->arena, s->files, ((CoverSubject){.path = profile_text(s->p, file)}));
        s->rows.at[file.v] = (uint32_t)s->files->len;
    }
    return &s->files->at[s->rows.at[file.v] - 1].totals;
}

static int compare_paths(const void *a, const void *b)
{
    return str_compare(((const CoverSubject *)a)->path, ((const CoverSubject *)b)->path);
}

static void sum_functions_of(Summing *s)
{
    const Profile *p = s->p;
    const FunctionCounts *f = &p->function_counts;
    U32Vec instances = {0};
    U8Vec ran = {0};
    profile_function_instances(p, &instances);
    vec_extend(NULL, &ran, instances.len);
    for (size_t i = 0; i < instances.len; i++)
        ran.at[instances.at[i]] |= f->count.at[i] > 0;
    for (size_t i = 0; i < instances.len; i++) {
        CoverTotals *t = totals_of(s, p->functions.file.at[f->function.at[i].v]);
        count(&t->of[COVER_INSTANTIATIONS], f->count.at[i]);
        if (instances.at[i] == i)
            count(&t->of[COVER_FUNCTIONS], ran.at[i]);
    }
    vec_free(&instances);
    vec_free(&ran);
}

// A condition is covered when both of its rows are.
static void sum_conditions(Summing *s)
{
    const ConditionCounts *c = &s->p->condition_counts;
    for (size_t i = 0; i + 1 < c->count.len; i++) {
        bool is_pair = c->file.at[i].v == c->file.at[i + 1].v &&
                       c->line.at[i] == c->line.at[i + 1] && c->group.at[i] == c->group.at[i + 1] &&
                       c->index.at[i] == c->index.at[i + 1] && c->sense.at[i] != c->sense.at[i + 1];
        if (!is_pair)
            continue;
        count(&totals_of(s, c->file.at[i])->of[COVER_CONDITIONS],
              MIN(c->count.at[i], c->count.at[i + 1]));
        i++;
    }
}

static void sum_rows(Arena *arena, const Profile *p, CoverSubjectVec *ret)
{
    Summing s = {.arena = arena, .p = p, .files = ret};
    const LineCounts *l = &p->line_counts;
    const BranchCounts *b = &p->branch_counts;
    const RegionCounts *r = &p->region_counts;
    vec_extend(NULL, &s.rows, p->strings.texts.len);
    for (size_t i = 0; i < l->line.len; i++)
        count(&totals_of(&s, l->file.at[i])->of[COVER_LINES], l->count.at[i]);
    for (size_t i = 0; i < b->line.len; i++)
        count(&totals_of(&s, b->file.at[i])->of[COVER_BRANCHES], b->count.at[i]);
    sum_functions_of(&s);
    for (size_t i = 0; i < r->count.len; i++)
        if (r->kind.at[i] == REGION_CODE)
            count(&totals_of(&s, r->file.at[i])->of[COVER_REGIONS], r->count.at[i]);
    sum_conditions(&s);
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(ret->at[0]), compare_paths);
    vec_free(&s.rows);
}

// What is not stated of the files, which are by path in both, by their rows.
static void join_sums(Arena *arena, const CoverSubjectVec *stated, unsigned criteria,
                      const CoverSubjectVec *sums, CoverSubjectVec *ret)
{
    size_t i = 0, k = 0;
    while (i < stated->len || k < sums->len) {
        int order = i == stated->len ? 1
                    : k == sums->len ? -1
                                     : str_compare(stated->at[i].path, sums->at[k].path);
        CoverSubject s = order <= 0 ? stated->at[i++] : sums->at[k];
        k += order >= 0;
        for (int c = 0; c < COVER_CRITERION_COUNT && order == 0; c++)
            if (!(criteria & 1u << c))
                s.totals.of[c] = sums->at[k - 1].totals.of[c];
        vec_push(arena, ret, s);
    }
}

void cover_totals_by_file(Arena *arena, const Profile *p, CoverSubjectVec *ret)
{
    CoverSubjectVec stated = {0}, sums = {0};
    unsigned criteria = add_stated(arena, p, false, &stated);
    if (criteria != (1u << COVER_CRITERION_COUNT) - 1)
        sum_rows(arena, p, &sums);
    join_sums(arena, &stated, criteria, &sums, ret);
}

// Both lists are by path.
CoverTotals *cover_totals_beside(Arena *arena, const Profile *p, const CoverFiles *files)
{
    CoverSubjectVec all = {0};
    cover_totals_by_file(arena, p, &all);
    CoverTotals *totals = arena_array(arena, CoverTotals, files->files.len);
    for (size_t i = 0, k = 0; i < files->files.len; i++) {
        Str path = profile_text(p, files->files.at[i].file);
        while (k < all.len && str_compare(all.at[k].path, path) < 0)
            k++;
        if (k < all.len && str_equal(all.at[k].path, path))
            totals[i] = all.at[k].totals;
    }
    return totals;
}

static void sum_functions(Arena *arena, const Profile *p, CoverSubjectVec *ret)
{
    CoverFiles files = {0};
    cover_files_group(arena, p, &files);
    for (size_t i = 0; i < files.files.len; i++) {
        const CoverFileRows *f = &files.files.at[i];
        U32Vec starts = {0};
        cover_function_starts(p, &files, f, &starts);
        for (uint32_t k = f->functions.first; k < f->functions.end; k++) {
            uint32_t row = files.functions.at[k];
            FunctionId id = p->function_counts.function.at[row];
            uint32_t line = p->functions.line.at[id.v];
            CoverTally one = {p->function_counts.count.at[row] > 0, 1};
            CoverSubject s = {
                .path = profile_text(p, f->file),
                .function = id,
                .totals = cover_range_totals(p, &files, f, line, cover_next_start(&starts, line))};
            s.totals.of[COVER_FUNCTIONS] = s.totals.of[COVER_INSTANTIATIONS] = one;
            vec_push(arena, ret, s);
        }
        vec_free(&starts);
    }
}

void cover_totals_by_function(Arena *arena, const Profile *p, CoverSubjectVec *ret)
{
    (void)add_stated(arena, p, true, ret);
    if (ret->len == 0)
        sum_functions(arena, p, ret);
}

// ---- Parts of a file ---------------------------------------------------------------

CoverTotals cover_row_totals(const Profile *p, const CoverFiles *c, const CoverFileRows *f)
{
    CoverTotals t = {0};
    for (uint32_t i = f->lines.first; i < f->lines.end; i++)
        count(&t.of[COVER_LINES], p->line_counts.count.at[c->lines.at[i]]);
    for (uint32_t i = f->places.first; i < f->places.end; i++)
        count(&t.of[COVER_FUNCTIONS], c->entries.at[i]);
    for (uint32_t i = f->branches.first; i < f->branches.end; i++)
        count(&t.of[COVER_BRANCHES], p->branch_counts.count.at[c->branches.at[i]]);
    for (uint32_t i = f->conditions.first; i < f->conditions.end; i++)
        count(&t.of[COVER_CONDITIONS], p->condition_counts.count.at[c->conditions.at[i]]);
    return t;
}

// The first of the file's rows whose line is at or behind `line`.
static uint32_t first_at(const U32Vec *lines, const U32Vec *order, CoverRows rows, uint32_t line)
{
    size_t skipped =
        PARTITION_POINT(i, rows.end - rows.first, lines->at[order->at[rows.first + i]] < line);
    return rows.first + (uint32_t)skipped;
}

CoverTotals cover_range_totals(const Profile *p, const CoverFiles *c, const CoverFileRows *f,
                               uint32_t from, uint32_t to)
{
    const U32Vec *lines = &p->line_counts.line, *branches = &p->branch_counts.line;
    CoverTotals t = {0};
    for (uint32_t i = first_at(lines, &c->lines, f->lines, from);
         i < f->lines.end && lines->at[c->lines.at[i]] < to; i++)
        count(&t.of[COVER_LINES], p->line_counts.count.at[c->lines.at[i]]);

    for (uint32_t i = first_at(branches, &c->branches, f->branches, from);
         i < f->branches.end && branches->at[c->branches.at[i]] < to; i++)
        count(&t.of[COVER_BRANCHES], p->branch_counts.count.at[c->branches.at[i]]);

    return t;
}
