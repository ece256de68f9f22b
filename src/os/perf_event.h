// SPDX-License-Identifier: Apache-2.0
// perf_event_open(2): the call, the limits that the kernel sets, the ring.

#ifndef OS_PERF_EVENT_H
#define OS_PERF_EVENT_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <sys/types.h>

// The limits in /proc/sys/kernel/perf_* and the rights of this process. -1 where a file is
// missing; for `paranoid`, where -1 is a valid value, INT64_MIN.
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

// Reads all of them anew.
PerfLimits perf_limits(void);

// The system call, close-on-exec; returns the descriptor, or -1 and errno. Sets attr->size. An
// older kernel with a shorter attr works where the fields it does not know are zero.
int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd);

// Lets only those occurrences of a tracepoint through that match `filter`, as in "prev_pid == 1".
// `event` is its name.
MUST_CHECK bool perf_event_set_filter(int fd, Str event, Str filter, Error *err);

// The same as perf_event_open for the processes of a control group, whose folder `cgroup_fd` is, on
// one CPU.
int perf_event_open_cgroup(struct perf_event_attr *attr, int cgroup_fd, int cpu, int group_fd);

// An event that counts nothing. Its ring gets the records of programs' names, starts and ends,
// each followed by the `sample_type` fields, with times by CLOCK_MONOTONIC.
struct perf_event_attr perf_event_of_tasks(uint64_t sample_type);

// Opens the event that needs the fewest rights on this process: 0 when that works, else errno.
int perf_event_probe(void);

// Explains why an event did not open: sets kind, text, and a hint with the limit that was found
// and the command that lifts it. `event` is the event's name. Returns false.
bool perf_explain(int os_errno, const PerfLimits *limits, const struct perf_event_attr *attr,
                  Str event, bool system_wide, Error *err);

// The mapped ring buffer of one event. This process is its only reader.
typedef struct PerfRing {
    struct perf_event_mmap_page *page; // NULL: not mapped
    const uint8_t *data;
    uint64_t size; // of data, a power of two
    uint64_t tail; // read up to here, as ring_release last told the kernel
} PerfRing;

// Maps `data_pages` pages of records, a power of two. False with errno EPERM when the pages are
// more than the kernel's quota for locked memory.
MUST_CHECK bool ring_map(int fd, size_t data_pages, PerfRing *ret);
void ring_unmap(PerfRing *r); // accepts one that is not mapped

// The position up to which the kernel has written.
static inline uint64_t ring_head(const PerfRing *r)
{
    return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

// Tells the kernel that everything before `tail` has been read and may be overwritten.
static inline void ring_release(PerfRing *r, uint64_t tail)
{
    r->tail = tail;
    __atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

// Copies n bytes from position `from`; at the end of the ring it goes on at the start.
void ring_copy(const PerfRing *r, uint64_t from, void *to, size_t n);

// Calls `each` with every record before the ring's head and releases them. `body` holds the `len`
// bytes behind the header. Records with more than RING_BODY_MAX bytes there are left out.
enum { RING_BODY_MAX = 256 };
typedef void RingRecordFn(void *ctx, const struct perf_event_header *header, const uint8_t *body,
                          size_t len);
void ring_drain(PerfRing *r, RingRecordFn *each, void *ctx);

#endif // OS_PERF_EVENT_H
