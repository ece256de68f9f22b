// SPDX-License-Identifier: Apache-2.0
// Reads the rings of a session.

#include "collect/agents/rings.h"

#include "base/sort.h"
#include "os/clock.h"
#include "os/map_guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    DRAIN_MAX_BYTES = 64 << 20, // of the records of one call; other rings wait for the next one
    RINGS_MAX = 1 << 13,        // at once: each takes mappings, of which a process has 65 530
    THREADS_MAX = 1 << 14,      // of one process that are followed
    HEAD = sizeof(struct perf_event_header),
    TRAILER = 4 * 8, // of records other than samples: TID, TIME, CPU, IDENTIFIER
    TIME_OF_SAMPLE = HEAD + 3 * 8,
    TIME_FROM_END = 3 * 8,
    TASK_BYTES = HEAD + 3 * 8 + TRAILER,
};

void agent_rings_init(AgentRings *r, const AgentSession *session, AgentHeaps *heaps)
{
    *r = (AgentRings){.session = session, .heaps = heaps};
}

// ---- Rings come and go ------------------------------------------------------------------

static Bytes mapping_of(const AgentRing *r)
{
    return bytes_over((const uint8_t *)r->shared, WIRE_PAGE + 2 * r->size);
}

static void add_counts(AgentCounts *to, const WireRing *from)
{
    to->processes++;
    to->samples += atomic_load(&from->samples);
    to->counted_ns += atomic_load(&from->counted_ns);
    to->lost += atomic_load(&from->lost);
    to->untimed_threads += atomic_load(&from->untimed_threads);
}

static void ring_unmap(AgentRing *r)
{
    map_guard_remove(mapping_of(r));
    munmap(r->shared, WIRE_PAGE + 2 * r->size);
    vec_free(&r->threads);
}

// The records' size, of a ring's file as agents of the session make it; 0 of any other.
static uint64_t size_of(const AgentSession *session, int fd)
{
    struct stat st;
    WireRing head;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < WIRE_PAGE ||
        pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        head.magic != WIRE_RING_MAGIC || head.version != WIRE_VERSION)
        return 0;
    bool fits = head.size == session->ring_bytes && (uint64_t)st.st_size >= WIRE_PAGE + head.size;
    return fits ? head.size : 0;
}

static bool ring_map(int fd, AgentRing *r)
{
    size_t all = WIRE_PAGE + 2 * r->size;
    char *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return false;
    if (mmap(at + WIRE_PAGE + r->size, r->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             WIRE_PAGE) == MAP_FAILED) {
        munmap(at, all);
        return false;
    }
    r->shared = (WireRing *)(void *)at;
    r->data = (uint8_t *)at + WIRE_PAGE;
    map_guard_add(mapping_of(r));
    return true;
}

static bool is_known(const AgentRings *r, const char *name)
{
    uint32_t row;
    TableProbe p = table_probe(&r->by_name, str_hash(str_from_c(name)));
    while (table_next(&r->by_name, &p, &row))
        if (strcmp(r->rings.at[row].name, name) == 0)
            return true;
    return false;
}

static void note_name(AgentRings *r, size_t row)
{
    table_insert(&r->by_name, str_hash(str_from_c(r->rings.at[row].name)), (uint32_t)row);
}

// A process that has executed another program writes to the newest of its rings only.
static void mark_replaced(AgentRings *r, AgentRing *added)
{
    for (size_t i = 0; i < r->rings.len; i++) {
        AgentRing *other = &r->rings.at[i];
        if (other->pid != added->pid)
            continue;
        if (other->started_ns <= added->started_ns)
            other->replaced = true;
        else
            added->replaced = true;
    }
}

static void add_ring(AgentRings *r, const char *name)
{
    AgentRing ring = {.pid = agent_ring_pid(name)};
    if (!ring.pid || strlen(name) >= sizeof(ring.name) || is_known(r, name))
        return;
    if (r->rings.len == RINGS_MAX) {
        r->left_out++;
        r->awaits_ring = true;
        return;
    }
    memcpy(ring.name, name, strlen(name) + 1);
    int fd = openat(r->session->folder_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    // A ring without a header is being made: the next look finds it.
    bool is_made = fd >= 0 && (ring.size = size_of(r->session, fd)) && ring_map(fd, &ring);
    r->awaits_ring |= !is_made;
    if (is_made) {
        ring.started_ns = ring.shared->started_ns;
        mark_replaced(r, &ring);
        vec_push(NULL, &r->rings, ring);
        note_name(r, r->rings.len - 1);
    }
    if (fd >= 0)
        close(fd);
}

// Whether the folder has changed since it was searched. Its times are those of the kernel's tick: a
// change in the same tick as the search would not be seen.
static bool has_changed(AgentRings *r)
{
    enum { TICKS_NS = 20000000, SECOND_NS = 1000000000 };
    struct stat st;
    struct timespec now;
    if (fstat(r->session->folder_fd, &st) != 0 || clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0)
        return true;
    int64_t age_ns =
        (int64_t)(now.tv_sec - st.st_mtim.tv_sec) * SECOND_NS + (now.tv_nsec - st.st_mtim.tv_nsec);
    bool same = st.st_mtim.tv_sec == r->folder_changed.tv_sec &&
                st.st_mtim.tv_nsec == r->folder_changed.tv_nsec;
    r->folder_changed = st.st_mtim;
    return !same || age_ns < TICKS_NS;
}

static void look_for_rings(AgentRings *r)
{
    if (!has_changed(r) && !r->awaits_ring)
        return;
    r->awaits_ring = false;
    r->left_out = 0;
    DIR *d = opendir(r->session->folder);
    for (struct dirent *e; d && (e = readdir(d));)
        add_ring(r, e->d_name);
    if (d)
        closedir(d);
}

static void remove_ended(AgentRings *r)
{
    size_t kept = 0, next = r->next;
    for (size_t i = 0; i < r->rings.len; i++) {
        AgentRing *ring = &r->rings.at[i];
        if (i == r->next)
            next = kept;
        if (!ring->ended) {
            r->rings.at[kept++] = *ring;
            continue;
        }
        add_counts(&r->ended, ring->shared);
        if (r->heaps)
            agent_heaps_end(r->heaps, ring->name);
        (void)unlinkat(r->session->folder_fd, ring->name, 0);
        ring_unmap(ring);
    }
    if (kept == r->rings.len)
        return;
    r->rings.len = kept;
    r->next = next;
    table_deinit(&r->by_name);
    for (size_t i = 0; i < kept; i++)
        note_name(r, i);
}

// ---- Records ----------------------------------------------------------------------------

static void follow_threads(AgentRing *ring, Bytes record, uint32_t type)
{
    uint32_t tid;
    if (record.len < HEAD + TRAILER)
        return;
    // FORK and EXIT: pid, parent, tid. COMM: pid, tid.
    memcpy(&tid, record.ptr + HEAD + (type == PERF_RECORD_COMM ? 4 : 8), 4);
    size_t at = 0;
    while (at < ring->threads.len && ring->threads.at[at] != tid)
        at++;
    if (type == PERF_RECORD_EXIT && at < ring->threads.len)
        ring->threads.at[at] = vec_pop(&ring->threads);
    else if (type != PERF_RECORD_EXIT && at == ring->threads.len && at < THREADS_MAX)
        vec_push(NULL, &ring->threads, tid);
}

// The program can change its record at any time: what was checked is what is kept, and only the
// copy is read.
static void keep_record(AgentRings *r, AgentRing *ring, const uint8_t *at,
                        const struct perf_event_header *checked)
{
    uint8_t *copy = vec_extend(NULL, &r->bytes, checked->size);
    memcpy(copy, checked, HEAD);
    memcpy(copy + HEAD, at + HEAD, checked->size - HEAD);
    uint32_t type = checked->type;
    if (type == PERF_RECORD_COMM || type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT)
        follow_threads(ring, bytes_over(copy, checked->size), type);
}

// Whether a ring can have been written up to there since it was read: records are whole words, and
// together no larger than the ring. The program can change the number to any other.
static bool can_be_head(const AgentRing *ring, uint64_t head)
{
    return head % 8 == 0 && head >= ring->tail && head - ring->tail <= ring->size;
}

// Takes all finished records of a ring. With `is_last` nobody writes any more, and a record that
// was begun never gets finished: it is skipped.
static void read_ring(AgentRings *r, AgentRing *ring, bool is_last)
{
    uint64_t head = atomic_load_explicit(&ring->shared->head, memory_order_acquire);
    if (!can_be_head(ring, head)) {
        r->ended.broken++;
        ring->tail = head = head / 8 * 8;
    }
    while (ring->tail < head) {
        uint8_t *at = ring->data + (ring->tail & (ring->size - 1));
        struct perf_event_header h = {
            .type = __atomic_load_n((uint32_t *)(void *)at, __ATOMIC_ACQUIRE)};
        memcpy(&h.misc, at + 4, 4); // misc and size
        if (h.type == 0 && !is_last)
            break;
        if (h.size < HEAD || h.size > head - ring->tail || h.size > ring->size || h.size % 8) {
            ring->tail = head;
            r->ended.broken += !(is_last && h.type == 0);
            break;
        }
        if (h.type)
            keep_record(r, ring, at, &h);
        // The next lap must find zeros.
        memset(at, 0, h.size);
        ring->tail += h.size;
    }
    atomic_store_explicit(&ring->shared->tail, ring->tail, memory_order_release);
}

static void end_threads(AgentRings *r, const AgentRing *ring)
{
    for (size_t i = 0; i < ring->threads.len; i++) {
        uint32_t tid = ring->threads.at[i];
        uint64_t now = (uint64_t)os_monotonic_ns();
        struct {
            struct perf_event_header header;
            uint32_t pid, parent_pid, tid, parent_tid;
            uint64_t time;
            uint32_t id_pid, id_tid;
            uint64_t id_time, cpu, id;
        } e = {.header = {.type = PERF_RECORD_EXIT, .size = sizeof(e)},
               .pid = ring->pid,
               .parent_pid = ring->pid,
               .tid = tid,
               .parent_tid = tid,
               .time = now,
               .id_pid = ring->pid,
               .id_tid = tid,
               .id_time = now,
               .id = WIRE_EVENT_ID};
        _Static_assert(sizeof(e) == TASK_BYTES, "as the agents write it");
        memcpy(vec_extend(NULL, &r->bytes, sizeof(e)), &e, sizeof(e));
    }
}

static uint64_t time_of(Bytes record, uint32_t type)
{
    uint64_t time = 0;
    size_t at = TIME_OF_SAMPLE;
    if (type != PERF_RECORD_SAMPLE)
        at = record.len - MIN(record.len, (size_t)TIME_FROM_END);
    if (at >= HEAD && at + 8 <= record.len)
        memcpy(&time, record.ptr + at, 8);
    return time;
}

typedef Vec(SortRow) SortRowVec;

static void hand_over(const U8Vec *bytes, void (*take)(void *ctx, Bytes record), void *ctx)
{
    SortRowVec rows = {0}, spare = {0};
    for (size_t at = 0; at < bytes->len;) {
        struct perf_event_header h;
        memcpy(&h, bytes->at + at, sizeof(h));
        vec_push(NULL, &rows,
                 ((SortRow){time_of(bytes_over(bytes->at + at, h.size), h.type), (uint32_t)at}));
        at += h.size;
    }
    vec_reserve(NULL, &spare, rows.len);
    const SortRow *sorted = sort_rows(rows.at, spare.at, rows.len);
    for (size_t i = 0; i < rows.len; i++) {
        struct perf_event_header h;
        memcpy(&h, bytes->at + sorted[i].row, sizeof(h));
        take(ctx, bytes_over(bytes->at + sorted[i].row, h.size));
    }
    vec_free(&rows);
    vec_free(&spare);
}

static void take_turn(AgentRings *r, AgentRing *ring)
{
    // Asked before the reading, so that nothing is written behind it.
    bool is_last = ring->replaced || !agent_process_runs(ring->pid);
    if (r->heaps && !ring->has_heap)
        ring->has_heap = agent_heaps_add(r->heaps, ring->name);
    read_ring(r, ring, is_last);
    ring->ended = is_last;
    if (is_last && !ring->replaced)
        end_threads(r, ring);
}

// A program can fill its ring as fast as it is read. So a ring is read up to the head that it has
// when its turn comes, and not again before all others were read.
bool agent_rings_drain(AgentRings *r, void (*take)(void *ctx, Bytes record), void *ctx)
{
    if (r->next == 0)
        look_for_rings(r);
    r->bytes.len = 0;
    for (; r->next < r->rings.len && r->bytes.len <= DRAIN_MAX_BYTES; r->next++)
        take_turn(r, &r->rings.at[r->next]);
    if (r->next == r->rings.len)
        r->next = 0;
    hand_over(&r->bytes, take, ctx);
    bool all = r->next == 0;
    remove_ended(r);
    return all;
}

AgentCounts agent_rings_counts(const AgentRings *r)
{
    AgentCounts all = r->ended;
    all.left_out = r->left_out;
    for (size_t i = 0; i < r->rings.len; i++)
        add_counts(&all, r->rings.at[i].shared);
    return all;
}

void agent_rings_deinit(AgentRings *r)
{
    for (size_t i = 0; i < r->rings.len; i++)
        ring_unmap(&r->rings.at[i]);
    vec_free(&r->rings);
    table_deinit(&r->by_name);
    vec_free(&r->bytes);
}
