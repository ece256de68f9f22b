// SPDX-License-Identifier: Apache-2.0
// Runs commands many times and keeps the figures of each run.

#ifndef COLLECT_BENCH_BENCH_H
#define COLLECT_BENCH_BENCH_H

#include "base/error.h"
#include "base/vec.h"
#include "collect/bench/spawn_server.h"
#include "model/run_names.h"
#include "stats/run_set.h"

#include <signal.h>

// Which failing exit statuses are accepted.
typedef struct BenchIgnore {
    bool all;        // every non-zero status
    U32Vec statuses; // these
} BenchIgnore;

typedef struct BenchCommand {
    Str text; // as given, variables filled in
    Str name; // shown; text unless --command-name
    RunParameterVec parameters;
    // The program that is executed, and its arguments.
    const char *path; // NULL: looked up before the first run, see `search`
    Str search;       // the PATH that finds a program which a setup or prepare command makes
    const char *const *argv;
    bool via_shell; // `text` is a shell's argument; the shell's own time is taken off
    // Shell commands around the runs; "" for none.
    Str setup, prepare, conclude, cleanup;
    SpawnOutput output;
    const char *output_file;
    const char *folder; // where it and its shell commands run; NULL: here
    Str revision;       // of the sources it was built from; "" for that of the bench
} BenchCommand;
typedef Vec(BenchCommand) BenchCommandVec;

// Figures of a command beside its measured runs.
typedef struct BenchResult {
    MeasuredRunVec warmups; // measured, but in no statistic
    bool last_alone;        // the last run was one thread and started nothing
    double shell_time_s;    // taken off each run; 0 without a shell
    double shell_error_s;   // standard error of it
    double shell_user_s, shell_system_s;
    double shell_counts[SPAWN_COUNTERS_MAX];
} BenchResult;

typedef struct BenchOptions {
    uint64_t warmup;
    uint64_t runs;       // exactly; 0: by time
    uint64_t min_runs;   // 10
    uint64_t max_runs;   // 0: none
    int64_t min_time_ns; // measured for each command at least: 3 s
    int64_t max_time_ns; // stop after it; 0: never
    double until;        // stop when decided at this margin; 0: off
    double margin, level;
    bool grouped; // one command after the other
    BenchIgnore ignore;
    const char *const *shell; // words of the shell, NULL-terminated; the command follows
    const char *input;        // NULL: /dev/null
    int64_t timeout_ns;
    const StrVec *cold;         // files to drop from the page cache before each run
    const EventSpecVec *events; // counted in each run; NULL: none
    bool cpu_clock;    // times are CPU time: the first event, task-clock, else user + system
    bool with_waiting; // comparisons never leave the wait for a CPU out
    uint64_t seed;
    uint32_t reference;                       // command that the others are compared with
    const volatile sig_atomic_t *interrupted; // becomes non-zero on Ctrl-C
} BenchOptions;

typedef struct Bench Bench;

// Called between runs, so that a line can be shown.
typedef void (*BenchProgress)(void *ctx, const Bench *bench, const char *phase);

struct Bench {
    Arena arena;
    const char *clock_name; // where the times are not runs of commands; NULL: the server's clock
    BenchCommandVec commands;
    BenchOptions options;
    RunSet set;           // runs and figures: a group for each command
    BenchResult *results; // one for each command
    SpawnServer server;
    SpawnCounter counters[SPAWN_COUNTERS_MAX]; // set.counters of them
    BenchProgress progress;
    void *progress_ctx;
    double least_outside_ns; // see bench_freeing_ns; 0: no run yet
    bool interrupted;
    bool timed_out;      // max_time ended it
    size_t cold_left;    // most pages of --cold files that stayed cached; SIZE_MAX: not known
    bool left_children;  // some run left processes behind
    double speed_change; // of a fixed piece of work, end over begin - 1: the CPU's frequency
    int64_t begin_ns, planned_ns; // CLOCK_MONOTONIC; planned end, 0 when not known
};

// `options` are borrowed. The server is open; commands are added by the caller.
void bench_init(Bench *b, const BenchOptions *options, const SpawnServer *server);
// Makes the groups and results of the commands that were added. bench_run does it.
void bench_prepare(Bench *b);
// Frees the runs and the arena. The server is the caller's.
void bench_deinit(Bench *b);

// Runs everything. When a command fails, the runs before it stay in `b`.
MUST_CHECK bool bench_run(Bench *b, Error *err);

// The shell commands that belong to a command.
typedef enum BenchStep { BENCH_SETUP, BENCH_PREPARE, BENCH_CONCLUDE, BENCH_CLEANUP } BenchStep;
// Runs one of them, for callers that run a command once more after the bench.
MUST_CHECK bool bench_step(Bench *b, uint32_t command, BenchStep step, Error *err);

// The CPU time that a process used after its exit record. Linux 6.16 and later write the record
// before they free the memory, which takes a tenth of the time of a program that has filled a
// large heap. `cpu_ns` is the CPU time of the whole run, `counted_ns` that between exec and the
// record. The difference is the time before exec, which is about the same in every run, and the
// time of freeing. `*least_ns` is the smallest difference seen so far (0: none), and is updated.
// 0.2 ms are subtracted too: the time before exec varies by less, so that short runs get no noise.
double bench_freeing_ns(double cpu_ns, double counted_ns, double *least_ns);

// "kernel", "wait", "cpu", or the bench's own.
Str bench_clock_name(const Bench *b);

#endif // COLLECT_BENCH_BENCH_H
