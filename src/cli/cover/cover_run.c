// SPDX-License-Identifier: Apache-2.0
// assay cover run: runs a command that counts, keeps the counts, and reports.

#include "cli/cover/cover_run.h"

#include <sys/wait.h>

#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "collect/cover/cargo_tools.h"
#include "os/file.h"

static const Option options[] = {
    OPT_TEXT('o', "output", CoverRunOptions, output, "DIR",
             "folder of the results (.assay/cover, which is replaced each time)"),
    OPT_FLAG('f', "force", CoverRunOptions, force, "replace the results in the folder"),
    OPT_FLAG(0, "merge", CoverRunOptions, merge, "add to the results in the folder"),
    OPT_FLAG(0, "keep-raw", CoverRunOptions, keep_raw,
             "keep the raw profile of each process in DIR/raw"),
    OPT_CHOICE(0, "engine", CoverRunOptions, engine, "ENGINE", "auto|instrument|ptrace",
               "auto and instrument need programs that are built to count; ptrace needs only "
               "debug information, and shows which lines ran, not how often"),
    OPT_FLAG(
        0, "per-test", CoverRunOptions, per_test,
        "run each test in a process of its own (libtest, GoogleTest, ctest) and keep the lines "
        "that it runs, for 'assay cover tests'"),
    OPT_TEXT(0, "tests-from", CoverRunOptions, tests_from, "FILE",
             "the same for shell commands: each line of FILE is a test"),
    OPT_TEXT(
        0, "per-input", CoverRunOptions, per_input, "DIR",
        "the same for each file below DIR, as a fuzzer's corpus: run CMD with its name in place of "
        "{}"),
    OPT_FLAG(0, "include-tests", CoverRunOptions, include_tests,
             "with cargo, report on tests/, benches/ and examples/ as well"),
    OPT_FLAG(0, "all-sources", CoverRunOptions, all_sources,
             "with cargo, report on dependencies, tests/, benches/ and examples/ as well"),
    OPT_FLAG(0, "skip-clean", CoverRunOptions, skip_clean,
             "accepted for scripts of tarpaulin: nothing is cleaned, because builds have a target "
             "folder of their own"),
    OPT_LIST('p', "packages", CoverRunOptions, packages, "NAME",
             "with cargo, this package; passed on as --package"),
    OPT_FLAG(0, "all-features", CoverRunOptions, all_features, "with cargo; passed on"),
    OPT_DURATION(0, "wait", CoverRunOptions, wait_ns, "TIME",
                 "wait at most this long for processes that outlive the command"),
    OPT_FLAG(0, "continuous", CoverRunOptions, continuous,
             "also keep the counts of killed programs; build them with the flags of 'assay cover "
             "flags --continuous' (cargo's are built so)"),
    OPT_LIST(0, "object", CoverRunOptions, objects, "FILE",
             "an object to report on even when it does not run"),
    OPT_LIST(0, "debug-dir", CoverRunOptions, debug_dirs, "DIR",
             "with --engine ptrace, look for separate debug files here too"),
    OPT_FLAG('q', "no-report", CoverRunOptions, no_report, "do not print the report"),
    OPT_FLAG('m', "missing", CoverRunOptions, missing, "list the lines that did not run"),
    OPT_FLAG(0, "markdown", CoverRunOptions, markdown, "the report as Markdown"),
    OPT_LIST(0, "include", CoverRunOptions, include, "GLOB",
             "only source files whose path matches"),
    OPT_LIST(0, "exclude", CoverRunOptions, exclude, "GLOB", "no source files whose path matches"),
    OPT_FLAG(0, "explain", CoverRunOptions, explain,
             "print on stderr every function that could not be counted, and why"),
    OPT_PERCENT(0, "fail-under", CoverRunOptions, fail_under, "P",
                "end with status 3 when less than P percent of the lines ran"),
};

// ---- PROFOPTS -------------------------------------------------------------------------

// lprof's words, separated by commas: msg=y|n, merge=y|n, pid=y|n, dir=DIR, file=NAME
// (in DIR, or here).
static bool take_profopts(CoverRunOptions *o, Arena *arena, Str words, Error *err)
{
    Str word, key, value, folder = {0}, name = {0};
    while (str_next_part(&words, ',', &word)) {
        bool ok = str_split(word, '=', &key, &value);
        bool yes = ok && str_equal(value, STR("y"));
        bool either = yes || (ok && str_equal(value, STR("n")));
        if (ok && str_equal(key, STR("dir")) && value.len)
            folder = value;
        else if (ok && str_equal(key, STR("file")) && value.len)
            name = value;
        else if (either && str_equal(key, STR("merge")))
            o->merge |= yes;
        else if (either && str_equal(key, STR("pid")))
            o->keep_raw |= yes;
        else if (either && str_equal(key, STR("msg")))
            o->quiet |= !yes;
        else {
            (void)error_set(err, ERROR_USAGE, "PROFOPTS: '%" STR_FMT "' is not known",
                            STR_ARG(word));
            return error_hint(err, "msg=y|n, merge=y|n, pid=y|n, dir=DIR, file=NAME, separated by "
                                   "commas");
        }
    }
    if (folder.len && name.len)
        folder = arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(name));
    else if (name.len)
        folder = name;
    if (o->output.len == 0)
        o->output = folder;
    return true;
}

// ---- Why nothing was written --------------------------------------------------------------

static CoverKind kind_of(Str path)
{
    MappedFile m = {0};
    CoverKind kind = COVER_KIND_UNKNOWN;
    if (os_map_file(path, &m, NULL))
        kind = cover_kind_of(m.bytes);
    os_unmap_file(&m);
    return kind;
}

// LLVM's counters may lie in the file itself; gcc's do not.
static const char *how_to_keep(const CoverSession *s, CoverKind kind)
{
    if (kind != COVER_KIND_LLVM)
        return "";
    if (s->o->continuous)
        return "; --continuous needs it compiled with 'assay cover flags --continuous clang'";
    return "; --continuous keeps the counts of programs that end like this";
}

static void say_why_nothing(const CoverSession *s)
{
    const Program *program = &s->program;
    const CoverRunEnd *end = &s->end;
    CoverKind kind = program->is_script ? COVER_KIND_UNKNOWN : kind_of(program->path);
    bool counts = kind == COVER_KIND_LLVM || kind == COVER_KIND_GCOV;
    if (s->end.interrupted)
        cli_say("no counts: the run was interrupted before a program had written any; "
                "--continuous keeps those of programs that are interrupted");
    else if (counts && WIFSIGNALED(end->child.status))
        cli_say("no counts: '%" STR_FMT "' was ended by signal %d before it could write them%s",
                STR_ARG(program->path), WTERMSIG(end->child.status), how_to_keep(s, kind));
    else if (counts && s->run.survivors == 0)
        cli_say("no counts: '%" STR_FMT "' is built to count but wrote nothing; it ended by "
                "_exit or exec, names its own LLVM_PROFILE_FILE or cleared its environment, ran as "
                "a user who may not write to "
                "'%" STR_FMT "', or found the disk full%s",
                STR_ARG(program->path), STR_ARG(s->run.pool.folder), how_to_keep(s, kind));
    else if (counts)
        cli_say("no counts yet");
    else if (kind == COVER_KIND_NONE)
        cli_say("no counts: neither '%" STR_FMT "' nor a program that it ran is built to count; "
                "'assay cover flags clang|gcc|rustc' prints the compiler's flags, and "
                "--engine ptrace needs none",
                STR_ARG(program->path));
    else
        cli_say("no counts: no program that '%" STR_FMT
                "' ran is built to count; 'assay cover flags "
                "clang|gcc|rustc' prints the compiler's flags",
                STR_ARG(program->path));
}

enum { NAMED_MAX = 3 };

// Lists programs by their names: "'one', 'two', 'three' and 3 more".
static void add_name(StrBuf *names, size_t number, Str path)
{
    Str name = str_base_name(path);
    if (number <= NAMED_MAX)
        strbuf_printf(names, "%s'%" STR_FMT "'", number > 1 ? ", " : "", STR_ARG(name));
}

static void end_names(StrBuf *names, size_t count)
{
    if (count > NAMED_MAX)
        strbuf_printf(names, " and %zu more", count - NAMED_MAX);
}

// The programs of cargo's that wrote no counts. If an interrupted run has no counts at all, its
// objects were not looked for: these are then all that cargo built.
static size_t list_silent_programs(const CoverSession *s, StrBuf *names)
{
    size_t silent = 0;
    const CoverObjects *objects = &s->run.objects;
    const StrVec *built = &s->sources.always;
    for (size_t i = 0; i < objects->found.len; i++)
        if (!objects->found.at[i].matched && !str_ends_with(objects->found.at[i].path, STR(".so")))
            add_name(names, ++silent, objects->found.at[i].path);
    for (size_t i = 0; i < built->len && s->end.interrupted && objects->found.len == 0; i++)
        if (!str_ends_with(built->at[i], STR(".so")))
            add_name(names, ++silent, built->at[i]);
    end_names(names, silent);
    return silent;
}

// A program of cargo's that came to its end has counts.
static void say_silent_programs(const CoverSession *s)
{
    StrBuf names = {0};
    size_t silent = list_silent_programs(s, &names);
    if (silent && s->end.interrupted)
        cli_say("without counts: %" STR_FMT "; interrupted, or not started yet",
                STR_ARG(strbuf_str(&names)));
    else if (silent)
        cli_say("%zu program%s wrote no counts: %" STR_FMT "; crashed, killed, or not run after an "
                "earlier one failed (cargo's --no-fail-fast)%s",
                silent, plural_s(silent), STR_ARG(strbuf_str(&names)),
                s->o->continuous ? "" : "; --continuous keeps the counts of those that crash");
    strbuf_deinit(&names);
}

static void say_results(const CoverSession *s)
{
    const CoverRun *r = &s->run;
    if (s->end.interrupted && cover_run_wrote(r))
        cli_say("the run was interrupted: the counts are of the programs that had ended%s",
                s->o->continuous ? ", and of those that were ended by it"
                                 : "; --continuous keeps those of the others");
    if (s->is_cargo && (s->end.child.status || s->end.interrupted) && !s->o->per_test)
        say_silent_programs(s);
    for (size_t i = 0; i < r->pool.refused.len; i++)
        cli_say("left out: %" STR_FMT, STR_ARG(r->pool.refused.at[i]));
    if (r->pool.refused.len)
        cli_say("what was left out is kept in '%" STR_FMT "' as *.refused",
                STR_ARG(r->pool.keep_to));
    if (r->drop.is_closed)
        cli_say("counts of processes that changed to another user are missing: "
                "run: sysctl fs.protected_symlinks=1 fs.protected_hardlinks=1");
    if (r->drop.is_elsewhere && s->o->keep_raw)
        cli_say("other users may change '%" STR_FMT "', so raw profiles are in '%" STR_FMT "'",
                STR_ARG(r->folder), STR_ARG(r->drop.base));
    if (r->survivors)
        cli_say("%zu process%s that the command started still run%s: what they count is missing "
                "(--wait TIME waits for them)",
                r->survivors, r->survivors == 1 ? "" : "es", r->survivors == 1 ? "s" : "");
    if (r->pool.taken.len)
        cli_say("profiles that processes still write after the end of the command: %zu; "
                "they are left in '%" STR_FMT "'",
                r->pool.taken.len, STR_ARG(r->pool.folder));
    if (r->gcov_without_notes)
        cli_say("%llu of %llu data files of gcc have no notes (.gcno) where they were compiled",
                (unsigned long long)r->gcov_without_notes, (unsigned long long)r->gcov_data);
    if (!cover_objects_complete(&r->objects) && r->pool.counts.profile_count && s->is_cargo)
        cli_say("programs that tests built and that no longer exist: %zu; their calls of functions "
                "of the "
                "workspace count, functions that only they contain do not",
                r->pool.binary_ids.len - cover_objects_matched(&r->objects));
    else if (!cover_objects_complete(&r->objects) && r->pool.counts.profile_count)
        cli_say("%zu object%s wrote counts, and %zu of them were found; name the others with "
                "--object",
                r->pool.binary_ids.len, plural_s(r->pool.binary_ids.len), r->objects.found.len);
    if (s->o->quiet)
        return;
    StrBuf text = {0};
    if (r->pool.file_count)
        strbuf_printf(&text, "%llu profile%s (%.1f MB) of %zu object%s",
                      (unsigned long long)r->pool.file_count, plural_s(r->pool.file_count),
                      (double)r->pool.byte_count / 1e6, r->objects.found.len,
                      plural_s(r->objects.found.len));
    if (r->gcov_data)
        strbuf_printf(&text, "%s%llu data file%s of gcc", text.len ? ", " : "",
                      (unsigned long long)r->gcov_data, plural_s(r->gcov_data));
    if (text.len)
        cli_say("%" STR_FMT " in '%" STR_FMT "'", STR_ARG(strbuf_str(&text)), STR_ARG(r->folder));
    strbuf_deinit(&text);
}

// ---- The report ---------------------------------------------------------------------------

typedef Vec(char *) Words;

static void add_pair(Arena *arena, Words *words, const char *name, Str value)
{
    Str word = arena_printf(arena, "%s=%" STR_FMT, name, STR_ARG(value));
    vec_push(arena, words, arena_c_str(arena, word));
}

static int report(CoverSession *s)
{
    const CoverRunOptions *o = s->o;
    Arena *arena = &s->run.arena;
    Words words = {0};
    vec_push(arena, &words, arena_c_str(arena, STR("report")));
    if (o->missing)
        vec_push(arena, &words, arena_c_str(arena, STR("--missing")));
    if (o->markdown)
        vec_push(arena, &words, arena_c_str(arena, STR("--markdown")));
    if (o->explain)
        vec_push(arena, &words, arena_c_str(arena, STR("--explain")));
    if (o->fail_under > 0)
        add_pair(arena, &words, "--fail-under", arena_printf(arena, "%g", o->fail_under));
    vec_push(arena, &words, arena_c_str(arena, s->run.folder));
    int count = (int)words.len;
    vec_push(arena, &words, NULL);
    return cover_report_command.run(&cover_report_command, count, words.at);
}

// ---- Running --------------------------------------------------------------------------------

static int run_traced(CoverSession *s)
{
    Error err;
    bool wrote = false;
    if (!cover_run_traced(s, &wrote, &err)) {
        int failed = cli_fail(&err), of_child = exit_status_of(s->end.child.status);
        return of_child ? of_child : failed;
    }
    cover_pool_close(&s->run.pool);
    cover_run_drop_old(&s->run);
    int child_status = exit_status_of(s->end.child.status);
    int status = !wrote ? STATUS_FAILED : s->o->no_report ? STATUS_OK : report(s);
    return child_status ? child_status : status;
}

// Counts of macros of the workspace, which ran in the compiler, are part of the run.
static void add_build(CoverSession *s)
{
    if (s->is_cargo)
        cover_cargo_add_build(&s->run.arena, &s->cargo, &s->run.pool);
}

static bool has_survivors(void *ctx)
{
    CoverSession *s = ctx;
    s->run.survivors = cover_run_survivors(&s->run);
    return s->run.survivors != 0;
}

// Daemons and others that the command leaves behind.
static bool wait_for_survivors(CoverSession *s, Error *err)
{
    if (!has_survivors(s) || s->o->wait_ns == 0)
        return true;
    bool ok = cover_pool_wait(&s->run.pool, has_survivors, s, s->o->wait_ns, err);
    (void)has_survivors(s);
    return ok;
}

static bool run_and_finish(CoverSession *s, Error *err)
{
    CoverRun *r = &s->run;
    if (!cover_session_has_tests(s)) {
        if (!cover_pool_run(&r->pool, &s->program, s->argv, &s->end, err) ||
            !wait_for_survivors(s, err))
            return false;
        add_build(s);
        bool finished = cover_run_finish(r, &s->sources, err);
        if (finished)
            cover_run_drop_old(r);
        return finished;
    }
    CoverPerTest tests;
    cover_per_test_init(&tests, &r->arena, r->gcov_root);
    bool ok = cover_run_tests(s, &tests, err);
    if (ok) {
        add_build(s);
        ok = cover_run_finish(r, &s->sources, err) && cover_write_tests(s, &tests, err);
        if (ok)
            cover_run_drop_old(r);
    }
    cover_per_test_deinit(&tests);
    return ok;
}

static int run_instrumented(CoverSession *s)
{
    Error err;
    int status;
    CoverVariables variables = {0};
    s->is_cargo = cover_cargo_is(s->argv);
    if (s->is_cargo && !cover_prepare_cargo(s, &status, &err))
        return status;
    cover_run_variables(&s->run, &variables);
    cover_set_variables(&variables);
    if (run_and_finish(s, &err)) {
        bool wrote = cover_run_wrote(&s->run);
        say_results(s);
        if (!wrote)
            say_why_nothing(s);
        status = !wrote ? STATUS_FAILED : s->o->no_report ? STATUS_OK : report(s);
    } else {
        status = cli_fail(&err);
    }
    int child_status = exit_status_of(s->end.child.status);
    return child_status ? child_status : status;
}

static CoverRunMode mode_of(const CoverRunOptions *o)
{
    if (o->merge)
        return COVER_RUN_ADD;
    return o->force || o->output.len == 0 ? COVER_RUN_REPLACE : COVER_RUN_NEW;
}

static int run_words(const CoverRunOptions *o, char *const argv[])
{
    CoverSession s = {.o = o, .argv = argv};
    Error err;
    int status;
    if (!cover_session_open(&s, mode_of(o), &err)) {
        status = cli_fail(&err);
        status = err.kind == ERROR_NOT_FOUND ? 127 : status;
    } else if (str_equal(o->engine, STR("ptrace"))) {
        status = run_traced(&s);
    } else {
        status = run_instrumented(&s);
    }
    cover_run_deinit(&s.run);
    return status;
}

static int run_as_asked(CommandLine *line, void *values)
{
    CoverRunOptions *o = values;
    Error err;
    char shell[] = "sh"; // runs the lines of --tests-from
    char *sh[] = {shell, NULL};
    if (line->operands.len == 0 && o->tests_from.len == 0)
        return usage_error(line->cmd, "no command to run");
    int ways = o->per_test + (o->tests_from.len > 0) + (o->per_input.len > 0);
    if (ways && (o->merge || str_equal(o->engine, STR("ptrace"))))
        return usage_error(line->cmd, "per-test data excludes --merge and --engine ptrace");
    if (ways > 1)
        return usage_error(line->cmd, "give one of --per-test, --tests-from and --per-input");
    if (!take_profopts(o, line->arena, cli_env("PROFOPTS"), &err))
        return cli_fail(&err);
    return run_words(o, line->operands.len ? line->words : sh);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverRunOptions o = {.engine = STR("auto")};
    return command_run_parsed(cmd, argc, argv, &o, run_as_asked);
}

// Spellings that users of tarpaulin and cargo llvm-cov know.
static const ForeignOption foreign[] = {
    {0, "out", FOREIGN_REFUSED,
     "afterwards: assay cover export --format cobertura -o FILE (or html, lcov, json)"},
    {0, "html", FOREIGN_REFUSED, "afterwards: assay cover export --format html -o FILE"},
    {0, "lcov", FOREIGN_REFUSED, "afterwards: assay cover export --format lcov -o FILE"},
    {0, "cobertura", FOREIGN_REFUSED, "afterwards: assay cover export --format cobertura -o FILE"},
    {0, "no-run", FOREIGN_REFUSED, "assay cover report prints the last results again"},
    {0, "workspace", FOREIGN_REFUSED, "behind cargo: assay cover run -- cargo test --workspace"},
    {0, "release", FOREIGN_REFUSED, "behind cargo: assay cover run -- cargo test --release"},
    {0, "exclude-files", FOREIGN_REFUSED, "--exclude GLOB"},
    {0, "ignore-tests", FOREIGN_IGNORED, NULL},
    {0, "line", FOREIGN_IGNORED, NULL},
    {'v', "verbose", FOREIGN_REFUSED, "--explain names functions that could not be counted"},
};

const Command cover_run_command = {
    .name = "run",
    .summary = "run a command that counts, keep the counts, and report",
    .first = "  assay cover run -- ./prog                  a program that is built to count\n"
             "  assay cover run -- cargo test              builds and runs the tests\n"
             "  assay cover run --engine ptrace -- ./prog  without a special build\n",
    .usage = "[OPTION ...] [--] CMD [ARG ...]",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details = "Programs that are built with coverage flags count wherever CMD runs them: itself,\n"
               "make test, ctest, a script. Raw profiles are summed and deleted while it runs.\n"
               "cargo test, run, bench and nextest are built to count by themselves.\n"
               "The status is that of CMD.\n"
               "  assay cover run -- make test\n"
               "  assay cover show .assay/cover\n"
               "  assay cover run --per-input corpus -- ./parse {}\n"
               "  assay cover tests --smallest-set\n",
    .operands_end_options = true,
    .run = run,
};
