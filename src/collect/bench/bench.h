// SPDX-License-Identifier: Apache-2.0
// Runs commands many times and keeps what each run took.

#ifndef COLLECT_BENCH_BENCH_H
#define COLLECT_BENCH_BENCH_H

#include "base/error.h"
#include "base/vec.h"
#include "collect/bench/spawn_server.h"
#include "stats/compare.h"
#include "stats/series.h"
#include "stats/summary.h"

#include <signal.h>

// How much the kernel's figure of peak memory may lack on a small machine, 31 pages of
// anonymous and of mapped memory on one CPU; from where on that is below 1 %.
enum { BENCH_RSS_ERROR = 62 * 4096, BENCH_RSS_EXACT_FROM = 100 * BENCH_RSS_ERROR };

typedef struct BenchParameter {
    Str name, value;
} BenchParameter;
typedef Vec(BenchParameter) BenchParameterVec;

// Whose failing exits are accepted.
typedef struct BenchIgnore {
    bool all;        // every non-zero status
    U32Vec statuses; // these
} BenchIgnore;

typedef struct BenchCommand {
    Str text; // as given, variables filled in
    Str name; // shown; text unless --command-name
    BenchParameterVec parameters;
    // What is executed.
    const char *path;
    const char *const *argv;
    bool via_shell; // `text` is a shell's argument; the shell's own time is taken off
    // Shell commands around the runs; "" for none.
    Str setup, prepare, conclude, cleanup;
    SpawnOutput output;
    const char *output_file;
} BenchCommand;
typedef Vec(BenchCommand) BenchCommandVec;

typedef enum OutlierCause {
    CAUSE_UNKNOWN,   // it slept or waited for something that is not counted
    CAUSE_RUN_DELAY, // ready, but another program had the CPU
    CAUSE_STEAL,     // the hypervisor ran other machines
    CAUSE_DISK,      // pages or blocks were read from disk
    CAUSE_CPU,       // it used more CPU time itself
    CAUSE_COUNT
} OutlierCause;

typedef struct BenchRun {
    SpawnResult spawn;
    double time_s; // spawn.wall_ns (or CPU time) less the shell's time
    double user_s, system_s;
    double waiting_s;  // of time_s, ready to run but without a CPU; NaN when not known
    uint32_t round;    // runs of one round are pairs
    uint32_t position; // in that round
    int32_t status;    // exit status, or 128 + signal
} BenchRun;
typedef Vec(BenchRun) BenchRunVec;

// Figures of one command. Times in seconds.
typedef struct BenchSummary {
    double mean, deviation; // deviation NaN for one run
    double median, mad, min, max, user, system;
    Interval median_interval;                    // 95 %
    uint64_t peak_rss_bytes;                     // the highest of the runs, corrected
    uint64_t peak_rss_error_bytes;               // it may be so much more
    bool peak_rss_is_floor;                      // and may be anything less
    double minor_faults, major_faults, switches; // medians
    double run_delay_s;                          // mean; NaN when not known
    uint32_t outliers[5];                        // by Outlier
    uint32_t causes[CAUSE_COUNT];                // of the high ones
    Steady steady;
    double lag1;             // autocorrelation of the times
    double effective_runs;   // see stats_effective_size
    uint32_t kernel_clocked; // runs timed by the kernel; the others by the wait
    bool first_slow;         // the first run was a severe outlier
    // Medians of what was counted, less the shell's share; NaN: not counted.
    double counts[SPAWN_COUNTERS_MAX];
} BenchSummary;

typedef struct BenchResult {
    BenchRunVec runs;
    BenchSummary summary; // filled by bench_summarise
    // What one run's exact peak memory was above the kernel's figure of the same run.
    bool weighed;
    int64_t rss_correction_bytes;
    // Figures up to this are the spawning process' own: then the weighed run's stands.
    uint64_t rss_floor_bytes, exact_rss_bytes;
    double shell_time_s;  // taken off each run; 0 without a shell
    double shell_error_s; // standard error of it
    double shell_user_s, shell_system_s;
    double shell_counts[SPAWN_COUNTERS_MAX];
    // Against the reference by the whole time, where the comparison leaves the wait
    // for a CPU out; else zeroes.
    Interval elapsed_ratio;
    // Against the reference, by counter: a ratio with its interval. Zeroes where a
    // count was 0 in most pairs, and for the reference itself.
    Interval count_ratios[SPAWN_COUNTERS_MAX];
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
    BenchResult *results;    // one for each command
    Comparison *comparisons; // one for each command; the reference's own is empty
    double *adjusted_p;      // Holm, by command
    SpawnServer server;
    SpawnCounter counters[SPAWN_COUNTERS_MAX];
    uint32_t counter_count;
    BenchProgress progress;
    void *progress_ctx;
    uint32_t block; // rounds of a balanced block
    // Comparisons leave out the time that a run waited for a CPU; its share of all.
    bool without_waiting, clock_settled;
    double waiting_share;
    double least_outside_ns; // see bench_freeing_ns; 0: no run yet
    bool interrupted;
    bool timed_out;         // max_time ended it
    size_t cold_left;       // most pages of --cold files that stayed cached; SIZE_MAX: not known
    bool left_children;     // some run left processes behind
    uint32_t pairs_dropped; // a time of 0 has no logarithm
    double gap_ratio;       // median of (start to start of a pair) / (run time); 0 when unknown
    double speed_change;    // of a fixed piece of work, end over begin - 1: the CPU's frequency
    int64_t begin_ns, planned_ns; // CLOCK_MONOTONIC; planned end, 0 when not known
};

// `options` are borrowed. The server is open; commands are added by the caller.
void bench_init(Bench *b, const BenchOptions *options, const SpawnServer *server);
void bench_deinit(Bench *b); // the server is the caller's

// Runs everything. On a command's failure what was measured stays in `b`.
MUST_CHECK bool bench_run(Bench *b, Error *err);

// A command's own commands around its runs, for who runs it once more.
typedef enum BenchStep { BENCH_SETUP, BENCH_PREPARE, BENCH_CONCLUDE, BENCH_CLEANUP } BenchStep;
MUST_CHECK bool bench_step(Bench *b, uint32_t command, BenchStep step, Error *err);

// What a process used of the CPU after its exit record: Linux 6.16 and later write that
// before they free its memory, a tenth of the time of a program that has filled a large
// heap. `cpu_ns` is all that it used, `counted_ns` what was counted from exec to the record.
// The rest is the way to exec, which takes about as long in every run, `*least_ns` at
// least (0: none seen yet), and the freeing. 0.2 ms, more than the way to exec varies,
// are left out, so that short runs get no noise from it.
double bench_freeing_ns(double cpu_ns, double counted_ns, double *least_ns);

// A run's time as comparisons take it.
double bench_compared_seconds(const Bench *b, const BenchRun *run);

// A run's peak memory, corrected where its command was weighed.
uint64_t bench_peak_memory(const BenchResult *result, const BenchRun *run);

// Fills summaries and comparisons from the runs that are there.
void bench_summarise(Bench *b);

// A command's times in order, `n` of them, in the bench's arena.
double *bench_times(Bench *b, uint32_t command, size_t *n);

// "kernel", "wait", or the bench's own.
Str bench_clock_name(const Bench *b);

const char *outlier_cause_name(OutlierCause c);

// ---- Machine ---------------------------------------------------------------
typedef struct BenchMachine {
    Str hostname, kernel, cpu_model, governor; // governor "" when there is none
    uint32_t cpus;
    double load; // 1 minute
} BenchMachine;
void bench_machine(Arena *arena, BenchMachine *ret);

// The least CPU time of a fixed piece of work over several tries: what the CPU's
// frequency, and nothing else, should change.
int64_t bench_speed_probe_ns(void);

// Drops a file's pages from the cache; `*left` is how many stayed, SIZE_MAX
// when the kernel cannot tell (before 6.5).
MUST_CHECK bool bench_drop_cache(Str path, size_t *left, Error *err);

#endif // COLLECT_BENCH_BENCH_H
