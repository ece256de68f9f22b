// SPDX-License-Identifier: Apache-2.0
// The ring of records.

#include "agent/ring.h"

#include "agent/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

enum {
    FILE_MODE = 0600,
    NAME_TRIES = 100,
    TAKE_BYTES = 64 << 10, // memory is taken in pieces of so much
    POPULATE_WRITE = 23    // MADV_POPULATE_WRITE; glibc 2.36 does not declare it
};

AgentRing agent_ring;

WireState agent_state(void)
{
    const WireSession *s = agent_ring.session;
    return s ? (WireState)atomic_load(&s->state) : WIRE_SAMPLING;
}

static void ring_init(WireRing *shared, uint64_t size)
{
    shared->size = size;
    shared->pid = sys_pid();
    shared->version = WIRE_VERSION;
    shared->started_ns = sys_clock_ns(CLOCK_MONOTONIC);
    atomic_thread_fence(memory_order_release);
    shared->magic = WIRE_RING_MAGIC;
    agent_ring.shared = shared;
    agent_ring.data = (uint8_t *)shared + WIRE_PAGE;
}

// A process that executes another program has a second ring, which has its own number.
static int make_file(const char *folder)
{
    char path[AGENT_PATH_MAX];
    for (unsigned i = 0; i < NAME_TRIES; i++) {
        SysText t = sys_text(path, sizeof(path));
        sys_text_add(&t, folder);
        sys_text_add(&t, "/");
        sys_text_number(&t, sys_pid());
        sys_text_add(&t, "-");
        sys_text_number(&t, i);
        int fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
        agent_ring.number = i;
        if (fd != -EEXIST)
            return fd;
    }
    return -EEXIST;
}

// Maps the file, and its records a second time behind themselves.
static WireRing *map_file(int fd, uint64_t size)
{
    enum { PROT = PROT_READ | PROT_WRITE };
    char *at = sys_map(NULL, WIRE_PAGE + 2 * size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!at)
        return NULL;
    if (sys_map(at, WIRE_PAGE + size, PROT, MAP_SHARED | MAP_FIXED, fd, 0) &&
        sys_map(at + WIRE_PAGE + size, size, PROT, MAP_SHARED | MAP_FIXED, fd, WIRE_PAGE))
        return (WireRing *)at;
    sys_unmap(at, WIRE_PAGE + 2 * size);
    return NULL;
}

bool ring_open_shared(const char *folder, uint64_t size)
{
    int fd = make_file(folder);
    if (fd < 0)
        return false;
    // A page that the file system cannot give later would be a SIGBUS. Most programs need a small
    // part of the ring, so that the memory is asked for when it is needed, on kernels that can tell
    // whether there is any.
    WireRing *shared = SYS2(SYS_ftruncate, fd, WIRE_PAGE + size) == 0 ? map_file(fd, size) : NULL;
    uint64_t first = MIN((uint64_t)TAKE_BYTES, size), taken = first < size ? first : UINT64_MAX;
    long rc = shared ? SYS3(SYS_madvise, shared, WIRE_PAGE + first, POPULATE_WRITE) : -ENOMEM;
    if (rc == -EINVAL) {
        rc = SYS4(SYS_fallocate, fd, 0, 0, WIRE_PAGE + size);
        taken = UINT64_MAX;
    }
    sys_close(fd);
    if (rc != 0) {
        sys_unmap(shared, shared ? WIRE_PAGE + 2 * size : 0);
        return false;
    }
    agent_ring.mapped = WIRE_PAGE + 2 * size;
    agent_ring.linear = false;
    atomic_store(&agent_ring.taken, taken);
    ring_init(shared, size);
    return true;
}

// Takes the memory for records before `end`. False: there is none.
__attribute__((noinline)) static bool take(AgentRing *r, uint64_t end)
{
    uint64_t size = r->shared->size, from = atomic_load(&r->taken);
    uint64_t to = MIN(align_up(end, TAKE_BYTES), size);
    if (from >= to)
        return true;
    long rc = SYS3(SYS_madvise, r->data + from, to - from, POPULATE_WRITE);
    // Where a sandbox refuses to ask, there nearly always is memory.
    if (rc == -EFAULT || rc == -ENOMEM)
        return false;
    uint64_t now = to < size ? to : UINT64_MAX;
    while (from < now && !atomic_compare_exchange_weak(&r->taken, &from, now))
        continue;
    return true;
}

bool ring_open_private(uint64_t size)
{
    WireRing *shared = sys_map(NULL, WIRE_PAGE + size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!shared)
        return false;
    agent_ring.mapped = WIRE_PAGE + size;
    agent_ring.linear = true;
    atomic_store(&agent_ring.taken, UINT64_MAX);
    atomic_store(&agent_ring.thinned, 0);
    ring_init(shared, size);
    return true;
}

void ring_close(void)
{
    WireRing *shared = agent_ring.shared;
    agent_ring.shared = NULL;
    sys_unmap(shared, agent_ring.mapped);
}

void ring_reset(void)
{
    WireRing *shared = agent_ring.shared;
    uint64_t size = shared->size;
    (void)SYS3(SYS_madvise, shared, agent_ring.mapped, MADV_DONTNEED); // private memory: zeroed
    atomic_store(&agent_ring.thinned, 0);
    atomic_store(&agent_ring.writers, 0);
    atomic_store(&agent_ring.closed, false);
    atomic_store(&agent_ring.pinned, false);
    ring_init(shared, size);
}

static void *reserve(AgentRing *r, uint32_t size)
{
    WireRing *shared = r->shared;
    uint64_t head = atomic_load_explicit(&shared->head, memory_order_relaxed);
    for (;;) {
        uint64_t tail = atomic_load_explicit(&shared->tail, memory_order_acquire);
        if (head - tail > shared->size || size > shared->size - (head - tail))
            return NULL;
        if (UNLIKELY(head + size > atomic_load_explicit(&r->taken, memory_order_relaxed)) &&
            !take(r, head + size))
            return NULL;
        if (atomic_compare_exchange_weak(&shared->head, &head, head + size))
            break;
    }
    struct perf_event_header *h = (void *)(r->data + (head & (shared->size - 1)));
    // With its size a record that its writer never finishes can be skipped.
    __atomic_store_n(&h->size, (uint16_t)size, __ATOMIC_RELEASE);
    return h;
}

void *ring_reserve(uint32_t size)
{
    AgentRing *r = &agent_ring;
    if (!r->linear)
        return reserve(r, size);
    atomic_fetch_add(&r->writers, 1);
    void *record = atomic_load(&r->closed) ? NULL : reserve(r, size);
    if (!record)
        atomic_fetch_sub(&r->writers, 1);
    return record;
}

void ring_commit(void *record, uint32_t type, uint16_t misc, uint32_t size)
{
    struct perf_event_header *h = record;
    h->misc = misc;
    h->size = (uint16_t)size;
    __atomic_store_n(&h->type, type, __ATOMIC_RELEASE);
    if (agent_ring.linear)
        atomic_fetch_sub(&agent_ring.writers, 1);
}

// Between these two no record is written. False: not now.
static bool lock(void)
{
    bool open = false;
    if (!atomic_compare_exchange_strong(&agent_ring.closed, &open, true))
        return false;
    if (atomic_load(&agent_ring.writers) == 0)
        return true;
    atomic_store(&agent_ring.closed, false);
    return false;
}

static void unlock(void)
{
    atomic_store(&agent_ring.closed, false);
}

bool ring_pin(const uint8_t **ret, uint64_t *ret_size)
{
    enum { TRIES = 10000 };
    atomic_store(&agent_ring.pinned, true);
    for (unsigned i = 0; i < TRIES; i++) {
        if (lock()) {
            *ret = agent_ring.data;
            *ret_size = atomic_load(&agent_ring.shared->head);
            unlock();
            return true;
        }
        (void)SYS0(SYS_sched_yield);
    }
    atomic_store(&agent_ring.pinned, false);
    return false;
}

void ring_unpin(void)
{
    atomic_store(&agent_ring.pinned, false);
}

// Where a sample has its weight: behind header, id, ip, pid and tid, time, CPU.
static void double_weight(uint8_t *record)
{
    uint64_t weight;
    uint8_t *at = record + sizeof(struct perf_event_header) + 5 * 8;
    __builtin_memcpy(&weight, at, 8);
    weight *= 2;
    __builtin_memcpy(at, &weight, 8);
}

void ring_thin(void)
{
    AgentRing *r = &agent_ring;
    if (atomic_load(&r->pinned) || !lock())
        return;
    uint64_t head = atomic_load(&r->shared->head), from = 0, to = 0, samples = 0;
    while (from < head) {
        struct perf_event_header h;
        __builtin_memcpy(&h, r->data + from, sizeof(h));
        if (h.size < sizeof(h))
            break; // cannot be: every writer has committed
        bool is_sample = h.type == PERF_RECORD_SAMPLE;
        bool kept = !is_sample || (++samples & 1);
        if (kept) {
            if (is_sample)
                double_weight(r->data + from);
            __builtin_memmove(r->data + to, r->data + from, h.size);
            to += h.size;
        }
        from += h.size;
    }
    __builtin_memset(r->data + to, 0, head - to);
    atomic_store(&r->shared->head, to);
    atomic_store(&r->shared->samples, (samples + 1) / 2);
    atomic_fetch_add(&r->thinned, 1);
    unlock();
}
