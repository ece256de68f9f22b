// SPDX-License-Identifier: Apache-2.0
// One-shot breakpoints by ptrace(2): processes, their stops, and the loop. Document:
// ptrace(2), "PTRACE_SEIZE" and "Stopped states".

#include "collect/cover/trace.h"

#ifdef __x86_64__

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/breakpoints/journal.h"
#include "collect/breakpoints/trap_guard.h"
#include "collect/cover/trace_internal.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/proc.h"
#include "os/tracing.h"

enum { GRACE_MS = 1000 };

#define NS_PER_MS 1000000ll

// ---- Processes -------------------------------------------------------------------------

static TraceProcess *process_find(Tracer *t, pid_t pid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&t->process_index, hash_u64((uint64_t)pid));
         table_next(&t->process_index, &p, &row);)
        if (t->processes.at[row].pid == pid)
            return &t->processes.at[row];
    return NULL;
}

static void process_forget(Tracer *t, TraceProcess *p)
{
    trace_close_memory(t, p);
    vec_free(&p->mapped);
    if (p->pid)
        journal_drop_process(t->journal, p->pid);
    p->pid = 0;
}

static TraceTask *task_find(Tracer *t, pid_t tid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&t->task_index, hash_u64((uint64_t)tid));
         table_next(&t->task_index, &p, &row);)
        if (t->tasks.at[row].tid == tid)
            return &t->tasks.at[row];
    return NULL;
}

// Adds a process. It was made by fork or clone and has the memory of a known process, or a copy of
// it, with the breakpoints in it.
static TraceProcess *process_add(Tracer *t, pid_t pid, pid_t tid)
{
    TraceProcess fresh = {.pid = pid, .mem_fd = -1};
    table_insert(&t->process_index, hash_u64((uint64_t)pid), (uint32_t)t->processes.len);
    vec_push(NULL, &t->processes, fresh);
    t->result->processes++;
    TraceProcess *p = &vec_last(&t->processes);
    (void)trace_look_at_maps(t, p, tid, false);
    // The hook of the parent is at the same address, if it has one.
    for (size_t i = 0; i + 1 < t->processes.len && !p->loader_hook; i++) {
        uint8_t byte;
        uint64_t hook = t->processes.at[i].loader_hook;
        if (hook && trace_read(t, p, hook, &byte, 1) && byte == BREAKPOINT_BYTE) {
            p->loader_hook = hook;
            p->loader_byte = t->processes.at[i].loader_byte;
            (void)!journal_add_byte(t->journal, pid, hook, p->loader_byte);
        }
    }
    return p;
}

// The process of a thread.
static TraceProcess *process_of(Tracer *t, pid_t tid)
{
    TraceTask *task = task_find(t, tid);
    if (task)
        return &t->processes.at[task->process];
    Arena scratch = {0};
    ProcStatus status;
    pid_t pid = tid;
    if (proc_status_read(&scratch, (uint32_t)tid, &status, NULL))
        pid = (pid_t)status.thread_group;
    arena_deinit(&scratch);
    TraceProcess *p = process_find(t, pid);
    if (!p)
        p = process_add(t, pid, tid);
    TraceTask fresh = {.tid = tid, .process = (uint32_t)(p - t->processes.at)};
    table_insert(&t->task_index, hash_u64((uint64_t)tid), (uint32_t)t->tasks.len);
    vec_push(NULL, &t->tasks, fresh);
    return p;
}

static void on_exec(Tracer *t, pid_t pid)
{
    TraceProcess *p = process_of(t, pid);
    trace_close_memory(t, p);
    p->mapped.len = 0;
    p->loader_hook = 0;
    journal_drop_process(t->journal, p->pid);
    if (t->letting_go)
        return;
    trace_set_guard(t, p, pid);
    trace_set_hook(t, p, pid);
    // A program that this user may execute but not read does not show its memory either.
    t->result->unreadable += !trace_look_at_maps(t, p, pid, true);
}

// ---- Stops -----------------------------------------------------------------------------

// 0 when the thread has ended.
static uint64_t get_register(pid_t tid, size_t offset)
{
    uint64_t value = 0;
    (void)tracing_peek(PTRACE_PEEKUSER, tid, offset, &value);
    return value;
}

static void set_register(pid_t tid, size_t offset, uint64_t value)
{
    (void)tracing_ask(PTRACE_POKEUSER, tid, (void *)offset, (void *)(uintptr_t)value);
}

static void mark_hit(Tracer *t, const TraceModule *m, const TraceSite *site)
{
    Profile *p = t->loader.profile;
    const TraceSite *end = site_next_place(m, site);
    for (; site < end; site++) {
        if (site->line != SITE_NO_ROW)
            p->line_counts.count.at[site->line] = 1;
        if (site->function != SITE_NO_ROW)
            p->function_counts.count.at[site->function] = 1;
    }
}

static void return_from_hook(Tracer *t, TraceProcess *p, pid_t tid)
{
    uint64_t sp = get_register(tid, offsetof(struct user_regs_struct, rsp));
    uint64_t back;
    if (!trace_read(t, p, sp, &back, sizeof(back))) {
        // The function runs itself then. Objects that are loaded later have no breakpoints.
        (void)!trace_write(t, p, tid, p->loader_hook, &p->loader_byte, 1);
        set_register(tid, offsetof(struct user_regs_struct, rip), p->loader_hook);
        t->result->no_loader = true;
        return;
    }
    (void)trace_look_at_maps(t, p, tid, true);
    set_register(tid, offsetof(struct user_regs_struct, rip), back);
    set_register(tid, offsetof(struct user_regs_struct, rsp), sp + 8);
}

// A process that makes itself undumpable hides its memory from all users but root. Descriptors that
// are open stay valid, but for a child that it forks none could be opened, and the child would die
// of its parent's breakpoints. So the breakpoints are removed while that is possible.
static void give_up_unreachable(Tracer *t, TraceProcess *p, pid_t tid)
{
    char path[40];
    if (geteuid() == 0 || p->is_clean)
        return;
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)p->pid);
    if (access(path, R_OK | W_OK) == 0 || errno != EACCES)
        return;
    trace_clean(t, p, tid);
    t->result->unreachable++;
}

// Whether a trap is one of our breakpoints; the thread then continues at its address. Another
// thread may have hit the same breakpoint before: then the byte has been restored already.
static bool on_breakpoint(Tracer *t, pid_t tid)
{
    TraceProcess *p = process_of(t, tid);
    uint64_t pc = get_register(tid, offsetof(struct user_regs_struct, rip)) - 1;
    if (pc == p->loader_hook && pc) {
        trap_guard_resume_at(tid, pc, 0);
        if (p->is_clean)
            set_register(tid, offsetof(struct user_regs_struct, rip), pc);
        else
            return_from_hook(t, p, tid);
        return true;
    }
    // The latest mapping of an address is valid: dlclose and dlopen may reuse addresses.
    for (size_t i = p->mapped.len; i-- > 0;) {
        const TraceMapped *m = &p->mapped.at[i];
        if (pc < m->start || pc >= m->end)
            continue;
        const TraceSite *site = site_find(m->module, pc - m->bias);
        if (!site)
            return false;
        if (site->original != BREAKPOINT_BYTE)
            trap_guard_resume_at(tid, pc, 0);
        if (!trace_write(t, p, tid, pc, &site->original, 1))
            return false;
        mark_hit(t, m->module, site);
        if (site->original == BREAKPOINT_BYTE)
            return false; // the program's own breakpoint
        set_register(tid, offsetof(struct user_regs_struct, rip), pc);
        trace_clear_lines(t, p, tid, m, site);
        give_up_unreachable(t, p, tid);
        return true;
    }
    return false;
}

// Lets a stopped thread go on by `request`, with a signal or none. A thread that stays stopped
// would stay so for ever; it goes on when this process ends.
static void resume(Tracer *t, int request, pid_t tid, int signal)
{
    if (tracing_ask(request, tid, NULL, (void *)(intptr_t)signal))
        return;
    int saved = errno;
    if (saved != ESRCH || tracing_is_stopped(tid))
        t->failed_errno = saved;
}

// Removes all breakpoints from a process and stops tracing this thread.
static void let_go(Tracer *t, pid_t tid, int signal)
{
    TraceProcess *p = process_of(t, tid);
    if (!p->is_clean)
        trace_clean(t, p, tid);
    resume(t, PTRACE_DETACH, tid, signal);
}

static bool is_stop_signal(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

// Whether a thread has hit a breakpoint of ours, and goes on at its address now.
static bool passes_breakpoint(Tracer *t, pid_t tid, int status)
{
    siginfo_t info;
    if (WSTOPSIG(status) != SIGTRAP || status >> 16 ||
        !tracing_ask(PTRACE_GETSIGINFO, tid, NULL, &info) ||
        (info.si_code != SI_KERNEL && info.si_code != TRAP_BRKPT))
        return false;
    if (on_breakpoint(t, tid))
        return true;
    if (info.si_code == SI_KERNEL)
        trap_guard_is_own(tid);
    return false;
}

// Whether the process has a handler for SIGTRAP.
static bool catches_traps(pid_t tid)
{
    char path[40], text[4096];
    Str status, line, key, value;
    uint64_t caught = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
    if (!os_read_small(path, text, sizeof(text), &status))
        return false;
    while (str_next_line(&status, &line))
        if (str_split(line, ':', &key, &value) && str_equal(key, STR("SigCgt")))
            (void)!str_parse_u64(str_trim(value), 16, &caught);
    return caught >> (SIGTRAP - 1) & 1;
}

// Lets a thread enter the program's handler of SIGTRAP, where has_entered_handler unblocks the
// signal. It is blocked inside its handler, and when a thread that blocks SIGTRAP hits a
// breakpoint, the kernel removes the handler.
static bool enter_handler(Tracer *t, pid_t tid)
{
    (void)process_of(t, tid);
    TraceTask *task = task_find(t, tid);
    task->enters_handler =
        catches_traps(tid) && tracing_ask(PTRACE_SINGLESTEP, tid, NULL, (void *)(intptr_t)SIGTRAP);
    return task->enters_handler;
}

static bool has_entered_handler(Tracer *t, pid_t tid, int status)
{
    TraceTask *task = task_find(t, tid);
    if (!task || !task->enters_handler)
        return false;
    uint64_t mask;
    task->enters_handler = false;
    if (status >> 16 || WSTOPSIG(status) != SIGTRAP)
        return false;
    if (tracing_ask(PTRACE_GETSIGMASK, tid, (void *)sizeof(mask), &mask)) {
        mask &= ~(1ull << (SIGTRAP - 1));
        (void)tracing_ask(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask);
    }
    return true;
}

static void on_stop(Tracer *t, pid_t tid, int status)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXEC)
        on_exec(t, tid);
    if (has_entered_handler(t, tid, status) || passes_breakpoint(t, tid, status))
        signal = 0;
    else if (event == PTRACE_EVENT_STOP && is_stop_signal(signal) && !t->letting_go) {
        resume(t, PTRACE_LISTEN, tid, 0);
        return;
    } else if (event)
        signal = 0;
    if (event == PTRACE_EVENT_STOP)
        (void)process_of(t, tid);
    if (t->letting_go)
        let_go(t, tid, signal);
    else if (signal != SIGTRAP || !enter_handler(t, tid))
        resume(t, PTRACE_CONT, tid, signal);
}

static void on_end(Tracer *t, pid_t tid)
{
    TraceProcess *p = process_find(t, tid);
    TraceTask *task = task_find(t, tid);
    if (p)
        process_forget(t, p);
    if (task)
        task->tid = 0;
    t->main_ended |= tid == t->main;
}

static void on_report(Tracer *t, pid_t tid, int status)
{
    if (WIFSTOPPED(status))
        on_stop(t, tid, status);
    else
        on_end(t, tid);
}

// ---- The loop ----------------------------------------------------------------------------

static void interrupt_all(Tracer *t)
{
    t->letting_go = true;
    for (size_t i = 0; i < t->processes.len; i++) {
        U32Vec threads = {0};
        if (t->processes.at[i].pid &&
            proc_list_threads((uint32_t)t->processes.at[i].pid, &threads, NULL))
            for (size_t k = 0; k < threads.len; k++)
                (void)tracing_ask(PTRACE_INTERRUPT, (pid_t)threads.at[k], NULL, NULL);
        vec_free(&threads);
    }
}

// Whether the parent has ended. Set by the handler of the signal that the kernel sends then.
static volatile sig_atomic_t parent_ended;

// The signal may come right before a call that waits. The timer makes sure that the call returns.
static void on_parent_end(int number)
{
    static const struct itimerval every_10_ms = {{0, 10000}, {0, 10000}};
    int saved = errno;
    (void)number;
    parent_ended = 1;
    setitimer(ITIMER_REAL, &every_10_ms, NULL);
    errno = saved;
}

static void on_timer(int number)
{
    (void)number;
}

// Signals of the terminal and of those who ask for the command's end go to the parent, which
// passes them to the program. This process ends after the program.
static void prepare_signals(void)
{
    static const int not_ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct sigaction ended = {.sa_handler = on_parent_end}, timer = {.sa_handler = on_timer};
    for (size_t i = 0; i < ARRAY_LEN(not_ours); i++)
        signal(not_ours[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigaction(SIGUSR2, &ended, NULL);
    sigaction(SIGALRM, &timer, NULL);
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGUSR2);
    sigaddset(&ours, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &ours, NULL);
    prctl(PR_SET_PDEATHSIG, SIGUSR2);
}

// The next report, as waitpid gives it. A stop is looked at, not taken: the kernel forgets the
// signal of a stop that is taken, and when this process is killed then, the thread goes on in the
// middle of the instruction that a breakpoint replaces. With the signal, its handler finds the
// address.
static pid_t next_report(int *status, int options)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL | options) != 0)
        return -1;
    if (info.si_pid == 0)
        return 0;
    if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
        return waitpid(info.si_pid, status, __WALL | WNOHANG);
    *status = W_STOPCODE(info.si_status);
    return info.si_pid;
}

// Handles stops until the command has ended, and for a moment longer those of its remaining
// processes.
static void serve(Tracer *t)
{
    int64_t ended_ns = 0, asked_ns = 0;
    for (;;) {
        int status;
        bool must_end = parent_ended || t->failed_errno, is_ending = must_end || t->main_ended;
        pid_t tid = next_report(&status, is_ending ? WNOHANG : 0);
        if (tid < 0 && errno != EINTR)
            return;
        if (tid > 0)
            on_report(t, tid, status);
        if (!is_ending)
            continue;
        int64_t now = os_monotonic_ns();
        ended_ns = ended_ns ? ended_ns : now;
        if (!t->letting_go && (must_end || now - ended_ns > GRACE_MS * NS_PER_MS)) {
            interrupt_all(t);
            asked_ns = now;
        }
        if (t->letting_go && now - asked_ns > GRACE_MS * NS_PER_MS)
            return;
        if (tid <= 0)
            usleep(must_end ? 200 : 5000);
    }
}

static bool attach(pid_t child, Error *err)
{
    enum { WAIT_MS = 200 };
    long options =
        PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
    char scope[8] = "";
    Str text;
    Arena scratch = {0};
    ProcStatus status = {0};
    (void)!os_read_small("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope), &text);
    for (int waited_ms = 0;; waited_ms++) {
        if (tracing_ask(PTRACE_SEIZE, child, NULL, (void *)options))
            return true;
        // The child may not have allowed it yet.
        if (errno != EPERM || scope[0] != '1' || waited_ms == WAIT_MS)
            break;
        usleep(1000);
    }
    (void)error_os(err, "cannot trace the program");
    (void)!proc_status_read(&scratch, (uint32_t)child, &status, NULL);
    arena_deinit(&scratch);
    if (status.tracer)
        return error_hint(err, "process %u traces it already (gdb, strace, another assay)",
                          status.tracer);
    if (scope[0] == '2' || scope[0] == '3')
        return error_hint(err, "kernel.yama.ptrace_scope is %c: %s", scope[0],
                          scope[0] == '2' ? "run as root, or: sysctl kernel.yama.ptrace_scope=1"
                                          : "it stays so until the next boot");
    return error_hint(err, "the kernel forbids ptrace here: a container may need "
                           "--cap-add=SYS_PTRACE");
}

// Raises the limit of descriptors, because each traced process has one open. The program exists
// already and keeps its own limit. Returns how many may be used for processes.
static size_t raise_descriptors(void)
{
    enum { OTHERS = 64 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return OTHERS;
    limit.rlim_cur = limit.rlim_max;
    (void)!setrlimit(RLIMIT_NOFILE, &limit);
    (void)!getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > 2 * OTHERS ? (size_t)limit.rlim_cur - OTHERS : OTHERS / 2;
}

bool trace_follow(Tracer *t, pid_t child, bool (*attached)(void *ctx), void *ctx, Error *err)
{
    prepare_signals();
    if (!attach(child, err))
        return false;
    t->main = child;
    t->memories_max = raise_descriptors();
    // A parent that ended before prepare_signals is not reported by a signal.
    if (!attached(ctx))
        parent_ended = 1;
    serve(t);
    for (size_t i = 0; i < t->processes.len; i++)
        if (t->processes.at[i].pid && !t->processes.at[i].is_clean)
            trace_clean(t, &t->processes.at[i], t->processes.at[i].pid);
    if (t->main_ended)
        return true;
    errno = t->failed_errno;
    return error_os(err, "cannot continue a thread of the program");
}

void trace_deinit(Tracer *t)
{
    for (size_t i = 0; i < t->processes.len; i++)
        process_forget(t, &t->processes.at[i]);
    vec_free(&t->processes);
    vec_free(&t->tasks);
    table_deinit(&t->task_index);
    vec_free(&t->buffer);
    table_deinit(&t->process_index);
    arena_deinit(&t->arena);
}

#endif // __x86_64__
