// SPDX-License-Identifier: Apache-2.0
// Counts hits of events by the process that they were in.

#include "collect/counters/process_hits.h"

#include "base/table.h"
#include "collect/counters/counting.h"
#include "os/perf_event.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    RING_PAGES = 256, // 43,000 hits
    RING_PAGES_LEAST = 8,
    WAIT_MS = 20,
};

typedef struct CpuRing {
    int task_fd; // says which process forked which; the ring is its
    PerfRing ring;
} CpuRing;

typedef struct Hits {
    uint32_t pid, event;
    uint64_t count;
} Hits;

typedef struct Fork {
    uint32_t parent, child;
} Fork;

struct ProcessHits {
    Arena arena;
    Vec(CpuRing) cpus;
    Vec(int) fds; // [cpu × events + event]
    U64Vec ids;   // of the same
    size_t events;
    Vec(Hits) hits;
    Table index; // of hits
    Vec(Fork) forks;
    uint64_t lost;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_over;
};

// ---- Records -----------------------------------------------------------------------------

static void add_hit(ProcessHits *h, uint32_t pid, uint32_t event)
{
    uint64_t hash = hash_pair(pid, event);
    uint32_t row;
    for (TableProbe t = table_probe(&h->index, hash); table_next(&h->index, &t, &row);)
        if (h->hits.at[row].pid == pid && h->hits.at[row].event == event) {
            h->hits.at[row].count++;
            return;
        }
    table_insert(&h->index, hash, (uint32_t)h->hits.len);
    vec_push(NULL, &h->hits, ((Hits){pid, event, 1}));
}

static void add_record(void *ctx, const struct perf_event_header *header, const uint8_t *body,
                       size_t len)
{
    ProcessHits *h = ctx;
    struct {
        uint64_t id;
        uint32_t pid, tid;
    } sample;
    struct {
        uint32_t pid, parent;
    } fork;
    struct {
        uint64_t id, count;
    } lost;
    if (header->type == PERF_RECORD_SAMPLE && len >= sizeof(sample)) {
        memcpy(&sample, body, sizeof(sample));
        for (size_t i = 0; i < h->ids.len; i++)
            if (h->ids.at[i] == sample.id)
                add_hit(h, sample.pid, (uint32_t)(i % h->events));
    } else if (header->type == PERF_RECORD_FORK && len >= sizeof(fork)) {
        memcpy(&fork, body, sizeof(fork));
        if (fork.pid != fork.parent)
            vec_push(NULL, &h->forks, ((Fork){fork.parent, fork.pid}));
    } else if (header->type == PERF_RECORD_LOST && len >= sizeof(lost)) {
        memcpy(&lost, body, sizeof(lost));
        h->lost += lost.count;
    }
}

static void drain_all(ProcessHits *h)
{
    for (size_t i = 0; i < h->cpus.len; i++)
        ring_drain(&h->cpus.at[i].ring, add_record, h);
}

static void *count(void *ctx)
{
    ProcessHits *h = ctx;
    struct pollfd *waits = arena_array(&h->arena, struct pollfd, h->cpus.len + 1);
    for (size_t i = 0; i < h->cpus.len; i++)
        waits[i] = (struct pollfd){.fd = h->cpus.at[i].task_fd, .events = POLLIN};
    while (!atomic_load(&h->is_over)) {
        (void)poll(waits, (nfds_t)h->cpus.len, WAIT_MS);
        drain_all(h);
    }
    return NULL;
}

// ---- Starting ----------------------------------------------------------------------------

static void free_all(ProcessHits *h)
{
    for (size_t i = 0; i < h->fds.len; i++)
        close(h->fds.at[i]);
    for (size_t i = 0; i < h->cpus.len; i++) {
        ring_unmap(&h->cpus.at[i].ring);
        close(h->cpus.at[i].task_fd);
    }
    vec_free(&h->fds);
    vec_free(&h->ids);
    vec_free(&h->cpus);
    vec_free(&h->hits);
    vec_free(&h->forks);
    table_deinit(&h->index);
    arena_deinit(&h->arena);
    heap_free(h);
}

// The ring of a CPU, as large as the quota for locked memory allows.
static bool open_ring(ProcessHits *h, int cpu, Error *err)
{
    CpuRing c = {0};
    struct perf_event_attr attr = perf_event_of_tasks(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID);
    attr.watermark = 1;
    attr.wakeup_watermark = 64 << 10;
    c.task_fd = perf_event_open(&attr, -1, cpu, -1);
    int reason = errno;
    PerfLimits limits = perf_limits();
    if (c.task_fd < 0)
        return perf_explain(reason, &limits, &attr, STR("dummy"), true, err);
    size_t pages = RING_PAGES;
    while (pages > RING_PAGES_LEAST && !ring_map(c.task_fd, pages, &c.ring))
        pages /= 2;
    if (!c.ring.page) {
        close(c.task_fd);
        return error_set(err, ERROR_PERMISSION, "no room for a ring of events (ulimit -l)");
    }
    vec_push(NULL, &h->cpus, c);
    return true;
}

static bool open_event(ProcessHits *h, const EventSpec *spec, int cpu, Error *err)
{
    struct perf_event_attr attr = {0};
    event_spec_apply(spec, &attr);
    attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID;
    attr.sample_period = 1;
    attr.freq = 0;
    attr.use_clockid = 1; // as that of the event to which the ring belongs
    attr.clockid = CLOCK_MONOTONIC;
    int fd = perf_event_open(&attr, -1, cpu, -1);
    int reason = errno;
    PerfLimits limits = perf_limits();
    if (fd < 0)
        return perf_explain(reason, &limits, &attr, spec->name, true, err);
    uint64_t id = 0;
    vec_push(NULL, &h->fds, fd);
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, vec_last(&h->cpus).task_fd) ||
        ioctl(fd, PERF_EVENT_IOC_ID, &id))
        return error_os(err, "cannot count '%" STR_FMT "'", STR_ARG(spec->name));
    vec_push(NULL, &h->ids, id);
    return true;
}

bool process_hits_start(const EventSpecVec *events, ProcessHits **ret, Error *err)
{
    ProcessHits *h = heap_alloc(sizeof(*h));
    CountingTargets cpus = {0};
    h->events = events->len;
    bool ok = counting_add_cpus(&h->arena, STR(""), &cpus, err);
    for (size_t i = 0; ok && i < cpus.at.len; i++) {
        ok = open_ring(h, cpus.at.at[i].cpu, err);
        for (size_t e = 0; ok && e < events->len; e++)
            ok = open_event(h, &events->at[e], cpus.at.at[i].cpu, err);
    }
    if (ok) {
        // The program's end is a signal for the caller's thread.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int reason = pthread_create(&h->thread, NULL, count, h);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        h->has_thread = reason == 0;
        errno = reason;
        if (reason)
            ok = error_os(err, "cannot start a thread that counts");
    }
    if (!ok) {
        free_all(h);
        return false;
    }
    *ret = h;
    return true;
}

// ---- Ending ------------------------------------------------------------------------------

// The processes that descend from this one. Forks of several CPUs are in no order.
static void find_family(const ProcessHits *h, U32Vec *ret)
{
    vec_push(NULL, ret, (uint32_t)getpid());
    for (size_t at = 0; at < ret->len; at++)
        for (size_t i = 0; i < h->forks.len; i++) {
            if (h->forks.at[i].parent != ret->at[at])
                continue;
            bool is_known = false;
            for (size_t k = 0; k < ret->len && !is_known; k++)
                is_known = ret->at[k] == h->forks.at[i].child;
            if (!is_known)
                vec_push(NULL, ret, h->forks.at[i].child);
        }
}

bool process_hits_stop(ProcessHits *h, U64Vec *ret, Error *err)
{
    U32Vec family = {0};
    size_t first = ret->len;
    atomic_store(&h->is_over, true);
    if (h->has_thread)
        pthread_join(h->thread, NULL);
    drain_all(h);
    for (size_t e = 0; e < h->events; e++)
        vec_push(NULL, ret, 0);
    find_family(h, &family);
    for (size_t i = 0; i < h->hits.len; i++)
        for (size_t k = 0; k < family.len; k++)
            if (family.at[k] == h->hits.at[i].pid)
                ret->at[first + h->hits.at[i].event] += h->hits.at[i].count;
    vec_free(&family);
    uint64_t lost = h->lost;
    free_all(h);
    if (lost == 0)
        return true;
    error_set(err, ERROR_UNSUPPORTED, "hits that were lost, because they came too fast: %" PRIu64,
              lost);
    return error_hint(err,
                      "the machine is busy, or the function is called too often to be counted");
}
