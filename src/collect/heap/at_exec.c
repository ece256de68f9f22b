// SPDX-License-Identifier: Apache-2.0
// Breakpoints that a static program meets at its first allocation.
// Document: ptrace(2), "Stopped states" and PTRACE_O_TRACEEXEC.

#include "collect/heap/at_exec.h"

#include "os/clock.h"
#include "os/proc.h"
#include "os/tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENT_SHIFT = 16,
    EXEC_MS = 10000, // how long an exec that has succeeded may take to be seen
    STOP_MS = 5000,  // how long a stop may take, as of a parent that waits in vfork
    PAUSE_NS = 50000,
    BREAKPOINT = 0xcc,
};

static void pause_shortly(void)
{
    struct timespec t = {.tv_nsec = PAUSE_NS};
    nanosleep(&t, NULL);
}

// ---- To the exec ------------------------------------------------------------------------

bool heap_at_exec_begin(uint32_t pid, const HeapEntries *entries, Str path, HeapAtExec *ret,
                        Error *err)
{
    const long options =
        PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    *ret =
        (HeapAtExec){.target = {.pid = pid, .entries = *entries, .object = path}, .memory_fd = -1};
    if (ptrace(PTRACE_SEIZE, (pid_t)pid, NULL, (void *)options) == 0)
        return true;
    (void)error_os(err, "cannot record the heap of '%" STR_FMT "', which is statically linked",
                   STR_ARG(path));
    return error_hint(err, "it needs ptrace, which is refused here (a container's filter, or "
                           "kernel.yama.ptrace_scope): link it dynamically");
}

// Takes a stop of the thread. False: there is none.
static bool take_stop(pid_t pid, int *status)
{
    siginfo_t info = {.si_pid = 0};
    // The end of the program is not taken: the caller waits for it.
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0 ||
        info.si_pid == 0 || info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
        info.si_code == CLD_DUMPED)
        return false;
    return waitpid(pid, status, WNOHANG | __WALL) == pid && WIFSTOPPED(*status);
}

// Lets a thread go on from a stop that is none of ours.
static void go_on(pid_t pid, int status)
{
    int event = status >> EVENT_SHIFT, signal = WSTOPSIG(status);
    bool is_group_stop = event == PTRACE_EVENT_STOP && signal != SIGTRAP;
    (void)tracing_ask(is_group_stop ? PTRACE_LISTEN : PTRACE_CONT, pid, NULL,
                      (void *)(uintptr_t)(event || is_group_stop ? 0 : signal));
}

void heap_at_exec_attend(HeapAtExec *x)
{
    int status;
    if (x->has_exec || !take_stop((pid_t)x->target.pid, &status))
        return;
    x->has_exec = status >> EVENT_SHIFT == PTRACE_EVENT_EXEC;
    if (!x->has_exec)
        go_on((pid_t)x->target.pid, status);
}

// ---- Breakpoints ------------------------------------------------------------------------

static void put_breakpoints(HeapAtExec *x, const ProcMapVec *maps)
{
    const WireEntries *entries = x->target.entries.wire;
    for (uint32_t i = 0; i < entries->count; i++) {
        const WireEntry *e = &entries->at[i];
        for (size_t k = 0; k < maps->len && x->count < ARRAY_LEN(x->at); k++) {
            const ProcMap *m = &maps->at[k];
            static const uint8_t trap = BREAKPOINT;
            if (!m->exec || m->inode != entries->inode || e->offset < m->offset ||
                e->offset - m->offset >= m->end - m->start)
                continue;
            uint64_t at = m->start + (e->offset - m->offset);
            if (pwrite(x->memory_fd, &trap, 1, (off_t)at) != 1)
                continue;
            x->before[x->count] = e->before[0];
            x->at[x->count++] = at;
        }
    }
}

static void take_breakpoints(const HeapAtExec *x, int memory_fd)
{
    for (size_t i = 0; i < x->count; i++)
        if (pwrite(memory_fd, &x->before[i], 1, (off_t)x->at[i]) != 1)
            return; // the memory has gone
}

static bool open_memory(uint32_t pid, int *ret)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/mem", pid);
    *ret = open(path, O_RDWR | O_CLOEXEC);
    return *ret >= 0;
}

bool heap_at_exec_arm(Arena *arena, HeapAtExec *x, Error *err)
{
    uint32_t pid = x->target.pid;
    ProcMapVec maps = {0};
    int64_t end_ns = os_monotonic_ns() + EXEC_MS * INT64_C(1000000);
    while (!x->has_exec && os_monotonic_ns() < end_ns) {
        heap_at_exec_attend(x);
        if (!x->has_exec)
            pause_shortly();
    }
    if (!x->has_exec)
        return error_set(err, ERROR_OS, "process %u does not stop at its exec", pid);
    if (!proc_maps_read(arena, pid, &maps, err) || !open_memory(pid, &x->memory_fd))
        return error_context(err, "cannot read process %u", pid);
    put_breakpoints(x, &maps);
    if (x->count == 0)
        return error_set(err, ERROR_UNSUPPORTED,
                         "the functions of '%" STR_FMT "' that allocate are not in process %u",
                         STR_ARG(x->target.object), pid);
    return tracing_ask(PTRACE_CONT, (pid_t)pid, NULL, NULL) ||
           error_os(err, "cannot let process %u run", pid);
}

// Whether it stopped at one of the breakpoints, which are x86-64's; then it goes back before it.
static bool step_back(const HeapAtExec *x)
{
#ifdef __x86_64__
    struct user_regs_struct regs;
    pid_t pid = (pid_t)x->target.pid;
    if (!tracing_ask(PTRACE_GETREGS, pid, NULL, &regs))
        return false;
    for (size_t i = 0; i < x->count; i++)
        if (regs.rip == x->at[i] + 1) {
            regs.rip--;
            return tracing_ask(PTRACE_SETREGS, pid, NULL, &regs);
        }
#else
    (void)x;
#endif
    return false;
}

// A new process or thread, which has the breakpoints, too. It stops before it runs.
static void let_go_new(const HeapAtExec *x)
{
    unsigned long tid = 0;
    int status, memory_fd;
    if (!tracing_ask(PTRACE_GETEVENTMSG, (pid_t)x->target.pid, NULL, &tid) || tid == 0)
        return;
    while (waitpid((pid_t)tid, &status, __WALL) < 0 && errno == EINTR)
        continue;
    if (open_memory((uint32_t)tid, &memory_fd)) {
        take_breakpoints(x, memory_fd);
        close(memory_fd);
    }
    (void)tracing_ask(PTRACE_DETACH, (pid_t)tid, NULL, NULL);
}

HeapAtExecState heap_at_exec_look(HeapAtExec *x)
{
    pid_t pid = (pid_t)x->target.pid;
    int status;
    if (!take_stop(pid, &status)) {
        siginfo_t info = {.si_pid = 0};
        bool ended = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0;
        return ended || info.si_pid ? HEAP_AT_EXEC_GONE : HEAP_AT_EXEC_RUNS;
    }
    switch (status >> EVENT_SHIFT) {
    case PTRACE_EVENT_EXEC: // the breakpoints went with the old program
        x->count = 0;
        (void)tracing_ask(PTRACE_DETACH, pid, NULL, NULL);
        return HEAP_AT_EXEC_GONE;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        let_go_new(x);
        return HEAP_AT_EXEC_REACHED;
    case 0:
        if (WSTOPSIG(status) == SIGTRAP && step_back(x))
            return HEAP_AT_EXEC_REACHED;
        break;
    default:
        break;
    }
    go_on(pid, status);
    return HEAP_AT_EXEC_RUNS;
}

// ---- Attaching --------------------------------------------------------------------------

// Waits until the program has stopped by the signal. False: it has ended, or does not stop.
static bool wait_for_stop(pid_t pid)
{
    int64_t end_ns = os_monotonic_ns() + STOP_MS * INT64_C(1000000);
    int status;
    while (os_monotonic_ns() < end_ns) {
        siginfo_t info = {.si_pid = 0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0)
            return false;
        if (info.si_pid && info.si_code == CLD_STOPPED)
            return waitpid(pid, &status, WUNTRACED | WNOHANG) == pid;
        if (info.si_pid)
            return false;
        pause_shortly();
    }
    return false;
}

// Lets go of the program so that it stops before its next instruction, whoever traces it.
static bool hold(const HeapAtExec *x)
{
    pid_t pid = (pid_t)x->target.pid;
    return kill(pid, SIGSTOP) == 0 && tracing_ask(PTRACE_DETACH, pid, NULL, NULL) &&
           wait_for_stop(pid);
}

bool heap_at_exec_attach(Arena *arena, HeapAtExec *x, const AgentSession *session,
                         HeapOrphan *orphan, HeapAttached *ret, Error *err)
{
    take_breakpoints(x, x->memory_fd);
    x->count = 0;
    bool ok = hold(x) || error_set(err, ERROR_OS, "process %u does not stop", x->target.pid);
    ok = ok && heap_attach(arena, session, &x->target, orphan, ret, err);
    (void)kill((pid_t)x->target.pid, SIGCONT);
    return ok;
}

// Waits for the stop that was asked for. `*status` is 0 when the program has gone back before a
// breakpoint.
static bool wait_for_interrupt(const HeapAtExec *x, int *status)
{
    int64_t end_ns = os_monotonic_ns() + STOP_MS * INT64_C(1000000);
    pid_t pid = (pid_t)x->target.pid;
    while (!take_stop(pid, status)) {
        siginfo_t info = {.si_pid = 0};
        bool ended = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0;
        if (ended || info.si_pid || os_monotonic_ns() > end_ns)
            return false;
        pause_shortly();
    }
    if (*status >> EVENT_SHIFT == 0 && WSTOPSIG(*status) == SIGTRAP && step_back(x))
        *status = 0;
    return true;
}

void heap_at_exec_end(HeapAtExec *x)
{
    pid_t pid = (pid_t)x->target.pid;
    int status;
    if (x->count && ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 &&
        wait_for_interrupt(x, &status)) {
        int signal = status >> EVENT_SHIFT ? 0 : WSTOPSIG(status);
        take_breakpoints(x, x->memory_fd);
        (void)tracing_ask(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)signal);
    }
    x->count = 0;
    if (x->memory_fd >= 0)
        close(x->memory_fd);
    x->memory_fd = -1;
}
