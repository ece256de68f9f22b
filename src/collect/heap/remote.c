// SPDX-License-Identifier: Apache-2.0
// Work in another process by ptrace.
// Document: ptrace(2), "Stopped states"; proc(5), /proc/PID/mem and /proc/PID/task/TID/syscall.

#include "collect/heap/remote.h"

#include "os/clock.h"
#include "os/proc.h"
#include "os/tracing.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENT_SHIFT = 16,
    STOP_MS = 20,     // after so long a thread is believed to be held by the kernel
    CALL_MS = 10000,  // how long a call may take
    HELD_MS = 120000, // … and the kernel may hold its thread after that, for a disk or for memory
    PAUSE_NS = 20000,
    LOOKS_AT_ONCE = 100, // for a step, before this thread pauses
};

static void pause_shortly(void)
{
    struct timespec t = {.tv_nsec = PAUSE_NS};
    nanosleep(&t, NULL);
}

// ---- Memory -----------------------------------------------------------------------------

bool remote_read(const Remote *r, uint64_t at, void *to, size_t size)
{
    return pread(r->memory_fd, to, size, (off_t)at) == (ssize_t)size;
}

bool remote_write(const Remote *r, uint64_t at, const void *from, size_t size)
{
    return pwrite(r->memory_fd, from, size, (off_t)at) == (ssize_t)size;
}

// A syscall instruction of the vdso, which each process of this machine has, or of another object.
static uint64_t find_syscall(const Remote *r, const ProcMapVec *maps)
{
    enum { CHUNK = 1 << 16 };
    static const uint8_t code[] = {0x0f, 0x05};
    uint8_t *bytes = heap_alloc(CHUNK);
    uint64_t found = 0;
    for (int vdso = 1; vdso >= 0 && !found; vdso--)
        for (size_t i = 0; i < maps->len && !found; i++) {
            const ProcMap *m = &maps->at[i];
            if (!m->exec || str_equal(m->path, STR("[vdso]")) != (bool)vdso ||
                str_equal(m->path, STR("[vsyscall]")))
                continue;
            for (uint64_t at = m->start; at < m->end && !found; at += CHUNK) {
                size_t size = MIN((size_t)CHUNK, (size_t)(m->end - at));
                if (!remote_read(r, at, bytes, size))
                    break;
                const uint8_t *hit = memmem(bytes, size, code, sizeof(code));
                if (hit)
                    found = at + (uint64_t)(hit - bytes);
            }
        }
    heap_free(bytes);
    return found;
}

bool remote_open(Arena *arena, uint32_t pid, Remote *ret, Error *err)
{
    char path[64];
    ProcMapVec maps = {0};
    Remote r = {.pid = pid};
    if (!proc_maps_read(arena, pid, &maps, err))
        return false;
    snprintf(path, sizeof(path), "/proc/%u/mem", pid);
    r.memory_fd = open(path, O_RDWR | O_CLOEXEC);
    if (r.memory_fd < 0)
        return error_os(err, "cannot open the memory of process %u", pid);
    r.syscall_at = find_syscall(&r, &maps);
    if (!r.syscall_at) {
        close(r.memory_fd);
        return error_set(err, ERROR_UNSUPPORTED, "no system call is found in process %u", pid);
    }
    *ret = r;
    return true;
}

void remote_close(Remote *r)
{
    remote_go(r);
    vec_free(&r->threads);
    if (r->memory_fd > 0)
        close(r->memory_fd);
    r->memory_fd = -1;
}

// ---- Turns ------------------------------------------------------------------------------

// On a busy machine a thread that is to stop waits for a processor, while those that have stopped
// wait for it: it gets its turn at once, until it has stopped, also before other real-time threads.
// Without rights it waits.
static void hurry(pid_t tid, RemoteTurn *t)
{
    const struct sched_param first = {.sched_priority = sched_get_priority_max(SCHED_FIFO) - 1};
    struct sched_param now;
    t->policy = sched_getscheduler(tid);
    if (t->is_changed || (t->policy & ~SCHED_RESET_ON_FORK) != SCHED_OTHER ||
        sched_getparam(tid, &now) != 0)
        return;
    t->priority = now.sched_priority;
    t->is_changed =
        sched_setscheduler(tid, SCHED_FIFO | (t->policy & SCHED_RESET_ON_FORK), &first) == 0;
}

static void hurry_no_more(pid_t tid, RemoteTurn *t)
{
    const struct sched_param before = {.sched_priority = t->priority};
    if (t->is_changed)
        (void)sched_setscheduler(tid, t->policy, &before);
    t->is_changed = false;
}

// ---- Stopping ---------------------------------------------------------------------------

static RemoteThread *find_thread(Remote *r, pid_t tid)
{
    for (size_t i = 0; i < r->threads.len; i++)
        if (r->threads.at[i].tid == tid)
            return &r->threads.at[i];
    return NULL;
}

static void forget(Remote *r, RemoteThread *t)
{
    *t = r->threads.at[r->threads.len - 1];
    r->threads.len--;
}

static bool get_regs(pid_t tid, struct user_regs_struct *ret)
{
    struct iovec v = {ret, sizeof(*ret)};
    return tracing_ask(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &v);
}

// Looks whether a thread has stopped. False: it has ended.
static bool look(RemoteThread *t)
{
    int status;
    pid_t got = waitpid(t->tid, &status, __WALL | WNOHANG);
    if (got == 0)
        return true;
    if (got < 0 || !WIFSTOPPED(status))
        return false;
    if (status >> EVENT_SHIFT == 0) {
        t->signal = WSTOPSIG(status);
        t->has_info = ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &t->info) == 0;
    }
    t->is_stopped = get_regs(t->tid, &t->regs);
    return t->is_stopped || errno != ESRCH;
}

// Waits until the threads from `first` on have stopped, or for a while.
static void wait_for(Remote *r, size_t first)
{
    int64_t end_ns = os_monotonic_ns() + STOP_MS * INT64_C(1000000);
    for (;;) {
        bool waits = false;
        for (size_t i = first; i < r->threads.len;) {
            RemoteThread *t = &r->threads.at[i];
            if (!t->is_stopped && !look(t)) {
                forget(r, t);
                continue;
            }
            waits |= !t->is_stopped;
            i++;
        }
        if (!waits || os_monotonic_ns() > end_ns)
            break;
        pause_shortly();
    }
    for (size_t i = first; i < r->threads.len; i++)
        hurry_no_more(r->threads.at[i].tid, &r->threads.at[i].turn);
}

static bool seize(Remote *r, pid_t tid, Error *err)
{
    if (find_thread(r, tid))
        return true;
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
        if (errno == ESRCH)
            return true; // it has just ended
        int saved = errno;
        (void)error_os(err, "cannot attach to thread %d of process %u", (int)tid, r->pid);
        if (saved == EPERM)
            return error_hint(err,
                              "it is another user's, traced by another program, or ptrace is "
                              "restricted (kernel.yama.ptrace_scope): sudo assay heap -p %u",
                              r->pid);
        return false;
    }
    vec_push(NULL, &r->threads, (RemoteThread){.tid = tid});
    (void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    hurry(tid, &vec_last(&r->threads).turn);
    return true;
}

bool remote_stop(Remote *r, bool all, Error *err)
{
    U32Vec tids = {0};
    bool ok = true, more = true;
    remote_reap(r);
    hurry(0, &r->own);
    r->stop_began_ns = os_monotonic_ns();
    // A thread may start others until it has stopped itself.
    while (ok && more) {
        size_t first = r->threads.len;
        tids.len = 0;
        ok = proc_list_threads(r->pid, &tids, err);
        for (size_t i = 0; ok && i < tids.len; i++) {
            ok = seize(r, (pid_t)tids.at[i], err);
            if (!all && r->threads.len > first) {
                wait_for(r, first);
                if (r->threads.len > first && r->threads.at[first].is_stopped)
                    break;
            }
        }
        wait_for(r, first);
        more = all && r->threads.len > first;
    }
    vec_free(&tids);
    bool can_work = false;
    for (size_t i = 0; i < r->threads.len; i++)
        can_work |= r->threads.at[i].is_stopped;
    if (ok && !can_work)
        ok = error_set(err, ERROR_OS, "no thread of process %u can be stopped: the kernel holds it",
                       r->pid);
    if (!ok)
        remote_go(r);
    return ok;
}

void remote_go(Remote *r)
{
    bool any = false;
    for (size_t i = 0; i < r->threads.len;) {
        RemoteThread *t = &r->threads.at[i];
        any = true;
        if (!t->is_stopped) {
            i++;
            continue;
        }
        (void)ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(uintptr_t)t->signal);
        forget(r, t);
    }
    if (any && r->stop_began_ns)
        r->stopped_ns = MAX(r->stopped_ns, os_monotonic_ns() - r->stop_began_ns);
    r->stop_began_ns = 0;
    hurry_no_more(0, &r->own);
}

void remote_reap(Remote *r)
{
    for (size_t i = 0; i < r->threads.len;) {
        RemoteThread *t = &r->threads.at[i];
        if (!t->is_stopped && !look(t)) {
            forget(r, t);
        } else if (t->is_stopped) {
            (void)ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(uintptr_t)t->signal);
            forget(r, t);
        } else {
            i++;
        }
    }
}

// ---- Working ----------------------------------------------------------------------------

#ifdef __x86_64__
// A stopped thread, if possible one that no signal has stopped.
static RemoteThread *worker(Remote *r)
{
    RemoteThread *found = NULL;
    for (size_t i = 0; i < r->threads.len; i++) {
        RemoteThread *t = &r->threads.at[i];
        if (t->is_stopped && (!found || (found->signal && !t->signal)))
            found = t;
    }
    return found;
}

// Whether a breakpoint or a step of the stopped thread is about to be reported.
static bool has_trap(pid_t tid)
{
    siginfo_t info[8];
    struct __ptrace_peeksiginfo_args all = {.nr = (int)ARRAY_LEN(info)};
    long count = ptrace(PTRACE_PEEKSIGINFO, tid, &all, info);
    for (long i = 0; i < count; i++)
        if (info[i].si_signo == SIGTRAP)
            return true;
    return false;
}

static bool set_regs(pid_t tid, const struct user_regs_struct *regs)
{
    struct user_regs_struct copy = *regs;
    struct iovec v = {&copy, sizeof(copy)};
    return tracing_ask(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &v);
}

// Lets the thread run with these registers until it stops by a breakpoint or a step. `*regs`
// becomes what they are then. A thread that takes too long is stopped where it is: without its
// tracer it would die of the breakpoint.
static bool run_until_trap(const Remote *r, pid_t tid, int request, struct user_regs_struct *regs,
                           Error *err)
{
    int64_t end_ns = os_monotonic_ns() + CALL_MS * INT64_C(1000000);
    int status;
    bool is_late = false;
    unsigned looks = 0;
    if (!set_regs(tid, regs) || ptrace(request, tid, NULL, NULL) != 0)
        return error_os(err, "cannot let a thread of process %u work", r->pid);
    for (;;) {
        pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
        if (got == 0 && is_late && os_monotonic_ns() > end_ns)
            return error_set(err, ERROR_OS, "process %u hangs in the kernel", r->pid);
        if (got == 0) {
            if (!is_late && os_monotonic_ns() > end_ns) {
                is_late = true;
                end_ns += HELD_MS * INT64_C(1000000);
                (void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
            }
            // This thread may have the processor that the other one needs.
            if (request == PTRACE_CONT || ++looks > LOOKS_AT_ONCE)
                pause_shortly();
            continue;
        }
        if (got < 0 || !WIFSTOPPED(status))
            return error_set(err, ERROR_OS, "process %u ended while assay attached to it", r->pid);
        if (WSTOPSIG(status) == SIGTRAP && status >> EVENT_SHIFT == 0)
            break;
        if (is_late && status >> EVENT_SHIFT && !has_trap(tid))
            return error_set(err, ERROR_OS,
                             "process %u does not get far in %d s: the machine is "
                             "too busy",
                             r->pid, CALL_MS / 1000);
        // A stop that was asked for before: the work goes on. Signals are blocked, but for faults.
        if (status >> EVENT_SHIFT == 0)
            return error_set(err, ERROR_OS, "signal %d while assay attached to process %u",
                             WSTOPSIG(status), r->pid);
        if (ptrace(request, tid, NULL, NULL) != 0)
            return error_os(err, "cannot let a thread of process %u work", r->pid);
    }
    return get_regs(tid, regs) || error_os(err, "cannot read the registers of process %u", r->pid);
}

// Makes the thread run, and as it was again.
static bool work(Remote *r, int request, struct user_regs_struct *regs, Error *err)
{
    RemoteThread *t = worker(r);
    // A blocked fault or breakpoint would take its handler away from the program.
    enum {
        NEVER_BLOCKED = 1 << (SIGILL - 1) | 1 << (SIGTRAP - 1) | 1 << (SIGBUS - 1) |
                        1 << (SIGFPE - 1) | 1 << (SIGSEGV - 1)
    };
    uint64_t mask, all = ~(uint64_t)NEVER_BLOCKED;
    if (!tracing_ask(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(mask), &mask) ||
        !tracing_ask(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(all), &all))
        return error_os(err, "cannot block the signals of process %u", r->pid);
    hurry(t->tid, &t->turn);
    bool ok = run_until_trap(r, t->tid, request, regs, err);
    hurry_no_more(t->tid, &t->turn);
    bool restored = set_regs(t->tid, &t->regs);
    restored &= tracing_ask(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(mask), &mask);
    // The signal that it is given at the end would else say that this process has sent it.
    if (t->has_info)
        (void)ptrace(PTRACE_SETSIGINFO, t->tid, NULL, &t->info);
    return ok && (restored || error_os(err, "cannot restore a thread of process %u", r->pid));
}

uint64_t remote_pc(const RemoteThread *t)
{
    return t->regs.rip;
}

uint64_t remote_sp(const RemoteThread *t)
{
    return t->regs.rsp;
}

uint64_t remote_thread_data(const RemoteThread *t)
{
    return t->regs.fs_base;
}

// The kernel must not repeat a system call that the stop has interrupted.
static void forget_call(struct user_regs_struct *regs)
{
    regs->orig_rax = UINT64_MAX;
}

bool remote_syscall(Remote *r, long number, const uint64_t arg[6], long *ret, Error *err)
{
    struct user_regs_struct regs = worker(r)->regs;
    regs.rip = r->syscall_at;
    regs.rax = (uint64_t)number;
    regs.rdi = arg[0];
    regs.rsi = arg[1];
    regs.rdx = arg[2];
    regs.r10 = arg[3];
    regs.r8 = arg[4];
    regs.r9 = arg[5];
    forget_call(&regs);
    if (!work(r, PTRACE_SINGLESTEP, &regs, err))
        return false;
    *ret = (long)regs.rax;
    return true;
}

bool remote_call(Remote *r, uint64_t entry, uint64_t argument, uint64_t stack, Error *err)
{
    struct user_regs_struct regs = worker(r)->regs;
    regs.rip = entry;
    regs.rdi = argument;
    regs.rsp = stack & ~(uint64_t)15;
    regs.eflags &= ~(uint64_t)0x400; // upwards, as the ABI has it
    forget_call(&regs);
    return work(r, PTRACE_CONT, &regs, err);
}
#elif defined(__aarch64__)
uint64_t remote_pc(const RemoteThread *t)
{
    return t->regs.pc;
}

uint64_t remote_sp(const RemoteThread *t)
{
    return t->regs.sp;
}

uint64_t remote_thread_data(const RemoteThread *t)
{
    (void)t; // it is not among these registers
    return 0;
}

static bool refuse(Error *err)
{
    return error_set(err, ERROR_UNSUPPORTED, "code is run in another process on x86-64 only");
}

bool remote_syscall(Remote *r, long number, const uint64_t arg[6], long *ret, Error *err)
{
    (void)r, (void)number, (void)arg, (void)ret;
    return refuse(err);
}

bool remote_call(Remote *r, uint64_t entry, uint64_t argument, uint64_t stack, Error *err)
{
    (void)r, (void)entry, (void)argument, (void)stack;
    return refuse(err);
}
#endif
