// SPDX-License-Identifier: Apache-2.0
// The counting of `assay stat`: runs a command, or waits while others run, and adds what
// was counted to a profile: a run with its values, and a series with the spans of -I.

#ifndef COLLECT_COUNTERS_COUNTING_H
#define COLLECT_COUNTERS_COUNTING_H

#include "collect/counters/counters.h"
#include "model/profile.h"
#include "os/spawn.h"

#include <signal.h>

// What is counted beside or instead of a command.
typedef struct CountingTargets {
    CounterTargetVec at; // empty: the command and what it starts
    StrVec names;        // of each: "CPU0", "worker-4711"
    bool cpus;           // they are whole CPUs, not threads
    bool apart;          // the values of each are a part of their own
} CountingTargets;

// Appends the CPUs of a list like "0,2-3"; "" stands for all that are online.
MUST_CHECK bool counting_add_cpus(Arena *arena, Str list, CountingTargets *ret, Error *err);
// Appends the threads whose numbers stand in `list`, separated by commas; with `processes` all
// threads of the processes with these numbers.
MUST_CHECK bool counting_add_threads(Arena *arena, Str list, bool processes, CountingTargets *ret,
                                     Error *err);

// Appends the events of the words, or the usual ones when there are none, and those of so
// many levels of detail, of which there are three.
MUST_CHECK bool counting_choose_events(Arena *arena, const StrVec *words, unsigned details,
                                       EventSpecVec *ret, Error *err);

typedef struct Counting Counting;

typedef struct CountingOptions {
    EventSpecVec events;
    CountingTargets targets;
    const Program *program; // NULL: no command is run
    char *const *argv;      // of the program, ends in NULL
    bool no_inherit;        // leave out the command's children and threads
    bool times_only;        // count no event
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

struct Counting {
    Profile *profile;
    CountingOptions options;
    CounterMissingVec missing; // events that cannot be counted here, and why
    uint32_t runs;             // so far
    uint32_t status;           // of the last run of the command
    // Of the run under way.
    Arena scratch;
    Counters counters;
    MetricIdVec metrics;  // of the counters' events
    StrIdVec parts;       // of the targets, or one for the whole
    CounterValue *before; // at the last interval's end, by part and event
    CounterValue *now;    // as they were read last
    StrId name, command;
    int64_t first_start_ns; // of the first run, CLOCK_MONOTONIC
    int64_t start_ns;
};

// The options are copied; what they point to must outlive `ret`, and so must `p`.
void counting_init(Counting *ret, Profile *p, const CountingOptions *options);
void counting_deinit(Counting *c);

// Counts once, and adds the run to the profile. On false there is a run if something was counted.
MUST_CHECK bool counting_run(Counting *c, Error *err);

// Adds what a recording says of itself: command, machine, clocks, times.
void counting_add_facts(const Counting *c, Str tool_version);

#endif // COLLECT_COUNTERS_COUNTING_H
