// SPDX-License-Identifier: Apache-2.0
// The recording's events as the kernel opened them: which, on which CPUs and
// threads, with which rings, and what had to be given up on the way.

#ifndef COLLECT_SAMPLING_EVENTS_INTERNAL_H
#define COLLECT_SAMPLING_EVENTS_INTERNAL_H

#include "base/table.h"
#include "collect/sampling/sampling.h"
#include "os/perf_event.h"
#include "perfdata/perf_record.h"

enum { SIDE_BAND = -1 }; // event number of the dummies that carry mmap, comm, fork, exit

typedef struct OpenEvent {
    int fd;
    int event;      // index into EventSet.events, or SIDE_BAND
    uint32_t owner; // tid it was opened on; 0: a launched child or a CPU
    uint64_t id;    // what records call it
    uint32_t ring;  // where it writes
} OpenEvent;

typedef struct EventSet {
    Arena *arena;
    const SamplingOptions *options;
    PerfLimits limits;
    EventSpecVec events; // as opened: after the ladder and the fallbacks
    Str event_name;      // of the first, with ":u" where the kernel is left out
    Str fallback;        // why not the better one; "" if none
    StackMode stacks;    // never STACKS_AUTO
    bool user_only;      // for the kernel part is not allowed
    bool kernel_refused; // … and was not asked to be left out
    bool group_read;     // some event is read with its leader
    uint64_t freq_hz;    // as opened; 0 with a period
    bool freq_clamped;
    uint32_t stack_bytes;
    size_t ring_pages;
    bool counts_lost;            // PERF_FORMAT_LOST works
    struct perf_event_attr base; // what all events share
    PerfLayout layout;
    uint32_t *cpus; // one ring each, or none with per_thread
    size_t cpu_count;
    bool traced;     // no events at all: samples come from a Tracer
    bool per_thread; // one ring a thread: too many threads for a descriptor each and CPU
    Vec(OpenEvent) open;
    PerfRing *rings;
    int *ring_fds;
    size_t ring_count;
    Table by_id;    // id -> index of `open`
    Table by_owner; // tid -> any index of `open` with that owner
} EventSet;

// Settles events, stacks and sizes; opens everything disabled and maps the
// rings, but with -p and -t, where events_attach does so thread by thread.
// `child` is the waiting child or 0; `expected_threads` are to be attached to.
MUST_CHECK bool events_open(Arena *arena, const SamplingOptions *options, pid_t child,
                            size_t expected_threads, EventSet *ret, Error *err);
void events_close(EventSet *set);

// Opens events on a further thread. One that is gone meanwhile is no error.
MUST_CHECK bool events_attach(EventSet *set, uint32_t tid, Error *err);
// True when the thread has events of its own.
bool events_has_owner(const EventSet *set, uint32_t tid);
void events_enable(EventSet *set, bool samples, bool side_band);
void events_disable(EventSet *set);
// Samples that the kernel could not store, as it counts them. UINT64_MAX when
// this kernel does not count.
uint64_t events_lost(const EventSet *set);

// NULL when no event has that id.
const OpenEvent *events_by_id(const EventSet *set, uint64_t id);

#endif // COLLECT_SAMPLING_EVENTS_INTERNAL_H
