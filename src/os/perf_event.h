// SPDX-License-Identifier: Apache-2.0
// perf_event_open(2): the call, the limits that the kernel sets, the ring.

#ifndef OS_PERF_EVENT_H
#define OS_PERF_EVENT_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <sys/types.h>

// What /proc/sys/kernel/perf_* says. A file that is missing leaves -1 (paranoid:
// INT64_MIN, because -1 is a value of its own).
typedef struct PerfLimits {
    int64_t paranoid;
    int64_t mlock_kb;
    int64_t max_sample_rate;
    int64_t max_stack;
    int64_t kptr_restrict;
    bool supported;  // the kernel has perf events at all
    bool privileged; // CAP_PERFMON or CAP_SYS_ADMIN: paranoid does not bind us
    bool may_lock;   // CAP_IPC_LOCK: the ring quota does not bind us
    bool seccomp;    // a filter is on this process
} PerfLimits;

PerfLimits perf_limits(void);

// The system call, close-on-exec. Sets attr->size; when the kernel knows a
// shorter attr and the rest of ours is zero, that is no failure. -1 and errno.
int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd);

// 0 when this process may open the least of events, on itself; else the errno.
int perf_event_probe(void);

// What stands in the way, in words: kind, text and a hint with the value found
// and the one command that lifts it. `event` is the event's name. Returns false.
bool perf_explain(int os_errno, const PerfLimits *limits, const struct perf_event_attr *attr,
                  Str event, bool system_wide, Error *err);

// A mapped ring of one event, read only by us.
typedef struct PerfRing {
    struct perf_event_mmap_page *page; // NULL: not mapped
    const uint8_t *data;
    uint64_t size; // of data, a power of two
    uint64_t tail; // what we have read; the kernel hears of it by ring_release
} PerfRing;

// Maps `data_pages` (a power of two) pages of records. -1 with errno EPERM when
// that is over the quota.
MUST_CHECK bool ring_map(int fd, size_t data_pages, PerfRing *ret);
void ring_unmap(PerfRing *r);

// Where the kernel has written up to.
static inline uint64_t ring_head(const PerfRing *r)
{
    return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

// Gives everything before `tail` back to the kernel.
static inline void ring_release(PerfRing *r, uint64_t tail)
{
    r->tail = tail;
    __atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

// Copies n bytes from position `from`, over the end of the ring where needed.
void ring_copy(const PerfRing *r, uint64_t from, void *to, size_t n);

#endif // OS_PERF_EVENT_H
