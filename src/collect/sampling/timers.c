// SPDX-License-Identifier: Apache-2.0
// Sampling by timers inside the observed processes.

#include "collect/sampling/timers_internal.h"

#include "model/facts.h"
#include "os/clock.h"
#include "os/proc.h"

#include <sys/resource.h>
#include <time.h>

enum {
    RATE_MAX_HZ = 1000,         // the kernel's tick gives fewer
    RING_BYTES_MIN = 128 << 10, // and so much for each processor: seconds of samples
    RING_BYTES_MAX = 16 << 20,
    HEAP_RING_BYTES = 1 << 20, // for records of sites; each process takes the time to make it
};

void timers_events(Arena *arena, const SamplingOptions *options, Str why, EventSet *ret)
{
    *ret = (EventSet){.arena = arena, .options = options, .limits = perf_limits()};
    ret->stacks = STACKS_WALKED;
    ret->user_only = true;
    ret->timed = true;
    ret->counts_lost = true;
    ret->heap = options->heap;
    if (!ret->heap || options->heap_with_time) {
        ret->freq_hz = options->freq_hz ? options->freq_hz : RATE_MAX_HZ;
        ret->freq_clamped = ret->freq_hz > RATE_MAX_HZ;
        ret->freq_hz = MIN(ret->freq_hz, (uint64_t)RATE_MAX_HZ);
    }
    ret->event_name = STR(EVENT_TIMERS);
    ret->fallback = why;
    EventSpec clock = {.name = STR(EVENT_TIMERS),
                       .type = PERF_TYPE_SOFTWARE,
                       .config = PERF_COUNT_SW_CPU_CLOCK,
                       .unit = STR("ns"),
                       .group = EVENT_NO_GROUP};
    EventSpec site = {.name = STR("blocks allocated"),
                      .type = PERF_TYPE_SOFTWARE,
                      .config = PERF_COUNT_SW_DUMMY,
                      .group = EVENT_NO_GROUP};
    uint64_t id = options->heap ? WIRE_SITE_EVENT_ID : WIRE_EVENT_ID;
    if (options->heap)
        ret->event_name = STR(EVENT_HEAP);
    vec_push(arena, &ret->events, options->heap ? site : clock);
    ret->base = (struct perf_event_attr){.sample_type = WIRE_SAMPLE_TYPE, .sample_id_all = 1};
    ret->layout = perf_layout(&ret->base);
    // The merge needs one ring; there is nothing in it to drain or to close.
    ret->rings = arena_new(arena, PerfRing);
    ret->ring_count = 1;
    vec_push(NULL, &ret->open, (OpenEvent){.fd = -1, .event = 0, .id = id});
    table_insert(&ret->by_id, hash_u64(id), 0);
    if (!options->heap || !options->heap_with_time)
        return;
    vec_push(arena, &ret->events, clock);
    vec_push(NULL, &ret->open, (OpenEvent){.fd = -1, .event = 1, .id = WIRE_EVENT_ID});
    table_insert(&ret->by_id, hash_u64(WIRE_EVENT_ID), 1);
}

static uint64_t ring_bytes(void)
{
    U32Vec online = {0};
    uint64_t cpus = cpu_list_online(&online, NULL) ? online.len : 1;
    vec_free(&online);
    return MIN(round_up_pow2(MAX(cpus, (uint64_t)1)) * RING_BYTES_MIN, (uint64_t)RING_BYTES_MAX);
}

static HeapEntries entries_of(const SamplingOptions *options)
{
    return (HeapEntries){.wire = (WireEntries *)(uintptr_t)options->heap_entries.ptr};
}

static bool can_attach(const SamplingOptions *options)
{
    const HeapEntries entries = entries_of(options);
    return heap_attach_can(&entries);
}

// Of a static program, whose functions that allocate were found.
static bool check_static(const Program *p, const SamplingOptions *options, Error *err)
{
    const char *what = options->heap_mappings ? "mappings" : options->heap_copies ? "copies" : NULL;
    if (!what)
        return true;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "cannot record %s of '%" STR_FMT "': it is statically linked", what,
                    STR_ARG(p->path));
    return error_hint(err, "link it dynamically, or leave the option out: blocks are recorded");
}

// Whether a library can be preloaded into the program.
static bool check_program(const Program *p, const SamplingOptions *options, Error *err)
{
    bool heap = options->heap;
    if (heap && p->is_static && can_attach(options) && !options->heap_with_time)
        return check_static(p, options, err);
    if (heap && (p->is_static || p->is_32bit)) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "cannot record the heap of '%" STR_FMT "': it is %s", STR_ARG(p->path),
                        p->is_static ? "statically linked, and loads no library"
                                     : "a 32-bit program");
        return error_hint(err, !p->is_static             ? "build it without -m32"
                               : options->heap_with_time ? "assay heap records its blocks, if it "
                                                           "has symbols, and assay record its time"
                                                         : "link it dynamically, or keep its "
                                                           "symbols: malloc is found by them");
    }
    if (p->is_static) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "cannot record '%" STR_FMT "' by timers: it is statically linked, and "
                        "loads no library",
                        STR_ARG(p->path));
        return error_hint(err, "link it dynamically, or allow perf events or ptrace: assay doctor");
    }
    if (p->is_32bit) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "cannot record '%" STR_FMT "' by timers: it is a 32-bit program",
                        STR_ARG(p->path));
        return error_hint(err, "allow perf events or ptrace: assay doctor");
    }
    return true;
}

// The sums of each process are mapped here, too; and the programs have the same limit.
static bool check_addresses(Error *err)
{
    enum { LEAST_MIB = 2048 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >> 20 >= LEAST_MIB)
        return true;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "cannot keep account of the heap: this process may have only %llu MiB of "
                    "addresses (ulimit -v), and needs %d",
                    (unsigned long long)limit.rlim_cur >> 20, LEAST_MIB);
    return error_hint(err, "limit the program alone, to 256 MiB or more: assay heap -- sh -c "
                           "'ulimit -v 262144; exec PROGRAM'");
}

bool timers_open(Arena *arena, const SamplingOptions *options, const EventSet *events,
                 ChunkQueue *queue, Timers *ret, Error *err)
{
    AgentSessionOptions session = {.temp_folder = options->temp_folder,
                                   .environment = options->environment,
                                   .period_ns = events->freq_hz ? 1000000000u / events->freq_hz : 0,
                                   .notes_heap = events->heap,
                                   .notes_mappings = options->heap_mappings,
                                   .notes_copies = options->heap_copies,
                                   .clock_kind = options->heap_clock,
                                   .short_lived = options->short_lived,
                                   .sample_bytes = options->heap_sample_bytes,
                                   .entries = options->heap_entries,
                                   .ring_bytes = events->heap ? HEAP_RING_BYTES : ring_bytes()};
    assert(options->environment);
    ret->queue = queue;
    if (options->program)
        ret->program = *options->program;
    if (events->heap && !options->heap_target && ret->program.is_static)
        ret->orphan = heap_orphan_new(entries_of(options).wire);
    session.orphaned = ret->orphan ? heap_orphan_detach : NULL;
    session.orphaned_ctx = ret->orphan;
    if ((events->heap && !check_addresses(err)) || !check_program(&ret->program, options, err) ||
        !agent_session_open(arena, &session, &ret->session, err))
        return false;
    ret->program.environment = ret->session.environment;
    ret->is_static = events->heap && ret->program.is_static;
    ret->target = options->heap_target;
    if (ret->target && !heap_attacher_start(&ret->session, ret->target, &ret->attacher, err)) {
        agent_session_close(&ret->session);
        return false;
    }
    agent_heaps_init(&ret->heaps, &ret->session);
    agent_rings_init(&ret->rings, &ret->session, events->heap ? &ret->heaps : NULL);
    return true;
}

bool timers_attach(Timers *t, Error *err)
{
    t->is_attached = heap_attacher_attach(&t->attacher, err);
    if (!t->is_attached)
        agent_session_leave(&t->session, AGENT_ALL);
    return t->is_attached;
}

bool timers_trace_exec(const SamplingOptions *options, uint32_t pid, Timers *t, Error *err)
{
    const HeapEntries entries = entries_of(options);
    t->at_exec_waits = heap_at_exec_begin(pid, &entries, options->program->path, &t->at_exec, err);
    return t->at_exec_waits;
}

void timers_attend_exec(Timers *t)
{
    heap_at_exec_attend(&t->at_exec);
}

bool timers_arm(Arena *arena, Timers *t, Error *err)
{
    return heap_at_exec_arm(arena, &t->at_exec, err);
}

void timers_look(Arena *arena, Timers *t)
{
    // Most programs allocate at once.
    enum { TRIES = 200, TRY_NS = 100000 };
    HeapAtExecState state = HEAP_AT_EXEC_RUNS;
    for (unsigned i = 0; t->at_exec_waits && state == HEAP_AT_EXEC_RUNS && i < TRIES; i++) {
        state = heap_at_exec_look(&t->at_exec);
        if (state == HEAP_AT_EXEC_RUNS && t->has_looked)
            return;
        struct timespec pause = {.tv_nsec = TRY_NS};
        if (state == HEAP_AT_EXEC_RUNS)
            nanosleep(&pause, NULL);
    }
    t->has_looked = true;
    if (state == HEAP_AT_EXEC_RUNS)
        return;
    t->at_exec_waits = false;
    t->ended_unallocated = state == HEAP_AT_EXEC_GONE;
    if (state == HEAP_AT_EXEC_REACHED)
        t->is_attached = heap_at_exec_attach(arena, &t->at_exec, &t->session, t->orphan,
                                             &t->attached, &t->not_attached);
    heap_at_exec_end(&t->at_exec);
}

// The process that has the agent in it: options.heap_target, or the static command.
static uint32_t pid_of(const Timers *t)
{
    return t->target ? t->target->pid : t->attached.remote.pid;
}

bool timers_target_ended(const Timers *t)
{
    return t->is_attached && !agent_process_runs(pid_of(t));
}

static void detach(Timers *t)
{
    heap_attacher_end(&t->attacher);
    if (!t->is_attached || t->target)
        return;
    if (!timers_target_ended(t))
        heap_detach(&t->attached);
    remote_close(&t->attached.remote);
}

// Of a command that is statically linked.
static void note_static(const Timers *t, Profile *p)
{
    Str path = t->program.path;
    if (t->is_attached)
        profile_note(p, NOTE_INFO, STR("attached"),
                     "'%" STR_FMT "' is statically linked: %u functions were hooked at its first "
                     "allocation; child processes that it forks are not in this recording",
                     STR_ARG(path), t->attached.hooked);
    else if (t->not_attached.text[0])
        profile_note(p, NOTE_WARNING, STR("not-hooked"),
                     "'%" STR_FMT "' is statically linked, and its blocks are not in this "
                     "recording: %s",
                     STR_ARG(path), t->not_attached.text);
    else if (t->ended_unallocated)
        profile_note(p, NOTE_INFO, STR("no-allocation"),
                     "'%" STR_FMT "' ended, or executed another program, before it allocated",
                     STR_ARG(path));
}

void timers_note(const Timers *t, Profile *p)
{
    if (t->is_static)
        note_static(t, p);
    if (!t->is_attached)
        return;
    const HeapAttachment *is = &t->attacher.is;
    uint32_t pid = pid_of(t);
    if (!t->is_static)
        profile_note(
            p, NOTE_INFO, STR("attached"),
            "attached to process %u: %u functions hooked, its threads stopped for at most "
            "%.1f ms at a time; what it allocated before is not known by its stack, and its "
            "child processes are not in this recording",
            pid, is->hooked, (double)is->stopped_ns / 1e6);
    if (t->is_static ? t->attached.is_left : is->is_left)
        profile_note(p, NOTE_WARNING, STR("agent-left"),
                     "the code of process %u is as before, but a thread did not leave the agent: "
                     "the agent's memory stays mapped there",
                     pid);
}

void timers_start(Timers *t)
{
    agent_session_set(&t->session, WIRE_SAMPLING);
}

static void push(Timers *t)
{
    queue_push(t->queue, t->chunk);
    t->chunk = NULL;
}

static void take(void *ctx, Bytes record)
{
    Timers *t = ctx;
    struct perf_event_header h;
    memcpy(&h, record.ptr, sizeof(h));
    if (t->chunk && CHUNK_BYTES - t->chunk->len < record.len)
        push(t);
    if (!t->chunk) {
        t->chunk = queue_take_empty(t->queue, h.type != PERF_RECORD_SAMPLE);
        if (!t->chunk) {
            t->dropped++;
            return;
        }
        t->chunk->ring = 0;
    }
    memcpy(t->chunk->data + t->chunk->len, record.ptr, record.len);
    t->chunk->len += (uint32_t)record.len;
}

bool timers_drain(Timers *t)
{
    if (t->is_attached && t->target)
        heap_attacher_reap(&t->attacher);
    else if (t->is_attached)
        remote_reap(&t->attached.remote);
    bool is_round = agent_rings_drain(&t->rings, take, t);
    if (t->rings.heaps)
        heap_timeline_add(&t->timeline, os_monotonic_ns() - t->origin_ns, &t->heaps);
    enum { MANY_BYTES = 64 << 10, QUIET = 2 };
    t->is_filling = t->rings.bytes.len > MANY_BYTES;
    t->quiet_rounds = t->rings.bytes.len ? 0 : t->quiet_rounds + 1;
    // An empty chunk is pushed, too: the end of a round delivers the records of the round before.
    if ((t->quiet_rounds > QUIET || !is_round) && !t->chunk)
        return is_round;
    if (!t->chunk)
        t->chunk = queue_take_empty(t->queue, true);
    t->chunk->ends_round = is_round;
    push(t);
    return is_round;
}

void timers_stop(Timers *t)
{
    if (t->at_exec_waits)
        heap_at_exec_end(&t->at_exec);
    detach(t);
    agent_session_set(&t->session, WIRE_OVER);
    // Each ring has two turns: the first may be before the agents have seen that it is over.
    for (int round = 0; round < 2; round++)
        while (!timers_drain(t))
            ;
    agent_heaps_finish(&t->heaps);
}

void timers_close(Timers *t)
{
    heap_orphan_free(t->orphan);
    t->orphan = NULL;
    if (!t->session.page)
        return;
    heap_attacher_end(&t->attacher);
    agent_rings_deinit(&t->rings);
    agent_heaps_deinit(&t->heaps);
    heap_timeline_deinit(&t->timeline);
    if (t->is_attached)
        agent_session_leave(&t->session, t->is_static ? t->attached.remote.pid : AGENT_ALL);
    agent_session_close(&t->session);
}
