// SPDX-License-Identifier: Apache-2.0
// Exec-to-exit times out of perf's ring buffers.

#include "collect/bench/kernel_clock.h"

#include <errno.h>
#include <unistd.h>

#include "base/arena.h"

// 32 KiB hold some 400 records between two readings.
enum { RING_PAGES = 8 };

static bool open_cpu(KernelClock *clock, int cpu, Error *err)
{
    struct perf_event_attr attr = perf_event_of_tasks(PERF_SAMPLE_TIME);
    attr.inherit = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = (uint32_t)(RING_PAGES * sysconf(_SC_PAGESIZE) / 2);
    int fd = perf_event_open(&attr, 0, cpu, -1);
    if (fd < 0 && errno == ENODEV)
        return true; // the CPU is offline
    if (fd < 0)
        return error_os(err, "cannot open the kernel's exec clock");
    if (!ring_map(fd, RING_PAGES, &clock->rings[clock->count])) {
        error_os(err, "cannot map the kernel's exec clock");
        close(fd);
        return false;
    }
    clock->fds[clock->count++] = fd;
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
        ring_unmap(&clock->rings[i]);
        close(clock->fds[i]);
    }
    heap_free(clock->fds);
    heap_free(clock->rings);
    heap_free(clock->poll);
    *clock = (KernelClock){0};
}

// The wanted process, and its records so far.
typedef struct ExecReading {
    uint32_t pid;
    ExecTimes *times;
} ExecReading;

static void read_record(void *ctx, const struct perf_event_header *header, const uint8_t *body,
                        size_t len)
{
    ExecReading *reading = ctx;
    ExecTimes *times = reading->times;
    uint32_t of, pid = reading->pid;
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
    ExecReading reading = {pid, times};
    for (size_t i = 0; i < clock->count; i++)
        ring_drain(&clock->rings[i], read_record, &reading);
}
