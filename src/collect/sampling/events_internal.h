// SPDX-License-Identifier: Apache-2.0
// The open perf events of a recording: on which CPUs and threads, with which ring buffers,
// and which of the user's wishes the kernel refused.

#ifndef COLLECT_SAMPLING_EVENTS_INTERNAL_H
#define COLLECT_SAMPLING_EVENTS_INTERNAL_H

#include <stdatomic.h>

#include "base/table.h"
#include "collect/sampling/probe_cost_internal.h"
#include "collect/sampling/sampling.h"
#include "os/keeper.h"
#include "os/perf_event.h"
#include "perfdata/perf_record.h"

// Event number of dummy events, which only deliver records of mmap, comm, fork and exit.
enum { SIDE_BAND = -1 };

typedef struct OpenEvent {
    int fd;
    int event;      // index into EventSet.events, or SIDE_BAND
    uint32_t owner; // tid it was opened on; 0: a launched child or a CPU
    uint64_t id;    // the id of the event in records
    uint32_t ring;  // index of the ring that it writes to
    uint32_t layer; // 0: opened first; more: opened again later, with larger copies of the stack
} OpenEvent;

// Probes that were opened again while the recording runs. It does not change once the worker can
// see it.
typedef struct EventLayer {
    struct EventLayer *older; // NULL: the first
    OpenEvent *open;
    size_t open_count;
    Table by_id; // id -> index of `open`
} EventLayer;

enum { STACK_LAYERS_MAX = 9 }; // of one probe, the first included

typedef struct HitCopies HitCopies;

// How much of the stack is copied at a probe.
typedef struct StackCopies {
    atomic_uint bytes;  // of the newest layer; 0: as all events
    atomic_uint wanted; // what the worker asks for; 0: nothing
    atomic_uint layer;  // number of the newest layer
    // The time from which on the samples of a layer count, and those of the one before do not; 0:
    // not yet. That of layer 0 is unused.
    atomic_ullong from_ns[STACK_LAYERS_MAX];
    // The worker's: whole stacks since `first_ns`, and the largest of these. Once it has asked for
    // smaller copies it looks on only when they had to grow again.
    uint32_t whole;
    uint64_t first_ns;
    uint64_t most_bytes;
    bool has_asked;
    uint32_t growths;
} StackCopies;

typedef struct EventSet {
    Arena *arena;
    const SamplingOptions *options;
    PerfLimits limits;
    EventSpecVec events; // as opened, which may be other events than the user asked for
    Str event_name;      // of the first, with ":u" when kernel code is not sampled
    Str fallback;        // why the first is not a better event; "" when it is the best
    StackMode stacks;    // never STACKS_AUTO
    bool user_only;      // kernel code is not sampled
    bool kernel_refused; // … because this user may not, although it was asked for
    bool fields_refused; // of tracepoints: this user may not have them
    bool group_read;     // some event is read with its leader
    uint64_t freq_hz;    // as opened; 0 with a period
    bool freq_clamped;
    bool probes_are_ours; // no process that is not recorded has the probed files mapped
    bool probes_are_wide; // probes are open on all processes; of others, samples are left out
    HitCopies
        *hits; // a BPF program copies the hits of all events, which are probes; NULL: none does
    uint32_t stack_bytes;
    size_t ring_pages;
    ProbeCost hit_cost;          // of the first event, when it is a probe
    bool counts_lost;            // PERF_FORMAT_LOST works
    struct perf_event_attr base; // what all events share
    PerfLayout layout;
    PerfLayout counted_layout; // of samples of events with a fixed period: these do not state it
    uint32_t *cpus;            // each has one ring; with per_thread none has
    size_t cpu_count;
    bool traced;          // there are no events: a Tracer makes the samples
    bool by_breakpoints;  // … of probes: its breakpoints take the place of the kernel's
    bool timed;           // there are no events: agents in the processes make the samples
    bool heap;            // … which are the sites that allocate
    uint64_t *output_ids; // of the events through which BPF programs write into the rings
    size_t output_count;
    PerfLayout output_layout;
    bool per_thread; // one ring for each thread: for each thread and CPU there are too few
                     // descriptors
    Vec(OpenEvent) open;
    PerfRing *rings;
    int *ring_fds;
    size_t ring_count;
    Vec(int) switch_fds;      // of events_open_switches and _switch_stacks; heap memory
    Vec(uint64_t) switch_ids; // of events_open_switch_stacks; heap memory
    Table switch_by_id;       // id -> index of `switch_ids`
    PerfLayout switch_layout; // … of their samples
    Table by_id;              // id -> index of `open`
    Table by_owner;           // tid -> any index of `open` with that owner
    Keeper opener;            // of stack_copies_keep_rights
    pid_t child;              // that the first events were opened on; 0: none
    StackCopies *copies;      // [event] where probes copy only the size of stack that has proved
                              // necessary; NULL: they do not
    _Atomic(EventLayer *) layers; // the newest; NULL: there is none
    atomic_bool wants_copies;     // some event's `wanted` is set
} EventSet;

// Chooses events, stack mode and sizes, opens all events disabled and maps the rings. With -p and
// -t it opens nothing: events_attach does that for each thread. `child` is the waiting child or 0;
// `expected_threads` is the number of threads to attach to.
MUST_CHECK bool events_open(Arena *arena, const SamplingOptions *options, pid_t child,
                            size_t expected_threads, EventSet *ret, Error *err);
void events_close(EventSet *set); // closes all descriptors and unmaps all rings

// Opens events on one more thread. A thread that has ended meanwhile is no error.
MUST_CHECK bool events_attach(EventSet *set, uint32_t tid, Error *err);
// True when the thread has events of its own.
bool events_has_owner(const EventSet *set, uint32_t tid);
// Enables the events that sample, the SIDE_BAND events, or both.
void events_enable(EventSet *set, bool samples, bool side_band);
void events_disable(EventSet *set); // disables all events
// Enables the probes of all processes, which no exec enables.
void events_enable_wide(EventSet *set);
// The number of samples that the kernel could not store; UINT64_MAX when this kernel does not
// count them.
uint64_t events_lost(const EventSet *set);
// How often the first event happened, by the kernel's counters of all processors, also in threads
// without a sample; 0 where the samples are not the kernel's.
uint64_t events_counted(const EventSet *set);

// Stands for all threads of the machine.
#define EVENTS_EVERY_THREAD UINT32_MAX
// From now on the rings get a record of each context switch of a thread, and of those that it makes
// from now on. False when the kernel refuses it; no error when the thread has ended.
bool events_open_switches(EventSet *set, uint32_t tid);
// The same, and before each record of a thread that leaves its processor a sample with the
// registers and a copy of the stack. Needs the right to sample the kernel.
bool events_open_switch_stacks(EventSet *set, uint32_t tid);
// Whether the kernel allows that for this user.
bool events_can_open_switch_stacks(const EventSet *set);
// Whether a sample with that id is such a one.
bool events_is_switch_stack(const EventSet *set, uint64_t id);
// Whether the kernel's quota for this user keeps the rings smaller than they should be.
bool events_rings_are_limited(const EventSet *set);
// The period in ns of the one event whose samples may be weighed by processor time: a clock with a
// rate, which also runs in the kernel and which new threads inherit. 0: there is none.
uint64_t events_weighed_period_ns(const EventSet *set);

// The arguments with which an event is opened.
struct perf_event_attr events_sampler_attr(const EventSet *set, const EventSpec *spec);

// stack_copies.c. Starts a process that keeps the right to open the probes again, for a recorder
// that gives up its rights. Without it the recorder opens them itself.
void stack_copies_keep_rights(EventSet *set);
// The worker has seen a stack at a probe, at this time: larger than its copy, or of so many bytes.
// `copies` must be there.
void stack_copies_see(EventSet *set, const OpenEvent *event, uint64_t time_ns, bool is_short,
                      uint64_t bytes);
// Opens the probes again whose copies are to have another size. To be called by the thread that
// empties the rings. An event that cannot be opened stays as it is.
void stack_copies_resize(EventSet *set);
// Whether a sample of that time counts, of a probe that is open twice for a moment; and whether it
// does not because a newer layer counts already. `copies` must be there.
bool stack_copies_layer_counts(const EventSet *set, const OpenEvent *event, uint64_t time);
bool stack_copies_layer_is_over(const EventSet *set, const OpenEvent *event, uint64_t time);

// Whether an event is open on all processes although only some are recorded.
static inline bool events_is_wide(const EventSet *set, const EventSpec *spec)
{
    return spec->is_probe && set->probes_are_wide;
}

// The period that an event was opened with; 0: it follows a rate, or takes no samples.
uint64_t events_fixed_period(const EventSet *set, const EventSpec *spec);
// The layout of a sample of the event with that id.
const PerfLayout *events_sample_layout(const EventSet *set, uint64_t id);

// Announces events through which a BPF program writes into the rings: those of all programs have
// the same layout. `arena` holds the ids.
void events_add_outputs(Arena *arena, EventSet *set, const struct perf_event_attr *attr,
                        const uint64_t *ids, size_t count);
// Lets a BPF program look at each sample before the kernel writes it. False with errno.
bool events_set_program(const EventSet *set, int program);
// Whether a BPF program wrote the record with that id.
bool events_is_output(const EventSet *set, uint64_t id);

// NULL when no event has that id.
const OpenEvent *events_by_id(const EventSet *set, uint64_t id);

#endif // COLLECT_SAMPLING_EVENTS_INTERNAL_H
