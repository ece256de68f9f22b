// SPDX-License-Identifier: Apache-2.0
// Sorted lists of counts, and their sums.

#include "tracefile/cover_set.h"

#include <stdlib.h>

void cover_set_init(CoverSet *s, Arena *arena)
{
    *s = (CoverSet){.arena = arena};
    intern_init(&s->texts, arena);
}

void cover_set_deinit(CoverSet *s)
{
    intern_deinit(&s->texts);
    table_deinit(&s->index);
}

CoverSetFile *cover_set_file(CoverSet *s, Str path)
{
    if (s->map_path)
        path = s->map_path(s->map_ctx, path);
    uint64_t hash = str_hash(path);
    uint32_t row;
    for (TableProbe p = table_probe(&s->index, hash); table_next(&s->index, &p, &row);)
        if (str_equal(s->files.at[row].path, path))
            return &s->files.at[row];
    table_insert(&s->index, hash, (uint32_t)s->files.len);
    vec_push(s->arena, &s->files, (CoverSetFile){.path = cover_set_text(s, path)});
    return &vec_last(&s->files);
}

// ---- Keys --------------------------------------------------------------------

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_lines(const CoverSetLine *a, const CoverSetLine *b)
{
    return order(a->line, b->line);
}

static int compare_branches(const CoverSetBranch *a, const CoverSetBranch *b)
{
    int by = order(a->line, b->line);
    by = by ? by : order(a->block, b->block);
    by = by ? by : order(a->branch, b->branch);
    by = by ? by : str_compare(a->expression, b->expression);
    return by ? by : order(a->is_exception, b->is_exception);
}

static int compare_functions(const CoverSetFunction *a, const CoverSetFunction *b)
{
    int by = order(a->line, b->line);
    return by ? by : str_compare(a->name, b->name);
}

static int compare_conditions(const CoverSetCondition *a, const CoverSetCondition *b)
{
    int by = order(a->line, b->line);
    by = by ? by : order(a->group, b->group);
    by = by ? by : order(a->index, b->index);
    // True before false, as lcov writes them.
    by = by ? by : order(b->sense, a->sense);
    return by ? by : str_compare(a->expression, b->expression);
}

// ---- Sums ---------------------------------------------------------------------

static uint64_t add_counts(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void join_lines(CoverSetLine *into, const CoverSetLine *from)
{
    into->count = add_counts(into->count, from->count);
}

static void join_branches(CoverSetBranch *into, const CoverSetBranch *from)
{
    into->count = add_counts(into->count, from->count);
    into->is_reached |= from->is_reached;
}

static void join_functions(CoverSetFunction *into, const CoverSetFunction *from)
{
    into->count = add_counts(into->count, from->count);
    into->end_line = MAX(into->end_line, from->end_line);
}

static void join_conditions(CoverSetCondition *into, const CoverSetCondition *from)
{
    into->count = add_counts(into->count, from->count);
}

// The same functions for each kind of row: sort and sum one list, merge two, and
// keep of one what another has or has not. Files mostly come sorted, and two runs'
// files mostly have equal keys.
#define LIST_FUNCTIONS(Row, compare, join, normalise, merge, restrict_to)                          \
    static int compare##_void(const void *a, const void *b)                                        \
    {                                                                                              \
        return compare(a, b);                                                                      \
    }                                                                                              \
    static size_t normalise(Row *rows, size_t len)                                                 \
    {                                                                                              \
        bool sorted = true, distinct = true;                                                       \
        for (size_t i = 1; i < len && sorted; i++) {                                               \
            int by = compare(&rows[i - 1], &rows[i]);                                              \
            sorted = by <= 0;                                                                      \
            distinct &= by != 0;                                                                   \
        }                                                                                          \
        if (sorted && distinct)                                                                    \
            return len;                                                                            \
        if (!sorted)                                                                               \
            qsort(rows, len, sizeof(*rows), compare##_void);                                       \
        size_t kept = 0;                                                                           \
        for (size_t i = 0; i < len; i++) {                                                         \
            if (kept && compare(&rows[kept - 1], &rows[i]) == 0)                                   \
                join(&rows[kept - 1], &rows[i]);                                                   \
            else                                                                                   \
                rows[kept++] = rows[i];                                                            \
        }                                                                                          \
        return kept;                                                                               \
    }                                                                                              \
    static Row *merge(Arena *arena, Row *a, size_t a_len, const Row *b, size_t b_len, size_t *len) \
    {                                                                                              \
        size_t same = 0;                                                                           \
        while (same < a_len && same < b_len && compare(&a[same], &b[same]) == 0) {                 \
            join(&a[same], &b[same]);                                                              \
            same++;                                                                                \
        }                                                                                          \
        *len = a_len;                                                                              \
        if (same == b_len)                                                                         \
            return a;                                                                              \
        Row *to = arena_array(arena, Row, a_len + b_len);                                          \
        size_t i = same, k = same, n = same;                                                       \
        if (same)                                                                                  \
            memcpy(to, a, same * sizeof(*to));                                                     \
        while (i < a_len || k < b_len) {                                                           \
            int by = i == a_len ? 1 : k == b_len ? -1 : compare(&a[i], &b[k]);                     \
            to[n] = by <= 0 ? a[i++] : b[k++];                                                     \
            if (by == 0)                                                                           \
                join(&to[n], &b[k++]);                                                             \
            n++;                                                                                   \
        }                                                                                          \
        *len = n;                                                                                  \
        return to;                                                                                 \
    }                                                                                              \
    static size_t restrict_to(Row *a, size_t a_len, const Row *b, size_t b_len,                    \
                              CoverSetOperation op)                                                \
    {                                                                                              \
        size_t kept = 0;                                                                           \
        for (size_t i = 0, k = 0; i < a_len; i++) {                                                \
            while (k < b_len && compare(&b[k], &a[i]) < 0)                                         \
                k++;                                                                               \
            bool in_both = k < b_len && compare(&b[k], &a[i]) == 0;                                \
            if (in_both != (op == COVER_SET_INTERSECT))                                            \
                continue;                                                                          \
            a[kept] = a[i];                                                                        \
            if (in_both)                                                                           \
                join(&a[kept], &b[k]);                                                             \
            kept++;                                                                                \
        }                                                                                          \
        return kept;                                                                               \
    }

LIST_FUNCTIONS(CoverSetLine, compare_lines, join_lines, normalise_lines, merge_lines,
               restrict_lines)
LIST_FUNCTIONS(CoverSetBranch, compare_branches, join_branches, normalise_branches, merge_branches,
               restrict_branches)
LIST_FUNCTIONS(CoverSetFunction, compare_functions, join_functions, normalise_functions,
               merge_functions, restrict_functions)
LIST_FUNCTIONS(CoverSetCondition, compare_conditions, join_conditions, normalise_conditions,
               merge_conditions, restrict_conditions)

static int compare_names(const void *a, const void *b)
{
    const CoverSetFunction *x = a, *y = b;
    int by = str_compare(x->name, y->name);
    // Those with a line first.
    return by ? by : order(y->line, x->line);
}

// "FNDA" may come without its "FN": the counts belong together.
static size_t join_without_line(CoverSetFunction *rows, size_t len)
{
    bool any = false;
    for (size_t i = 0; i < len; i++)
        any |= rows[i].line == 0;
    if (!any)
        return len;
    qsort(rows, len, sizeof(*rows), compare_names);
    size_t kept = 0;
    for (size_t i = 0; i < len; i++) {
        if (kept && rows[i].line == 0 && str_equal(rows[kept - 1].name, rows[i].name))
            join_functions(&rows[kept - 1], &rows[i]);
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

void cover_set_file_normalise(CoverSetFile *f)
{
    f->lines.len = normalise_lines(f->lines.at, f->lines.len);
    f->branches.len = normalise_branches(f->branches.at, f->branches.len);
    f->functions.len = join_without_line(f->functions.at, f->functions.len);
    f->functions.len = normalise_functions(f->functions.at, f->functions.len);
    f->conditions.len = normalise_conditions(f->conditions.at, f->conditions.len);
}

#define MERGE(merge, field)                                                                        \
    do {                                                                                           \
        size_t len;                                                                                \
        into->field.at =                                                                           \
            merge(arena, into->field.at, into->field.len, from->field.at, from->field.len, &len);  \
        if (len != into->field.len)                                                                \
            into->field.cap = into->field.len + from->field.len;                                   \
        into->field.len = len;                                                                     \
    } while (0)

void cover_set_file_add(Arena *arena, CoverSetFile *into, const CoverSetFile *from)
{
    MERGE(merge_lines, lines);
    MERGE(merge_branches, branches);
    MERGE(merge_functions, functions);
    MERGE(merge_conditions, conditions);
}

// ---- Sets ---------------------------------------------------------------------

void cover_set_add(CoverSet *into, const CoverSet *from)
{
    into->is_hits |= from->is_hits;
    for (size_t i = 0; i < from->files.len; i++)
        cover_set_file_add(into->arena, cover_set_file(into, from->files.at[i].path),
                           &from->files.at[i]);
    for (size_t i = 0; i < from->notes.len; i++)
        vec_push(into->arena, &into->notes, from->notes.at[i]);
    into->clamped += from->clamped;
}

static uint64_t scaled(uint64_t count, uint64_t weight)
{
    return __builtin_mul_overflow(count, weight, &count) ? UINT64_MAX : count;
}

void cover_set_scale(CoverSet *s, uint64_t weight)
{
    for (size_t i = 0; i < s->files.len; i++) {
        CoverSetFile *f = &s->files.at[i];
        for (size_t k = 0; k < f->lines.len; k++)
            f->lines.at[k].count = scaled(f->lines.at[k].count, weight);
        for (size_t k = 0; k < f->branches.len; k++)
            f->branches.at[k].count = scaled(f->branches.at[k].count, weight);
        for (size_t k = 0; k < f->functions.len; k++)
            f->functions.at[k].count = scaled(f->functions.at[k].count, weight);
        for (size_t k = 0; k < f->conditions.len; k++)
            f->conditions.at[k].count = scaled(f->conditions.at[k].count, weight);
    }
}

// NULL when there is none.
static const CoverSetFile *find_file(const CoverSet *s, Str path)
{
    uint32_t row;
    for (TableProbe p = table_probe(&s->index, str_hash(path)); table_next(&s->index, &p, &row);)
        if (str_equal(s->files.at[row].path, path))
            return &s->files.at[row];
    return NULL;
}

#define RESTRICT(restrict_to, field)                                                               \
    a->field.len = restrict_to(a->field.at, a->field.len, b->field.at, b->field.len, op)

void cover_set_restrict(CoverSet *s, const CoverSet *by, CoverSetOperation op)
{
    static const CoverSetFile nothing;
    for (size_t i = 0; i < s->files.len; i++) {
        CoverSetFile *a = &s->files.at[i];
        const CoverSetFile *b = find_file(by, a->path);
        if (!b)
            b = &nothing;
        RESTRICT(restrict_lines, lines);
        RESTRICT(restrict_branches, branches);
        RESTRICT(restrict_functions, functions);
        RESTRICT(restrict_conditions, conditions);
    }
}

#define DROP(field)                                                                                \
    do {                                                                                           \
        size_t kept = 0;                                                                           \
        for (size_t k = 0; k < f->field.len; k++)                                                  \
            if (f->field.at[k].count)                                                              \
                f->field.at[kept++] = f->field.at[k];                                              \
        f->field.len = kept;                                                                       \
    } while (0)

void cover_set_drop_zeros(CoverSet *s)
{
    for (size_t i = 0; i < s->files.len; i++) {
        CoverSetFile *f = &s->files.at[i];
        DROP(lines);
        DROP(branches);
        DROP(functions);
        DROP(conditions);
    }
}

void cover_set_drop_empty_files(CoverSet *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->files.len; i++) {
        const CoverSetFile *f = &s->files.at[i];
        if (f->lines.len || f->branches.len || f->functions.len || f->conditions.len)
            s->files.at[kept++] = *f;
    }
    s->files.len = kept;
    table_deinit(&s->index);
    for (uint32_t i = 0; i < kept; i++)
        table_insert(&s->index, str_hash(s->files.at[i].path), i);
}
