// SPDX-License-Identifier: Apache-2.0
// Builds a program and gives the command that runs it.

#include "cli/build_options.h"

#include <stdlib.h>

#include "build/build.h"
#include "cli/cli.h"

static BuildRequest request_of(const BuildOptions *o)
{
    return (BuildRequest){.cargo = o->cargo.given,
                          .cargo_words = o->cargo.words,
                          .cmake = o->cmake,
                          .meson = o->meson,
                          .folder = o->folder,
                          .search_path = cli_env("PATH")};
}

bool build_options_given(const BuildOptions *o)
{
    BuildRequest r = request_of(o);
    return build_is_asked(&r);
}

static bool is_set(const char *name)
{
    return getenv(name) != NULL;
}

static void set_variables(const BuildVariables *v)
{
    for (size_t i = 0; i < v->len; i++)
        if (v->at[i].value)
            setenv(v->at[i].name, v->at[i].value, 1);
        else
            unsetenv(v->at[i].name);
}

// The program must not see variables that only the build needs.
static void unset_variables(const BuildVariables *v)
{
    for (size_t i = 0; i < v->len; i++)
        unsetenv(v->at[i].name);
}

static char **command_line(Arena *arena, const BuiltProgram *built, char *const *words)
{
    Vec(char *) argv = {0};
    vec_push(arena, &argv, arena_c_str(arena, built->path));
    for (size_t i = 0; words[i]; i++)
        vec_push(arena, &argv, words[i]);
    for (size_t i = 0; i < built->words.len; i++)
        vec_push(arena, &argv, arena_c_str(arena, built->words.at[i]));
    vec_push(arena, &argv, NULL);
    return argv.at;
}

bool build_command(Arena *arena, const BuildOptions *o, char *const *words, BuiltCommand *ret,
                   int *status, Error *err)
{
    BuildRequest request = request_of(o);
    BuildVariables variables = {0};
    BuiltProgram built = {0};
    build_variables(arena, &request, is_set, &variables);
    set_variables(&variables);
    bool ok = build_program(arena, &request, &built, err);
    unset_variables(&variables);
    if (!ok)
        return false;
    if (built.status != 0) {
        // Ninja prints the errors of the compiler on its standard output. The last ones matter.
        enum { SHOWN_BYTES = 8000 };
        if (built.output.len)
            cli_say("%" STR_FMT,
                    STR_ARG(str_slice(built.output,
                                      built.output.len - MIN(built.output.len, (size_t)SHOWN_BYTES),
                                      built.output.len)));
        // Cargo ends with 101 when a build fails, and with 1 when it does not know an option.
        if (request.cargo_words.len && exit_status_of(built.status) == 1)
            cli_say_hint(STR("assay's own options stand in front of --cargo"));
        *status = exit_status_of(built.status);
        return error_set(err, ERROR_NONE, "%s", "");
    }
    if (built.note.len)
        cli_say("note: %" STR_FMT, STR_ARG(built.note));
    if (!program_find(arena, built.path, STR(""), &ret->program, err))
        return false;
    set_variables(&built.started);
    ret->program.folder = built.folder;
    ret->argv = command_line(arena, &built, words);
    return true;
}
