// SPDX-License-Identifier: Apache-2.0
// Signals, the terminal and files of a bench.

#include "cli/bench/bench_session.h"

#include "cli/cli.h"
#include "cli/kept.h"
#include "os/file.h"
#include "os/git_revision.h"

volatile sig_atomic_t bench_interrupted;
static const SpawnServer *interrupted_server;

static void on_interrupt(int signal)
{
    bench_interrupted = 1;
    if (interrupted_server)
        spawn_server_signal(interrupted_server, signal);
}

void bench_catch_signals(const SpawnServer *server)
{
    interrupted_server = server;
    struct sigaction act = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

void bench_forget_server(void)
{
    interrupted_server = NULL;
}

Terminal bench_terminal(Str style)
{
    bool never = str_equal(style, STR("basic")) || str_equal(style, STR("nocolor")) ||
                 str_equal(style, STR("none"));
    bool always = str_equal(style, STR("full")) || str_equal(style, STR("color"));
    return terminal_get(never ? STR("never") : always ? STR("always") : STR("auto"));
}

RunStyle bench_style(const BenchArgs *args)
{
    RunStyle s = {.terminal = bench_terminal(args->style), .details = args->details};
    if (args->unit.len)
        s.unit = str_starts_with(args->unit, STR("s")) ? RUN_UNIT_S
                 : str_starts_with(args->unit, STR("u")) || str_starts_with(args->unit, STR("mic"))
                     ? RUN_UNIT_US
                     : RUN_UNIT_MS;
    s.sort = str_equal(args->sort, STR("command"))     ? RUN_SORT_COMMAND
             : str_equal(args->sort, STR("mean-time")) ? RUN_SORT_MEAN
                                                       : RUN_SORT_AUTO;
    return s;
}

Str bench_database_path(const BenchArgs *args)
{
    return args->db.len ? args->db
                        : kept_path(STR(".assay/bench.db"), STR("target/assay/bench.db"));
}

Str bench_command_line(Arena *arena, int argc, char **argv)
{
    StrBuf line = {0};
    strbuf_add(&line, STR("assay"));
    for (int i = 0; i < argc; i++) {
        strbuf_add_char(&line, ' ');
        add_shell_word(&line, str_from_c(argv[i]));
    }
    Str text = arena_str(arena, strbuf_str(&line));
    strbuf_deinit(&line);
    return text;
}

BenchContext bench_context(Arena *arena, const BenchArgs *args, int argc, char **argv)
{
    BenchContext c = {.command_line = bench_command_line(arena, argc, argv),
                      .tool_version = STR(ASSAY_VERSION),
                      .revision = os_git_revision(arena, STR(".")),
                      .events_asked = args->events.len > 0};
    bench_machine(arena, &c.machine);
    return c;
}

bool bench_open_recording(const BenchArgs *args, StoreWriter **ret, Error *err)
{
    StoreOptions options = {.force = args->force};
    *ret = NULL;
    return args->recording.len == 0 || store_writer_open(args->recording, &options, ret, err);
}

bool bench_finish_recording(StoreWriter **w, const Profile *p, Error *err)
{
    StoreWriter *writer = *w;
    *w = NULL;
    return !writer || store_writer_finish(writer, p, err);
}

bool bench_write_text(Str path, Str text, Error *err)
{
    OutputFile file;
    if (str_equal(path, STR("-")))
        return cli_print(text) || error_set(err, ERROR_OS, "cannot write the result");
    if (!os_output_open(path, OUTPUT_REPLACE, &file, err))
        return false;
    fwrite(text.ptr, 1, text.len, file.stream);
    return os_output_commit(&file, err);
}

bool bench_check_outputs(const BenchArgs *args, Error *err)
{
    const Str paths[] = {args->json,  args->csv, args->markdown, args->asciidoc, args->orgmode,
                         args->junit, args->svg, args->html,     args->github,   args->bencher};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        OutputFile file;
        if (paths[i].len == 0 || str_equal(paths[i], STR("-")))
            continue;
        if (!os_output_open(paths[i], OUTPUT_REPLACE, &file, err))
            return false;
        os_output_abort(&file);
    }
    return true;
}
