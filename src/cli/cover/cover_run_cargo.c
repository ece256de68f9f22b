// SPDX-License-Identifier: Apache-2.0
// assay cover run -- cargo …: the workspace, its build, and which sources count.

#include <signal.h>

#include "cli/cli.h"
#include "cli/cover/cover_run.h"
#include "collect/cover/cargo_tools.h"

// A path as a glob that matches nothing else.
static void add_literal(StrBuf *out, Str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        if (c == '*' || c == '?' || c == '[')
            strbuf_printf(out, "[%c]", c);
        else
            strbuf_add_char(out, c);
    }
}

static void add_glob(CoverSession *s, StrVec *globs, Str folder, const char *below)
{
    StrBuf glob = {0};
    add_literal(&glob, folder);
    strbuf_add(&glob, str_from_c(below));
    vec_push(&s->run.arena, globs, arena_str(&s->run.arena, strbuf_str(&glob)));
    strbuf_deinit(&glob);
}

// The sources of the workspace's own packages, unless the user says which. Tests run the code whose
// coverage is wanted and are left out themselves. Files are recognised as tests by their names, as
// in cargo llvm-cov.
static void choose_sources(CoverSession *s, const CoverCargo *c)
{
    static const char *const not_counted[] = {
        "/tests/*",      "/benches/*",  "/examples/*", "/*/tests/*",  "/*/benches/*",
        "/*/examples/*", "/*/tests.rs", "/*_tests.rs", "/*-tests.rs",
    };
    CoverSelection *selection = &s->run.selection;
    if (s->o->all_sources)
        return;
    for (size_t i = 0; i < c->members.len && s->o->include.len == 0; i++)
        add_glob(s, &selection->include, c->members.at[i], "/*");
    add_glob(s, &selection->exclude, c->target, "/*");
    // cargo runs them when it builds, so that a run counts them or not by what was built before.
    for (size_t i = 0; i < c->scripts.len; i++)
        add_glob(s, &selection->exclude, c->scripts.at[i], "");
    for (size_t i = 0; i < c->members.len && !s->o->include_tests; i++)
        for (size_t k = 0; k < ARRAY_LEN(not_counted); k++)
            add_glob(s, &selection->exclude, c->members.at[i], not_counted[k]);
}

static bool set_build_variables(CoverSession *s, const CoverCargo *c, Error *err)
{
    Arena *arena = &s->run.arena;
    CoverCargoTools user = {.rustc_wrapper = cli_env("RUSTC_WRAPPER"),
                            .rustc_workspace_wrapper = cli_env("RUSTC_WORKSPACE_WRAPPER"),
                            .rustdoc = cli_env("RUSTDOC")};
    CoverVariables variables = {0};
    if (!cover_cargo_tools(arena, c, &user, s->run.pool.folder, &variables, err))
        return false;
    cover_cargo_variables(arena, s->argv, c, &variables);
    vec_push(arena, &variables, cover_cargo_build_variable(arena, c));
    // Counts of build scripts are not wanted.
    vec_push(arena, &variables, (CoverVariable){"LLVM_PROFILE_FILE", "/dev/null"});
    cover_set_variables(&variables);
    return true;
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

// Builds while Ctrl-C, which cargo gets from the terminal too, ends cargo alone; a second one ends
// this process.
static bool build(CoverSession *s, Error *err)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART | SA_RESETHAND};
    struct sigaction old;
    interrupted = 0;
    sigaction(SIGINT, &action, &old);
    if (old.sa_handler == SIG_IGN)
        sigaction(SIGINT, &old, NULL);
    bool ok = cover_cargo_build(&s->run.arena, &s->program, s->argv, &s->cargo, err);
    sigaction(SIGINT, &old, NULL);
    return ok;
}

bool cover_prepare_cargo(CoverSession *s, int *status, Error *err)
{
    Arena *arena = &s->run.arena;
    CoverCargo *c = &s->cargo;
    CoverCargoHow how = {.all = s->o->all_sources, .continuous = s->o->continuous};
    s->argv = cover_cargo_with_options(arena, s->argv, &s->o->packages, s->o->all_features);
    bool ok = cover_cargo_metadata(arena, &s->program, s->argv, how, c, err);
    if (ok && c->build_status == 0)
        ok = set_build_variables(s, c, err) && build(s, err);
    if (!ok) {
        *status = cli_fail(err);
        return false;
    }
    CoverVariables built = {0};
    vec_push(arena, &built, (CoverVariable){"ASSAY_COVER_BUILD", NULL});
    cover_set_variables(&built);
    *status = interrupted ? 128 + SIGINT : exit_status_of(c->build_status);
    if (interrupted)
        cli_say("interrupted while cargo built the workspace: nothing ran, and earlier results in "
                "'%" STR_FMT "' are as they were",
                STR_ARG(s->run.folder));
    if (*status != 0)
        return false;
    for (size_t i = 0; i < c->objects.len; i++)
        vec_push(arena, &s->sources.always, c->objects.at[i]);
    s->sources.commands.len = s->sources.folders.len = 0;
    // Build scripts end too soon to be seen while they run, and cargo does not name their programs.
    if (s->o->all_sources)
        vec_push(arena, &s->sources.folders, c->own_target);
    choose_sources(s, c);
    return true;
}
