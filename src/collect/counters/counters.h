// SPDX-License-Identifier: Apache-2.0
// Counting events (not sampling): opened for a process, threads or CPUs, read
// with the times that tell how much of the while they counted.
// Format: perf_event_open(2), PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING.

#ifndef COLLECT_COUNTERS_COUNTERS_H
#define COLLECT_COUNTERS_COUNTERS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "collect/counters/family_hits.h"
#include "os/event.h"
#include "os/perf_event.h"

// What is counted. A process and its later children: one target {pid, -1}. A
// CPU: {-1, cpu}.
typedef struct CounterTarget {
    int32_t pid;
    int32_t cpu;
    bool is_cgroup; // `pid` is a descriptor of a control group's folder
} CounterTarget;
typedef Vec(CounterTarget) CounterTargetVec;

typedef struct CounterOptions {
    bool inherit;        // count later children and threads too
    bool by_threads;     // of probes: count each target apart, and none of its later children
    bool enable_on_exec; // else counters_enable starts them
    bool skips_gone;     // threads that have ended count nothing, instead of failing
    bool may_be_none;    // it is not a failure when none can be opened
} CounterOptions;

// One event as it was opened.
typedef struct Counter {
    EventSpec spec;
    Str name;       // with ":u" added where the kernel's part was refused
    bool user_only; // that
    int *fds;       // one for each target and place
    size_t places;  // of a probe: so many specs of its name are counted as one
    uint32_t row;   // of a probe that is counted by `family`
} Counter;
typedef Vec(Counter) CounterVec;

// An event that could not be opened, and why.
typedef struct CounterMissing {
    Str name;
    Error reason;
} CounterMissing;
typedef Vec(CounterMissing) CounterMissingVec;

typedef struct Counters {
    Arena *arena;
    CounterVec events;
    CounterTargetVec targets;
    CounterMissingVec missing;
    // Counts the probes; NULL: the events of each target do. With it, the events of probes are
    // dummies that measure the time.
    FamilyHits *family;
    bool is_cut; // probes do not count the threads and processes that begin later
} Counters;

typedef struct CounterValue {
    uint64_t value;      // as counted, not scaled
    uint64_t enabled_ns; // it should have counted
    uint64_t running_ns; // it did: less when the PMU was shared out
} CounterValue;

// Opens each event for each target. Consecutive probes of one name are one counter. Events that
// cannot be had are listed in `missing`; false, with the first one's reason, only when none is
// left, or when a target is gone, or a probe is refused.
MUST_CHECK bool counters_open(Arena *arena, const EventSpecVec *events,
                              const CounterTargetVec *targets, const CounterOptions *options,
                              Counters *ret, Error *err);
void counters_close(Counters *c);
// Whether this user may count the probes among the events. The error says what works without
// rights.
MUST_CHECK bool counters_check_probes(const EventSpecVec *events, Error *err);

// Start and stop counting, for all events and targets. The counts are kept.
void counters_enable(const Counters *c);
void counters_disable(const Counters *c);

// Of one event and target; zeros when it cannot be read. What `family` counts is in the first
// target.
CounterValue counters_read(const Counters *c, size_t event, size_t target);

// The sum of two values of one event, for example of two targets.
static inline CounterValue counter_sum(CounterValue a, CounterValue b)
{
    return (CounterValue){a.value + b.value, a.enabled_ns + b.enabled_ns,
                          a.running_ns + b.running_ns};
}

// The difference of two readings of one counter.
static inline CounterValue counter_since(CounterValue now, CounterValue before)
{
    return (CounterValue){now.value - before.value, now.enabled_ns - before.enabled_ns,
                          now.running_ns - before.running_ns};
}

// Its count scaled to the whole time; NaN when it never ran.
double counter_scaled(CounterValue v);

// The number of specs from `first` on that are one counter: those of a probe of several places,
// else one.
size_t counter_places(const EventSpecVec *events, size_t first);

#endif // COLLECT_COUNTERS_COUNTERS_H
