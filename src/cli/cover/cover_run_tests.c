// SPDX-License-Identifier: Apache-2.0
// assay cover run --per-test: one test after the other, and which lines each runs.

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cover/cover_run.h"
#include "cli/progress.h"
#include "collect/cover/corpus.h"
#include "os/clock.h"
#include "os/file.h"

// What runs one by one.
static const char *noun(const CoverSession *s)
{
    return s->o->per_input.len ? "input" : "test";
}

// ---- Which tests ---------------------------------------------------------------

static bool list_built(CoverSession *s, CoverTestCommands *ret, Error *err)
{
    Arena *arena = &s->run.arena;
    for (size_t i = 0; i < s->cargo.objects.len; i++) {
        Program program = {.path = s->cargo.objects.at[i]};
        char *argv[] = {arena_c_str(arena, s->cargo.objects.at[i]), NULL};
        // The name without cargo's hash: "parser-0123456789abcdef".
        Str name = str_base_name(s->cargo.objects.at[i]);
        size_t dash = str_find_last_char(name, '-');
        Str prefix = arena_printf(arena, "%" STR_FMT "::", STR_ARG(str_slice(name, 0, dash)));
        if (cover_test_style(&program) == COVER_TESTS_LIBTEST &&
            !cover_test_list(arena, COVER_TESTS_LIBTEST, &program, argv, prefix,
                             s->cargo.folders.at[i], ret, err))
            return false;
    }
    return true;
}

static bool list_tests(CoverSession *s, CoverTestCommands *ret, Error *err)
{
    Arena *arena = &s->run.arena;
    if (s->o->tests_from.len) {
        Bytes text;
        if (!os_read_file(arena, s->o->tests_from, OS_READ_MAX_BYTES, &text, err))
            return false;
        cover_test_lines(arena, str_from_bytes(text), ret);
    } else if (s->o->per_input.len) {
        if (!cover_corpus_list(arena, s->o->per_input, s->argv, ret, err))
            return false;
    } else if (s->is_cargo) {
        if (!list_built(s, ret, err))
            return false;
    } else {
        CoverTestStyle style = cover_test_style(&s->program);
        if (style == COVER_TESTS_UNKNOWN) {
            (void)error_set(err, ERROR_USAGE, "'%" STR_FMT "' has no tests of a kind that is known",
                            STR_ARG(s->program.path));
            return error_hint(err, "libtest, GoogleTest and ctest are; for others give a file "
                                   "with a command a line: --tests-from FILE");
        }
        if (!cover_test_list(arena, style, &s->program, s->argv, STR(""), STR(""), ret, err))
            return false;
    }
    return ret->len || error_set(err, ERROR_USAGE, "there is no test");
}

// ---- Running them ----------------------------------------------------------------

// stdout and stderr of the tests go to a file, which is shown when one fails.
typedef struct Quiet {
    int log, out, err;
} Quiet;

static bool quiet_begin(CoverSession *s, Quiet *q, Error *err)
{
    (void)s;
    *q = (Quiet){-1, -1, -1};
    q->log = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC | O_APPEND, 0600);
    if (q->log < 0)
        q->log = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (q->log < 0)
        return error_os(err, "cannot keep what the tests print");
    q->out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    q->err = fcntl(2, F_DUPFD_CLOEXEC, 3);
    dup2(q->log, 1);
    dup2(q->log, 2);
    return true;
}

static void quiet_show(const Quiet *q)
{
    char buf[65536];
    ssize_t n;
    off_t at = 0;
    while ((n = pread(q->log, buf, sizeof(buf), at)) > 0) {
        ssize_t unused = write(q->err, buf, (size_t)n);
        (void)unused;
        at += n;
    }
}

static void quiet_end(Quiet *q)
{
    if (q->out >= 0)
        dup2(q->out, 1);
    if (q->err >= 0)
        dup2(q->err, 2);
    const int fds[] = {q->log, q->out, q->err};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static bool run_test(CoverSession *s, const CoverTestCommand *command, CoverPerTest *tests,
                     CoverRunEnd *end, Error *err)
{
    Program program;
    Str name = str_from_c(command->argv[0]);
    if (!program_find(&s->run.arena, name, cli_env("PATH"), &program, err))
        return false;
    int64_t start_ns = os_monotonic_ns();
    cover_per_test_begin(tests, &s->run.pool);
    if (!cover_pool_run(&s->run.pool, &program, command->argv, end, err))
        return false;
    int64_t took_us = (os_monotonic_ns() - start_ns) / 1000;
    CoverTest test = {command->name, (uint32_t)exit_status_of(end->child.status),
                      (uint32_t)MIN(took_us, (int64_t)UINT32_MAX)};
    return cover_per_test_end(tests, &s->run.pool, test, err);
}

static bool run_one(CoverSession *s, const CoverTestCommand *command, CoverPerTest *tests,
                    CoverRunEnd *end, Error *err)
{
    Quiet quiet;
    if (!quiet_begin(s, &quiet, err))
        return false;
    bool ok = run_test(s, command, tests, end, err);
    bool failed = ok && end->child.status != 0;
    if (failed)
        quiet_show(&quiet);
    quiet_end(&quiet);
    if (failed)
        cli_say("%s '%" STR_FMT "' failed with status %d", noun(s), STR_ARG(command->name),
                exit_status_of(end->child.status));
    return ok;
}

// Tests that passed and left nothing.
typedef struct SilentTests {
    size_t count;
    Str first;
} SilentTests;

static void say_silent(const CoverSession *s, const CoverPerTest *tests, const SilentTests *silent)
{
    // gcc's data files do not tell who wrote them.
    if (silent->count == 0 || tests->gcov.units.len)
        return;
    cli_say("%zu %s%s passed without any counts, '%" STR_FMT "' first: ignored, ended by _exit, or "
            "not built to count%s",
            silent->count, noun(s), silent->count == 1 ? "" : "s", STR_ARG(silent->first),
            s->o->continuous ? "" : " (--continuous keeps what _exit would lose)");
}

static bool run_all(CoverSession *s, const CoverTestCommands *commands, int start,
                    CoverPerTest *tests, Error *err)
{
    Progress progress =
        progress_begin(s->o->per_input.len ? "running inputs" : "running tests", NULL);
    SilentTests silent = {0};
    size_t failed = 0, i;
    for (i = 0; i < commands->len && !s->end.interrupted; i++) {
        const CoverTestCommand *command = &commands->at[i];
        CoverRunEnd end;
        if (command->folder.len && chdir(arena_c_str(&s->run.arena, command->folder)) != 0)
            return error_os(err, "cannot go to '%" STR_FMT "'", STR_ARG(command->folder));
        uint64_t files = s->run.pool.file_count;
        progress_show(&progress, i + 1, commands->len);
        bool ok = run_one(s, command, tests, &end, err);
        if (ok && end.child.status == 0 && s->run.pool.file_count == files && silent.count++ == 0)
            silent.first = command->name;
        if (command->folder.len && fchdir(start) != 0)
            return error_os(err, "cannot go back to where the command began");
        if (!ok)
            return false;
        if (end.child.status)
            progress_clear(&progress); // something was printed
        s->end.interrupted = end.interrupted;
        if (end.child.status && failed++ == 0)
            s->end.child = end.child;
    }
    progress_clear(&progress);
    if (!s->o->quiet)
        cli_say("%zu of %zu %ss ran, %zu failed", i, commands->len, noun(s), failed);
    say_silent(s, tests, &silent);
    return true;
}

bool cover_run_tests(CoverSession *s, CoverPerTest *tests, Error *err)
{
    CoverTestCommands commands = {0};
    CoverVariables variables = {0};
    // Counts that a program makes while it lists its tests belong to no test.
    vec_push(&s->run.arena, &variables, (CoverVariable){"LLVM_PROFILE_FILE", "/dev/null"});
    cover_set_variables(&variables);
    if (!list_tests(s, &commands, err))
        return false;
    variables.len = 0;
    cover_run_variables(&s->run, &variables);
    cover_set_variables(&variables);
    int start = open(".", O_PATH | O_CLOEXEC);
    bool ok = start >= 0 ? run_all(s, &commands, start, tests, err)
                         : error_os(err, "cannot open the working folder");
    if (start >= 0)
        close(start);
    cover_per_test_done(tests, &s->run.pool);
    return ok;
}

bool cover_write_tests(CoverSession *s, CoverPerTest *tests, Error *err)
{
    CoverTestTable table;
    CoverProject how = {.keep = cover_session_keep, .keep_ctx = s};
    StrBuf out = {0};
    Str path = arena_printf(&s->run.arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(s->run.folder),
                            STR_ARG(COVER_TESTS_FILE));
    if (!cover_per_test_table(tests, &s->run.objects, &how, &table, err))
        return false;
    cover_tests_encode(&table, &out);
    bool ok = os_write_file(path, bytes_from_str(strbuf_str(&out)), OUTPUT_REPLACE, err);
    strbuf_deinit(&out);
    return ok;
}
