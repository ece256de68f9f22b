// SPDX-License-Identifier: Apache-2.0
// One recorded run of a command of a bench.

#include "cli/bench/bench_recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/record/recorded_symbols.h"
#include "cli/symbols.h"
#include "os/owned_file.h"
#include "store/store.h"

// The command's standard streams in place of ours, which the child inherits.
typedef struct Streams {
    int saved[3];
} Streams;

static bool streams_redirect(Streams *s, const Bench *b, const BenchCommand *c, Error *err)
{
    const char *in = b->options.input ? b->options.input : "/dev/null";
    const char *out = c->output == SPAWN_OUTPUT_FILE      ? c->output_file
                      : c->output == SPAWN_OUTPUT_INHERIT ? NULL
                                                          : "/dev/null";
    int fds[3] = {open(in, O_RDONLY | O_CLOEXEC), -1, -1};
    if (fds[0] < 0)
        return error_os(err, "cannot open '%s'", in);
    if (out)
        fds[1] = os_open_command_output(out, err);
    if (out && fds[1] < 0) {
        close(fds[0]);
        return false;
    }
    if (c->output != SPAWN_OUTPUT_INHERIT)
        fds[2] = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < 3; i++) {
        s->saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
        if (fds[i] >= 0) {
            dup2(fds[i], i);
            close(fds[i]);
        }
    }
    return true;
}

static void streams_restore(const Streams *s)
{
    for (int i = 0; i < 3; i++)
        if (s->saved[i] >= 0) {
            dup2(s->saved[i], i);
            close(s->saved[i]);
        }
}

bool bench_record_run(Bench *b, uint32_t command, const RunRecorder *recorder, bool *interrupted,
                      Error *err)
{
    const BenchCommand *c = &b->commands.at[command];
    Arena arena = {0};
    Program program;
    Profile profile;
    Sampling *sampling = NULL;
    SamplingResult result;
    Streams streams;
    SourceOptions sources;
    StrVec none = {0};
    size_t words = 0;
    while (c->argv[words])
        words++;
    char **argv = arena_array(&arena, char *, words + 1);
    for (size_t i = 0; i < words; i++)
        argv[i] = arena_c_str(&arena, str_from_c(c->argv[i]));
    SamplingOptions options = {.argv = argv,
                               .program = &program,
                               .events = recorder->events,
                               .freq_hz = recorder->freq_hz,
                               .environment = environ,
                               .temp_folder = cli_env("TMPDIR"),
                               .tool_version = STR(ASSAY_VERSION)};
    bool ok = program_find(&arena, str_from_c(c->path), cli_env("PATH"), &program, err);
    if (ok && (program.changes_user || program.unreadable))
        ok = error_set(err, ERROR_PERMISSION,
                       "'%s' is set-uid or unreadable, and the kernel ends profiling when it "
                       "starts",
                       c->path);
    ok = ok && symbols_source_options(&arena, &none, &sources, err) &&
         streams_redirect(&streams, b, c, err);
    if (!ok) {
        arena_deinit(&arena);
        return false;
    }
    profile_init(&profile);
    ok = sampling_run(&options, &profile, NULL, &sampling, &result, err);
    streams_restore(&streams);
    if (ok) {
        symbols_resolve_recorded(&arena, &profile, sampling, &none, &sources, NULL);
        *interrupted = result.interrupted;
        ok = recorder->take(recorder->ctx, &profile, &result, err);
        if (ok && recorder->store.len) {
            StoreOptions store = {.force = true};
            ok = store_write(recorder->store, &store, &profile, err);
        }
        sampling_close(sampling);
    }
    profile_deinit(&profile);
    arena_deinit(&arena);
    return ok;
}
