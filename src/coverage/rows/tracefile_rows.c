// SPDX-License-Identifier: Apache-2.0
// Tracefile counts <-> the model.

#include "coverage/rows/tracefile_rows.h"

#include <stdlib.h>

#include "model/instances.h"

// ---- Out of the model ----------------------------------------------------------

static void take_lines(CoverSet *s, Profile *p)
{
    LineCounts *from = &p->line_counts;
    for (size_t i = 0; i < from->line.len; i++) {
        CoverSetFile *f = cover_set_file(s, profile_text(p, from->file.at[i]));
        vec_push(s->arena, &f->lines, (CoverSetLine){from->line.at[i], from->count.at[i]});
    }
    *from = (LineCounts){0};
}

// Instances of one function are one, under the name that writers give them.
static void take_functions(CoverSet *s, Profile *p)
{
    FunctionCounts *from = &p->function_counts;
    U32Vec instances = {0};
    profile_function_instances(p, &instances);
    for (size_t i = 0; i < from->count.len; i++) {
        uint32_t row = from->function.at[instances.at[i]].v;
        CoverSetFile *f = cover_set_file(s, profile_text(p, p->functions.file.at[row]));
        vec_push(s->arena, &f->functions,
                 (CoverSetFunction){
                     .name = cover_set_text(s, profile_text(p, p->functions.linkage_name.at[row])),
                     .line = p->functions.line.at[row],
                     .count = from->count.at[i]});
    }
    vec_free(&instances);
    *from = (FunctionCounts){0};
}

static void take_branches(CoverSet *s, Profile *p)
{
    BranchCounts *from = &p->branch_counts;
    for (size_t i = 0; i < from->count.len; i++) {
        CoverSetFile *f = cover_set_file(s, profile_text(p, from->file.at[i]));
        vec_push(s->arena, &f->branches,
                 (CoverSetBranch){.line = from->line.at[i],
                                  .block = from->block.at[i],
                                  .branch = from->branch.at[i],
                                  .is_reached = from->count.at[i] > 0,
                                  .count = from->count.at[i]});
    }
    *from = (BranchCounts){0};
}

static void take_conditions(CoverSet *s, Profile *p)
{
    ConditionCounts *from = &p->condition_counts;
    for (size_t i = 0; i < from->count.len; i++) {
        CoverSetFile *f = cover_set_file(s, profile_text(p, from->file.at[i]));
        vec_push(s->arena, &f->conditions,
                 (CoverSetCondition){.line = from->line.at[i],
                                     .group = from->group.at[i],
                                     .index = from->index.at[i],
                                     .sense = from->sense.at[i],
                                     .expression =
                                         cover_set_text(s, profile_text(p, from->expression.at[i])),
                                     .count = from->count.at[i]});
    }
    *from = (ConditionCounts){0};
}

void cover_set_take_profile(CoverSet *s, Profile *from)
{
    take_lines(s, from);
    take_functions(s, from);
    take_branches(s, from);
    take_conditions(s, from);
    for (size_t i = 0; i < s->files.len; i++)
        cover_set_file_normalise(&s->files.at[i]);
}

// ---- Into the model --------------------------------------------------------------

static void fill_functions(const CoverSetFile *f, const CoverProject *how, StrBuf *name,
                           Profile *into)
{
    FunctionCounts *to = &into->function_counts;
    for (size_t i = 0; i < f->functions.len; i++) {
        const CoverSetFunction *from = &f->functions.at[i];
        strbuf_clear(name);
        if (how->demangle)
            how->demangle(how->demangle_ctx, from->name, name);
        FunctionId id = profile_function(into, name->len ? strbuf_str(name) : from->name,
                                         from->name, f->path, from->line);
        vec_push(&into->arena, &to->function, id);
        vec_push(&into->arena, &to->count, from->count);
        vec_push(&into->arena, &to->hash, 0);
        vec_push(&into->arena, &to->column, 0);
    }
}

static void fill_branches(const CoverSetFile *f, StrId file, const CoverExclusions *e,
                          Profile *into)
{
    BranchCounts *to = &into->branch_counts;
    uint32_t next = 0;
    for (size_t i = 0; i < f->branches.len; i++) {
        const CoverSetBranch *b = &f->branches.at[i];
        bool same = i && b[-1].line == b->line && b[-1].block == b->block;
        // Branches with expressions have no numbers: they get those that follow.
        next = b->expression.len ? (same ? next + 1 : 0) : b->branch;
        if (b->is_exception && cover_excludes_exception(e, b->line))
            continue;
        vec_push(&into->arena, &to->file, file);
        vec_push(&into->arena, &to->line, b->line);
        vec_push(&into->arena, &to->column, 0);
        vec_push(&into->arena, &to->block, b->block);
        vec_push(&into->arena, &to->branch, next);
        vec_push(&into->arena, &to->count, b->count);
    }
}

static void fill_conditions(const CoverSetFile *f, StrId file, Profile *into)
{
    ConditionCounts *to = &into->condition_counts;
    for (size_t i = 0; i < f->conditions.len; i++) {
        const CoverSetCondition *c = &f->conditions.at[i];
        vec_push(&into->arena, &to->file, file);
        vec_push(&into->arena, &to->line, c->line);
        vec_push(&into->arena, &to->group, c->group);
        vec_push(&into->arena, &to->index, c->index);
        vec_push(&into->arena, &to->sense, c->sense);
        vec_push(&into->arena, &to->expression, profile_str(into, c->expression));
        vec_push(&into->arena, &to->count, c->count);
    }
}

static int compare_paths(const void *a, const void *b)
{
    return str_compare((*(const CoverSetFile *const *)a)->path,
                       (*(const CoverSetFile *const *)b)->path);
}

void cover_set_fill(const CoverSet *s, const CoverProject *how, Profile *into)
{
    Vec(const CoverSetFile *) files = {0};
    StrBuf name = {0};
    for (size_t i = 0; i < s->files.len; i++)
        if (!how->keep || how->keep(how->keep_ctx, s->files.at[i].path))
            vec_push(NULL, &files, &s->files.at[i]);
    if (files.len)
        qsort(files.at, files.len, sizeof(files.at[0]), compare_paths);
    for (size_t i = 0; i < files.len; i++) {
        const CoverSetFile *f = files.at[i];
        StrId file = profile_str(into, f->path);
        for (size_t k = 0; k < f->lines.len; k++) {
            vec_push(&into->arena, &into->line_counts.file, file);
            vec_push(&into->arena, &into->line_counts.line, f->lines.at[k].line);
            vec_push(&into->arena, &into->line_counts.count, f->lines.at[k].count);
        }
        fill_functions(f, how, &name, into);
        fill_branches(f, file,
                      how->exclusions ? how->exclusions(how->exclusions_ctx, f->path) : NULL, into);
        fill_conditions(f, file, into);
    }
    strbuf_deinit(&name);
    vec_free(&files);
}

void cover_set_place_functions(const CoverSet *s, const CoverProject *how)
{
    for (size_t i = 0; i < s->files.len && how->exclusions; i++) {
        const CoverSetFile *f = &s->files.at[i];
        if (how->keep && !how->keep(how->keep_ctx, f->path))
            continue;
        CoverExclusions *e = how->exclusions(how->exclusions_ctx, f->path);
        for (size_t k = 0; k < f->functions.len && e; k++)
            cover_exclusions_add_function(
                e, (CoverFunctionPlace){.line = f->functions.at[k].line,
                                        .end_line = f->functions.at[k].end_line});
    }
}
