// SPDX-License-Identifier: Apache-2.0
// Every event of this machine, and whether it opens here for this user.

#ifndef OS_EVENT_LIST_H
#define OS_EVENT_LIST_H

#include "os/event.h"
#include "os/perf_event.h"

typedef enum EventGroup {
    EVENT_GROUP_HARDWARE,
    EVENT_GROUP_CACHE,
    EVENT_GROUP_SOFTWARE,
    EVENT_GROUP_PMU, // what the PMUs of sysfs describe, uprobe and kprobe included
    EVENT_GROUP_RAW,
    EVENT_GROUP_BREAKPOINT,
    EVENT_GROUP_TRACEPOINT,
    EVENT_GROUP_COUNT
} EventGroup;

const char *event_group_name(EventGroup group); // "hardware"

// One event, or one form that stands for many ("rNNNN", "mem:ADDRESS[/LENGTH][:rwx]").
typedef struct ListedEvent {
    EventGroup group;
    Str name;  // as -e takes it
    Str alias; // another name for the same; "" when there is none
    Str about; // what is to be filled in, or what it is; "" when the name says it
    Str try;   // what stands for it in a try, as -e takes it; "" for PMUs of probes
    Str pmu;   // the PMU's name, the tracepoint's system; "" for others
} ListedEvent;

typedef Vec(ListedEvent) ListedEventVec;

// Appends every event, by group. Of tracepoints those that `tracefs` shows this
// user; when it shows none, `no_tracepoints` says why and what would help.
void event_list(Arena *arena, const EventSources *src, ListedEventVec *ret, Error *no_tracepoints);

typedef enum EventAccess {
    EVENT_CLOSED,     // does not open; the error says why
    EVENT_OPENS,      // for sampling and counting
    EVENT_COUNTS,     // for counting only
    EVENT_COUNTS_CPU, // for counting on whole CPUs only (uncore PMUs)
} EventAccess;

typedef struct EventTry {
    EventAccess access;
    bool user_only; // without the kernel's part: this user may not see that
    Error err;      // why not, or why only the user part, and what lifts it
} EventTry;

// Really opens the event on this process and closes it again.
EventTry event_try(Arena *arena, const EventSources *src, const PerfLimits *limits,
                   const ListedEvent *event);

#endif // OS_EVENT_LIST_H
