// SPDX-License-Identifier: Apache-2.0
// Revisions to compare, as commands of a bench.

#include "cli/bench/bench_revisions.h"

#include <limits.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/symbols.h"

bool bench_wants_revisions(const BenchArgs *args)
{
    return args->revisions.len > 0 || args->dirty;
}

bool bench_open_builds(Arena *arena, const BenchArgs *args, RevisionBuilds *ret, Error *err)
{
    const StrVec none = {0};
    SymboliseOptions folders;
    symbols_options(arena, &none, &folders);
    return revisions_init(ret, arena, folders.cache_dir, args->build, cli_env("PATH"), err);
}

bool bench_build_revision(const RevisionBuilds *b, Revision *r, bool *build_failed, Error *err)
{
    bool has_name = r->commit.len && !str_starts_with(r->commit, r->name);
    if (revision_is_built(b, r))
        return revision_build(b, r, build_failed, err);
    cli_say("building %" STR_FMT "%s%.10s %" STR_FMT, STR_ARG(has_name ? r->name : STR("")),
            has_name ? ": " : "", r->commit.len ? r->commit.ptr : "the work tree",
            STR_ARG(r->subject));
    return revision_build(b, r, build_failed, err);
}

// The commit stands there where the name does not say it.
Str bench_revision_label(Arena *arena, const Revision *r)
{
    enum { DIGITS = 10 };
    if (r->commit.len < DIGITS || str_starts_with(r->commit, r->name))
        return r->name;
    return arena_printf(arena, "%" STR_FMT " (%" STR_FMT ")", STR_ARG(r->name),
                        STR_ARG(str_slice(r->commit, 0, DIGITS)));
}

bool bench_revision_command(Arena *arena, const BenchArgs *args, Str command, const Revision *r,
                            BenchOptions *options, BenchCommandVec *ret, Error *err)
{
    char before[PATH_MAX];
    BenchCommandVec one = {0};
    StrVec text = {0};
    vec_push(arena, &text, command);
    // Programs with a relative path are those of the revision.
    if (!getcwd(before, sizeof(before)) || chdir(arena_c_str(arena, r->folder)) != 0)
        return error_os(err, "cannot go to '%" STR_FMT "'", STR_ARG(r->folder));
    bool ok = bench_build_commands(arena, args, &text, options, &one, err);
    if (chdir(before) != 0)
        return error_os(err, "cannot go back to '%s'", before);
    if (!ok)
        return error_context(err, "in revision '%" STR_FMT "'", STR_ARG(r->name));
    for (size_t i = 0; i < one.len; i++) {
        BenchCommand c = one.at[i];
        if (c.path[0] != '/')
            c.path = arena_c_str(
                arena, arena_printf(arena, "%" STR_FMT "/%s", STR_ARG(r->folder), c.path));
        c.folder = arena_c_str(arena, r->folder);
        c.revision = r->commit;
        c.name = bench_revision_label(arena, r);
        vec_push(arena, ret, c);
    }
    return true;
}

static bool check(const BenchArgs *args, const StrVec *operands, Error *err)
{
    if (operands->len != 1) {
        error_set(err, ERROR_USAGE, "revisions are compared by one command");
        return error_hint(err, "quote a command of several words: -- './prog input'");
    }
    if (args->reference.len || args->scans.len || args->lists.len || args->names.len)
        return error_set(err, ERROR_USAGE,
                         "--revisions excludes --reference, parameters and --command-name");
    if (args->baseline.len)
        return error_set(err, ERROR_USAGE, "--revisions excludes --baseline");
    return true;
}

bool bench_build_revisions(Arena *arena, const BenchArgs *args, const RevisionBuilds *builds,
                           RevisionVec *ret, Error *err)
{
    StrVec names = {0};
    Str rest = args->revisions, name;
    while (str_next_part(&rest, BENCH_PART_SEPARATOR, &name))
        vec_push(arena, &names, name);
    if (args->dirty && names.len == 0)
        vec_push(arena, &names, STR("HEAD"));
    if (names.len + args->dirty < 2)
        return error_set(err, ERROR_USAGE, "--revisions takes two or more");
    for (size_t i = 0; i < names.len + args->dirty; i++) {
        Revision r = {.name = STR("work tree")};
        bool build_failed;
        if ((i < names.len && !revision_find(builds, names.at[i], &r, err)) ||
            !bench_build_revision(builds, &r, &build_failed, err))
            return false;
        vec_push(arena, ret, r);
    }
    return true;
}

bool bench_revision_commands(Arena *arena, const BenchArgs *args, const StrVec *operands,
                             BenchOptions *options, BenchCommandVec *ret, Error *err)
{
    RevisionBuilds builds;
    RevisionVec revisions = {0};
    if (!check(args, operands, err) || !bench_open_builds(arena, args, &builds, err) ||
        !bench_build_revisions(arena, args, &builds, &revisions, err))
        return false;
    for (size_t i = 0; i < revisions.len; i++)
        if (!bench_revision_command(arena, args, operands->at[0], &revisions.at[i], options, ret,
                                    err))
            return false;
    return true;
}
