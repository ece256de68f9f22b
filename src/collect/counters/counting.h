// SPDX-License-Identifier: Apache-2.0
// The counting of `assay stat`: runs a command, or waits while other programs run, and adds the
// counts to a profile: a run with its values, and a series with the spans of -I.

#ifndef COLLECT_COUNTERS_COUNTING_H
#define COLLECT_COUNTERS_COUNTING_H

#include "collect/counters/counters.h"
#include "model/profile.h"
#include "os/spawn.h"

#include <signal.h>

// How the values of the targets are added up.
typedef enum CountingParts {
    COUNTING_WHOLE, // all in one
    COUNTING_EACH,  // a part for each CPU or thread
    COUNTING_CORES, // and for CPUs: for each core, die, socket or memory node
    COUNTING_DIES,
    COUNTING_SOCKETS,
    COUNTING_NODES,
    COUNTING_CGROUPS // for each control group
} CountingParts;

// The programs that are counted beside or instead of a command.
typedef struct CountingTargets {
    CounterTargetVec at; // empty: the command and its descendants
    StrVec names;        // of each: "CPU0", "worker-4711"
    bool cpus;           // they are whole CPUs, not threads
    bool may_be_gone;    // threads may have ended before they are counted
    CountingParts by;
    // With `by` other than COUNTING_WHOLE: the part of each target, and of each part its name and
    // how many CPUs or threads it has.
    U32Vec part_of;
    StrVec parts;
    U32Vec sizes;
} CountingTargets;

// Appends the CPUs of a list like "0,2-3"; "" stands for all that are online.
MUST_CHECK bool counting_add_cpus(Arena *arena, Str list, CountingTargets *ret, Error *err);
// Appends the threads whose numbers stand in `list`, separated by commas; with `processes` all
// threads of the processes with these numbers.
MUST_CHECK bool counting_add_threads(Arena *arena, Str list, bool processes, CountingTargets *ret,
                                     Error *err);
// Appends all threads of the machine that are not kernel threads and that this user may see.
MUST_CHECK bool counting_add_all_threads(Arena *arena, CountingTargets *ret, Error *err);
// Replaces the CPUs by these control groups on each of them; the names are separated by commas and
// relative to the root of the groups.
MUST_CHECK bool counting_add_cgroups(Arena *arena, Str names, CountingTargets *ret, Error *err);
// Sorts the targets into parts.
void counting_part(Arena *arena, CountingParts by, CountingTargets *targets);

// Types of EventSpec for values that need no counter: config tells which.
enum { COUNTING_TOOL_EVENT = 0x7ffffff0 };
typedef enum CountingTool { TOOL_DURATION, TOOL_USER, TOOL_SYSTEM } CountingTool;

// What to count: the words of -e, looked up in `sources`, or the usual events when there is none,
// and those of so many levels of detail, of which there are three. Words may be globs, and
// duration_time, user_time and system_time.
MUST_CHECK bool counting_choose_events(Arena *arena, const EventSources *sources,
                                       const StrVec *words, unsigned details, EventSpecVec *ret,
                                       Error *err);
// Appends the events that `metrics` need, names separated by commas as in perf's -M.
MUST_CHECK bool counting_add_metrics(Arena *arena, Str metrics, EventSpecVec *ret, Error *err);
// Appends the events of the top-down method, or says why the machine has none.
MUST_CHECK bool counting_add_topdown(Arena *arena, EventSpecVec *ret, Error *err);

typedef struct Counting Counting;

typedef struct CountingOptions {
    EventSpecVec events;
    CountingTargets targets;
    const Program *program;     // NULL: no command is run
    char *const *argv;          // of the program, ends in NULL
    bool threads_apart;         // the targets are threads, and not the processes that have them
    bool no_inherit;            // leave out the command's children and threads
    bool times_only;            // count no event
    bool starts_disabled;       // until `control` enables it
    bool show_missing;          // events that cannot be counted have values that are not known
    const char *before, *after; // shell commands around each run; NULL: none
    bool sync;                  // write all files to disk before each run
    int control_fd, ack_fd;     // commands are read and answered here; -1: none
    // 0: none. The command is ended after the timeout, and counting starts after the delay.
    int64_t interval_ns, timeout_ns, delay_ns;
    uint64_t interval_count; // stop after so many; 0: no limit
    // Called at the end of each interval. The points are the rows of the profile's series from
    // `first` on, and span `length_ns`. May be NULL.
    bool (*on_interval)(void *ctx, size_t first, int64_t length_ns, Error *err);
    void *ctx;
    // Leave the points in the profile after on_interval; without, they are taken out again, so
    // that memory stays bounded however long it counts.
    bool keep_series;
    const volatile sig_atomic_t *interrupted; // becomes non-zero on Ctrl-C
} CountingOptions;

// One row of each part: a counter, a time, or an event that cannot be counted.
typedef struct CountingColumn {
    enum { COLUMN_COUNTER, COLUMN_TOOL, COLUMN_MISSING } kind;
    size_t event; // of the counters, or a CountingTool
    MetricId metric;
} CountingColumn;

struct Counting {
    Profile *profile;
    CountingOptions options;
    CounterMissingVec missing; // events that cannot be counted here, and why
    uint32_t runs;             // so far
    uint32_t status;           // of the last run of the command
    // Of the run under way.
    Arena scratch;
    Counters counters;
    Vec(CountingColumn) columns;
    StrIdVec parts;       // of the targets, or one for the whole
    CounterValue *before; // at the last interval's end, by part and event
    CounterValue *now;    // as they were read last
    StrId name, command;
    int64_t first_start_ns; // of the first run, CLOCK_MONOTONIC
    int64_t start_ns;
};

// The options are copied; their targets and `p` must outlive `ret`.
void counting_init(Counting *ret, Profile *p, const CountingOptions *options);
void counting_deinit(Counting *c);

// Counts once, and adds the run to the profile. On false there is a run if something was counted.
MUST_CHECK bool counting_run(Counting *c, Error *err);

// Adds the description of the recording: command, machine, clocks, times.
void counting_add_facts(const Counting *c, Str tool_version);

#endif // COLLECT_COUNTERS_COUNTING_H
