// SPDX-License-Identifier: Apache-2.0
// Exec-to-exit times out of perf's ring buffers.

#include "collect/bench/kernel_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"

// 32 KiB hold some 400 records between two readings.
enum { RING_PAGES = 8 };

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static bool open_cpu(KernelClock *clock, int cpu, Error *err)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TIME,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(RING_PAGES * page_bytes() / 2),
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == ENODEV)
        return true; // the CPU is offline
    if (fd < 0)
        return error_os(err, "cannot open the kernel's exec clock");
    void *ring =
        mmap(NULL, (1 + RING_PAGES) * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) {
        error_os(err, "cannot map the kernel's exec clock");
        close(fd);
        return false;
    }
    clock->fds[clock->count] = fd;
    clock->rings[clock->count++] = ring;
    clock->poll[clock->count] = (struct pollfd){.fd = fd, .events = POLLIN};
    return true;
}

bool kernel_clock_open(KernelClock *ret, Error *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    size_t room = cpus > 0 ? (size_t)cpus : 1;
    KernelClock clock = {
        .fds = heap_alloc(room * sizeof(*clock.fds)),
        .rings = heap_alloc(room * sizeof(*clock.rings)),
        .poll = heap_alloc((room + 1) * sizeof(*clock.poll)),
    };
    for (size_t cpu = 0; cpu < room; cpu++) {
        if (!open_cpu(&clock, (int)cpu, err)) {
            kernel_clock_close(&clock);
            return false;
        }
    }
    *ret = clock;
    return true;
}

void kernel_clock_close(KernelClock *clock)
{
    for (size_t i = 0; i < clock->count; i++) {
        munmap(clock->rings[i], (1 + RING_PAGES) * page_bytes());
        close(clock->fds[i]);
    }
    heap_free(clock->fds);
    heap_free(clock->rings);
    heap_free(clock->poll);
    *clock = (KernelClock){0};
}

// Copies out of a ring that wraps.
static void ring_copy(const uint8_t *data, size_t size, uint64_t at, void *to, size_t n)
{
    size_t from = (size_t)(at & (size - 1)), first = MIN(n, size - from);
    memcpy(to, data + from, first);
    memcpy((uint8_t *)to + first, data, n - first);
}

static void read_record(const struct perf_event_header *header, const uint8_t *body, size_t len,
                        uint32_t pid, ExecTimes *times)
{
    uint32_t of;
    uint64_t value;
    if (len < 16)
        return;
    memcpy(&of, body, sizeof(of));
    if (header->type == PERF_RECORD_LOST) {
        memcpy(&value, body + 8, sizeof(value)); // {id, lost}
        times->lost += value;
    } else if (header->type == PERF_RECORD_COMM && of == pid) {
        // {pid, tid, comm[], sample_id: time}. A shell that executes its last
        // command is executed twice: the first time counts.
        memcpy(&value, body + len - 8, sizeof(value));
        if ((header->misc & PERF_RECORD_MISC_COMM_EXEC) && times->exec_ns == 0)
            times->exec_ns = (int64_t)value;
    } else if (header->type == PERF_RECORD_EXIT && of == pid && len >= 24) {
        // {pid, ppid, tid, ptid, time}, for each thread: the last one ends it.
        memcpy(&value, body + 16, sizeof(value));
        times->exit_ns = MAX(times->exit_ns, (int64_t)value);
    } else if (header->type == PERF_RECORD_FORK) {
        // {pid, ppid, tid, ptid, time}; its own start is one too.
        uint32_t parent, thread;
        memcpy(&parent, body + 4, sizeof(parent));
        memcpy(&thread, body + 8, sizeof(thread));
        times->started += thread != pid;
        times->processes += thread != pid && of != parent;
    }
}

void kernel_clock_drain(KernelClock *clock, uint32_t pid, ExecTimes *times)
{
    for (size_t i = 0; i < clock->count; i++) {
        struct perf_event_mmap_page *meta = clock->rings[i];
        const uint8_t *data = (const uint8_t *)meta + page_bytes();
        size_t size = RING_PAGES * page_bytes();
        uint64_t head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
        uint64_t tail = meta->data_tail;
        while (head - tail >= sizeof(struct perf_event_header)) {
            struct perf_event_header header;
            uint8_t body[256];
            ring_copy(data, size, tail, &header, sizeof(header));
            if (header.size < sizeof(header) || header.size > head - tail)
                break; // the kernel writes no such record; where the next begins is not known
            size_t len = header.size - sizeof(header);
            if (len <= sizeof(body)) {
                ring_copy(data, size, tail + sizeof(header), body, len);
                read_record(&header, body, len, pid, times);
            }
            tail += header.size;
        }
        __atomic_store_n(&meta->data_tail, head, __ATOMIC_RELEASE);
    }
}
