// SPDX-License-Identifier: Apache-2.0
// The options of `assay bench`, and the commands they describe.

#ifndef CLI_BENCH_BENCH_ARGS_H
#define CLI_BENCH_BENCH_ARGS_H

#include "cli/option.h"
#include "collect/bench/command.h"

// The default of --min-benchmarking-time.
#define BENCH_MIN_TIME_S 3.0

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
    bool no_shell, show_output, grouped, interleaved, wait_clock, cpu_clock, with_waiting, details,
        rerun_baseline, compare;
    Str revisions; // names, separated
    Str build, bisect, judge;
    bool dirty, explain;
    RestWords cargo; // options of cargo bench
    Str recording;
    bool force; // replaces an existing recording
    Str json, csv, markdown, asciidoc, orgmode, junit, github, bencher, svg, html;
    double until, margin, confidence, fail_if_slower;
    int64_t max_time, timeout;
} BenchArgs;

// Stands between the words of an option that takes several.
enum { BENCH_PART_SEPARATOR = '\x1f' };

// The text of an option with an optional argument that was not given at all.
extern const char bench_not_given[];

// -P VAR MIN MAX, -L VAR VALUES and --revisions A B … become one argument with separators; -i=…
// becomes the long option. --revisions and --dirty behind --cargo, which takes all words up to
// "--", come to stand before it.
char **bench_join_arguments(Arena *arena, int *argc, char **argv);

// Refuses a number of runs of 0. Before, UINT64_MAX stands for one that was not given; behind it 0
// does for `runs` and `max_runs`.
MUST_CHECK bool bench_settle_counts(BenchArgs *args, Error *err);

// Fails on options that contradict each other, before anything runs.
MUST_CHECK bool bench_check_args(const BenchArgs *args, const StrVec *commands, Error *err);
// The options of the bench itself; the shell and the commands are bench_build_commands'.
MUST_CHECK bool bench_fill_options(Arena *arena, const BenchArgs *args, BenchOptions *o,
                                   Error *err);
// All commands: the reference first, then each template with each combination of
// values, the template changing fastest. Sets the shell of `options` too.
MUST_CHECK bool bench_build_commands(Arena *arena, const BenchArgs *args, const StrVec *templates,
                                     BenchOptions *options, BenchCommandVec *ret, Error *err);

#endif // CLI_BENCH_BENCH_ARGS_H
