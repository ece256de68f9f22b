// SPDX-License-Identifier: Apache-2.0
// What `assay bench` was asked for, between the files that answer it.

#ifndef CLI_BENCH_BENCH_ARGS_H
#define CLI_BENCH_BENCH_ARGS_H

#include "cli/bench/bench_report.h"
#include "collect/bench/command.h"

#include <signal.h>

typedef struct BenchArgs {
    uint64_t warmup, min_runs, max_runs, runs, seed;
    double min_time_s;
    StrVec setup, prepare, conclude, cleanup, names, output, scans, lists, cold, events;
    Str reference, reference_name, step, shell, style, sort, unit, input, ignore;
    Str save, baseline, db, against, filter, format;
    uint64_t processes;
    double function_time_s;
    bool functions, version;
    Str profile;
    bool no_shell, show_output, grouped, interleaved, wait_clock, cpu_clock, with_waiting,
        rerun_baseline, compare;
    Str json, csv, markdown, asciidoc, orgmode, junit, svg, html;
    double until, margin, confidence, fail_if_slower;
    int64_t max_time, timeout;
} BenchArgs;

// The text of an option with an optional argument that was not given at all.
extern const char bench_not_given[];

// Set by SIGINT and SIGTERM once bench_catch_signals was called, which also go to
// the command that `server` runs.
extern volatile sig_atomic_t bench_interrupted;
void bench_catch_signals(const SpawnServer *server);
void bench_forget_server(void); // before it is closed

// -P VAR MIN MAX and -L VAR VALUES become one argument with separators; -i=…
// becomes the long option.
char **bench_join_arguments(Arena *arena, int *argc, char **argv);

// Says what contradicts itself, before anything runs.
MUST_CHECK bool bench_check_args(const BenchArgs *args, const StrVec *commands, Error *err);
MUST_CHECK bool bench_fill_options(Arena *arena, const BenchArgs *args, BenchOptions *o,
                                   Error *err);
// All commands: the reference first, then each template with each combination of
// values, the template changing fastest. Sets the shell of `options` too.
MUST_CHECK bool bench_build_commands(Arena *arena, const BenchArgs *args, const StrVec *templates,
                                     BenchOptions *options, BenchCommandVec *ret, Error *err);

Terminal bench_terminal(Str style); // of --style
Str bench_database_path(const BenchArgs *args);
Str bench_command_line(Arena *arena, int argc, char **argv);

// Operands that are a program of function benchmarks, and running it. Returns the
// exit status.
bool bench_operands_are_functions(Arena *arena, const BenchArgs *args, const StrVec *operands);
int bench_run_functions(Arena *arena, const BenchArgs *args, const StrVec *operands, int argc,
                        char **argv, SpawnServer *server);

#endif // CLI_BENCH_BENCH_ARGS_H
