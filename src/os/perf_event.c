// SPDX-License-Identifier: Apache-2.0
// perf_event_open(2): the call, the limits that the kernel sets, the ring.

#include "os/perf_event.h"

#include "os/file.h"
#include "os/proc.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CAP_BIT_IPC_LOCK = 14, CAP_BIT_SYS_ADMIN = 21, CAP_BIT_PERFMON = 38 };

static int64_t sysctl_or(const char *path, int64_t missing)
{
    int64_t v;
    return os_read_i64(path, &v) ? v : missing;
}

PerfLimits perf_limits(void)
{
    PerfLimits l = {
        .paranoid = sysctl_or("/proc/sys/kernel/perf_event_paranoid", INT64_MIN),
        .mlock_kb = sysctl_or("/proc/sys/kernel/perf_event_mlock_kb", -1),
        .max_sample_rate = sysctl_or("/proc/sys/kernel/perf_event_max_sample_rate", -1),
        .max_stack = sysctl_or("/proc/sys/kernel/perf_event_max_stack", -1),
        .kptr_restrict = sysctl_or("/proc/sys/kernel/kptr_restrict", -1),
    };
    l.supported = l.paranoid != INT64_MIN;
    Arena arena = {0};
    ProcStatus st;
    if (proc_status_read(&arena, 0, &st, NULL)) {
        l.privileged = (st.cap_effective >> CAP_BIT_PERFMON & 1) ||
                       (st.cap_effective >> CAP_BIT_SYS_ADMIN & 1);
        l.may_lock = st.cap_effective >> CAP_BIT_IPC_LOCK & 1;
        l.seccomp = st.seccomp != 0;
    }
    arena_deinit(&arena);
    return l;
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                      unsigned long flags)
{
    attr->size = sizeof(*attr);
    long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
    if (fd < 0 && errno == E2BIG && attr->size < sizeof(*attr) &&
        attr->size >= PERF_ATTR_SIZE_VER0) {
        // An older kernel has written the size that it knows. The fields that it does not know must
        // be zero, or the event would mean something else.
        const uint8_t *bytes = (const uint8_t *)attr;
        for (size_t i = attr->size; i < sizeof(*attr); i++)
            if (bytes[i]) {
                errno = E2BIG;
                return -1;
            }
        fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
    }
    return (int)fd;
}

int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
    return open_event(attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
}

bool perf_event_set_filter(int fd, Str event, Str filter, Error *err)
{
    Arena scratch = {0};
    bool ok = ioctl(fd, PERF_EVENT_IOC_SET_FILTER, arena_c_str(&scratch, filter)) == 0;
    arena_deinit(&scratch);
    if (ok)
        return true;
    (void)error_set(err, ERROR_USAGE, "event '%" STR_FMT "' refuses the filter '%" STR_FMT "'",
                    STR_ARG(event), STR_ARG(filter));
    return error_hint(err, "a filter compares fields of a tracepoint: 'pid == 1 && prio > 2'");
}

int perf_event_open_cgroup(struct perf_event_attr *attr, int cgroup_fd, int cpu, int group_fd)
{
    return open_event(attr, cgroup_fd, cpu, group_fd, PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
}

struct perf_event_attr perf_event_of_tasks(uint64_t sample_type)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = sample_type,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

int perf_event_probe(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    int fd = perf_event_open(&attr, 0, -1, -1);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static bool explain_refusal(const PerfLimits *l, const struct perf_event_attr *attr, Str event,
                            bool system_wide, Error *err)
{
    bool wants_kernel = !attr->exclude_kernel;
    // Only the kernels of some distributions know these values; for others they are 2.
    if (!l->privileged && l->paranoid >= 3 && perf_event_probe() != 0) {
        (void)error_set(
            err, ERROR_PERMISSION,
            "the kernel does not let users profile (kernel.perf_event_paranoid is %lld)",
            (long long)l->paranoid);
        return error_hint(err, "run: sudo sysctl kernel.perf_event_paranoid=2   (or run assay as "
                               "root, or give it cap_perfmon)");
    }
    if (!l->privileged && system_wide && l->paranoid > 0) {
        (void)error_set(err, ERROR_PERMISSION,
                        "not allowed to observe whole CPUs (kernel.perf_event_paranoid is %lld)",
                        (long long)l->paranoid);
        return error_hint(err, "run: sudo sysctl kernel.perf_event_paranoid=0   (or record only a "
                               "command, or your own process with -p)");
    }
    if (!l->privileged && attr->type == PERF_TYPE_TRACEPOINT && l->paranoid > -1) {
        (void)error_set(err, ERROR_PERMISSION,
                        "not allowed to use tracepoint '%" STR_FMT
                        "' (kernel.perf_event_paranoid is %lld)",
                        STR_ARG(event), (long long)l->paranoid);
        return error_hint(err, "run: sudo sysctl kernel.perf_event_paranoid=-1   (or run assay as "
                               "root)");
    }
    if (!l->privileged && wants_kernel && l->paranoid >= 2) {
        (void)error_set(err, ERROR_PERMISSION,
                        "not allowed to observe the kernel with '%" STR_FMT
                        "' (kernel.perf_event_paranoid is %lld)",
                        STR_ARG(event), (long long)l->paranoid);
        return error_hint(err,
                          "run: sudo sysctl kernel.perf_event_paranoid=1   (or, without: the "
                          "user part alone, '%" STR_FMT ":u')",
                          STR_ARG(event));
    }
    if (l->seccomp) {
        (void)error_set(err, ERROR_PERMISSION,
                        "perf_event_open is refused, most likely by the seccomp filter of this "
                        "container (Seccomp: 2 in /proc/self/status)");
        return error_hint(err, "start the container with --security-opt seccomp=unconfined or a "
                               "profile that allows perf_event_open");
    }
    (void)error_set(err, ERROR_PERMISSION,
                    "perf_event_open is refused for '%" STR_FMT
                    "' although kernel.perf_event_paranoid is %lld",
                    STR_ARG(event), (long long)l->paranoid);
    return error_hint(err, "the process belongs to another user, or a security module (SELinux, "
                           "AppArmor, lockdown) forbids it; see: assay doctor");
}

bool perf_explain(int os_errno, const PerfLimits *limits, const struct perf_event_attr *attr,
                  Str event, bool system_wide, Error *err)
{
    switch (os_errno) {
    case EACCES:
    case EPERM:
        (void)explain_refusal(limits, attr, event, system_wide, err);
        break;
    case ENOSYS:
        (void)error_set(err, ERROR_UNSUPPORTED, "this kernel has no perf events");
        (void)error_hint(err, "a kernel with CONFIG_PERF_EVENTS=y is needed");
        break;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "event '%" STR_FMT "' does not exist on this machine", STR_ARG(event));
        (void)error_hint(err,
                         attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
                                 attr->type == PERF_TYPE_RAW
                             ? "it has no hardware counters (virtual machine?); cpu-clock and the "
                               "other software events work without"
                             : "man assay-record describes how events are written");
        break;
    case ESRCH:
        (void)error_set(err, ERROR_NOT_FOUND, "the process to observe has ended");
        break;
    case EMFILE:
    case ENFILE:
        (void)error_set(err, ERROR_LIMIT, "out of file descriptors for the events");
        (void)error_hint(err, "run: ulimit -n unlimited   (or record fewer threads with -t)");
        break;
    case EBUSY:
        (void)error_set(err, ERROR_LIMIT,
                        "the counter for '%" STR_FMT "' is taken by another profiler",
                        STR_ARG(event));
        break;
    case EINVAL:
        (void)error_set(err, ERROR_USAGE, "the kernel rejects event '%" STR_FMT "' as asked for",
                        STR_ARG(event));
        (void)error_hint(err, "leave out its modifiers or its period");
        break;
    default:
        errno = os_errno;
        return error_os(err, "cannot open event '%" STR_FMT "'", STR_ARG(event));
    }
    if (err)
        err->os_errno = os_errno;
    return false;
}

bool ring_map(int fd, size_t data_pages, PerfRing *ret)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, (data_pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return false;
    *ret = (PerfRing){.page = at, .data = (const uint8_t *)at + page, .size = data_pages * page};
    return true;
}

void ring_unmap(PerfRing *r)
{
    if (r->page)
        munmap(r->page, (size_t)(r->data - (const uint8_t *)r->page) + r->size);
    *r = (PerfRing){0};
}

void ring_copy(const PerfRing *r, uint64_t from, void *to, size_t n)
{
    uint64_t at = from & (r->size - 1);
    size_t first = MIN(n, (size_t)(r->size - at));
    memcpy(to, r->data + at, first);
    if (n > first)
        memcpy((uint8_t *)to + first, r->data, n - first);
}

void ring_drain(PerfRing *r, RingRecordFn *each, void *ctx)
{
    uint64_t head = ring_head(r), at = r->tail;
    struct perf_event_header header;
    while (head - at >= sizeof(header)) {
        uint8_t body[RING_BODY_MAX];
        ring_copy(r, at, &header, sizeof(header));
        if (header.size < sizeof(header) || header.size > head - at)
            break; // the kernel writes no such record; where the next begins is not known
        size_t len = header.size - sizeof(header);
        if (len <= sizeof(body)) {
            ring_copy(r, at + sizeof(header), body, len);
            each(ctx, &header, body, len);
        }
        at += header.size;
    }
    ring_release(r, head);
}
