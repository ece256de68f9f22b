// SPDX-License-Identifier: Apache-2.0
// assay cover run --engine ptrace: breakpoints at statements, no recompiling.

#include "analyse/cover/file_rows.h"
#include "cli/cli.h"
#include "cli/cover/cover_run.h"
#include "cli/symbols.h"
#include "collect/cover/trace.h"
#include "export/cover/lcov.h"
#include "os/file.h"
#include "tracefile/tracefile.h"

// The system's and the packages' sources would cost time and bury the program's.
static bool is_foreign(Str path)
{
    return str_starts_with(path, STR("/usr/")) || str_starts_with(path, STR("/rustc/")) ||
           str_find(path, STR("/.cargo/registry/")) != SIZE_MAX ||
           str_find(path, STR("/.rustup/")) != SIZE_MAX;
}

static bool keep(void *ctx, Str path)
{
    const CoverSession *s = ctx;
    return cover_session_keep(ctx, path) &&
           (s->run.selection.include.len || (!is_foreign(path) && os_file_exists(path)));
}

// The name of the folder's next tracefile: runs that are added have one each.
static Str tracefile_path(CoverSession *s)
{
    Str path;
    unsigned n = 0;
    do
        path =
            arena_printf(&s->run.arena, "%" STR_FMT "/lines-%u.info", STR_ARG(s->run.folder), ++n);
    while (os_file_exists(path));
    return path;
}

static void print_lines(const Profile *p, StrBuf *out)
{
    Arena arena = {0};
    CoverFiles files = {0};
    cover_files_group(&arena, p, &files);
    strbuf_add(out, STR("TN:" TRACEFILE_HITS "\n"));
    for (size_t i = 0; i < files.files.len; i++)
        cover_lcov_file(p, &files, &files.files.at[i], out);
    arena_deinit(&arena);
}

static void say_result(const CoverSession *s, const CoverTraceResult *r)
{
    if (r->no_disassembler)
        cli_say("libZydis is not installed, so assay cannot check that each breakpoint is at the "
                "start of an instruction");
    if (r->off_boundary)
        cli_say("addresses of the debug information that lie inside an instruction and were left "
                "out: %llu",
                (unsigned long long)r->off_boundary);
    if (r->unreachable)
        cli_say("processes that do not let others read their memory (PR_SET_DUMPABLE): %llu; lines "
                "that they reached later are missing; root can see them",
                (unsigned long long)r->unreachable);
    if (r->unreadable)
        cli_say("a program ran %llu times that you may run but not read: its lines are missing; "
                "root can see them, or every user after: chmod a+r",
                (unsigned long long)r->unreadable);
    if (r->replaced)
        cli_say(
            "programs mapped a file %llu times that is no longer the one at its path: its lines "
            "are missing",
            (unsigned long long)r->replaced);
    if (r->no_loader)
        cli_say(
            "the loader has no hook that is known: objects that were loaded late may be missing");
    if (s->program.changes_user)
        cli_say("'%" STR_FMT "' ran without the rights that its file gives: the kernel takes them "
                "from a program that is traced",
                STR_ARG(s->program.path));
    if (r->sites == 0 && s->program.is_32bit) {
        cli_say("no lines of '%" STR_FMT
                "': it is a 32-bit program, and breakpoints count lines of "
                "64-bit ones; built with --coverage it counts by itself",
                STR_ARG(s->program.path));
        return;
    }
    if (r->sites == 0 && !r->unreadable) {
        cli_say("no statement to stop at: '%" STR_FMT "' has no debug information (-g), or its "
                "sources are not here (--include takes them anyway)",
                STR_ARG(s->program.path));
        return;
    }
    if (r->sites && !s->o->quiet)
        cli_say("%llu of %llu lines ran, in %llu process%s; executions of a line are not counted",
                (unsigned long long)r->lines_ran, (unsigned long long)r->lines,
                (unsigned long long)r->processes, r->processes == 1 ? "" : "es");
}

// Servers are not asked: a program waits while its lines are looked up.
static DebugSearch debug_search(CoverSession *s)
{
    SymboliseOptions o;
    symbols_options(&s->run.arena, &s->o->debug_dirs, &o);
    return (DebugSearch){.dirs = o.debug_dirs,
                         .dir_count = o.debug_dir_count,
                         .debuginfod_cache = o.debuginfod_cache};
}

bool cover_run_traced(CoverSession *s, bool *wrote, Error *err)
{
    CoverTraceResult result;
    StrBuf lines = {0};
    DebugSearch debug = debug_search(s);
    CoverTraceOptions options = {.program = &s->program,
                                 .argv = s->argv,
                                 .keep = keep,
                                 .keep_ctx = s,
                                 .debug = &debug,
                                 .print = print_lines};
    bool ok = cover_trace_run(&options, &result, &lines, err);
    if (result.child_ran)
        s->end.child = result.child;
    if (ok) {
        say_result(s, &result);
        *wrote = result.sites != 0;
        ok = !*wrote || os_write_file(tracefile_path(s), bytes_from_str(strbuf_str(&lines)),
                                      OUTPUT_REPLACE, err);
    } else if (result.child_ran) {
        error_put_context(err, "the program went on without breakpoints, and its lines are not "
                               "known");
    }
    strbuf_deinit(&lines);
    return ok;
}
