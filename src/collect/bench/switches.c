// SPDX-License-Identifier: Apache-2.0
// Records of context switches to times with and without a CPU.

#include "collect/bench/switches.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/perf_event.h"
#include "os/proc.h"

// A switch is 48 bytes at most: room for a second at 40,000 switches; without rights, for what the
// quota of locked memory leaves beside the sampler's rings.
enum { PAGES_MOST = 512, PAGES_LEAST = 4 };

typedef struct SwitchRing {
    int fd;
    PerfRing ring;
} SwitchRing;

// The name that a thread got while it was watched, for those that have ended when it is asked for.
typedef struct SeenName {
    uint32_t tid;
    char comm[16];
} SeenName;

struct SwitchWatch {
    SwitchRing *rings;
    size_t count;
    bool sees_others;
    Vec(SeenName) names; // of the present run
};

// One record, in a form that all kinds share.
typedef struct SwitchEvent {
    enum { SWITCH_OUT, SWITCH_IN, SWITCH_EXEC, SWITCH_FORK, SWITCH_EXIT } kind;
    bool preempted;
    int64_t time_ns;
    uint32_t cpu, pid, tid;
    uint32_t other_pid, other_tid; // SWITCH_OUT: who comes next; SWITCH_FORK: the new thread
    uint32_t sequence;             // as read, so that equal times keep their order
} SwitchEvent;
typedef Vec(SwitchEvent) SwitchEventVec;

// What follows each record: sample_id with TID, TIME and CPU.
typedef struct SampleId {
    uint32_t pid, tid;
    uint64_t time_ns;
    uint32_t cpu, reserved;
} SampleId;

// ---- Rings -------------------------------------------------------------------

static int open_event(int cpu, bool all)
{
    struct perf_event_attr attr =
        perf_event_of_tasks(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU);
    attr.inherit = !all;
    attr.context_switch = 1;
    return perf_event_open(&attr, all ? -1 : 0, cpu, -1);
}

// Maps the largest ring that the kernel grants.
static bool map_ring(SwitchRing *r, Error *err)
{
    for (size_t pages = PAGES_MOST; pages >= PAGES_LEAST; pages /= 2)
        if (ring_map(r->fd, pages, &r->ring))
            return true;
    return error_os(err, "cannot map records of context switches");
}

static bool open_all(SwitchWatch *w, bool all, Error *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus; cpu++) {
        SwitchRing *r = &w->rings[w->count];
        r->fd = open_event(cpu, all);
        if (r->fd < 0 && errno == ENODEV)
            continue; // the CPU is offline
        if (r->fd < 0)
            return error_os(err, "cannot open records of context switches");
        if (!map_ring(r, err)) {
            close(r->fd);
            return false;
        }
        w->count++;
    }
    w->sees_others = all;
    return w->count > 0 || error_set(err, ERROR_OS, "no CPU is online");
}

static void close_rings(SwitchWatch *w)
{
    for (size_t i = 0; i < w->count; i++) {
        ring_unmap(&w->rings[i].ring);
        close(w->rings[i].fd);
    }
    w->count = 0;
}

bool switch_watch_open(SwitchWatch **ret, Error *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    SwitchWatch *w = heap_alloc(sizeof(*w));
    w->rings = heap_alloc((cpus > 0 ? (size_t)cpus : 1) * sizeof(*w->rings));
    bool ok = open_all(w, true, err);
    if (!ok) {
        close_rings(w);
        ok = open_all(w, false, err);
    }
    if (!ok) {
        switch_watch_close(w);
        return false;
    }
    *ret = w;
    return true;
}

void switch_watch_close(SwitchWatch *w)
{
    if (!w)
        return;
    close_rings(w);
    vec_free(&w->names);
    heap_free(w->rings);
    heap_free(w);
}

bool switch_watch_sees_others(const SwitchWatch *w)
{
    return w->sees_others;
}

void switch_watch_begin(SwitchWatch *w)
{
    w->names.len = 0;
    for (size_t i = 0; i < w->count; i++)
        ring_release(&w->rings[i].ring, ring_head(&w->rings[i].ring));
}

// ---- Records -----------------------------------------------------------------

// The result of the records of one reading.
typedef struct SwitchReading {
    SwitchWatch *watch;
    SwitchEventVec events;
    uint64_t lost;
} SwitchReading;

// {pid, tid, comm[]}
static void keep_name(SwitchWatch *w, const uint8_t *body, size_t len, const SampleId *id)
{
    SeenName name = {.tid = id->tid};
    size_t from = 8, bytes = len - sizeof(*id);
    if (bytes <= from)
        return;
    memcpy(name.comm, body + from, MIN(bytes - from, sizeof(name.comm) - 1));
    vec_push(NULL, &w->names, name);
}

static void read_record(void *ctx, const struct perf_event_header *h, const uint8_t *body,
                        size_t len)
{
    SwitchReading *reading = ctx;
    SampleId id;
    SwitchEvent e = {.sequence = (uint32_t)reading->events.len};
    uint32_t words[4] = {0}; // of the record's own part
    uint64_t count;
    if (len < sizeof(id))
        return;
    memcpy(words, body, MIN(len - sizeof(id), sizeof(words)));
    memcpy(&id, body + len - sizeof(id), sizeof(id));
    e.time_ns = (int64_t)id.time_ns;
    e.cpu = id.cpu;
    e.pid = id.pid;
    e.tid = id.tid;
    switch (h->type) {
    case PERF_RECORD_LOST: // {id, lost}
        if (len >= sizeof(id) + 16) {
            memcpy(&count, body + 8, sizeof(count));
            reading->lost += count;
        }
        return;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE: // {next or previous pid, tid}, where it tells them
        e.kind = h->misc & PERF_RECORD_MISC_SWITCH_OUT ? SWITCH_OUT : SWITCH_IN;
        e.preempted = (h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
        e.other_pid = words[0];
        e.other_tid = words[1];
        break;
    case PERF_RECORD_COMM:
        keep_name(reading->watch, body, len, &id);
        if (!(h->misc & PERF_RECORD_MISC_COMM_EXEC))
            return;
        e.kind = SWITCH_EXEC;
        break;
    case PERF_RECORD_FORK: // {pid, ppid, tid, ptid, time}
        e.kind = SWITCH_FORK;
        e.pid = words[1];
        e.other_pid = words[0];
        e.other_tid = words[2];
        break;
    case PERF_RECORD_EXIT: // as above; of the thread that ends
        e.kind = SWITCH_EXIT;
        e.pid = words[0];
        e.tid = words[2];
        break;
    default:
        return;
    }
    vec_push(NULL, &reading->events, e);
}

static int compare_events(const void *a, const void *b)
{
    const SwitchEvent *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

// ---- A run -------------------------------------------------------------------

// A thread of the command.
typedef struct RunThread {
    uint32_t tid;
    int64_t since_ns; // it runs, or has no CPU; 0: neither is known yet
    bool runs, ready;
} RunThread;

// A stretch of another thread on a CPU.
typedef struct CpuStretch {
    uint32_t cpu, pid, tid;
    int64_t from_ns, to_ns;
} CpuStretch;

typedef struct RunReader {
    Arena *arena;
    const SwitchWatch *watch;
    Vec(uint32_t) pids;
    Vec(RunThread) threads;
    Vec(CpuStretch) stretches; // in the order of their ends
    CpuStretch *now;           // by CPU: who has it
    size_t cpus;
    Vec(uint32_t) other_tids; // beside `ret->others`
    RunSwitches *ret;
} RunReader;

static bool is_own(const RunReader *r, uint32_t pid)
{
    for (size_t i = 0; i < r->pids.len; i++)
        if (r->pids.at[i] == pid)
            return true;
    return false;
}

static RunThread *thread_of(RunReader *r, uint32_t tid)
{
    for (size_t i = 0; i < r->threads.len; i++)
        if (r->threads.at[i].tid == tid)
            return &r->threads.at[i];
    vec_push(r->arena, &r->threads, (RunThread){.tid = tid});
    return &vec_last(&r->threads);
}

static Str name_of(const RunReader *r, const CpuStretch *s)
{
    Str name = proc_comm(r->arena, s->pid, s->tid);
    for (size_t i = r->watch->names.len; name.len == 0 && i > 0; i--)
        if (r->watch->names.at[i - 1].tid == s->tid)
            name = arena_str(r->arena, str_from_c(r->watch->names.at[i - 1].comm));
    return name;
}

static void add_other(RunReader *r, const CpuStretch *s, int64_t ns)
{
    size_t i = 0;
    while (i < r->other_tids.len && r->other_tids.at[i] != s->tid)
        i++;
    if (i == r->other_tids.len) {
        vec_push(r->arena, &r->other_tids, s->tid);
        vec_push(r->arena, &r->ret->others, ((SwitchOther){.name = name_of(r, s)}));
    }
    r->ret->others.at[i].ns += ns;
}

// Who had the CPU on which a thread then went on, while the thread was waiting for it.
static void blame(RunReader *r, const SwitchGap *gap, uint32_t cpu)
{
    for (size_t i = r->stretches.len; i > 0; i--) {
        const CpuStretch *s = &r->stretches.at[i - 1];
        if (s->to_ns <= gap->out_ns)
            break; // and all before it
        int64_t from = MAX(s->from_ns, gap->out_ns), to = MIN(s->to_ns, gap->in_ns);
        if (s->cpu == cpu && from < to && s->tid != 0 && !is_own(r, s->pid))
            add_other(r, s, to - from);
    }
}

static void thread_stops(RunReader *r, const SwitchEvent *e)
{
    RunThread *t = thread_of(r, e->tid);
    if (t->runs)
        r->ret->cpu_ns += e->time_ns - t->since_ns;
    t->runs = false;
    t->ready = e->preempted;
    t->since_ns = e->time_ns;
}

static void thread_runs(RunReader *r, uint32_t tid, int64_t time_ns, uint32_t cpu)
{
    RunThread *t = thread_of(r, tid);
    if (t->runs)
        return;
    if (t->since_ns) {
        SwitchGap gap = {tid, t->since_ns, time_ns, t->ready};
        *(t->ready ? &r->ret->ready_ns : &r->ret->blocked_ns) += gap.in_ns - gap.out_ns;
        vec_push(r->arena, &r->ret->gaps, gap);
        if (t->ready)
            blame(r, &gap, cpu);
    }
    t->runs = true;
    t->since_ns = time_ns;
}

// Keeps the running thread of each CPU up to date.
static void cpu_changes(RunReader *r, const SwitchEvent *e)
{
    if (e->cpu >= r->cpus)
        return;
    CpuStretch *now = &r->now[e->cpu];
    if (now->from_ns && now->tid != 0) {
        now->to_ns = e->time_ns;
        vec_push(r->arena, &r->stretches, *now);
    }
    *now = (CpuStretch){
        .cpu = e->cpu, .pid = e->other_pid, .tid = e->other_tid, .from_ns = e->time_ns};
}

static void take_event(RunReader *r, const SwitchEvent *e, bool sees_others, uint32_t first)
{
    bool own = is_own(r, e->pid);
    switch (e->kind) {
    case SWITCH_FORK:
        if (own && !is_own(r, e->other_pid))
            vec_push(r->arena, &r->pids, e->other_pid);
        break;
    case SWITCH_EXEC:
        // What its thread did before is our own way to exec.
        if (e->pid == first && !r->ret->exec_ns) {
            r->ret->exec_ns = e->time_ns;
            r->ret->cpu_ns = r->ret->ready_ns = r->ret->blocked_ns = 0;
            r->ret->gaps.len = r->ret->others.len = r->other_tids.len = 0;
            *thread_of(r, e->tid) =
                (RunThread){.tid = e->tid, .since_ns = e->time_ns, .runs = true};
        }
        break;
    case SWITCH_EXIT:
        if (own)
            thread_stops(r, e);
        if (e->pid == first)
            r->ret->exit_ns = e->time_ns;
        if (own)
            thread_of(r, e->tid)->since_ns = 0;
        break;
    case SWITCH_OUT:
        if (own && thread_of(r, e->tid)->since_ns)
            thread_stops(r, e);
        if (sees_others)
            cpu_changes(r, e);
        break;
    case SWITCH_IN:
        if (own)
            thread_runs(r, e->tid, e->time_ns, e->cpu);
        break;
    }
}

static int compare_others(const void *a, const void *b)
{
    const SwitchOther *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

void switch_watch_end(SwitchWatch *w, Arena *arena, uint32_t pid, RunSwitches *ret)
{
    SwitchReading reading = {.watch = w};
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (size_t i = 0; i < w->count; i++)
        ring_drain(&w->rings[i].ring, read_record, &reading);
    SwitchEventVec events = reading.events;
    *ret = (RunSwitches){.lost = reading.lost};
    if (events.len)
        qsort(events.at, events.len, sizeof(*events.at), compare_events);
    RunReader r = {.arena = arena, .watch = w, .ret = ret, .cpus = cpus > 0 ? (size_t)cpus : 1};
    r.now = arena_array(arena, CpuStretch, r.cpus);
    vec_push(arena, &r.pids, pid);
    for (size_t i = 0; i < events.len; i++)
        take_event(&r, &events.at[i], w->sees_others, pid);
    if (ret->others.len)
        qsort(ret->others.at, ret->others.len, sizeof(*ret->others.at), compare_others);
    vec_free(&events);
}
