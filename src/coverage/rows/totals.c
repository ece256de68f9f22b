// SPDX-License-Identifier: Apache-2.0
// Totals of a profile's coverage rows.

#include "coverage/rows/totals.h"

#include <stdlib.h>

void cover_file_add(CoverFile *into, const CoverFile *more)
{
    CoverTally *to[] = {&into->regions, &into->functions, &into->instantiations,
                        &into->lines,   &into->branches,  &into->conditions};
    const CoverTally *from[] = {&more->regions, &more->functions, &more->instantiations,
                                &more->lines,   &more->branches,  &more->conditions};
    for (size_t i = 0; i < ARRAY_LEN(to); i++) {
        to[i]->covered += from[i]->covered;
        to[i]->count += from[i]->count;
    }
}

static void add_file(Arena *arena, CoverFileVec *files, U32Vec *rows, const Profile *p, StrId file)
{
    vec_push(arena, files, (CoverFile){.path = profile_text(p, file)});
    rows->at[file.v] = (uint32_t)files->len;
}

static inline CoverFile *file_of(Arena *arena, CoverFileVec *files, U32Vec *rows, const Profile *p,
                                 StrId file)
{
    if (UNLIKELY(rows->at[file.v] == 0))
        add_file(arena, files, rows, p, file);
    return &files->at[rows->at[file.v] - 1];
}

static int compare_files(const void *a, const void *b)
{
    return str_compare(((const CoverFile *)a)->path, ((const CoverFile *)b)->path);
}

static void tally(CoverTally *t, uint64_t count)
{
    t->count++;
    t->covered += count > 0;
}

// A condition is covered when both of its rows are.
static void tally_condition_rows(Arena *arena, const Profile *p, U32Vec *rows, CoverFileVec *ret)
{
    const ConditionCounts *c = &p->condition_counts;
    for (size_t i = 0; i + 1 < c->count.len; i++) {
        bool is_pair = c->file.at[i].v == c->file.at[i + 1].v &&
                       c->line.at[i] == c->line.at[i + 1] && c->group.at[i] == c->group.at[i + 1] &&
                       c->index.at[i] == c->index.at[i + 1] && c->sense.at[i] != c->sense.at[i + 1];
        if (!is_pair)
            continue;
        tally(&file_of(arena, ret, rows, p, c->file.at[i])->conditions,
              MIN(c->count.at[i], c->count.at[i + 1]));
        i++;
    }
}

void cover_profile_summarise(Arena *arena, const Profile *p, CoverFileVec *ret)
{
    U32Vec rows = {0};
    vec_extend(NULL, &rows, p->strings.texts.len);
    for (size_t i = 0; i < p->line_counts.line.len; i++)
        tally(&file_of(arena, ret, &rows, p, p->line_counts.file.at[i])->lines,
              p->line_counts.count.at[i]);
    for (size_t i = 0; i < p->branch_counts.line.len; i++)
        tally(&file_of(arena, ret, &rows, p, p->branch_counts.file.at[i])->branches,
              p->branch_counts.count.at[i]);
    for (size_t i = 0; i < p->function_counts.count.len; i++) {
        FunctionId function = p->function_counts.function.at[i];
        CoverFile *f = file_of(arena, ret, &rows, p, p->functions.file.at[function.v]);
        tally(&f->functions, p->function_counts.count.at[i]);
        tally(&f->instantiations, p->function_counts.count.at[i]);
    }
    for (size_t i = 0; i < p->region_counts.count.len; i++)
        if (p->region_counts.kind.at[i] == REGION_CODE)
            tally(&file_of(arena, ret, &rows, p, p->region_counts.file.at[i])->regions,
                  p->region_counts.count.at[i]);
    tally_condition_rows(arena, p, &rows, ret);
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(ret->at[0]), compare_files);
    vec_free(&rows);
}
