// SPDX-License-Identifier: Apache-2.0
// Opening one use of 'assay cover run', and what its steps ask of it.

#include "cli/cover/cover_session.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cover/cover_commands.h"

static Str absolute(Arena *arena, Str path)
{
    char folder[PATH_MAX];
    if ((path.len && path.ptr[0] == '/') || !getcwd(folder, sizeof(folder)))
        return path;
    return arena_printf(arena, "%s/%" STR_FMT, folder, STR_ARG(path));
}

static void copy_list(Arena *arena, const StrVec *from, StrVec *to)
{
    for (size_t i = 0; i < from->len; i++)
        vec_push(arena, to, from->at[i]);
}

bool cover_session_open(CoverSession *s, CoverRunMode mode, Error *err)
{
    const CoverRunOptions *o = s->o;
    Str temp = cli_env("TMPDIR");
    CoverRunPlace place = {.folder = o->output.len ? o->output : COVER_RUN_FOLDER,
                           .temp = temp.len ? temp : STR("/tmp")};
    if (!cover_run_open(&s->run, &place, mode, o->keep_raw, err))
        return false;
    s->run.pool.continuous = o->continuous;
    Arena *arena = &s->run.arena;
    copy_list(arena, &o->objects, &s->sources.always);
    copy_list(arena, &o->include, &s->run.selection.include);
    copy_list(arena, &o->exclude, &s->run.selection.exclude);
    if (!program_find(arena, str_from_c(s->argv[0]), cli_env("PATH"), &s->program, err))
        return false;
    vec_push(arena, &s->sources.commands, s->program.path);
    for (size_t i = 1; s->argv[i]; i++)
        vec_push(arena, &s->sources.commands, str_from_c(s->argv[i]));
    vec_push(arena, &s->sources.folders, absolute(arena, STR(".")));
    return true;
}

bool cover_session_keep(void *ctx, Str path)
{
    const CoverSession *s = ctx;
    return cover_selection_keep(&s->run.selection, path);
}

void cover_set_variables(const CoverVariables *v)
{
    for (size_t i = 0; i < v->len; i++)
        if (v->at[i].value)
            setenv(v->at[i].name, v->at[i].value, 1);
        else
            unsetenv(v->at[i].name);
}
