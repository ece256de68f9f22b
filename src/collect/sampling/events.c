// SPDX-License-Identifier: Apache-2.0
// Opens the events of the recording: chooses events, sizes and rings.

#include "collect/sampling/events_internal.h"

#include "base/log.h"
#include "collect/sampling/hit_copies_internal.h"
#include "collect/sampling/probe_scope_internal.h"
#include "collect/sampling/text_plans_internal.h"
#include "os/proc.h"
#include "unwind/core.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_HZ      1000000000ull
#define CYCLES_HZ_MAX 6000000000ull // of the fastest processors

enum {
    RING_BYTES_MAX = 4 << 20, // for one CPU
    RING_BYTES_BURST =
        16 << 20, // for one CPU, at a high rate or when each occurrence takes a sample
    RING_BYTES_PROBES = 32 << 20, // for one CPU
    RING_BYTES_ALL = 64 << 20,    // for all CPUs together
    RING_BYTES_THREAD = 1 << 20,  // when each thread has its own ring
    STACK_BYTES_MAX = 65528,      // perf_event_open(2)
    STACK_BYTES_MIN = 16 << 10,   // with less, too many stacks are cut
    STACK_BYTES_PROBE = 16 << 10, // of a probe's first hits: stack_copies.c
    STACK_BYTES_SMALL = 4 << 10,  // … when the quota or -m keeps the rings small
    STACK_BYTES_EACH = 8 << 10,   // of other events that take every occurrence
    RECORDS_BY_COUNT = 256,       // records of events in bursts that fit a ring
    STACK_BYTES_FAST = 4 << 10,   // at a high rate, when the quota or -m keeps the rings small
    RATE_HIGH_HZ = 2000,
    DRAIN_MS = 16,          // the drain may sleep so long without losing records
    DRAIN_BUSY_MS = 100,    // … at a high rate, as hundreds of threads may run before it
    RATE_UNKNOWN_HZ = 1000, // when neither this process nor the kernel states a rate
    FDS_KEPT_FREE = 128,    // for files that the recorder opens
};

#if defined(__x86_64__)
static const UnwindArch machine_arch = UNWIND_X86_64;
#else
static const UnwindArch machine_arch = UNWIND_AARCH64;
#endif

// ---- Attributes ---------------------------------------------------------------

// Counts only, read with its leader.
static bool is_member(const EventSet *set, const EventSpec *spec)
{
    return spec->group_read && spec->group != EVENT_NO_GROUP &&
           spec != &set->events.at[spec->group];
}

uint64_t events_fixed_period(const EventSet *set, const EventSpec *spec)
{
    if (is_member(set, spec))
        return 0;
    if (spec->period || spec->freq || set->options->period)
        return spec->period || spec->freq ? spec->period : set->options->period;
    return spec->counts_each && !set->options->freq_given;
}

static void set_rate(const EventSet *set, const EventSpec *spec, struct perf_event_attr *attr)
{
    if (is_member(set, spec))
        return;
    attr->sample_period = events_fixed_period(set, spec);
    if (attr->sample_period) {
        // Asked to state periods, the kernel gives each occurrence of a software event
        // a sample of its own.
        attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
        return;
    }
    attr->freq = 1;
    attr->sample_freq = spec->freq ? spec->freq : set->freq_hz;
}

static bool observes_kernel(const struct perf_event_attr *attr)
{
    return !attr->exclude_kernel;
}

struct perf_event_attr events_sampler_attr(const EventSet *set, const EventSpec *spec)
{
    struct perf_event_attr attr = set->base;
    event_spec_apply(spec, &attr);
    if (set->user_only && spec->type != PERF_TYPE_TRACEPOINT)
        attr.exclude_kernel = attr.exclude_hv = 1;
    if (set->options->kernel_only)
        attr.exclude_user = 1;
    attr.exclude_callchain_kernel = !observes_kernel(&attr);
    // The kernel walks the frame pointers of a stack for longer than all else of a hit takes.
    // Frames outside of the copy come from earlier hits, or from the process.
    attr.exclude_callchain_user =
        spec->is_probe && set->stacks == STACKS_TABLES && events_fixed_period(set, spec) != 0;
    attr.exclude_idle = set->options->no_idle && event_is_clock(spec);
    // When a thread starts, the kernel reads the path of an inherited probe from the memory of the
    // program, where it is not, and the start fails with EFAULT.
    if (spec->is_probe)
        attr.inherit = 0;
    if (events_is_wide(set, spec))
        attr.enable_on_exec = 0;
    uint32_t copied = set->copies ? atomic_load(&set->copies[spec - set->events.at].bytes) : 0;
    if (copied)
        attr.sample_stack_user = copied;
    set_rate(set, spec, &attr);
    return attr;
}

// The highest number of samples per second on one CPU; 0 when it is not known, for events that come
// in bursts. The period of a clock is a time, and so, nearly, is that of cycles.
static uint64_t expected_rate_hz(const EventSet *set)
{
    for (size_t i = 0; i < set->events.len && !set->options->period; i++)
        if (events_fixed_period(set, &set->events.at[i]))
            return 0;
    if (!set->options->period)
        return set->freq_hz ? set->freq_hz : RATE_UNKNOWN_HZ;
    uint64_t ticks_hz = 0;
    for (size_t i = 0; i < set->events.len; i++) {
        const EventSpec *e = &set->events.at[i];
        if (event_is_clock(e))
            ticks_hz = MAX(ticks_hz, CLOCK_HZ);
        else if (e->type == PERF_TYPE_HARDWARE && e->config == PERF_COUNT_HW_CPU_CYCLES)
            ticks_hz = CYCLES_HZ_MAX;
        else
            return 0;
    }
    return MAX(ticks_hz / set->options->period, 1u);
}

// How many bytes of a ring may fill before the drain is woken. Each wake-up costs two context
// switches, so it comes late; but what is left of the ring must hold all records until the drain
// runs.
static uint32_t wakeup_bytes(const EventSet *set)
{
    uint64_t ring = set->ring_pages * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t rate = expected_rate_hz(set);
    uint64_t reserve = MIN(rate, (uint64_t)UINT32_MAX) * DRAIN_MS / 1000 * STACK_BYTES_MAX;
    uint64_t least = ring / (ring >= RING_BYTES_MAX / 2 ? 4 : 8);
    if (rate == 0 || reserve >= ring)
        return (uint32_t)least;
    return (uint32_t)MIN(MAX(ring - reserve, least), ring / 2);
}

// The attributes of the side-band event, which delivers records of mappings, names, forks and
// exits. It takes no samples itself, so that it goes on while samples are delayed or throttled.
static struct perf_event_attr side_band_attr(const EventSet *set)
{
    struct perf_event_attr attr = set->base;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.sample_period = 1;
    attr.exclude_kernel = 1;
    attr.mmap = 1;
    attr.mmap2 = 1;
    attr.comm = 1;
    attr.comm_exec = 1;
    attr.task = 1;
    attr.build_id = 1;
    // BPF programs are loaded and unloaded; only a recording of whole CPUs gets these records.
    attr.ksymbol = set->options->system_wide && !set->user_only;
    attr.read_format = 0;
    attr.watermark = 1;
    attr.wakeup_watermark = wakeup_bytes(set);
    // Only the parts that all records have; it has no samples of its own.
    attr.sample_type &=
        ~(uint64_t)(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_CALLCHAIN |
                    PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_READ);
    attr.sample_stack_user = 0;
    attr.sample_regs_user = 0;
    attr.branch_sample_type = 0;
    return attr;
}

// Opens the side-band event, without the newer bits that this kernel does not know: they are
// removed one by one.
static int open_side_band(const EventSet *set, pid_t pid, int cpu)
{
    struct perf_event_attr attr = side_band_attr(set);
    int fd = perf_event_open(&attr, pid, cpu, -1);
    if (fd < 0 && errno == EINVAL && attr.ksymbol) {
        attr.ksymbol = 0; // before 5.1
        fd = perf_event_open(&attr, pid, cpu, -1);
    }
    if (fd < 0 && errno == EINVAL && attr.build_id) {
        attr.build_id = 0; // before 5.12
        fd = perf_event_open(&attr, pid, cpu, -1);
    }
    if (fd < 0 && errno == EINVAL) {
        attr.comm_exec = 0; // before 3.16
        fd = perf_event_open(&attr, pid, cpu, -1);
    }
    return fd;
}

// The registers that arguments of probes need, in perf's numbers.
static uint64_t arg_registers(const EventSet *set)
{
    const EventSpecVec *given = set->options->events;
    uint64_t mask = 0;
    for (size_t i = 0; given && i < given->len; i++)
        for (size_t k = 0; k < given->at[i].arg_count; k++)
            if (given->at[i].args[k].kind == EVENT_ARG_REGISTER ||
                given->at[i].args[k].kind == EVENT_ARG_STACK)
                mask |= 1ull << given->at[i].args[k].reg;
    return mask;
}

// Whether all events are places in programs.
static bool has_only_probes(const EventSet *set)
{
    const EventSpecVec *given = set->options->events;
    for (size_t i = 0; given && i < given->len; i++)
        if (!given->at[i].is_probe)
            return false;
    return given && given->len;
}

// Whether samples carry the records of tracepoints, which hold their fields.
static bool wants_fields(const EventSet *set)
{
    const EventSpecVec *given = set->options->events;
    for (size_t i = 0; given && i < given->len; i++)
        if (given->at[i].type == PERF_TYPE_TRACEPOINT && given->at[i].arg_count)
            return !set->fields_refused;
    return false;
}

static void settle_base(EventSet *set)
{
    const SamplingOptions *o = set->options;
    struct perf_event_attr *a = &set->base;
    *a = (struct perf_event_attr){
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
        .disabled = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    a->inherit = !o->system_wide && !o->no_inherit && !set->per_thread;
    a->enable_on_exec = o->argv && !o->system_wide && o->delay_ns == 0;
    if (set->group_read) {
        a->sample_type |= PERF_SAMPLE_READ;
        a->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
    }
    if (set->counts_lost)
        a->read_format |= PERF_FORMAT_LOST;
    if (wants_fields(set))
        a->sample_type |= PERF_SAMPLE_RAW;
    switch (set->stacks) {
    case STACKS_TABLES:
        a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        a->sample_regs_user = has_only_probes(set) ? unwind_perf_regs_mask_at_probes(machine_arch)
                                                   : unwind_perf_regs_mask(machine_arch);
        a->sample_regs_user |= arg_registers(set);
        a->sample_stack_user = set->stack_bytes;
        // The kernel's frames; and the chain of the program's frame pointers, for stacks
        // that go on elsewhere than in the copied piece.
        a->sample_type |= PERF_SAMPLE_CALLCHAIN;
        break;
    case STACKS_FP:
        a->sample_type |= PERF_SAMPLE_CALLCHAIN;
        break;
    case STACKS_LBR:
        a->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK;
        a->branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER |
                                PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
        break;
    case STACKS_AUTO:
    case STACKS_WALKED:
    case STACKS_NONE:
        break;
    }
    set->layout = perf_layout(a);
    struct perf_event_attr counted = *a;
    counted.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
    set->counted_layout = perf_layout(&counted);
}

// ---- The ladder -----------------------------------------------------------------

typedef struct Probe {
    pid_t pid;
    int cpu;
} Probe;

static bool try_spec(const EventSet *set, const EventSpec *spec, Probe probe, int *ret_errno,
                     struct perf_event_attr *tried)
{
    *tried = events_sampler_attr(set, spec);
    int fd = perf_event_open(tried, probe.pid, probe.cpu, -1);
    if (fd < 0) {
        *ret_errno = errno;
        return false;
    }
    close(fd);
    return true;
}

// 'P': the highest precision that this machine has, down to none.
static bool try_precise(const EventSet *set, EventSpec *spec, Probe probe, int *ret_errno,
                        struct perf_event_attr *tried)
{
    if (!spec->precise_most)
        return try_spec(set, spec, probe, ret_errno, tried);
    for (spec->precise = 3;; spec->precise--) {
        if (try_spec(set, spec, probe, ret_errno, tried))
            return true;
        if (spec->precise == 0 || *ret_errno == EACCES || *ret_errno == EPERM)
            return false;
    }
}

// Gives up the fields of tracepoints, which need more rights than their stacks. True when they were
// asked for.
static bool give_up_fields(EventSet *set, int os_errno)
{
    if ((os_errno != EACCES && os_errno != EPERM) || !wants_fields(set))
        return false;
    set->fields_refused = true;
    settle_base(set);
    return true;
}

// Gives up sampling the kernel. True when kernel code was refused and can be left out.
static bool give_up_kernel(EventSet *set, int os_errno)
{
    if ((os_errno != EACCES && os_errno != EPERM) || set->user_only || set->options->kernel_only)
        return false;
    set->user_only = set->kernel_refused = true;
    settle_base(set);
    return true;
}

static const char *why_not(int os_errno)
{
    switch (os_errno) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "no hardware counters here";
    case EBUSY:
        return "the counter is in use";
    case EACCES:
    case EPERM:
        return "not allowed";
    default:
        return "the kernel rejects it";
    }
}

static bool settle_ladder(EventSet *set, Probe probe, Error *err)
{
    static const char *const steps[] = {"cycles:P", "cpu-clock"};
    EventSources none = {0};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        EventSpecVec one = {0};
        if (!events_parse(set->arena, &none, str_from_c(steps[i]), &one, err))
            return false;
        int os_errno = 0;
        struct perf_event_attr tried;
        bool ok = try_precise(set, &one.at[0], probe, &os_errno, &tried);
        if (!ok && give_up_kernel(set, os_errno))
            ok = try_precise(set, &one.at[0], probe, &os_errno, &tried);
        if (ok) {
            if (i == 0)
                one.at[0].name = one.at[0].precise ? STR("cycles:P") : STR("cycles");
            vec_push(set->arena, &set->events, one.at[0]);
            return true;
        }
        if (os_errno == ESRCH || i + 1 == ARRAY_LEN(steps))
            return perf_explain(os_errno, &set->limits, &tried, one.at[0].name,
                                set->options->system_wide, err);
        set->fallback = arena_printf(set->arena, "cycles: %s", why_not(os_errno));
    }
    return true;
}

// Places in programs are the kernel's to change, whoever owns the program.
static bool explain_probe(int os_errno, const PerfLimits *limits, const EventSpec *spec, Error *err)
{
    if ((os_errno == EACCES || os_errno == EPERM) && limits->privileged && limits->seccomp) {
        (void)error_set(err, ERROR_PERMISSION,
                        "cannot probe '%" STR_FMT "': perf_event_open is refused, most likely by "
                        "the seccomp filter of this container (Seccomp: 2 in /proc/self/status)",
                        STR_ARG(spec->name));
        return error_hint(err, "start the container with --security-opt seccomp=unconfined or a "
                               "profile that allows perf_event_open");
    }
    if (os_errno == EACCES || os_errno == EPERM) {
        (void)error_set(err, ERROR_PERMISSION,
                        "not allowed to probe '%" STR_FMT "': probes in programs need root "
                        "(kernels before 6.16 and July 2025: or CAP_PERFMON), whatever "
                        "kernel.perf_event_paranoid is",
                        STR_ARG(spec->name));
        return error_hint(err,
                          "run it by sudo, or: sudo setcap cap_sys_admin,cap_sys_ptrace+ep ASSAY");
    }
    if (os_errno == EINVAL || os_errno == EOPNOTSUPP) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "the kernel refuses to probe '%" STR_FMT "' at 0x%llx", STR_ARG(spec->name),
                        (unsigned long long)spec->svma);
        return error_hint(err, "it cannot step over every instruction; a line behind it may do");
    }
    errno = os_errno;
    return error_os(err, "cannot probe '%" STR_FMT "'", STR_ARG(spec->name));
}

static bool settle_given(EventSet *set, Probe probe, Error *err)
{
    const EventSpecVec *given = set->options->events;
    for (size_t i = 0; i < given->len; i++)
        vec_push(set->arena, &set->events, given->at[i]);
    for (size_t i = 0; i < set->events.len; i++) {
        EventSpec *spec = &set->events.at[i];
        struct perf_event_attr tried;
        int os_errno = 0;
        bool ok = try_precise(set, spec, probe, &os_errno, &tried);
        if (!ok && spec->type == PERF_TYPE_TRACEPOINT && give_up_fields(set, os_errno))
            ok = try_precise(set, spec, probe, &os_errno, &tried);
        // Only when the user did not ask for kernel code by ":k".
        bool asked = !spec->exclude_kernel && (spec->exclude_user || spec->exclude_hv);
        if (!ok && !asked && spec->type != PERF_TYPE_TRACEPOINT && give_up_kernel(set, os_errno))
            ok = try_precise(set, spec, probe, &os_errno, &tried);
        if (!ok && spec->is_probe)
            return explain_probe(os_errno, &set->limits, spec, err);
        if (!ok)
            return perf_explain(os_errno, &set->limits, &tried, spec->name,
                                set->options->system_wide, err);
    }
    return true;
}

static bool probe_stacks(EventSet *set, Probe probe)
{
    // Tests with a clock event, which every process may open on itself, whether this machine can
    // copy registers. Other reasons to fail are found later.
    struct perf_event_attr attr = set->base;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = 1000000;
    attr.exclude_kernel = 1;
    attr.exclude_callchain_user = 1;
    int fd = perf_event_open(&attr, probe.pid, probe.cpu, -1);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS);
}

// Explains that the branch records of the processor need a hardware event.
static bool explain_lbr(Error *err)
{
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "-g lbr needs a processor that records its call stack in branch registers, and "
                    "a hardware event: this machine has none");
    return error_hint(err, "leave -g out: stacks are complete without");
}

static bool settle_events(EventSet *set, Probe probe, Error *err)
{
    const SamplingOptions *o = set->options;
    set->freq_hz = o->freq_hz;
    int64_t max = set->limits.max_sample_rate;
    if (max > 0 && (set->freq_hz == 0 || set->freq_hz > (uint64_t)max)) {
        set->freq_clamped = set->freq_hz != 0;
        set->freq_hz = (uint64_t)max;
    }
    for (size_t i = 0; o->events && i < o->events->len; i++)
        set->group_read |= o->events->at[i].group_read;
    set->user_only = o->user_only;
    set->stack_bytes = STACK_BYTES_MIN;
    set->counts_lost = true;
    set->stacks = o->stacks == STACKS_AUTO ? STACKS_TABLES : o->stacks;
    settle_base(set);
    if (!probe_stacks(set, probe)) {
        set->base.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
        if (probe_stacks(set, probe))
            set->counts_lost = false; // before 6.0
        else if (o->stacks == STACKS_AUTO)
            set->stacks = STACKS_FP; // this machine cannot copy registers
        settle_base(set);
    }
    bool ok = set->options->events && set->options->events->len ? settle_given(set, probe, err)
                                                                : settle_ladder(set, probe, err);
    if (!ok)
        return set->stacks == STACKS_LBR && err && err->kind == ERROR_UNSUPPORTED ? explain_lbr(err)
                                                                                  : false;
    const EventSpec *first = &set->events.at[0];
    bool told = str_find_char(first->name, ':') != SIZE_MAX || first->is_probe;
    set->event_name = set->user_only && !told
                          ? arena_printf(set->arena, "%" STR_FMT ":u", STR_ARG(first->name))
                          : first->name;
    return true;
}

// ---- Opening ----------------------------------------------------------------------

static void add_open(EventSet *set, int fd, int event, uint32_t owner, size_t ring)
{
    uint64_t id = 0;
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
        id = 0;
    uint32_t index = (uint32_t)set->open.len;
    vec_push(
        NULL, &set->open,
        (OpenEvent){.fd = fd, .event = event, .owner = owner, .id = id, .ring = (uint32_t)ring});
    table_insert(&set->by_id, hash_u64(id), index);
    if (event == SIDE_BAND && owner && !events_has_owner(set, owner))
        table_insert(&set->by_owner, hash_u64(owner), index);
}

// Whether a probe of all processes is open on the CPU of a ring already, by an earlier thread.
static bool is_wide_open(const EventSet *set, int event, size_t ring)
{
    for (size_t i = 0; i < set->open.len; i++)
        if (set->open.at[i].event == event && set->open.at[i].ring == ring)
            return true;
    return false;
}

// Opens the sampling events of one thread or CPU, beside its side-band event.
static bool open_samplers(EventSet *set, pid_t pid, int cpu, uint32_t owner, size_t ring,
                          Error *err)
{
    if (set->hits)
        return true;
    int leader = -1;
    uint32_t group = EVENT_NO_GROUP;
    for (size_t i = 0; i < set->events.len; i++) {
        const EventSpec *spec = &set->events.at[i];
        struct perf_event_attr attr = events_sampler_attr(set, spec);
        bool in_group = spec->group != EVENT_NO_GROUP && spec->group == group;
        bool is_wide = events_is_wide(set, spec);
        if (is_wide && is_wide_open(set, (int)i, ring))
            continue;
        int fd = perf_event_open(&attr, is_wide ? -1 : pid, cpu, in_group ? leader : -1);
        if (fd < 0) {
            int saved = errno;
            if (saved == EINVAL && set->group_read && attr.inherit) {
                (void)error_set(err, ERROR_UNSUPPORTED,
                                "this kernel cannot read group '%" STR_FMT
                                "' in new threads as well",
                                STR_ARG(spec->name));
                return error_hint(err, "add --no-inherit, or leave out ':S'");
            }
            (void)perf_explain(saved, &set->limits, &attr, spec->name, set->options->system_wide,
                               err);
            if (err)
                err->os_errno = saved;
            return false;
        }
        if (!in_group) {
            leader = fd;
            group = spec->group;
        }
        add_open(set, fd, (int)i, is_wide ? 0 : owner, ring);
        if (spec->filter.len && !perf_event_set_filter(fd, spec->name, spec->filter, err))
            return false;
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, set->ring_fds[ring]) != 0)
            return error_os(err, "cannot direct event '%" STR_FMT "' to its ring",
                            STR_ARG(spec->name));
    }
    return true;
}

static void drop_rings(EventSet *set)
{
    for (size_t i = 0; i < set->ring_count; i++)
        ring_unmap(&set->rings[i]);
    set->ring_count = 0;
    for (size_t i = 0; i < set->open.len; i++)
        close(set->open.at[i].fd);
    set->open.len = 0;
    table_deinit(&set->by_id);
    table_deinit(&set->by_owner);
}

// Opens a side-band event with a ring for each CPU. False with errno.
static bool open_cpu_rings(EventSet *set, pid_t pid, uint32_t owner, Error *err)
{
    for (size_t i = 0; i < set->cpu_count; i++) {
        int fd = open_side_band(set, pid, (int)set->cpus[i]);
        if (fd < 0) {
            int saved = errno;
            struct perf_event_attr attr = side_band_attr(set);
            (void)perf_explain(saved, &set->limits, &attr, STR("dummy"), set->options->system_wide,
                               err);
            return false;
        }
        add_open(set, fd, SIDE_BAND, owner, i);
        if (!ring_map(fd, set->ring_pages, &set->rings[i])) {
            (void)error_os(err, "cannot map a ring of %zu pages for each CPU", set->ring_pages);
            if (err && (err->os_errno == EPERM || err->os_errno == ENOMEM))
                (void)error_hint(err,
                                 "kernel.perf_event_mlock_kb is %lld; run: sudo sysctl "
                                 "kernel.perf_event_mlock_kb=8192   (other profilers of this user "
                                 "share it)",
                                 (long long)set->limits.mlock_kb);
            return false;
        }
        set->ring_fds[i] = fd;
        set->ring_count = i + 1;
    }
    return true;
}

// Whether each occurrence of the first event takes a sample: page faults come by the 100,000 in a
// second. What lies outside of a small copy is known from earlier samples, or read from the
// process.
static bool takes_each(const EventSet *set)
{
    return events_fixed_period(set, &set->events.at[0]) == 1;
}

static bool is_fast(const EventSet *set)
{
    return expected_rate_hz(set) > RATE_HIGH_HZ;
}

static size_t first_ring_pages(const EventSet *set)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (set->options->ring_pages)
        return (size_t)set->options->ring_pages;
    size_t bytes = RING_BYTES_ALL / MAX(set->cpu_count, (size_t)1);
    bool in_bursts = takes_each(set) || is_fast(set) || set->events.at[0].is_probe;
    size_t most = in_bursts ? RING_BYTES_BURST : RING_BYTES_MAX;
    if (set->copies || set->hits)
        most = RING_BYTES_PROBES;
    bytes = MIN(bytes, set->per_thread ? (size_t)RING_BYTES_THREAD : most);
    size_t pages = (size_t)round_up_pow2(MAX(bytes / page, (size_t)8));
    return pages * page > bytes && pages > 8 ? pages / 2 : pages;
}

// Chooses the largest stack copy with which a ring still holds all samples that come while the
// drain sleeps.
static void settle_stack_size(EventSet *set)
{
    if (set->options->stack_bytes) {
        set->stack_bytes =
            (uint32_t)align_down(MIN(set->options->stack_bytes, (uint32_t)STACK_BYTES_MAX), 8);
    } else if (takes_each(set) || set->hits) {
        // Texts are read by the probes that were opened first: their copies stay as they are.
        bool is_small = set->ring_pages * (size_t)sysconf(_SC_PAGESIZE) < RING_BYTES_BURST ||
                        (!set->copies && !set->hits && !probe_texts_wanted(&set->events));
        uint32_t first = is_small ? STACK_BYTES_SMALL : STACK_BYTES_PROBE;
        if (!set->events.at[0].is_probe)
            first = set->ring_pages < first_ring_pages(set) ? STACK_BYTES_SMALL : STACK_BYTES_EACH;
        set->stack_bytes = first;
    } else {
        uint64_t ring = set->ring_pages * (uint64_t)sysconf(_SC_PAGESIZE);
        uint64_t rate = expected_rate_hz(set);
        uint64_t drain_ms = is_fast(set) ? DRAIN_BUSY_MS : DRAIN_MS;
        uint64_t least = STACK_BYTES_MIN;
        if (is_fast(set) && ring <= RING_BYTES_THREAD)
            least = STACK_BYTES_FAST;
        uint64_t records =
            rate ? MAX(rate * drain_ms / 1000, (uint64_t)14) : (uint64_t)RECORDS_BY_COUNT;
        uint64_t bytes = ring / records;
        if (set->events.at[0].is_probe) // its rings are large because its hits come in bursts
            bytes = MIN(bytes, (uint64_t)STACK_BYTES_PROBE);
        bytes = MIN(MAX(bytes, least), (uint64_t)STACK_BYTES_MAX);
        set->stack_bytes = (uint32_t)align_down(MIN(bytes, ring / 4), 8);
    }
    settle_base(set);
}

// Probes that take every hit copy little of the stack at first.
static void settle_copies(EventSet *set)
{
    bool has_probes = false;
    for (size_t i = 0; i < set->events.len; i++)
        has_probes |= set->events.at[i].is_probe;
    if (has_probes && !set->hits && set->stacks == STACKS_TABLES &&
        set->options->stack_bytes == 0 && takes_each(set) && !probe_texts_wanted(&set->events))
        set->copies = arena_array(set->arena, StackCopies, set->events.len);
}

// Opens side-band events and rings first, because the size of the rings decides how large samples
// may be.
static bool open_first(EventSet *set, pid_t pid, uint32_t owner, Error *err)
{
    set->rings = arena_array(set->arena, PerfRing, set->cpu_count);
    set->ring_fds = arena_array(set->arena, int, set->cpu_count);
    for (set->ring_pages = first_ring_pages(set);; set->ring_pages /= 2) {
        Error why = {0};
        if (open_cpu_rings(set, pid, owner, &why))
            break;
        bool quota = why.os_errno == EPERM || why.os_errno == ENOMEM;
        bool smaller = quota && !set->options->ring_pages && set->ring_pages > 8;
        drop_rings(set);
        if (!smaller) {
            if (err)
                *err = why;
            return false;
        }
    }
    settle_stack_size(set);
    Error why;
    struct perf_event_attr attr;
    const uint64_t *ids;
    if (set->hits && hit_copies_start(set, set->hits, &attr, &ids, &why)) {
        events_add_outputs(set->arena, set, &attr, ids, set->ring_count);
    } else if (set->hits) {
        log_debug(LOG_RECORD, 1, "no program copies hits: %s", why.text);
        hit_copies_close(set->hits);
        set->hits = NULL;
        settle_copies(set);
    }
    for (size_t i = 0; i < set->cpu_count; i++)
        if (!open_samplers(set, pid, (int)set->cpus[i], owner, i, err))
            return false;
    return true;
}

static bool attach_with_own_ring(EventSet *set, uint32_t tid, Error *err)
{
    int fd = open_side_band(set, (pid_t)tid, -1);
    if (fd < 0)
        return error_os(err, "cannot attach to thread %u", tid);
    PerfRing ring;
    while (!ring_map(fd, set->ring_pages, &ring)) {
        if (set->ring_pages <= 8 || set->options->ring_pages) {
            (void)error_os(err, "cannot map a ring of %zu pages for thread %u", set->ring_pages,
                           tid);
            close(fd);
            return error_hint(err, "record fewer threads with -t, or raise "
                                   "kernel.perf_event_mlock_kb");
        }
        set->ring_pages /= 2;
    }
    size_t n = set->ring_count;
    add_open(set, fd, SIDE_BAND, tid, n);
    set->rings = arena_grow(set->arena, set->rings, n * sizeof(PerfRing),
                            (n + 1) * sizeof(PerfRing), _Alignof(PerfRing));
    set->ring_fds = arena_grow(set->arena, set->ring_fds, n * sizeof(int), (n + 1) * sizeof(int),
                               _Alignof(int));
    set->rings[n] = ring;
    set->ring_fds[n] = fd;
    set->ring_count = n + 1;
    settle_stack_size(set);
    return open_samplers(set, (pid_t)tid, -1, tid, n, err);
}

static bool attach_to_cpu_rings(EventSet *set, uint32_t tid, Error *err)
{
    if (set->ring_count == 0)
        return open_first(set, (pid_t)tid, tid, err);
    for (size_t i = 0; i < set->cpu_count; i++) {
        int fd = open_side_band(set, (pid_t)tid, (int)set->cpus[i]);
        if (fd < 0) {
            int saved = errno;
            struct perf_event_attr attr = side_band_attr(set);
            return perf_explain(saved, &set->limits, &attr, STR("dummy"), false, err);
        }
        add_open(set, fd, SIDE_BAND, tid, i);
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, set->ring_fds[i]) != 0)
            return error_os(err, "cannot direct an event of thread %u to its ring", tid);
        if (!open_samplers(set, (pid_t)tid, (int)set->cpus[i], tid, i, err))
            return false;
    }
    return true;
}

bool events_attach(EventSet *set, uint32_t tid, Error *err)
{
    Error why = {0};
    bool ok = set->per_thread ? attach_with_own_ring(set, tid, &why)
                              : attach_to_cpu_rings(set, tid, &why);
    if (ok)
        return true;
    if (why.os_errno == ESRCH || why.kind == ERROR_NOT_FOUND)
        return true;
    if (err)
        *err = why;
    return false;
}

// How much of a stack is copied at a switch: a small ring must hold those of a burst.
static uint32_t switch_stack_bytes(const EventSet *set)
{
    enum { STACKS = 64, LEAST = 8 << 10, MOST = 32 << 10 };
    size_t ring = set->ring_pages * (size_t)sysconf(_SC_PAGESIZE);
    return (uint32_t)MIN(MAX(ring / STACKS, (size_t)LEAST), (size_t)MOST);
}

static struct perf_event_attr switch_attr(const EventSet *set, bool with_stacks)
{
    struct perf_event_attr attr = side_band_attr(set);
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 0;
    attr.build_id = attr.ksymbol = 0;
    attr.context_switch = 1;
    attr.disabled = attr.enable_on_exec = 0;
    if (!with_stacks)
        return attr;
    attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    attr.exclude_kernel = 0; // switches happen there
    attr.sample_type &= ~(uint64_t)(PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW);
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = unwind_perf_regs_mask(machine_arch);
    attr.sample_stack_user = switch_stack_bytes(set);
    return attr;
}

static bool open_switches(EventSet *set, uint32_t tid, bool with_stacks)
{
    struct perf_event_attr attr = switch_attr(set, with_stacks);
    for (size_t i = 0; i < set->cpu_count; i++) {
        uint64_t id;
        pid_t thread = tid == EVENTS_EVERY_THREAD ? -1 : (pid_t)tid;
        int fd = perf_event_open(&attr, thread, (int)set->cpus[i], -1);
        if (fd < 0)
            return errno == ESRCH;
        vec_push(NULL, &set->switch_fds, fd);
        if (with_stacks && ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
            return false;
        if (with_stacks) {
            table_insert(&set->switch_by_id, hash_u64(id), (uint32_t)set->switch_ids.len);
            vec_push(NULL, &set->switch_ids, id);
        }
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, set->ring_fds[i]) != 0)
            return false;
    }
    if (with_stacks)
        set->switch_layout = perf_layout(&attr);
    return true;
}

bool events_open_switches(EventSet *set, uint32_t tid)
{
    return open_switches(set, tid, false);
}

bool events_open_switch_stacks(EventSet *set, uint32_t tid)
{
    return open_switches(set, tid, true);
}

bool events_can_open_switch_stacks(const EventSet *set)
{
    if (set->cpu_count == 0 || set->stacks != STACKS_TABLES)
        return false;
    struct perf_event_attr attr = switch_attr(set, true);
    attr.disabled = 1;
    int fd = perf_event_open(&attr, 0, (int)set->cpus[0], -1);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

bool events_is_switch_stack(const EventSet *set, uint64_t id)
{
    uint32_t row;
    for (TableProbe p = table_probe(&set->switch_by_id, hash_u64(id));
         table_next(&set->switch_by_id, &p, &row);)
        if (set->switch_ids.at[row] == id)
            return true;
    return false;
}

bool events_rings_are_limited(const EventSet *set)
{
    return !set->options->ring_pages && set->ring_pages < first_ring_pages(set);
}

uint64_t events_weighed_period_ns(const EventSet *set)
{
    size_t clocks = 0;
    for (size_t i = 0; i < set->events.len; i++)
        clocks += event_is_clock(&set->events.at[i]);
    const EventSpec *first = &set->events.at[0];
    uint64_t hz = first->freq ? first->freq : set->freq_hz;
    if (clocks != 1 || !event_is_clock(first) || events_fixed_period(set, first) || hz == 0 ||
        !set->base.inherit || set->user_only || set->options->kernel_only ||
        first->exclude_kernel || first->exclude_user)
        return 0;
    return CLOCK_HZ / hz;
}

// ---- All of it ----------------------------------------------------------------------

static uint64_t raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1024;
    if (limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = {limit.rlim_max, limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            limit = raised;
    }
    return limit.rlim_cur;
}

// The CPUs to observe: those asked for, which must exist, or all that are online.
static bool settle_cpus(EventSet *set, Error *err)
{
    const SamplingOptions *o = set->options;
    U32Vec online = {0};
    if (!cpu_list_online(&online, err))
        return false;
    set->cpu_count = o->cpu_count ? o->cpu_count : online.len;
    set->cpus = arena_array(set->arena, uint32_t, set->cpu_count);
    memcpy(set->cpus, o->cpu_count ? o->cpus : online.at, set->cpu_count * sizeof(uint32_t));
    bool ok = true;
    for (size_t i = 0; ok && i < o->cpu_count; i++) {
        ok = false;
        for (size_t k = 0; k < online.len; k++)
            ok = ok || online.at[k] == o->cpus[i];
        if (!ok) {
            (void)error_set(err, ERROR_USAGE, "CPU %u is not online", o->cpus[i]);
            (void)error_hint(err, "/sys/devices/system/cpu/online lists those that are");
        }
    }
    vec_free(&online);
    return ok;
}

// The cost of a hit depends on the machine and on the size of the copies: it is measured before the
// program starts.
static void measure_probe(EventSet *set)
{
    const EventSpec *first = &set->events.at[0];
    if (!first->is_probe)
        return;
    if (set->hits && set->ring_count)
        set->hit_cost = hit_copies_cost(set, set->hits);
    if (set->hit_cost.warm_ns)
        return;
    struct perf_event_attr attr = events_sampler_attr(set, first);
    if (set->copies || set->hits) // what most probes have after their first hits
        attr.sample_stack_user = STACK_BYTES_SMALL;
    set->hit_cost = probe_cost(&attr, first->is_emulated);
}

// Probes are not handed on to new threads and processes: they are set on all processes if that
// disturbs no other program.
static void settle_scope(EventSet *set)
{
    const SamplingOptions *o = set->options;
    bool has_probes = false;
    set->probes_are_wide = set->probes_are_ours = false;
    if (o->system_wide || o->no_inherit || set->per_thread)
        return;
    for (size_t i = 0; i < set->events.len; i++) {
        const EventSpec *e = &set->events.at[i];
        if (!e->is_probe)
            continue;
        has_probes = true;
        if (!probe_file_is_ours(o, str_from_c((const char *)(uintptr_t)e->config1)))
            return;
    }
    set->probes_are_ours = has_probes;
    set->probes_are_wide = has_probes && !o->tid_count;
}

static HitCopies *load_hit_copies(EventSet *set, Error *why)
{
    uint64_t *periods = arena_array(set->arena, uint64_t, set->events.len);
    for (size_t i = 0; i < set->events.len; i++)
        periods[i] = events_fixed_period(set, &set->events.at[i]);
    return hit_copies_load(set, periods, why);
}

bool events_open(Arena *arena, const SamplingOptions *options, pid_t child, size_t expected_threads,
                 EventSet *ret, Error *err)
{
    *ret = (EventSet){.arena = arena, .options = options, .limits = perf_limits(), .child = child};
    if (!settle_cpus(ret, err))
        return false;

    bool attach = options->pid_count || options->tid_count;
    uint64_t descriptors = raise_descriptor_limit();
    size_t each = 1 + MAX(options->events ? options->events->len : 0, (size_t)1);
    if (attach && expected_threads * each * ret->cpu_count + FDS_KEPT_FREE > descriptors)
        ret->per_thread = true;

    Probe probe = {.pid = child, .cpu = (int)ret->cpus[0]};
    if (options->system_wide)
        probe.pid = -1;
    else if (attach)
        probe.pid = (pid_t)(options->tid_count ? options->tids[0] : options->pids[0]);
    if (!ret->limits.privileged && ret->limits.paranoid >= 2 && !options->kernel_only)
        ret->kernel_refused = !options->user_only;
    if (!settle_events(ret, probe, err))
        return false;
    ret->kernel_refused = ret->user_only && !options->user_only;
    settle_scope(ret);
    Error why;
    ret->hits = load_hit_copies(ret, &why);
    if (!ret->hits && ret->events.at[0].is_probe)
        log_debug(LOG_RECORD, 1, "no program copies hits: %s", why.text);
    settle_copies(ret);
    if (attach) {
        ret->ring_pages = first_ring_pages(ret);
        if (ret->per_thread)
            settle_base(ret);
        measure_probe(ret);
        return true;
    }
    if (!open_first(ret, options->system_wide ? -1 : child, 0, err)) {
        events_close(ret);
        return false;
    }
    measure_probe(ret);
    return true;
}

static void close_layers(EventSet *set)
{
    for (EventLayer *l = atomic_load(&set->layers); l; l = l->older) {
        for (size_t i = 0; i < l->open_count; i++)
            close(l->open[i].fd);
        table_deinit(&l->by_id);
    }
    atomic_store(&set->layers, NULL);
    keeper_end(&set->opener);
}

void events_close(EventSet *set)
{
    hit_copies_close(set->hits);
    set->hits = NULL;
    close_layers(set);
    drop_rings(set);
    vec_free(&set->open);
    for (size_t i = 0; i < set->switch_fds.len; i++)
        close(set->switch_fds.at[i]);
    vec_free(&set->switch_fds);
    vec_free(&set->switch_ids);
    table_deinit(&set->switch_by_id);
}

bool events_has_owner(const EventSet *set, uint32_t tid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&set->by_owner, hash_u64(tid));
         table_next(&set->by_owner, &p, &row);)
        if (set->open.at[row].owner == tid)
            return true;
    return false;
}

const OpenEvent *events_by_id(const EventSet *set, uint64_t id)
{
    uint32_t row;
    for (TableProbe p = table_probe(&set->by_id, hash_u64(id)); table_next(&set->by_id, &p, &row);)
        if (set->open.at[row].id == id)
            return &set->open.at[row];
    for (const EventLayer *l = atomic_load(&set->layers); l; l = l->older)
        for (TableProbe p = table_probe(&l->by_id, hash_u64(id)); table_next(&l->by_id, &p, &row);)
            if (l->open[row].id == id)
                return &l->open[row];
    return NULL;
}

void events_add_outputs(Arena *arena, EventSet *set, const struct perf_event_attr *attr,
                        const uint64_t *ids, size_t count)
{
    uint64_t *all = arena_array(arena, uint64_t, set->output_count + count);
    if (set->output_count)
        memcpy(all, set->output_ids, set->output_count * sizeof(*all));
    memcpy(all + set->output_count, ids, count * sizeof(*all));
    set->output_ids = all;
    set->output_count += count;
    set->output_layout = perf_layout(attr);
}

bool events_set_program(const EventSet *set, int program)
{
    for (size_t i = 0; i < set->open.len; i++)
        if (set->open.at[i].event != SIDE_BAND &&
            ioctl(set->open.at[i].fd, PERF_EVENT_IOC_SET_BPF, program) != 0)
            return false;
    return true;
}

bool events_is_output(const EventSet *set, uint64_t id)
{
    for (size_t i = 0; i < set->output_count; i++)
        if (set->output_ids[i] == id)
            return true;
    return false;
}

const PerfLayout *events_sample_layout(const EventSet *set, uint64_t id)
{
    const OpenEvent *e = events_by_id(set, id);
    if (!e && events_is_output(set, id))
        return &set->output_layout;
    if (!e && events_is_switch_stack(set, id))
        return &set->switch_layout;
    bool counted =
        e && e->event != SIDE_BAND && events_fixed_period(set, &set->events.at[e->event]) != 0;
    return counted ? &set->counted_layout : &set->layout;
}

void events_enable(EventSet *set, bool samples, bool side_band)
{
    for (size_t i = 0; i < set->open.len; i++)
        if (set->open.at[i].event == SIDE_BAND ? side_band : samples)
            ioctl(set->open.at[i].fd, PERF_EVENT_IOC_ENABLE, 0);
    if (samples && set->hits)
        hit_copies_enable(set->hits, true);
}

void events_enable_wide(EventSet *set)
{
    if (set->hits)
        hit_copies_enable(set->hits, true);
    for (size_t i = 0; i < set->open.len; i++) {
        const OpenEvent *o = &set->open.at[i];
        if (o->event != SIDE_BAND && events_is_wide(set, &set->events.at[o->event]))
            ioctl(o->fd, PERF_EVENT_IOC_ENABLE, 0);
    }
}

void events_disable(EventSet *set)
{
    if (set->hits)
        hit_copies_enable(set->hits, false);
    for (size_t i = 0; i < set->open.len; i++)
        ioctl(set->open.at[i].fd, PERF_EVENT_IOC_DISABLE, 0);
    for (const EventLayer *l = atomic_load(&set->layers); l; l = l->older)
        for (size_t i = 0; i < l->open_count; i++)
            ioctl(l->open[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

// The samples of one event that the kernel could not store.
static uint64_t lost_of(const EventSet *set, const OpenEvent *e)
{
    uint64_t values[4 + 3 * PERF_GROUP_MAX];
    ssize_t n = read(e->fd, values, sizeof(values));
    // The format is {value, lost}, or for a group {nr, {value, id, lost} …} with the leader first.
    size_t at = set->group_read ? 3 : 1;
    return n >= (ssize_t)((at + 1) * sizeof(uint64_t)) ? values[at] : 0;
}

uint64_t events_counted(const EventSet *set)
{
    uint64_t count = 0;
    for (size_t i = 0; i < set->open.len; i++) {
        uint64_t values[4 + 3 * PERF_GROUP_MAX];
        const OpenEvent *e = &set->open.at[i];
        size_t at = set->group_read ? 1 : 0; // as in lost_of
        if (e->event == 0 && read(e->fd, values, sizeof(values)) > (ssize_t)(at * sizeof(uint64_t)))
            count += values[at];
    }
    return count;
}

uint64_t events_lost(const EventSet *set)
{
    if (!set->counts_lost)
        return UINT64_MAX;
    uint64_t lost = 0;
    for (size_t i = 0; i < set->open.len; i++)
        if (set->open.at[i].event != SIDE_BAND)
            lost += lost_of(set, &set->open.at[i]);
    for (const EventLayer *l = atomic_load(&set->layers); l; l = l->older)
        for (size_t i = 0; i < l->open_count; i++)
            lost += lost_of(set, &l->open[i]);
    return lost;
}
