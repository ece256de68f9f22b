// SPDX-License-Identifier: Apache-2.0
// A recording from start to end: the program, the events, the two threads, the signals.

#include "collect/sampling/sampling.h"

#include "base/log.h"
#include "collect/sampling/breaks_internal.h"
#include "collect/sampling/calling_internal.h"
#include "collect/sampling/drain_internal.h"
#include "collect/sampling/facts_internal.h"
#include "collect/sampling/hit_copies_internal.h"
#include "collect/sampling/order_internal.h"
#include "collect/sampling/probe_texts_internal.h"
#include "collect/sampling/sample_programs_internal.h"
#include "collect/sampling/short_lives_internal.h"
#include "collect/sampling/timers_internal.h"
#include "collect/sampling/tracer_internal.h"
#include "collect/sampling/watching_internal.h"
#include "model/facts.h"
#include "os/clock.h"
#include "os/privilege.h"
#include "os/proc.h"
#include "os/stop.h"
#include "replay/consumer.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS_PER_MS 1000000ll

#if defined(__x86_64__)
#define MACHINE_ARCH UNWIND_X86_64
#else
#define MACHINE_ARCH UNWIND_AARCH64
#endif

enum {
    POLL_MS = 25,     // for side-band records; full rings wake the drain earlier
    CALM_MS = 100,    // … while no program starts and no stack must be looked at soon,
    CALM_ROUNDS = 20, // … and none did in so many rounds
    RUNTIMES_MS = 10, // with runtimes whose frames are read after the samples
    // The same for a screen of the whole machine, of which each wake-up takes a part.
    POLL_WIDE_MS = 100,
    RUNTIMES_WIDE_MS = 25,
    FLUSH_MS = 1000,        // a recorder that is killed loses so much at most
    AFTER_SIGNAL_MS = 2000, // the program may take so long to end after Ctrl-C
    ATTACH_ROUNDS_MAX = 50,
    DRAIN_NICE = -10,
    DRAIN_SLICE_NS = 100000,
    AFTER_SECOND_SIGNAL_MS = 5000, // how long the worker may take to end
    AGENTS_MS = 50,                // how often the rings of agents are emptied
    HEAPS_MS = 10,                 // … where programs wait for that while one is full
    SWITCH_FDS_MAX = 4096,         // for records of context switches
    LOAD_AFTER_NS = 10000000,  // a command that has not ended by then gets programs in the kernel,
    LOAD_CPU_NS = 5000000,     // … when it has used so much of a processor,
    LOAD_LATEST_NS = 50000000, // … or after this time: its children may have used it
    HALF_HITS = 64,
    TICK_SHARE = 10,    // one part of this many of the time goes to looking at traced threads
    TICK_PAUSE_MAX = 8, // periods between two ticks that find no thread that runs
};

// A hit of which the newer of two layers has had its sample, which does not count.
typedef struct HalfHit {
    uint32_t tid; // 0: there is none
    int event;
    uint32_t layer; // of that sample
} HalfHit;

struct Sampling {
    Arena arena;
    const SamplingOptions *options;
    Profile *profile;
    StoreWriter *writer;
    EventSet events;
    ChunkQueue queue;
    Consumer *consumer;
    SampleEvent *sample_events; // [event]
    PerfSample sample;          // of the current record; the worker's
    uint64_t malformed;
    Table session;       // pids of the processes that are recorded, with probes of all processes
    U32Vec session_pids; // its rows
    HalfHit half_hits[HALF_HITS]; // by thread; the worker's
    uint64_t duplicates;          // samples that another event of the same thread has taken, too
    Drain drain;
    Tracer tracer;              // used instead of the kernel's events when events.traced
    bool tracing;               // the tracer has seized the child
    BreakSession breaks;        // … or when events.by_breakpoints
    Timers timers;              // … or when events.timed
    ShortLives short_lives;     // the worker's
    atomic_bool wants_switches; // the worker has seen that samples must be weighed
    bool tried_switches;
    atomic_ullong weigh_from; // when they can be; 0: they cannot yet
    Programs programs;        // in the kernel, that look at samples; the worker's once it runs
    TextReader texts;         // of texts that arguments of probes point to
    Watching watching;        // of waits
    Calling calling;          // of calls
    pthread_t worker;
    atomic_bool worker_done;
    atomic_bool recognises; // stacks that come again are not copied
    atomic_int runtimes;    // RuntimeHaste of the worker
    int worker_done_fd;     // readable when the worker has ended
    unsigned asked;         // number of signals that asked to end
    int last_signal;        // the newest of them
    atomic_ullong dumps_asked;
    atomic_bool is_full; // the file has reached the size that the user allows
    atomic_bool failed;  // the worker could not write; the error is below
    Error worker_error;
    int64_t worker_cpu_ns;
    Spawned child;
    bool child_ended;
    ChildEnd child_end;
    int signal_fd;
    sigset_t old_mask;
    sigset_t our_mask;
    U32Vec pids;       // processes that the recording attached to
    int64_t origin_ns; // 0 of the profile's times
    int64_t start_ns;
    int64_t end_ns;
    // What the worker has asked the main thread to do; NULL: nothing.
    void (*errand)(void *ctx);
    void *errand_ctx;
    pthread_mutex_t errand_lock;
    pthread_cond_t errand_done;
    atomic_int wish;      // SamplingWish of the watcher
    struct pollfd *polls; // first the rings, then the signals
    size_t polls_open;    // rings with threads that have not ended
};

// ---- The worker ---------------------------------------------------------------------

// The name of a metric: "cpu time" for "cpu-clock:u"; for an event that is no clock its own name.
static Str metric_name(const EventSpec *spec)
{
    if (spec->unit.len)
        return spec->config == PERF_COUNT_SW_CPU_CLOCK ? STR("cpu time") : STR("task time");
    size_t end = spec->type == PERF_TYPE_TRACEPOINT || spec->is_probe
                     ? SIZE_MAX
                     : str_find_char(spec->name, ':');
    return end == SIZE_MAX ? spec->name : str_slice(spec->name, 0, end);
}

static SampleStacks sample_stacks(StackMode mode)
{
    switch (mode) {
    case STACKS_TABLES:
        return SAMPLE_STACKS_TABLES;
    case STACKS_FP:
        return SAMPLE_STACKS_CHAIN;
    case STACKS_LBR:
        return SAMPLE_STACKS_LBR;
    case STACKS_WALKED:
        return SAMPLE_STACKS_WALKED;
    case STACKS_AUTO:
    case STACKS_NONE:
        break;
    }
    return SAMPLE_STACKS_NONE;
}

static const SampleEvent *event_by_id(void *ctx, uint64_t id)
{
    const Sampling *s = ctx;
    const OpenEvent *event = events_by_id(&s->events, id);
    return event && event->event != SIDE_BAND ? &s->sample_events[event->event] : NULL;
}

// The metric of that name, which several places of one probe share.
static MetricId need_metric(Profile *p, Str name, Str unit, Str event)
{
    for (uint32_t i = 0; i < p->metrics.name.len; i++)
        if (str_equal(profile_text(p, p->metrics.name.at[i]), name) &&
            str_equal(profile_text(p, p->metrics.event.at[i]), event))
            return (MetricId){i};
    return profile_add_metric(p, name, unit, METRIC_SUM, event);
}

// The arguments of a probe and the fields of a tracepoint are metrics of their own: "prog:parse
// len".
static void add_args(Sampling *s, const EventSpec *spec, SampleEvent *ret)
{
    if (spec->type == PERF_TYPE_TRACEPOINT && s->events.fields_refused)
        return;
    SampleArg *args = arena_array(&s->arena, SampleArg, spec->arg_count);
    Str owner = arena_printf(&s->arena, METRIC_ARGUMENT_OF "%" STR_FMT, STR_ARG(spec->name));
    for (size_t i = 0; i < spec->arg_count; i++) {
        Str name = arena_printf(&s->arena, "%" STR_FMT " %" STR_FMT, STR_ARG(spec->name),
                                STR_ARG(spec->args[i].name));
        Str unit = spec->args[i].kind == EVENT_ARG_TEXT ? STR(METRIC_TEXT) : STR("");
        args[i] = (SampleArg){need_metric(s->profile, name, unit, owner), &spec->args[i]};
    }
    ret->args = args;
    ret->arg_count = spec->arg_count;
}

static void open_consumer(Sampling *s)
{
    const EventSet *events = &s->events;
    uint64_t weighed_ns = 0;
    if (!events->traced && !events->timed)
        weighed_ns = events_weighed_period_ns(events);
    s->short_lives.limit_ns = weighed_ns * SHORT_LIFE_PERIODS;
    s->sample_events = arena_array(&s->arena, SampleEvent, events->events.len);
    for (size_t i = 0; i < events->events.len; i++) {
        const EventSpec *spec = &events->events.at[i];
        Str event = i == 0 || str_equal(spec->name, events->events.at[0].name) ? events->event_name
                                                                               : spec->name;
        MetricId metric = need_metric(s->profile, metric_name(spec), spec->unit, event);
        s->sample_events[i] = (SampleEvent){.metric = metric,
                                            .stacks = sample_stacks(events->stacks),
                                            .regs_user = events->layout.regs_user,
                                            .period = events_fixed_period(events, spec),
                                            .group_read = spec->group_read,
                                            .is_weighed = i == 0 && weighed_ns != 0,
                                            .is_inherited = events->base.inherit,
                                            .number = (uint32_t)i};
        add_args(s, spec, &s->sample_events[i]);
        if (spec->at_return) {
            const char *path = (const char *)(uintptr_t)spec->config1;
            s->sample_events[i].returned_path = str_from_c(path);
            s->sample_events[i].returned_svma = spec->svma;
        }
    }
    watching_add_metrics(&s->watching, &s->sample_events[0]);
    s->consumer =
        consumer_open(&(ConsumerSetup){.profile = s->profile,
                                       .arch = MACHINE_ARCH,
                                       .start_ns = s->start_ns,
                                       .weighed_period_ns = weighed_ns,
                                       .no_args = s->options->no_args,
                                       .no_commands = s->options->watch && !s->options->takes_dumps,
                                       .event_by_id = event_by_id,
                                       .ctx = s,
                                       .no_runtimes = s->options->no_runtimes,
                                       .few_stacks = s->events.heap});
}

// ---- Processes of the recording, for probes that are set on all ----

static bool in_session(const Sampling *s, uint32_t pid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&s->session, hash_u64(pid)); table_next(&s->session, &p, &row);)
        if (s->session_pids.at[row] == pid)
            return true;
    return false;
}

static void add_to_session(Sampling *s, uint32_t pid)
{
    if (!s->events.probes_are_wide || pid == 0 || in_session(s, pid))
        return;
    table_insert(&s->session, hash_u64(pid), (uint32_t)s->session_pids.len);
    vec_push(NULL, &s->session_pids, pid);
}

// Whether a sample counts, of a hit that two layers of a probe may have seen. The kernel takes that
// of the newer layer first. Where the change came between the two, neither counts by its time: then
// the older one does.
static bool layer_counts(Sampling *s, const OpenEvent *event, const PerfRecord *r)
{
    bool counts = stack_copies_layer_counts(&s->events, event, r->time);
    HalfHit *half = &s->half_hits[r->tid % HALF_HITS];
    bool is_second =
        half->tid == r->tid && half->event == event->event && half->layer == event->layer + 1;
    if (is_second) {
        half->tid = 0;
        return true;
    }
    if (!counts && event->layer && !stack_copies_layer_is_over(&s->events, event, r->time))
        *half = (HalfHit){r->tid, event->event, event->layer};
    return counts;
}

// The event of a sample; NULL for a sample that must not be counted.
static const SampleEvent *event_of_sample(Sampling *s, const PerfRecord *r)
{
    const OpenEvent *event = events_by_id(&s->events, r->id);
    if (!event || event->event == SIDE_BAND) {
        s->malformed++;
        return NULL;
    }
    // A thread that started during the attaching has its own events and those inherited from the
    // thread that made it. Only its own count.
    if (event->owner && event->owner != r->tid && events_has_owner(&s->events, r->tid)) {
        s->duplicates++;
        return NULL;
    }
    if (events_is_wide(&s->events, &s->events.events.at[event->event]) && !in_session(s, r->pid))
        return NULL;
    if (s->events.copies && !layer_counts(s, event, r))
        return NULL;
    return &s->sample_events[event->event];
}

static bool parse(Sampling *s, Bytes record, PerfRecord *ret)
{
    struct perf_event_header h = {0};
    uint64_t id = 0;
    if (record.len >= sizeof(h) + sizeof(id)) {
        memcpy(&h, record.ptr, sizeof(h));
        memcpy(&id, record.ptr + sizeof(h), sizeof(id));
    }
    const PerfLayout *layout =
        h.type == PERF_RECORD_SAMPLE ? events_sample_layout(&s->events, id) : &s->events.layout;
    return perf_record_parse(layout, record, &s->sample, ret);
}

static void take_hit(Sampling *s, const PerfRecord *r, const CopiedHit *hit)
{
    const ConsumerCounts *c = consumer_counts(s->consumer);
    uint64_t short_copies = c->short_copies, whole_copies = c->whole_copies;
    consumer_record(s->consumer, r, &s->sample_events[hit->event]);
    hit_copies_see(s->events.hits, &s->events, hit,
                   c->whole_copies != whole_copies ? c->stack_bytes : 0,
                   c->short_copies != short_copies);
}

static void deliver(void *ctx, Bytes record)
{
    Sampling *s = ctx;
    PerfRecord r;
    if (!parse(s, record, &r)) {
        s->malformed++;
        return;
    }
    const SampleEvent *event = NULL;
    // Records of forks come from recorded processes only.
    watching_until(&s->watching, s->consumer, r.time);
    if (r.type == PERF_RECORD_SWITCH)
        watching_switch(&s->watching, s->consumer, &r);
    if (r.type == PERF_RECORD_FORK)
        add_to_session(s, r.u.task.pid);
    if (r.type == PERF_RECORD_FORK && r.u.task.pid == r.u.task.tid)
        watching_add_process(&s->watching, r.u.task.pid);
    CopiedHit hit;
    HitRecord kind =
        r.type == PERF_RECORD_SAMPLE ? hit_copies_take(s->events.hits, &r, &hit) : HIT_RECORD_NONE;
    if (r.type == PERF_RECORD_SAMPLE)
        calling_mend(&s->calling, &r);
    if (kind == HIT_RECORD_COPIED)
        take_hit(s, &r, &hit);
    s->malformed += kind == HIT_RECORD_BROKEN;
    if (kind != HIT_RECORD_NONE)
        return;
    if (r.type == PERF_RECORD_SAMPLE && (watching_takes(&s->watching, s->consumer, &r) ||
                                         calling_takes(&s->calling, s->consumer, &r)))
        return;
    if (r.type == PERF_RECORD_SAMPLE && known_samples_takes(&s->programs.known, r.id)) {
        s->malformed += !consumer_known(s->consumer, &r, &s->sample_events[0]);
        return;
    }
    if (r.type == PERF_RECORD_SAMPLE && probe_texts_takes(&s->texts, r.id)) {
        if (!s->events.probes_are_wide || in_session(s, r.pid))
            consumer_texts(s->consumer, &r);
        return;
    }
    if (r.type == PERF_RECORD_SAMPLE && events_is_output(&s->events, r.id)) {
        consumer_capture(s->consumer, &r);
        return;
    }
    if (r.type == PERF_RECORD_SAMPLE && !(event = event_of_sample(s, &r)))
        return;
    uint64_t short_copies = consumer_counts(s->consumer)->short_copies;
    consumer_record(s->consumer, &r, event);
    const ConsumerCounts *c = consumer_counts(s->consumer);
    const OpenEvent *open = event && s->events.copies ? events_by_id(&s->events, r.id) : NULL;
    if (open)
        stack_copies_see(&s->events, open, r.time, c->short_copies != short_copies, c->stack_bytes);
}

static void peek(void *ctx, Bytes record)
{
    Sampling *s = ctx;
    PerfRecord r;
    if (!parse(s, record, &r))
        return;
    consumer_peek(s->consumer, &r);
    if (short_lives_see(&s->short_lives, &r))
        atomic_store(&s->wants_switches, true);
}

static void flush_store(Sampling *s)
{
    if (s->writer && !atomic_load(&s->failed) &&
        !store_writer_flush(s->writer, s->profile, &s->worker_error))
        atomic_store(&s->failed, true);
    else if (s->writer && !atomic_load(&s->failed) && s->options->drop_written)
        profile_drop_samples(s->profile);
    if (s->writer && s->options->max_bytes &&
        store_writer_bytes(s->writer) >= s->options->max_bytes)
        atomic_store(&s->is_full, true);
}

// Shows the watcher the profile.
static void show(Sampling *s, bool is_last)
{
    int wish = atomic_load(&s->wish);
    if (!s->options->watch || wish == SAMPLING_END || (wish != SAMPLING_GO_ON && !is_last))
        return;
    const ConsumerCounts *c = consumer_counts(s->consumer);
    SamplingState state = {.now_ns = os_monotonic_ns() - s->origin_ns,
                           .samples = c->samples,
                           .lost = c->lost + c->lost_samples + atomic_load(&s->drain.dropped),
                           .dumps_asked = atomic_load(&s->dumps_asked),
                           .is_last = is_last};
    wish = (int)s->options->watch(s->options->watch_ctx, s, s->profile, &state);
    if (!is_last)
        atomic_store(&s->wish, wish);
}

// Whether rights are given up once the program runs. Not where this process must make and remove
// files until the end, or must be able to take breakpoints out of a program.
static bool confines(const Sampling *s)
{
    return s->options->confine && !s->events.timed && !s->events.by_breakpoints;
}

// Whether the thread that empties the rings gives them up, too. One that makes dumps makes
// processes and files, and begins anew.
static bool confines_all(const Sampling *s)
{
    return confines(s) && !s->options->takes_dumps;
}

void sampling_run_with_rights(Sampling *s, void (*run)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&s->errand_lock);
    s->errand = run;
    s->errand_ctx = ctx;
    while (s->errand)
        pthread_cond_wait(&s->errand_done, &s->errand_lock);
    pthread_mutex_unlock(&s->errand_lock);
}

static void run_errand(Sampling *s)
{
    pthread_mutex_lock(&s->errand_lock);
    if (s->errand) {
        s->errand(s->errand_ctx);
        s->errand = NULL;
        pthread_cond_signal(&s->errand_done);
    }
    pthread_mutex_unlock(&s->errand_lock);
}

bool sampling_needs_no_rights(const Sampling *s)
{
    return !s->events.timed && !s->events.by_breakpoints && !s->events.traced;
}

// The fields of struct sched_attr up to the last one that is set; glibc 2.36 does not declare it.
typedef struct SchedAttr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
} SchedAttr;

// The drain must run when it wakes, also among hundreds of busy threads, and the worker must not
// fall behind it. A negative nice value needs rights. A short slice does not; for kernels from 6.12
// on it means an early deadline. Both may fail.
static void raise_priority(void)
{
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), DRAIN_NICE);
    SchedAttr attr = {.size = sizeof(attr)};
    if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0)
        return;
    attr.size = sizeof(attr);
    attr.runtime_ns = DRAIN_SLICE_NS;
    syscall(SYS_sched_setattr, 0, &attr, 0);
}

static int64_t cpu_of_process(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

// Waits until the command has run for a moment. True when it has ended. On a busy machine a command
// that is nearly done may have waited for a processor for most of that time.
static bool command_is_short(Sampling *s)
{
    for (int64_t waited = 0; waited < LOAD_LATEST_NS; waited += LOAD_AFTER_NS) {
        if (waited > 0 && cpu_of_process(s->child.pid) >= LOAD_CPU_NS)
            return false;
        if (queue_wait_closed(&s->queue, LOAD_AFTER_NS))
            return true;
    }
    return false;
}

// Loads the programs, unless the recorded command ends at once: the kernel checks them for longer
// than such a command takes. Records wait in the queue meanwhile.
static void load_programs(Sampling *s)
{
    Programs *p = &s->programs;
    if (!p->is_prepared || (s->child.pid > 0 && command_is_short(s)))
        return;
    programs_load(&s->events, !s->options->no_runtimes, p);
    consumer_use_programs(s->consumer, p->known.shared, p->capture.targets);
    atomic_store(&s->recognises, p->known.shared != NULL);
}

static void *work(void *arg)
{
    Sampling *s = arg;
    Order order;
    raise_priority();
    load_programs(s);
    // Capabilities and filters are each thread's own.
    if (confines(s)) {
        privilege_reduce(s->options->argv);
        (void)privilege_confine(false);
    }
    order_init(&order, &s->events.layout, s->events.ring_count, &s->queue);
    order.deliver = deliver;
    order.ctx = s;
    int64_t flushed = os_monotonic_ns();
    Chunk *chunk;
    bool weighs = false;
    uint64_t popped_ns = 0; // all records until then have been delivered
    while ((chunk = queue_pop_all(&s->queue))) {
        uint64_t now = (uint64_t)os_monotonic_ns();
        uint64_t from = atomic_load(&s->weigh_from);
        if (from && !weighs)
            consumer_weigh_from(s->consumer, from);
        weighs = from != 0;
        while (chunk) {
            Chunk *next = chunk->next;
            bool ends_round = chunk->ends_round;
            order_add(&order, chunk, peek);
            if (ends_round)
                order_round(&order);
            chunk = next;
        }
        watching_until(&s->watching, s->consumer, popped_ns);
        popped_ns = now;
        show(s, false);
        atomic_store(&s->runtimes, (int)consumer_has_runtimes(s->consumer));
        if (os_monotonic_ns() - flushed > FLUSH_MS * NS_PER_MS) {
            flush_store(s);
            flushed = os_monotonic_ns();
        }
    }
    order_flush(&order);
    order_deinit(&order);
    show(s, true);
    s->worker_cpu_ns = os_thread_cpu_ns();
    atomic_store(&s->worker_done, true);
    (void)!eventfd_write(s->worker_done_fd, 1);
    return NULL;
}

// ---- Attaching --------------------------------------------------------------------------

static bool in_list(const U32Vec *v, uint32_t n)
{
    for (size_t i = 0; i < v->len; i++)
        if (v->at[i] == n)
            return true;
    return false;
}

// Adds the descendants of all processes in the list.
static void add_children(U32Vec *pids)
{
    for (size_t i = 0; i < pids->len; i++) {
        U32Vec children = {0};
        proc_list_children(pids->at[i], &children);
        for (size_t j = 0; j < children.len; j++)
            if (!in_list(pids, children.at[j]))
                vec_push(NULL, pids, children.at[j]);
        vec_free(&children);
    }
}

static bool check_target(Sampling *s, uint32_t pid, const char *what, ProcStatus *st, Error *err)
{
    if (!proc_exists(pid) || !proc_status_read(&s->arena, pid, st, NULL)) {
        (void)error_set(err, ERROR_NOT_FOUND, "no %s %u", what, pid);
        return error_hint(err, "it may have ended; see: ps -e");
    }
    if (pid == (uint32_t)getpid())
        return error_set(err, ERROR_USAGE, "%s %u is assay itself", what, pid);
    if (st->uid != geteuid() && geteuid() != 0 && !s->events.limits.privileged) {
        (void)error_set(err, ERROR_PERMISSION, "%s %u ('%" STR_FMT "') belongs to user id %u", what,
                        pid, STR_ARG(st->name), st->uid);
        return error_hint(err, "run: sudo assay record -%c %u", what[0] == 'p' ? 'p' : 't', pid);
    }
    return true;
}

// Opens events on all existing threads, and repeats that until there is no new thread. A new thread
// was made by a thread with events, and inherits them, or by one without, and the next pass finds
// it. If both happen, the samples of the inherited events are recognised by their id.
static bool attach_all(Sampling *s, Error *err)
{
    const SamplingOptions *o = s->options;
    for (int round = 0; round < ATTACH_ROUNDS_MAX; round++) {
        bool grew = false;
        if (!o->no_inherit)
            add_children(&s->pids);
        U32Vec tids = {0};
        for (size_t i = 0; i < s->pids.len; i++)
            if (!proc_list_threads(s->pids.at[i], &tids, NULL))
                continue;
        for (size_t i = 0; round == 0 && i < o->tid_count; i++)
            vec_push(NULL, &tids, o->tids[i]);
        bool ok = true;
        for (size_t i = 0; ok && i < tids.len; i++) {
            if (events_has_owner(&s->events, tids.at[i]))
                continue;
            grew = true;
            ok = events_attach(&s->events, tids.at[i], err);
        }
        vec_free(&tids);
        if (!ok)
            return false;
        if (!grew)
            break;
    }
    if (s->events.ring_count == 0)
        return error_set(err, ERROR_NOT_FOUND, "the process to observe is gone");
    return true;
}

// Asks for records of context switches of all threads, once samples must be weighed by them. A
// thread that is made meanwhile inherits them or is found by the next round.
static void follow_switches(Sampling *s)
{
    const SamplingOptions *o = s->options;
    U32Vec done = {0}, pids = {0};
    bool ok = true, grew = true;
    s->tried_switches = true;
    for (size_t i = 0; i < s->pids.len; i++)
        vec_push(NULL, &pids, s->pids.at[i]);
    if (s->child.pid > 0)
        vec_push(NULL, &pids, (uint32_t)s->child.pid);
    for (int round = 0; ok && grew && round < ATTACH_ROUNDS_MAX; round++) {
        U32Vec tids = {0};
        grew = false;
        add_children(&pids);
        for (size_t i = 0; i < pids.len; i++)
            (void)!proc_list_threads(pids.at[i], &tids, NULL);
        for (size_t i = 0; round == 0 && i < o->tid_count; i++)
            vec_push(NULL, &tids, o->tids[i]);
        for (size_t i = 0; ok && i < tids.len; i++) {
            if (in_list(&done, tids.at[i]))
                continue;
            grew = true;
            vec_push(NULL, &done, tids.at[i]);
            ok = done.len * s->events.cpu_count <= SWITCH_FDS_MAX &&
                 events_open_switches(&s->events, tids.at[i]);
        }
        vec_free(&tids);
    }
    if (ok)
        atomic_store(&s->weigh_from, (uint64_t)os_monotonic_ns());
    log_debug(LOG_RECORD, 1, "context switches of %zu threads: %s", done.len, ok ? "yes" : "no");
    vec_free(&done);
    vec_free(&pids);
}

static bool open_attached(Sampling *s, Error *err)
{
    const SamplingOptions *o = s->options;
    size_t threads = o->tid_count;
    s->events.limits = perf_limits();
    ProcStatus st;
    for (size_t i = 0; i < o->pid_count; i++) {
        if (!check_target(s, o->pids[i], "process", &st, err))
            return false;
        if (st.thread_group != o->pids[i]) {
            (void)error_set(err, ERROR_USAGE, "%u is a thread of process %u", o->pids[i],
                            st.thread_group);
            return error_hint(err, "use -p %u, or -t %u for this thread alone", st.thread_group,
                              o->pids[i]);
        }
        if (!in_list(&s->pids, o->pids[i]))
            vec_push(NULL, &s->pids, o->pids[i]);
    }
    for (size_t i = 0; i < o->tid_count; i++)
        if (!check_target(s, o->tids[i], "thread", &st, err))
            return false;
    if (!o->no_inherit)
        add_children(&s->pids);
    U32Vec tids = {0};
    for (size_t i = 0; i < s->pids.len; i++)
        if (!proc_list_threads(s->pids.at[i], &tids, NULL))
            continue;
    threads += tids.len;
    vec_free(&tids);
    return events_open(&s->arena, o, 0, threads, &s->events, err) && attach_all(s, err);
}

// Adds the processes that ran before the recording. They are read after the events are open, so
// that no mapping is missed, and before the events are enabled.
static void add_existing(Sampling *s)
{
    const SamplingOptions *o = s->options;
    ProcStatus st;
    if (o->system_wide) {
        U32Vec all = {0};
        if (proc_list_all(&all, NULL))
            for (size_t i = 0; i < all.len; i++)
                consumer_add_existing(s->consumer, all.at[i]);
        vec_free(&all);
    }
    for (size_t i = 0; i < s->pids.len; i++)
        consumer_add_existing(s->consumer, s->pids.at[i]);
    for (size_t i = 0; i < o->tid_count; i++)
        if (proc_status_read(&s->arena, o->tids[i], &st, NULL))
            consumer_add_existing(s->consumer, st.thread_group);
}

// ---- Signals and the child -----------------------------------------------------------------

static bool take_signals(Sampling *s, Error *err)
{
    sigemptyset(&s->our_mask);
    const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        sigaddset(&s->our_mask, wanted[i]);
    if (s->options->takes_dumps)
        sigaddset(&s->our_mask, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &s->our_mask, &s->old_mask);
    s->signal_fd = signalfd(-1, &s->our_mask, SFD_NONBLOCK | SFD_CLOEXEC);
    return s->signal_fd >= 0 || error_os(err, "cannot receive signals");
}

static void look_at_child(Sampling *s)
{
    if (s->tracing) {
        s->child_ended = s->tracer.child_ended;
        s->child_end = s->tracer.child_end;
        return;
    }
    if (s->child.pid > 0 && !s->child_ended)
        s->child_ended = spawn_collect(&s->child, &s->child_end);
}

// Reads the pending signals; true when one asks to end. A signal that was sent only to this process
// is passed on to the program; a terminal sends its signals to both.
static bool read_signals(Sampling *s)
{
    struct signalfd_siginfo info;
    bool asked = false;
    while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        int number = (int)info.ssi_signo;
        if (number == SIGUSR2)
            atomic_fetch_add(&s->dumps_asked, 1);
        if (number == SIGCHLD || number == SIGUSR2)
            continue;
        asked = true;
        s->asked += stop_note_request();
        s->last_signal = number;
        if (s->child.pid > 0 && !s->child_ended && info.ssi_code != SI_KERNEL)
            kill(s->child.pid, number);
    }
    look_at_child(s);
    return asked;
}

static bool start_child(Sampling *s, const Program *program, Error *err)
{
    // `argv` belongs to the caller; exec does not change it.
    if (!spawn_prepare(program, s->options->argv, &s->old_mask, &s->child, err))
        return false;
    // The parent of this process may have set SIGCHLD to be ignored; then no child could be waited
    // for. This comes after the fork, so that the child keeps the setting.
    signal(SIGCHLD, SIG_DFL);
    return true;
}

// ---- The loop -----------------------------------------------------------------------------

static bool make_polls(Sampling *s)
{
    size_t n = s->events.ring_count;
    s->polls = arena_array(&s->arena, struct pollfd, n + 1);
    for (size_t i = 0; i < n; i++)
        s->polls[i] = (struct pollfd){.fd = s->events.ring_fds[i], .events = POLLIN};
    s->polls[n] = (struct pollfd){.fd = s->signal_fd, .events = POLLIN};
    s->polls_open = n;
    return true;
}

// An event's descriptor hangs up when its thread and all threads that inherited it have ended.
// Other threads may still write to the ring: the descriptor of one of their events takes its place.
static void replace_hung_up(Sampling *s, size_t ring)
{
    const EventSet *e = &s->events;
    for (size_t i = 0; i < e->open.len; i++) {
        const OpenEvent *o = &e->open.at[i];
        // For each thread there is a side-band event on each CPU.
        if (o->event != SIDE_BAND || o->ring != ring)
            continue;
        struct pollfd p = {.fd = o->fd, .events = POLLIN};
        if (poll(&p, 1, 0) >= 0 && !(p.revents & (POLLHUP | POLLERR | POLLNVAL))) {
            s->polls[ring].fd = o->fd;
            return;
        }
    }
    s->polls[ring].fd = -1;
    s->polls_open--;
}

typedef struct Course {
    int64_t enable; // when to enable samples; INT64_MAX: they are enabled
    int64_t end;    // when to end; INT64_MAX: not limited
} Course;

static Course course_of(const Sampling *s)
{
    const SamplingOptions *o = s->options;
    return (Course){.enable = o->delay_ns ? s->start_ns + o->delay_ns : INT64_MAX,
                    .end = o->duration_ns ? s->start_ns + o->delay_ns + o->duration_ns : INT64_MAX};
}

static int poll_timeout_ms(Sampling *s, const Course *c)
{
    int64_t now = os_monotonic_ns();
    int64_t next = MIN(c->enable, c->end);
    int haste = atomic_load(&s->runtimes);
    bool runtimes = haste == RUNTIMES_CHANGE;
    bool is_calm =
        s->drain.calm_rounds > CALM_ROUNDS && atomic_load(&s->recognises) && haste == RUNTIMES_NONE;
    int most = runtimes ? RUNTIMES_MS : is_calm ? CALM_MS : POLL_MS;
    if (s->options->watch && s->options->system_wide)
        most = runtimes ? RUNTIMES_WIDE_MS : POLL_WIDE_MS;
    if (next == INT64_MAX || next - now > most * NS_PER_MS)
        return most;
    return next <= now ? 0 : (int)((next - now) / NS_PER_MS + 1);
}

static void start_samples(Sampling *s)
{
    if (s->tracing)
        tracer_start(&s->tracer);
    else if (s->events.by_breakpoints)
        breaks_start(&s->breaks);
    else if (s->events.timed)
        timers_start(&s->timers);
    else
        events_enable(&s->events, true, false);
}

// Passes the watcher's interruption on to the program, once.
static bool is_interrupted_by_watcher(Sampling *s)
{
    int wish = SAMPLING_INTERRUPT;
    if (!atomic_compare_exchange_strong(&s->wish, &wish, SAMPLING_INTERRUPT_SENT))
        return false;
    s->asked++;
    s->last_signal = SIGINT;
    if (s->child.pid > 0 && !s->child_ended)
        kill(s->child.pid, SIGINT);
    return true;
}

// Handles everything but records; true when the recording must end.
static bool is_over(Sampling *s, Course *c, bool signalled, SamplingResult *result)
{
    run_errand(s);
    if (atomic_load(&s->wish) == SAMPLING_END)
        return true;
    if (is_interrupted_by_watcher(s) || (signalled && read_signals(s))) {
        result->interrupted = true;
        // The program gets the signal and time to end, so that its end is in the recording.
        if (s->child.pid <= 0 || s->asked > 1)
            return true;
        c->end = MIN(c->end, os_monotonic_ns() + AFTER_SIGNAL_MS * NS_PER_MS);
    }
    // A SIGCHLD may be read with that of an earlier stop, before the end is waited for.
    if (s->tracing)
        look_at_child(s);
    if (s->child.pid > 0        ? s->child_ended
        : s->timers.is_attached ? timers_target_ended(&s->timers)
                                : s->polls_open == 0)
        return true;
    if (atomic_load(&s->failed) || atomic_load(&s->is_full))
        return true;
    int64_t now = os_monotonic_ns();
    if (now >= c->enable) {
        start_samples(s);
        c->enable = INT64_MAX;
    }
    return now >= c->end;
}

// Drains until the recording ends.
static void loop(Sampling *s, SamplingResult *result)
{
    Course course = course_of(s);
    size_t rings = s->events.ring_count;
    for (;;) {
        int n = poll(s->polls, rings + 1, poll_timeout_ms(s, &course));
        drain_all(&s->drain);
        for (size_t i = 0; n > 0 && i < rings; i++)
            if (s->polls[i].fd >= 0 && s->polls[i].revents & (POLLHUP | POLLERR | POLLNVAL))
                replace_hung_up(s, i);
        // These two system calls are saved while rings are full.
        bool signalled = n <= 0 || s->polls[rings].revents;
        if (atomic_load(&s->wants_switches) && !s->tried_switches)
            follow_switches(s);
        if (atomic_load(&s->events.wants_copies))
            stack_copies_resize(&s->events);
        if (is_over(s, &course, signalled, result))
            return;
    }
}

// The same with ptrace: SIGCHLD reports stops, and this loop makes the ticks.
static void loop_traced(Sampling *s, SamplingResult *result)
{
    Course course = course_of(s);
    int64_t period = (int64_t)(1000000000u / s->events.freq_hz);
    int64_t tick = os_monotonic_ns(), pause = 1;
    struct pollfd p = {.fd = s->signal_fd, .events = POLLIN};
    for (;;) {
        int64_t left = MAX(tick - os_monotonic_ns(), (int64_t)0);
        struct timespec wait = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        bool signalled = ppoll(&p, 1, &wait, NULL) > 0;
        while (tracer_reap(&s->tracer))
            ;
        int64_t now = os_monotonic_ns();
        if (s->options->watch && now - s->tracer.pushed_ns > POLL_MS * NS_PER_MS)
            tracer_push_round(&s->tracer);
        if (now >= tick) {
            // Where threads sleep most of the time, most ticks find none that runs: then they
            // become rarer, as with hundreds of threads, of which each tick takes long.
            pause = tracer_tick(&s->tracer) ? 1 : MIN(pause * 2, (int64_t)TICK_PAUSE_MAX);
            int64_t took = os_monotonic_ns() - now;
            tick = MAX(tick + period * pause, now + took * TICK_SHARE);
        }
        if (is_over(s, &course, signalled, result))
            return;
    }
}

// A short program is looked at often, for its levels over time; a long one less often.
static int heaps_ms(const Sampling *s)
{
    enum { LOOKS = 30 };
    int64_t age_ms = (os_monotonic_ns() - s->start_ns) / NS_PER_MS;
    if (s->timers.is_filling)
        return HEAPS_MS;
    return (int)MAX(MIN(age_ms / LOOKS, (int64_t)AGENTS_MS), (int64_t)HEAPS_MS);
}

// The same with agents, which nothing but the time asks to be looked at.
static void loop_timed(Sampling *s, SamplingResult *result)
{
    Course course = course_of(s);
    struct pollfd p = {.fd = s->signal_fd, .events = POLLIN};
    for (;;) {
        int most = s->events.heap ? heaps_ms(s) : AGENTS_MS;
        int wait = MIN(poll_timeout_ms(s, &course), most);
        bool signalled = poll(&p, 1, wait) > 0;
        timers_look(&s->arena, &s->timers);
        (void)timers_drain(&s->timers);
        if (is_over(s, &course, signalled, result))
            return;
    }
}

// The same with the process that sets breakpoints, which sends records.
static void loop_broken(Sampling *s, SamplingResult *result)
{
    Course course = course_of(s);
    struct pollfd p[] = {{.fd = s->signal_fd, .events = POLLIN},
                         {.fd = s->breaks.line, .events = POLLIN}};
    for (;;) {
        int n = poll(p, s->breaks.has_ended ? 1 : 2, poll_timeout_ms(s, &course));
        if (n > 0 && !s->breaks.has_ended && p[1].revents)
            breaks_receive(&s->breaks);
        if (is_over(s, &course, n > 0 && p[0].revents, result))
            return;
    }
}

// ---- From start to end ----------------------------------------------------------------------

static bool open_events(Sampling *s, Error *err)
{
    const SamplingOptions *o = s->options;
    if (o->argv && !start_child(s, o->program, err))
        return false;
    if (o->pid_count || o->tid_count)
        return open_attached(s, err);
    return events_open(&s->arena, o, s->child.pid, 0, &s->events, err);
}

// Whether ptrace or timers can replace perf events: they can sample the processor time of a
// command, with stacks.
static bool can_replace_events(const SamplingOptions *o)
{
    return o->argv && !o->system_wide && !o->kernel_only && o->period == 0 &&
           (!o->events || o->events->len == 0) &&
           (o->stacks == STACKS_AUTO || o->stacks == STACKS_TABLES);
}

static bool has_probes(const SamplingOptions *o)
{
    return o->events && o->events->len && o->events->at[0].is_probe;
}

// Starts to trace the child. `why` says why there are no events.
static bool open_traced(Sampling *s, Str why, Error *err)
{
    events_close(&s->events);
    tracer_events(&s->arena, s->options, why, &s->events);
    s->tracing = tracer_seize(&s->tracer, &s->events, &s->queue, s->child.pid, err);
    return s->tracing;
}

// Starts the child anew, with a library to preload.
static bool open_timed(Sampling *s, Str why, Error *err)
{
    spawn_close(&s->child, true);
    events_close(&s->events);
    timers_events(&s->arena, s->options, why, &s->events);
    return timers_open(&s->arena, s->options, &s->events, &s->queue, &s->timers, err) &&
           start_child(s, &s->timers.program, err);
}

// Prepares to attach to a process.
static bool open_target(Sampling *s, Error *err)
{
    timers_events(&s->arena, s->options, STR(""), &s->events);
    return timers_open(&s->arena, s->options, &s->events, &s->queue, &s->timers, err);
}

// Starts the child anew, traced by a process that sets breakpoints in it.
static bool open_broken(Sampling *s, Str why, Error *err)
{
    spawn_close(&s->child, true);
    events_close(&s->events);
    breaks_events(&s->arena, s->options, why, &s->events);
    return breaks_open(&s->events, &s->queue, &s->breaks, err) &&
           start_child(s, &s->breaks.program, err) && breaks_attach(&s->breaks, s->child.pid, err);
}

// The features that the user named.
static bool open_engine(Sampling *s, Error *err)
{
    const SamplingOptions *o = s->options;
    if (o->heap_target)
        return open_target(s, err);
    if (o->engine == ENGINE_PERF)
        return open_events(s, err);
    if (o->engine == ENGINE_PTRACE && has_probes(o))
        return breaks_can(o, err) && open_broken(s, STR(""), err);
    if (!can_replace_events(o)) {
        (void)error_set(err, ERROR_USAGE,
                        "this engine samples the processor time of a command, with stacks: it "
                        "takes no -p, -t, -a, -C, -e, -c, --all-kernel or other --call-graph");
        return error_hint(err, "leave --engine out");
    }
    if (o->engine == ENGINE_TIMER)
        return open_timed(s, STR(""), err);
    return start_child(s, o->program, err) && open_traced(s, STR(""), err);
}

// Further hints about refused probes: breakpoints do it, or why they do not.
static void explain_breakpoints(const Sampling *s, const Error *refused, Error *why)
{
    Error before = *why;
    if (refused->text[0])
        (void)error_hint(why, "%s; breakpoints do not work here either: %s", before.hint,
                         refused->text);
    else if (!s->options->argv && has_probes(s->options) && before.kind == ERROR_PERMISSION)
        (void)error_hint(why,
                         "%s; without rights, commands that assay starts are probed by "
                         "breakpoints: record -e PROBE -- CMD",
                         before.hint);
}

// Opens the kernel's events or, when they are refused, a tracer, or timers where that is refused,
// too. On false the error is the refusal of perf events.
static bool open_sampler(Sampling *s, Error *err)
{
    Error why = {0}, next = {0};
    queue_init(&s->queue);
    if (s->options->engine != ENGINE_AUTO)
        return open_engine(s, err);
    if (open_events(s, &why))
        return true;
    Str text = arena_printf(&s->arena, "%s%s%s", why.text, why.hint[0] ? "; " : "", why.hint);
    if (s->child.pid > 0 && can_replace_events(s->options) && perf_event_probe() != 0) {
        if (open_traced(s, text, &next))
            return true;
        log_debug(LOG_RECORD, 1, "%s", next.text);
        text = arena_printf(&s->arena, "%" STR_FMT "; no ptrace: %s", STR_ARG(text), next.text);
        if (open_timed(s, text, &next))
            return true;
        log_debug(LOG_RECORD, 1, "%s", next.text);
    }
    next = (Error){0};
    if (has_probes(s->options) && s->options->argv &&
        (why.kind == ERROR_PERMISSION || perf_event_probe() != 0)) {
        if (breaks_can(s->options, &next) && open_broken(s, text, &next))
            return true;
        log_debug(LOG_RECORD, 1, "%s", next.text);
        breaks_close(&s->breaks);
    }
    explain_breakpoints(s, &next, &why);
    if (err)
        *err = why;
    return false;
}

static bool start_worker(Sampling *s, Error *err)
{
    s->drain = (Drain){.events = &s->events, .queue = &s->queue};
    s->worker_done_fd = eventfd(0, EFD_CLOEXEC);
    if (s->worker_done_fd < 0)
        return error_os(err, "cannot start a thread");
    int rc = pthread_create(&s->worker, NULL, work, s);
    if (rc) {
        errno = rc;
        return error_os(err, "cannot start a thread");
    }
    return true;
}

// Waits for the worker to finish the queue. False when it hangs, as on a file of
// a file system that does not answer, and a second signal asked us to end.
static bool stop_worker(Sampling *s)
{
    queue_close(&s->queue);
    struct pollfd p[2] = {{.fd = s->worker_done_fd, .events = POLLIN},
                          {.fd = s->signal_fd, .events = POLLIN}};
    int64_t patience = INT64_MAX;
    unsigned asked = s->asked;
    if (asked > 1)
        patience = os_monotonic_ns() + AFTER_SECOND_SIGNAL_MS * NS_PER_MS;
    while (!atomic_load(&s->worker_done)) {
        (void)!poll(p, 2, POLL_MS);
        run_errand(s);
        (void)!read_signals(s);
        if ((s->asked > asked && s->asked > 1) || os_monotonic_ns() > patience)
            return false;
    }
    pthread_join(s->worker, NULL);
    return true;
}

static void run_drained(Sampling *s, SamplingResult *result)
{
    loop(s, result);
    s->end_ns = os_monotonic_ns();
    events_disable(&s->events);
    watching_stop(&s->watching);
    calling_stop(&s->calling);
    drain_all(&s->drain);
    drain_all(&s->drain);
    look_at_child(s);
}

static void run_traced(Sampling *s, SamplingResult *result)
{
    loop_traced(s, result);
    s->end_ns = os_monotonic_ns();
    watching_stop(&s->watching);
    tracer_detach(&s->tracer);
    look_at_child(s);
    s->tracing = false;
    s->drain.dropped = s->tracer.dropped;
}

static void run_broken(Sampling *s, SamplingResult *result)
{
    loop_broken(s, result);
    s->end_ns = os_monotonic_ns();
    watching_stop(&s->watching);
    breaks_stop(&s->breaks);
    look_at_child(s);
    s->drain.dropped = s->breaks.counts.dropped;
}

static void run_timed(Sampling *s, SamplingResult *result)
{
    loop_timed(s, result);
    s->end_ns = os_monotonic_ns();
    watching_stop(&s->watching);
    look_at_child(s);
    timers_stop(&s->timers);
    s->drain.dropped = s->timers.dropped;
}

static void attend_tracer(void *ctx)
{
    Sampling *s = ctx;
    while (tracer_reap(&s->tracer))
        ;
}

static void attend_static(void *ctx)
{
    Sampling *s = ctx;
    timers_attend_exec(&s->timers);
}

// A static program runs to its first allocation, where the agent is put into it.
static bool release_static(Sampling *s, Error *err)
{
    const Program *program = s->options->program;
    if (!timers_trace_exec(s->options, (uint32_t)s->child.pid, &s->timers, err) ||
        !spawn_release_traced(&s->child, program, attend_static, s, err))
        return false;
    if (!timers_arm(&s->arena, &s->timers, err)) {
        spawn_close(&s->child, true);
        return false;
    }
    timers_look(&s->arena, &s->timers);
    return true;
}

static bool release_child(Sampling *s, Error *err)
{
    const Program *program = s->options->program;
    if (s->timers.is_static)
        return release_static(s, err);
    return s->tracing ? spawn_release_traced(&s->child, program, attend_tracer, s, err)
                      : spawn_release(&s->child, program, err);
}

// A child that was made before the program knew its parent is found now.
static void begin_hits(Sampling *s)
{
    hit_copies_begin(s->events.hits, s->child.pid, &s->pids);
    if (s->pids.len) {
        add_children(&s->pids);
        hit_copies_begin(s->events.hits, s->child.pid, &s->pids);
    }
}

static bool record(Sampling *s, SamplingResult *result, Error *err)
{
    const SamplingOptions *o = s->options;
    programs_prepare(&s->events, &s->programs);
    if (!probe_texts_open(&s->events, &s->texts, err))
        return false;
    watching_open(&s->watching, &s->events, s->profile);
    if (!calling_open(&s->calling, &s->events, s->profile, err))
        return false;
    // Behind what loads programs into the kernel, which takes 0.1 s: times count from here.
    s->origin_ns = s->start_ns = os_monotonic_ns();
    open_consumer(s);
    facts_at_start(s->profile, o, &s->events, s->start_ns);
    // Before /proc is read, so that there are records of changes during the reading.
    bool by_exec = o->argv && !o->system_wide;
    if (!by_exec || o->delay_ns)
        events_enable(&s->events, false, true);
    add_existing(s);
    watching_begin(&s->watching, s->child.pid, &s->pids);
    calling_begin(&s->calling, s->child.pid, &s->pids);
    add_to_session(s, (uint32_t)MAX(s->child.pid, 0));
    for (size_t i = 0; i < s->pids.len; i++)
        add_to_session(s, s->pids.at[i]);
    if (s->events.hits)
        begin_hits(s);
    if (confines_all(s))
        stack_copies_keep_rights(&s->events);
    if ((!s->events.traced && !s->events.timed && !make_polls(s)) || !start_worker(s, err))
        return false;
    // A drain that runs late loses samples; draining itself needs little time.
    raise_priority();
    if (o->delay_ns == 0 && (!by_exec || s->events.traced || s->events.timed))
        start_samples(s);
    else if (o->delay_ns == 0)
        events_enable_wide(&s->events);
    if ((o->argv && !release_child(s, err)) ||
        (o->heap_target && !timers_attach(&s->timers, err))) {
        if (!stop_worker(s))
            result->killed_by = s->last_signal;
        return false;
    }
    if (o->argv)
        watching_released(&s->watching, s->child.pid);
    if (confines_all(s)) {
        privilege_reduce(o->argv);
        bool confined = privilege_confine(s->tracing);
        log_debug(LOG_RECORD, 1, "rights reduced, %s", confined ? "calls filtered" : "no filter");
    }
    s->start_ns = os_monotonic_ns();
    s->timers.origin_ns = s->origin_ns;
    if (s->tracing)
        run_traced(s, result);
    else if (s->events.by_breakpoints)
        run_broken(s, result);
    else if (s->events.timed)
        run_timed(s, result);
    else
        run_drained(s, result);
    if (stop_worker(s))
        return true;
    result->killed_by = s->last_signal;
    return error_set(err, ERROR_OS, "the recorder hangs and was ended by a second signal");
}

static void settle_result(Sampling *s, SamplingResult *r)
{
    consumer_find_late_maps(s->consumer);
    const ConsumerCounts *c = consumer_counts(s->consumer);
    uint64_t kernel_lost = events_lost(&s->events);
    if (kernel_lost == UINT64_MAX)
        kernel_lost = c->lost + c->lost_samples;
    if (s->events.timed)
        kernel_lost = agent_rings_counts(&s->timers.rings).lost;
    if (s->events.hits) {
        uint64_t unsaid, all = hit_copies_lost(s->events.hits, &unsaid);
        kernel_lost += s->events.counts_lost ? all : unsaid;
    }
    r->samples = c->samples;
    r->lost = kernel_lost + s->drain.dropped;
    r->complete = c->complete;
    r->with_gap = c->with_gap;
    r->with_stack = c->with_stack;
    r->wall_ns = s->end_ns - s->start_ns;
    r->recorder_cpu_ns = s->worker_cpu_ns + os_thread_cpu_ns();
    r->has_child = s->child.pid > 0;
    r->child_pid = s->child.pid;
    r->child_status = s->child_end.status;
    r->disk_wait_ns = s->child_ended ? s->child_end.disk_wait_ns : -1;
    r->blocks_in = (uint64_t)s->child_end.usage.ru_inblock;
    r->blocks_out = (uint64_t)s->child_end.usage.ru_oublock;
    r->child_runs = r->has_child && !s->child_ended;
    uint32_t running = r->has_child ? consumer_running(s->consumer) : 0;
    r->still_running = running - MIN(running, (uint32_t)r->child_runs);
    if (s->options->system_wide)
        r->still_running = 0;
    log_debug(LOG_RECORD, 1,
              "%llu samples, %llu known (%llu wrong), %llu frames, worker %lld us, drain %lld us, "
              "%llu bytes of rings, "
              "%llu kept, tables %llu bytes, %llu malformed, %llu duplicates",
              (unsigned long long)c->samples, (unsigned long long)c->known,
              (unsigned long long)c->known_wrong, (unsigned long long)c->frames_walked,
              (long long)s->worker_cpu_ns / 1000, (long long)os_thread_cpu_ns() / 1000,
              (unsigned long long)s->drain.bytes_in, (unsigned long long)s->drain.bytes_out,
              (unsigned long long)consumer_modules(s->consumer)->table_bytes,
              (unsigned long long)s->malformed, (unsigned long long)s->duplicates);
}

void sampling_snapshot(Sampling *s, SamplingResult *result)
{
    *result = (SamplingResult){0};
    s->end_ns = os_monotonic_ns();
    consumer_finish(s->consumer, (uint64_t)s->end_ns);
    settle_result(s, result);
    watching_snapshot(&s->watching, s->consumer, (uint64_t)s->end_ns);
    calling_finish(&s->calling, s->consumer, (uint64_t)s->end_ns, result);
    facts_at_end(s->profile, &s->events, s->consumer, s->malformed, &s->drain,
                 &(FactsOfEngine){.has_programs = s->programs.known.shared}, NULL, result);
}

bool sampling_run(const SamplingOptions *options, Profile *profile, StoreWriter *writer,
                  Sampling **ret, SamplingResult *result, Error *err)
{
    Sampling *s = heap_alloc(sizeof(*s));
    s->options = options;
    s->profile = profile;
    s->writer = writer;
    s->signal_fd = s->worker_done_fd = -1;
    pthread_mutex_init(&s->errand_lock, NULL);
    pthread_cond_init(&s->errand_done, NULL);
    s->child = (Spawned){.release_fd = -1, .result_fd = -1, .pid_fd = -1};
    *result = (SamplingResult){0};
    bool ok = take_signals(s, err) && open_sampler(s, err) && record(s, result, err);
    if (ok) {
        consumer_finish(s->consumer, (uint64_t)s->end_ns);
        settle_result(s, result);
        watching_finish(&s->watching, s->consumer, (uint64_t)s->end_ns, result);
        calling_finish(&s->calling, s->consumer, (uint64_t)s->end_ns, result);
        if (s->events.heap)
            heap_fill_rows(profile, s->sample_events[0].metric, &s->timers.heaps,
                           &s->timers.timeline, s->origin_ns,
                           &(HeapRowOptions){.clock = options->heap_clock,
                                             .mappings = options->heap_mappings,
                                             .copies = options->heap_copies,
                                             .short_lived = options->short_lived,
                                             .sample_bytes = options->heap_sample_bytes});
        timers_note(&s->timers, profile);
        facts_at_end(profile, &s->events, s->consumer, s->malformed, &s->drain,
                     &(FactsOfEngine){.tracer = s->events.traced && !s->events.by_breakpoints
                                                    ? &s->tracer
                                                    : NULL,
                                      .breaks = s->events.by_breakpoints ? &s->breaks.counts : NULL,
                                      .timers = s->events.timed ? &s->timers : NULL,
                                      .has_programs = s->programs.known.shared},
                     s->child_ended ? &s->child_end : NULL, result);
        events_close(&s->events);
        result->interrupted_by = result->interrupted ? s->last_signal : 0;
        result->write_failed = atomic_load(&s->failed);
        result->write_error = s->worker_error;
    }
    if (!ok && result->killed_by)
        return false; // the worker still uses all of it
    if (!ok) {
        // Ends a program that was not started yet; a running program is left alone.
        spawn_close(&s->child, s->child.release_fd >= 0);
        sampling_close(s);
        return false;
    }
    *ret = s;
    return true;
}

bool sampling_module_bytes(Sampling *s, Str path, Str build_id_hex, Bytes *ret)
{
    return modules_bytes(consumer_modules(s->consumer), &s->arena, path, build_id_hex, ret);
}

SourceAccess sampling_source(Sampling *s, Str path, Str build_id_hex, Str source, MappedFile *ret)
{
    return modules_source(consumer_modules(s->consumer), path, build_id_hex, source, ret);
}

void sampling_wait(Sampling *s, SamplingResult *result)
{
    struct pollfd p = {.fd = s->signal_fd, .events = POLLIN};
    look_at_child(s);
    while (!s->child_ended) {
        if (poll(&p, 1, 1000) > 0 && read_signals(s) && !s->child_ended)
            return;
        look_at_child(s);
    }
    result->child_runs = false;
    result->child_status = s->child_end.status;
}

void sampling_close(Sampling *s)
{
    if (!s)
        return;
    spawn_close(&s->child, false);
    programs_close(&s->programs);
    probe_texts_close(&s->texts);
    watching_close(&s->watching);
    calling_close(&s->calling);
    events_close(&s->events);
    tracer_deinit(&s->tracer);
    timers_close(&s->timers);
    breaks_close(&s->breaks);
    consumer_close(s->consumer);
    queue_deinit(&s->queue);
    if (s->worker_done_fd >= 0)
        close(s->worker_done_fd);
    if (s->signal_fd >= 0) {
        close(s->signal_fd);
        if (!s->options->is_followed)
            pthread_sigmask(SIG_SETMASK, &s->old_mask, NULL);
    }
    vec_free(&s->pids);
    table_deinit(&s->session);
    vec_free(&s->session_pids);
    pthread_cond_destroy(&s->errand_done);
    pthread_mutex_destroy(&s->errand_lock);
    arena_deinit(&s->arena);
    heap_free(s);
}
