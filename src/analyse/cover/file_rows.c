// SPDX-License-Identifier: Apache-2.0
// Coverage counts grouped by file.

#include "analyse/cover/file_rows.h"

#include <stdlib.h>

#include "model/instances.h"

// A row's place.
typedef struct Row {
    uint32_t file; // rank by path
    uint32_t line;
    uint32_t row;
} Row;

static int compare_rows(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

typedef struct NamedFile {
    Str path;
    uint32_t id;
} NamedFile;

static int compare_files(const void *a, const void *b)
{
    return str_compare(((const NamedFile *)a)->path, ((const NamedFile *)b)->path);
}

typedef struct Grouping {
    Arena *arena;
    const Profile *p;
    U32Vec rank; // StrId -> rank by path + 1; 0: no listed file
} Grouping;

static void note_file(Grouping *g, StrId file)
{
    g->rank.at[file.v] = 1;
}

static void rank_files(Grouping *g, CoverFiles *ret)
{
    const Profile *p = g->p;
    vec_extend(NULL, &g->rank, p->strings.texts.len);
    for (size_t i = 0; i < p->line_counts.file.len; i++)
        note_file(g, p->line_counts.file.at[i]);
    for (size_t i = 0; i < p->branch_counts.file.len; i++)
        note_file(g, p->branch_counts.file.at[i]);
    for (size_t i = 0; i < p->region_counts.file.len; i++)
        note_file(g, p->region_counts.file.at[i]);
    for (size_t i = 0; i < p->condition_counts.file.len; i++)
        note_file(g, p->condition_counts.file.at[i]);
    for (size_t i = 0; i < p->function_counts.function.len; i++)
        note_file(g, p->functions.file.at[p->function_counts.function.at[i].v]);
    Vec(NamedFile) named = {0};
    for (uint32_t i = 0; i < g->rank.len; i++)
        if (g->rank.at[i])
            vec_push(NULL, &named, (NamedFile){intern_get(&p->strings, i), i});
    if (named.len)
        qsort(named.at, named.len, sizeof(named.at[0]), compare_files);
    for (uint32_t i = 0; i < named.len; i++) {
        g->rank.at[named.at[i].id] = i + 1;
        vec_push(g->arena, &ret->files, (CoverFileRows){.file = {named.at[i].id}});
    }
    vec_free(&named);
}

// One of the profile's tables.
typedef struct RowTable {
    const StrIdVec *files; // by row, or by function where that is a column
    const FunctionIdVec *functions;
    const U32Vec *lines; // NULL: rows stay in order of the profile
    size_t count;
    size_t range; // where CoverFileRows has its range
} RowTable;

static Row row_of(const Grouping *g, const RowTable *t, size_t i)
{
    StrId file = t->files->at[t->functions ? t->functions->at[i].v : i];
    // Rows of files that are not listed come last.
    return (Row){g->rank.at[file.v] - 1, t->lines ? t->lines->at[i] : 0, (uint32_t)i};
}

static bool is_sorted(const Grouping *g, const RowTable *t)
{
    Row before = {0};
    for (size_t i = 0; i < t->count; i++) {
        Row row = row_of(g, t, i);
        if (compare_rows(&before, &row) > 0)
            return false;
        before = row;
    }
    return true;
}

// The table's rows by file, line and number.
static void order_rows(const Grouping *g, const RowTable *t, U32Vec *to)
{
    to->len = t->count;
    // Collectors fill file by file and line by line, so that sorting is rare.
    if (is_sorted(g, t)) {
        for (uint32_t i = 0; i < t->count; i++)
            to->at[i] = i;
        return;
    }
    Vec(Row) rows = {0};
    vec_reserve(NULL, &rows, t->count);
    for (size_t i = 0; i < t->count; i++)
        rows.at[i] = row_of(g, t, i);
    qsort(rows.at, t->count, sizeof(rows.at[0]), compare_rows);
    for (size_t i = 0; i < t->count; i++)
        to->at[i] = rows.at[i].row;
    vec_free(&rows);
}

// Lists the table's rows and notes each file's range of them.
static void place(const Grouping *g, RowTable t, U32Vec *to, CoverFiles *ret)
{
    vec_reserve(g->arena, to, t.count);
    order_rows(g, &t, to);
    for (size_t i = 0, end; i < to->len; i = end) {
        uint32_t file = row_of(g, &t, to->at[i]).file;
        for (end = i + 1; end < to->len && row_of(g, &t, to->at[end]).file == file; end++)
            ;
        if (file == UINT32_MAX)
            continue;
        CoverRows *range = (CoverRows *)(void *)((char *)&ret->files.at[file] + t.range);
        *range = (CoverRows){(uint32_t)i, (uint32_t)end};
    }
}

// Of the files' functions one of the instances, with the entries of all.
static void place_functions(const Grouping *g, CoverFiles *ret)
{
    const Profile *p = g->p;
    U32Vec instances = {0};
    U64Vec entries = {0};
    profile_function_instances(p, &instances);
    vec_extend(NULL, &entries, instances.len);
    for (uint32_t i = 0; i < instances.len; i++) {
        uint64_t *sum = &entries.at[instances.at[i]];
        if (__builtin_add_overflow(*sum, p->function_counts.count.at[i], sum))
            *sum = UINT64_MAX;
    }
    for (size_t i = 0; i < ret->files.len; i++) {
        CoverFileRows *f = &ret->files.at[i];
        f->places.first = (uint32_t)ret->places.len;
        for (uint32_t k = f->functions.first; k < f->functions.end; k++) {
            uint32_t row = ret->functions.at[k];
            if (instances.at[row] != row)
                continue;
            vec_push(g->arena, &ret->places, row);
            vec_push(g->arena, &ret->entries, entries.at[row]);
        }
        f->places.end = (uint32_t)ret->places.len;
    }
    vec_free(&instances);
    vec_free(&entries);
}

void cover_files_group(Arena *arena, const Profile *p, CoverFiles *ret)
{
    Grouping g = {.arena = arena, .p = p};
    const LineCounts *l = &p->line_counts;
    const FunctionCounts *f = &p->function_counts;
    const BranchCounts *b = &p->branch_counts;
    const RegionCounts *r = &p->region_counts;
    const ConditionCounts *c = &p->condition_counts;
    rank_files(&g, ret);
    place(&g, (RowTable){&l->file, NULL, &l->line, l->file.len, offsetof(CoverFileRows, lines)},
          &ret->lines, ret);
    place(&g,
          (RowTable){&p->functions.file, &f->function, NULL, f->function.len,
                     offsetof(CoverFileRows, functions)},
          &ret->functions, ret);
    place_functions(&g, ret);
    place(&g, (RowTable){&b->file, NULL, &b->line, b->file.len, offsetof(CoverFileRows, branches)},
          &ret->branches, ret);
    place(&g, (RowTable){&r->file, NULL, NULL, r->file.len, offsetof(CoverFileRows, regions)},
          &ret->regions, ret);
    place(&g,
          (RowTable){&c->file, NULL, &c->line, c->file.len, offsetof(CoverFileRows, conditions)},
          &ret->conditions, ret);
    const BranchSites *s = &p->branch_sites;
    const Decisions *d = &p->decisions;
    place(&g,
          (RowTable){&s->file, NULL, &s->listed_line, s->file.len,
                     offsetof(CoverFileRows, branch_sites)},
          &ret->branch_sites, ret);
    place(&g,
          (RowTable){&p->segments.file, NULL, &p->segments.line, p->segments.file.len,
                     offsetof(CoverFileRows, segments)},
          &ret->segments, ret);
    place(&g,
          (RowTable){&p->excerpts.file, NULL, &p->excerpts.line, p->excerpts.file.len,
                     offsetof(CoverFileRows, excerpts)},
          &ret->excerpts, ret);
    place(&g,
          (RowTable){&d->file, NULL, &d->end_line, d->file.len, offsetof(CoverFileRows, decisions)},
          &ret->decisions, ret);
    vec_free(&g.rank);
}

static int compare_starts(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void cover_function_starts(const Profile *p, const CoverFiles *c, const CoverFileRows *f,
                           U32Vec *ret)
{
    for (uint32_t i = f->functions.first; i < f->functions.end; i++) {
        FunctionId id = p->function_counts.function.at[c->functions.at[i]];
        vec_push(NULL, ret, p->functions.line.at[id.v]);
    }
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(ret->at[0]), compare_starts);
}

uint32_t cover_next_start(const U32Vec *starts, uint32_t line)
{
    size_t next = PARTITION_POINT(i, starts->len, starts->at[i] <= line);
    return next < starts->len ? starts->at[next] : UINT32_MAX;
}
