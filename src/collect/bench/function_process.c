// SPDX-License-Identifier: Apache-2.0
// Command lines of the harnesses, and where each leaves its results.

#include "collect/bench/function_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include "collect/bench/criterion_home.h"
#include "os/file.h"
#include "os/unnamed_file.h"

typedef Vec(const char *) Words;

static void add(Arena *arena, Words *w, const char *word)
{
    vec_push(arena, w, word);
}

static void add_seconds(Arena *arena, Words *w, const char *option, double seconds)
{
    add(arena, w, option);
    add(arena, w, arena_c_str(arena, arena_printf(arena, "%.6g", seconds)));
}

static void add_assay_words(Arena *arena, Words *w, const FunctionRequest *r)
{
    add(arena, w, "--json");
    add_seconds(arena, w, "--time", r->time_s);
    add_seconds(arena, w, "--warm-up", r->time_s / 4);
    add(arena, w, "--samples");
    add(arena, w, "20");
    add(arena, w, "--filter");
    add(arena, w, arena_c_str(arena, r->filter));
    if (r->reverse)
        add(arena, w, "--reverse");
}

// The options of a harness that make a process short: intervals come from many processes.
static void add_harness_words(Arena *arena, Words *w, const FunctionProgram *p,
                              const FunctionRequest *r)
{
    add(arena, w, "--bench");
    if (p->harness == HARNESS_CRITERION && !p->plain) {
        add_seconds(arena, w, "--measurement-time", r->time_s);
        add_seconds(arena, w, "--warm-up-time", r->time_s / 4);
        add(arena, w, "--sample-size");
        add(arena, w, "20");
        add(arena, w,
            "--nresamples"); // the figures that Criterion computes from the samples are not read
        add(arena, w, "1001");
        add(arena, w, "--noplot");
    } else if (p->harness == HARNESS_DIVAN && !p->plain) {
        add_seconds(arena, w, "--max-time", r->time_s);
        add(arena, w, "--color");
        add(arena, w, "never");
    }
    if (r->filter.len)
        add(arena, w, arena_c_str(arena, r->filter));
}

static const char *const *command_line(Arena *arena, const FunctionProgram *p,
                                       const FunctionRequest *r, const char *home)
{
    Words w = {0};
    if (p->manifest) {
        add(arena, &w, "env");
        add(arena, &w,
            arena_c_str(arena, arena_printf(arena, "CARGO_MANIFEST_DIR=%s", p->manifest)));
        if (home)
            add(arena, &w, arena_c_str(arena, arena_printf(arena, "CRITERION_HOME=%s", home)));
    }
    add(arena, &w, p->path);
    if (p->harness == HARNESS_ASSAY)
        add_assay_words(arena, &w, r);
    else
        add_harness_words(arena, &w, p, r);
    for (size_t i = 0; i < p->words.len; i++)
        add(arena, &w, arena_c_str(arena, p->words.at[i]));
    add(arena, &w, NULL);
    return w.at;
}

static bool read_lines(Arena *arena, const FunctionProgram *p, Str output, HarnessResults *ret,
                       Error *err)
{
    HarnessResult r;
    Str line;
    while (str_next_line(&output, &line)) {
        if (line.len == 0)
            continue;
        if (!harness_read_assay(arena, line, &r, err)) {
            error_context(err, "cannot understand '%s'", p->path);
            return error_hint(err, "is it made with <assay/bench.h>?");
        }
        vec_push(arena, ret, r);
    }
    return true;
}

static bool read_results(Arena *arena, const FunctionProgram *p, int fd, const char *home,
                         HarnessResults *ret, Error *err)
{
    Bytes text = {0};
    if (home)
        return criterion_home_read(arena, home, ret, err);
    if (lseek(fd, 0, SEEK_SET) < 0)
        return error_os(err, "cannot read the output of '%s'", p->path);
    if (!os_read_fd(arena, fd, str_from_c(p->path), OS_READ_MAX_BYTES, &text, err))
        return false;
    if (p->harness == HARNESS_ASSAY)
        return read_lines(arena, p, str_from_bytes(text), ret, err);
    harness_read_output(arena, str_from_bytes(text), ret);
    return true;
}

static bool fail_of(const FunctionProgram *p, int status, Error *err)
{
    error_set(err, ERROR_OS, "'%s' failed with status %d", p->path,
              WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    return p->manifest ? false : error_hint(err, "is it made with <assay/bench.h>?");
}

// Runs it with output to `fd` and, of Criterion, results to `home`.
static bool run_once(Arena *arena, FunctionProgram *p, const FunctionRequest *r, int fd,
                     const char *home, SpawnResult *process, HarnessResults *ret, Error *err)
{
    bool may_refuse = !p->plain && p->harness != HARNESS_ASSAY && p->harness != HARNESS_LIBTEST;
    const SpawnRequest request = {.path = p->manifest ? r->env : p->path,
                                  .argv = command_line(arena, p, r, home),
                                  .output = SPAWN_OUTPUT_FD,
                                  .output_fd = fd,
                                  .timeout_ns = r->timeout_ns,
                                  .folder = p->folder,
                                  // Criterion warns of short times, which are meant.
                                  .errors = may_refuse ? SPAWN_OUTPUT_NULL : SPAWN_OUTPUT_INHERIT};
    if (!spawn_server_run(r->server, &request, process, err))
        return false;
    if (r->interrupted && *r->interrupted)
        return true;
    if (process->timed_out)
        return error_set(err, ERROR_LIMIT, "'%s' was killed after %.3g s", p->path,
                         (double)r->timeout_ns * 1e-9);
    if (process->status != 0 && may_refuse) {
        p->plain = true; // a main function of the user's own, or an old version
        return run_once(arena, p, r, fd, home, process, ret, err);
    }
    return process->status == 0 ? read_results(arena, p, fd, home, ret, err)
                                : fail_of(p, process->status, err);
}

bool function_process_run(Arena *arena, FunctionProgram *p, const FunctionRequest *r,
                          SpawnResult *process, HarnessResults *ret, Error *err)
{
    const char *home = NULL;
    if (p->harness == HARNESS_CRITERION && !criterion_home_make(arena, r->scratch, &home, err))
        return false;
    int fd = os_open_unnamed(r->scratch, err);
    bool ok = fd >= 0 && run_once(arena, p, r, fd, home, process, ret, err);
    if (fd >= 0)
        close(fd);
    criterion_home_remove(home);
    return ok;
}
