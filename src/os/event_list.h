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
    Str alias; // another name for the same event; "" when there is none
    Str about; // what the event is, or which parts of the form the user fills in; "" when the
               // name says it
    Str try;   // an event of this form that event_try opens, as -e takes it; "" for the PMUs of
               // uprobes and kprobes
    Str pmu;   // the PMU's name, the tracepoint's system; "" for others
} ListedEvent;

typedef Vec(ListedEvent) ListedEventVec;

// Appends every event, group by group. Tracepoints are only those that this user can read in
// `tracefs`; when there are none, `no_tracepoints` says why and what would help.
void event_list(Arena *arena, const EventSources *src, ListedEventVec *ret, Error *no_tracepoints);

typedef enum EventAccess {
    EVENT_CLOSED,     // does not open; the error says why
    EVENT_OPENS,      // for sampling and counting
    EVENT_COUNTS,     // for counting only
    EVENT_COUNTS_CPU, // for counting on whole CPUs only (uncore PMUs)
} EventAccess;

typedef struct EventTry {
    EventAccess access;
    bool user_only; // the event opens only without kernel code, which this user may not observe
    Error err;      // why it does not open, or only for user code; the hint says what allows it
} EventTry;

// Tests an event: opens it on this process and closes it again.
EventTry event_try(Arena *arena, const EventSources *src, const PerfLimits *limits,
                   const ListedEvent *event);

#endif // OS_EVENT_LIST_H
