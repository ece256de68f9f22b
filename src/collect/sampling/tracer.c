// SPDX-License-Identifier: Apache-2.0
// Sampling by ptrace(2), when the kernel refuses perf_event_open: start, handling of stops, end.

#include "collect/sampling/tracer_parts_internal.h"

#include "model/facts.h"
#include "os/clock.h"
#include "os/tracing.h"
#include "unwind/core.h"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#if defined(__x86_64__)
static const UnwindArch machine_arch = UNWIND_X86_64;
#else
static const UnwindArch machine_arch = UNWIND_AARCH64;
#endif

enum {
    PUSH_EVERY_NS = 50000000, // samples may wait so long before they go to the worker
    DETACH_MS = 1000,
    RATE_MAX_HZ = 1000, // each sample stops a thread
};

#define NS_PER_MS 1000000ll

// ---- The events -----------------------------------------------------------------------

void tracer_events(Arena *arena, const SamplingOptions *options, Str why, EventSet *ret)
{
    PerfLimits limits = perf_limits();
    *ret = (EventSet){.arena = arena, .options = options, .limits = limits};
    ret->stacks = STACKS_TABLES;
    ret->user_only = true;
    ret->traced = true;
    ret->counts_lost = true;
    ret->freq_hz = options->freq_hz ? options->freq_hz : RATE_MAX_HZ;
    ret->freq_clamped = ret->freq_hz > RATE_MAX_HZ;
    ret->freq_hz = MIN(ret->freq_hz, (uint64_t)RATE_MAX_HZ);
    ret->stack_bytes = TRACER_STACK_BYTES_MAX;
    ret->event_name = STR(EVENT_PTRACE);
    ret->fallback = why;
    EventSpec clock = {.name = STR(EVENT_PTRACE),
                       .type = PERF_TYPE_SOFTWARE,
                       .config = PERF_COUNT_SW_CPU_CLOCK,
                       .unit = STR("ns"),
                       .group = EVENT_NO_GROUP};
    vec_push(arena, &ret->events, clock);
    ret->base = (struct perf_event_attr){
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = unwind_perf_regs_mask(machine_arch),
        .sample_stack_user = TRACER_STACK_BYTES_MAX,
        .sample_id_all = 1,
    };
    ret->layout = perf_layout(&ret->base);
    // The merge needs one ring; there is nothing in it to drain or to close.
    ret->rings = arena_new(arena, PerfRing);
    ret->ring_count = 1;
    vec_push(NULL, &ret->open, (OpenEvent){.fd = -1, .event = 0, .id = TRACER_EVENT_ID});
    table_insert(&ret->by_id, hash_u64(TRACER_EVENT_ID), 0);
}

// ---- Stops ----------------------------------------------------------------------------

static void go_on(uint32_t tid, int signal)
{
    // It fails when the thread was killed meanwhile; its end is reported then.
    (void)tracing_ask(PTRACE_CONT, (pid_t)tid, NULL, (void *)(uintptr_t)signal);
}

static void on_new_task(Tracer *t, uint32_t parent_tid)
{
    unsigned long tid = 0;
    if (tracing_ask(PTRACE_GETEVENTMSG, (pid_t)parent_tid, NULL, &tid) && tid)
        (void)tracer_need_thread(t, (uint32_t)tid, parent_tid);
}

// After an exec the thread that made it has the number of the process; the others have ended.
static void on_exec(Tracer *t, uint32_t pid)
{
    TracedProcess *p = tracer_find_process(t, pid);
    for (size_t i = 0; i < t->threads.len; i++) {
        TracedThread *other = &t->threads.at[i];
        if (other->gone || other->pid != pid || other->tid == pid)
            continue;
        tracer_remove_thread(t, other);
        p = tracer_find_process(t, pid);
    }
    if (!p)
        p = tracer_add_process(t, pid, NULL);
    TracedThread *thread = tracer_find_thread(t, pid);
    if (!thread)
        thread = tracer_add_thread(t, p, pid);
    thread->interrupted = false; // see on_report
    uint64_t switches;
    if (pid == (uint32_t)t->child && !t->started) {
        // Processor time up to here was used by assay's own code.
        t->started = true;
        (void)!tracer_read_cpu_time(thread, &thread->counted_ns, &switches);
    }
    tracer_open_memory(t, p);
    p->maps.len = 0;
    p->pages = 0;
    Arena scratch = {0};
    tracer_tell_name(t, pid, pid, proc_comm(&scratch, pid, pid), true);
    arena_deinit(&scratch);
    tracer_read_maps(t, p);
    if (t->breaks)
        tracer_break_program(t, p);
}

static bool stops_the_group(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void on_event_stop(Tracer *t, TracedThread *thread, uint32_t tid, int signal)
{
    int64_t reported = os_monotonic_ns();
    bool interrupted = thread && thread->interrupted;
    if (thread)
        thread->interrupted = thread->waited = false;
    if (stops_the_group(signal)) {
        // Job control: the thread stays stopped, and the kernel reports when it is continued.
        (void)tracing_ask(PTRACE_LISTEN, (pid_t)tid, NULL, NULL);
        return;
    }
    if (interrupted)
        tracer_take_sample(t, thread);
    go_on(tid, 0);
    if (interrupted)
        // A thread that waited for a processor would have waited without the sample, too.
        t->stopped_ns += os_monotonic_ns() - (thread->waited ? reported : thread->asked_ns);
}

static void on_end(Tracer *t, uint32_t tid, int status, const struct rusage *usage)
{
    TracedThread *thread = tracer_find_thread(t, tid);
    if (thread) {
        tracer_tell_task(t, PERF_RECORD_EXIT, thread->pid, thread->pid, tid, tid);
        tracer_remove_thread(t, thread);
    }
    if (tid == (uint32_t)t->child) {
        t->child_ended = true;
        t->child_end = (ChildEnd){.status = status, .usage = *usage, .disk_wait_ns = -1};
    }
}

// A signal is on its way to the thread: its own, or that of a breakpoint. The wait status of
// another thing that the thread reported meanwhile; 0: none.
static int on_signal(Tracer *t, TracedThread *thread, uint32_t tid, int signal)
{
    BreakStop stop = {.signal = signal};
    if (t->breaks && thread && signal == SIGTRAP)
        stop = tracer_break_stop(t, thread);
    else if (t->breaks && thread)
        tracer_break_signal(t, thread, signal);
    if (stop.ended)
        return stop.ended;
    go_on(tid, stop.signal);
    return 0;
}

static void on_report(Tracer *t, uint32_t tid, int status, const struct rusage *usage)
{
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        on_end(t, tid, status, usage);
        return;
    }
    if (!WIFSTOPPED(status))
        return;
    int event = status >> 16, signal = WSTOPSIG(status);
    // An exec is handled first: it may have the number of a leader that has ended.
    if (event == PTRACE_EVENT_EXEC) {
        on_exec(t, tid);
        go_on(tid, 0);
        return;
    }
    TracedThread *thread = tracer_need_thread(t, tid, 0);
    // A stop of any other kind replaces the requested one, which had not come yet.
    if (thread && event != PTRACE_EVENT_STOP)
        thread->interrupted = false;
    switch (event) {
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
        on_new_task(t, tid);
        go_on(tid, 0);
        break;
    case PTRACE_EVENT_STOP:
        on_event_stop(t, thread, tid, signal);
        break;
    default:
        status = on_signal(t, thread, tid, signal);
        if (status)
            on_report(t, tid, status, usage);
        break;
    }
}

// The next report, as wait4 gives it; 0 or less: there is none. The kernel adds up the times of all
// threads of a process for `usage`, so it is asked for that of the child only. With breakpoints a
// stop is looked at, not taken: the kernel forgets the signal of a stop that is taken, and when
// this process is killed then, the thread goes on behind the breakpoint
// (collect/breakpoints/trap_guard.h).
static pid_t next_report(const Tracer *t, int *status, struct rusage *usage)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL) != 0)
        return -1;
    if (info.si_pid == 0)
        return 0;
    bool is_stop = info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED;
    if (!t->breaks || !is_stop)
        return wait4(info.si_pid, status, __WALL | WNOHANG,
                     is_stop || info.si_pid != t->child ? NULL : usage);
    *status = W_STOPCODE(info.si_status);
    return info.si_pid;
}

bool tracer_reap(Tracer *t)
{
    enum { REPORTS_MAX = 256 }; // then the caller does its other work
    int status, reports = 0;
    struct rusage usage = {0};
    pid_t tid;
    while (reports < REPORTS_MAX && (tid = next_report(t, &status, &usage)) > 0) {
        on_report(t, (uint32_t)tid, status, &usage);
        reports++;
    }
    tracer_forget_gone(t);
    if (t->urgent || t->child_ended || os_monotonic_ns() - t->pushed_ns > PUSH_EVERY_NS)
        tracer_push(t);
    t->urgent = false;
    return reports == REPORTS_MAX;
}

// ---- Begin and end --------------------------------------------------------------------

bool tracer_seize(Tracer *t, const EventSet *events, ChunkQueue *queue, pid_t child, Error *err)
{
    *t = (Tracer){.events = events, .queue = queue, .child = child};
    uintptr_t options =
        PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
    if (!tracing_ask(PTRACE_SEIZE, child, NULL, (void *)options))
        return error_os(err, "cannot trace process %d", (int)child);
    (void)tracer_add_thread(t, tracer_add_process(t, (uint32_t)child, NULL), (uint32_t)child);
    return true;
}

// Whether a stopped thread has hit a breakpoint without a report of it yet: the signal would end
// the program once it is not traced.
static bool has_pending_trap(const Tracer *t, uint32_t tid, int status)
{
    enum { LOOKED_AT = 8 };
    siginfo_t pending[LOOKED_AT];
    struct __ptrace_peeksiginfo_args which = {.nr = LOOKED_AT};
    if (!t->breaks || status >> 16 == 0)
        return false;
    long n = ptrace(PTRACE_PEEKSIGINFO, (pid_t)tid, &which, pending);
    for (long i = 0; i < n; i++)
        if (pending[i].si_signo == SIGTRAP)
            return true;
    return false;
}

// The signal with which a stopped thread goes on when it is no longer traced.
static int signal_at_end(Tracer *t, uint32_t tid, int status)
{
    if (status >> 16)
        return 0;
    int signal = WSTOPSIG(status);
    TracedThread *thread = tracer_find_thread(t, tid);
    if (!t->breaks || !thread || signal != SIGTRAP)
        return signal;
    return tracer_break_stop(t, thread).signal;
}

void tracer_detach(Tracer *t)
{
    size_t held = 0;
    if (t->breaks)
        tracer_break_clean(t);
    for (size_t i = 0; i < t->threads.len; i++)
        if (!t->threads.at[i].gone)
            held += tracing_ask(PTRACE_INTERRUPT, (pid_t)t->threads.at[i].tid, NULL, NULL);
    int64_t end = os_monotonic_ns() + DETACH_MS * NS_PER_MS;
    int status;
    struct rusage usage;
    while (held > 0 && os_monotonic_ns() < end) {
        pid_t tid = wait4(-1, &status, __WALL | WNOHANG, &usage);
        if (tid < 0)
            break;
        if (tid == 0) {
            struct timespec pause = {.tv_nsec = 200000};
            nanosleep(&pause, NULL);
            continue;
        }
        if (t->breaks && WIFSTOPPED(status) && has_pending_trap(t, (uint32_t)tid, status)) {
            go_on((uint32_t)tid, 0);
            continue;
        }
        held--;
        if (!WIFSTOPPED(status)) {
            on_end(t, (uint32_t)tid, status, &usage);
            continue;
        }
        int signal = signal_at_end(t, (uint32_t)tid, status);
        (void)tracing_ask(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signal);
    }
    // The kernel ends the tracing of threads that were not reached in time when this process ends.
    tracer_push(t);
}

void tracer_deinit(Tracer *t)
{
    for (size_t i = 0; i < t->threads.len; i++)
        tracer_close_thread(&t->threads.at[i]);
    for (size_t i = 0; i < t->processes.len; i++)
        tracer_close_process(&t->processes.at[i]);
    vec_free(&t->threads);
    vec_free(&t->processes);
    table_deinit(&t->by_tid);
    if (t->chunk)
        queue_recycle(t->queue, t->chunk);
    *t = (Tracer){0};
}
