// SPDX-License-Identifier: Apache-2.0
// Breakpoints in place of the kernel's probes: where they are in traced processes, and their hits.

#include "collect/sampling/tracer_parts_internal.h"

#ifdef __x86_64__

#include "collect/breakpoints/code.h"
#include "collect/breakpoints/journal.h"
#include "collect/breakpoints/loader_hook.h"
#include "collect/breakpoints/room.h"
#include "collect/breakpoints/trap_guard.h"
#include "os/clock.h"
#include "os/tracing.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

static const uint8_t breakpoint = BREAKPOINT_BYTE;

// ---- Setting ----------------------------------------------------------------------------------

static TracedBreak *find_break(TracedProcess *p, uint64_t at)
{
    for (size_t i = 0; i < p->breaks.len; i++)
        if (p->breaks.at[i].at == at)
            return &p->breaks.at[i];
    return NULL;
}

static bool is_file_of(const ProcMap *m, const BreakPlace *place)
{
    return m->inode == place->inode &&
           (makedev(m->device_major, m->device_minor) == place->device ||
            str_equal(m->path, place->path));
}

static bool holds(const ProcMap *m, uint64_t offset)
{
    return offset >= m->offset && offset - m->offset < m->end - m->start;
}

// Adds to the counter of a marker, which is off while it is 0. Its address; 0: there is none.
static uint64_t raise_semaphore(TracedProcess *p, const ProcMapVec *maps, const BreakPlace *place)
{
    for (size_t i = 0; place->semaphore_offset && i < maps->len; i++) {
        const ProcMap *m = &maps->at[i];
        if (!m->write || !is_file_of(m, place) || !holds(m, place->semaphore_offset))
            continue;
        uint64_t at = m->start + (place->semaphore_offset - m->offset);
        uint16_t count;
        if (!code_read(p->memory_fd, (pid_t)p->pid, at, &count, sizeof(count)))
            return 0;
        count++;
        return code_write(p->memory_fd, (pid_t)p->pid, at, (const uint8_t *)&count, sizeof(count))
                   ? at
                   : 0;
    }
    return 0;
}

// Makes a permanent copy of the instruction, so that passing it needs no single step: a thread that
// is in a step when this process is killed would keep the borrowed register and the trap flag.
static void add_copy(TracedProcess *p, const ProcMapVec *maps, const ProcMap *m, TracedBreak *b)
{
    uint8_t copy[STEP_COPY_BYTES];
    unsigned len;
    if (!step_copy(b->code, b->at, b->at, copy, &len))
        return;
    uint64_t to = room_find(p->memory_fd, (pid_t)p->pid, maps, m, sizeof(copy));
    if (to && step_copy(b->code, b->at, to, copy, &len) &&
        code_write(p->memory_fd, (pid_t)p->pid, to, copy, sizeof(copy))) {
        b->copy = to;
        b->copy_len = len;
    }
}

static void set_break(Tracer *t, TracedProcess *p, const ProcMapVec *maps, const ProcMap *m,
                      uint32_t event)
{
    const BreakPlace *place = &t->breaks->places.at[event];
    uint64_t at = m->start + (place->offset - m->offset);
    if (find_break(p, at))
        return;
    TracedBreak b = {.at = at, .event = event};
    size_t len = sizeof(b.code);
    while (len > 1 && !code_read(p->memory_fd, (pid_t)p->pid, at, b.code, len))
        len--; // at the end of a mapping
    if (b.code[0] == BREAKPOINT_BYTE || !step_is_possible(b.code)) {
        t->breaks->refused++;
        return;
    }
    add_copy(p, maps, m, &b);
    if (!journal_add_byte(t->breaks->journal, (pid_t)p->pid, at, b.code[0]) ||
        !code_write(p->memory_fd, (pid_t)p->pid, at, &breakpoint, 1))
        return;
    b.semaphore = raise_semaphore(p, maps, place);
    vec_push(NULL, &p->breaks, b);
}

// Forgets breakpoints in mappings that no longer exist, or that are mapped anew.
static void forget_unmapped(TracedProcess *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->breaks.len; i++) {
        uint8_t byte;
        if (code_read(p->memory_fd, (pid_t)p->pid, p->breaks.at[i].at, &byte, 1) &&
            byte == BREAKPOINT_BYTE)
            p->breaks.at[kept++] = p->breaks.at[i];
    }
    p->breaks.len = kept;
}

// Sets the breakpoints of mappings that have none yet.
static void look_at_maps(Tracer *t, TracedProcess *p)
{
    Arena scratch = {0};
    ProcMapVec maps = {0};
    forget_unmapped(p);
    bool ok = proc_maps_read(&scratch, p->pid, &maps, NULL);
    for (size_t i = 0; ok && i < maps.len; i++)
        for (uint32_t e = 0; maps.at[i].exec && e < t->breaks->places.len; e++) {
            const BreakPlace *place = &t->breaks->places.at[e];
            if (is_file_of(&maps.at[i], place) && holds(&maps.at[i], place->offset))
                set_break(t, p, &maps, &maps.at[i], e);
        }
    arena_deinit(&scratch);
}

void tracer_break_program(Tracer *t, TracedProcess *p)
{
    journal_drop_process(t->breaks->journal, (pid_t)p->pid);
    p->breaks.len = 0;
    p->hook = 0;
    // Without it only those threads suffer that are at a breakpoint when this process is killed.
    (void)trap_guard_set((pid_t)p->pid, p->memory_fd);
    LoaderHook hook = loader_hook_find((pid_t)p->pid);
    // The code at which the program starts runs once; during single steps a copy lies there.
    p->slot = hook.entry;
    if (loader_hook_fits(&hook, p->memory_fd, (pid_t)p->pid) &&
        journal_add_byte(t->breaks->journal, (pid_t)p->pid, hook.address, hook.byte) &&
        code_write(p->memory_fd, (pid_t)p->pid, hook.address, &breakpoint, 1)) {
        p->hook = hook.address;
        p->hook_byte = hook.byte;
    }
    t->breaks->no_loader += hook.has_loader && !p->hook;
    look_at_maps(t, p);
}

// ---- Hits -------------------------------------------------------------------------------------

static bool get_registers(const TracedThread *thread, UserRegs *r)
{
    struct iovec iov = {r, sizeof(*r)};
    return tracing_ask(PTRACE_GETREGSET, (pid_t)thread->tid, (void *)(uintptr_t)NT_PRSTATUS, &iov);
}

static void set_registers(const TracedThread *thread, UserRegs *r)
{
    struct iovec iov = {r, sizeof(*r)};
    (void)tracing_ask(PTRACE_SETREGSET, (pid_t)thread->tid, (void *)(uintptr_t)NT_PRSTATUS, &iov);
}

// Whether the thread has run into a breakpoint. Sets `*code` of the signal.
static bool is_breakpoint_stop(const TracedThread *thread, int *code)
{
    siginfo_t info;
    if (!tracing_ask(PTRACE_GETSIGINFO, (pid_t)thread->tid, NULL, &info))
        return false;
    *code = info.si_code;
    return info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT;
}

static void name_thread(Tracer *t, TracedThread *thread)
{
    char buf[1024];
    ThreadStat st;
    if (thread->name_hash || !tracer_read_stat(thread, buf, sizeof(buf), &st))
        return;
    thread->cpu = st.cpu;
    tracer_look_at_name(t, thread, st.name);
}

// Takes the sample that is due with this hit, if any.
static void count_hit(Tracer *t, TracedThread *thread, TracedProcess *p, uint32_t event,
                      const UserRegs *r)
{
    BreakPlace *place = &t->breaks->places.at[event];
    uint64_t period = events_fixed_period(t->events, &t->events->events.at[event]);
    int64_t now = os_monotonic_ns();
    t->breaks->hits++;
    place->count++;
    if (period ? place->count % period != 0
               : now - place->sampled_ns < (int64_t)(1000000000u / t->events->freq_hz))
        return;
    name_thread(t, thread);
    tracer_refresh_maps(t, p);
    tracer_tell_hit(t, thread, p, r, event, place->count - place->sampled);
    place->sampled = place->count;
    place->sampled_ns = now;
}

static BreakStop pass(Tracer *t, const TracedThread *thread, TracedProcess *p, TracedBreak *b,
                      UserRegs *r)
{
    BreakStop stop = {.is_ours = true};
    StepThread step = {(pid_t)thread->tid, p->memory_fd, p->slot};
    uint64_t at = r->rip;
    int got = 0;
    if (b->copy) {
        r->rip = b->copy;
        set_registers(thread, r);
        return stop;
    }
    StepResult result = step_over(&step, b->code, r, &got);
    if (result == STEP_SIGNAL)
        stop.signal = got;
    if (result == STEP_ENDED)
        stop.ended = got;
    if (result == STEP_REFUSED) {
        r->rip = at;
        (void)code_write(p->memory_fd, (pid_t)thread->tid, at, b->code, 1);
        set_registers(thread, r);
        t->breaks->refused++;
    }
    return stop;
}

// The dynamic linker has mapped objects: its function returns.
static void return_from_hook(Tracer *t, TracedThread *thread, TracedProcess *p, UserRegs *r)
{
    uint64_t back;
    r->rip = p->hook;
    if (code_read(p->memory_fd, (pid_t)p->pid, r->rsp, &back, sizeof(back))) {
        r->rip = back;
        r->rsp += sizeof(back);
    } else {
        (void)code_write(p->memory_fd, (pid_t)thread->tid, p->hook, &p->hook_byte, 1);
        t->breaks->no_loader++;
    }
    set_registers(thread, r);
    tracer_read_maps(t, p);
    look_at_maps(t, p);
}

BreakStop tracer_break_stop(Tracer *t, TracedThread *thread)
{
    int64_t start = os_monotonic_ns();
    BreakStop stop = {.signal = SIGTRAP};
    TracedProcess *p = tracer_find_process(t, thread->pid);
    UserRegs r;
    uint8_t byte;
    int code = 0;
    if (!p || !is_breakpoint_stop(thread, &code) || !get_registers(thread, &r))
        return stop;
    uint64_t at = r.rip - 1;
    TracedBreak *b = find_break(p, at);
    bool is_set = code_read(p->memory_fd, (pid_t)p->pid, at, &byte, 1) && byte == BREAKPOINT_BYTE;
    if (is_set && !b && at != p->hook) { // the program's own
        if (code == SI_KERNEL)
            trap_guard_is_own((pid_t)thread->tid);
        return stop;
    }
    if (code == SI_KERNEL)
        trap_guard_resume_at((pid_t)thread->tid, at, r.rsp);
    stop = (BreakStop){.is_ours = true};
    r.rip = at;
    if (!is_set) { // another thread, or the end of the tracing, has removed it
        set_registers(thread, &r);
        return stop;
    }
    if (at == p->hook) {
        return_from_hook(t, thread, p, &r);
        return stop;
    }
    bool is_again = thread->again_at == at && thread->again_sp == r.rsp;
    thread->again_at = 0;
    if (t->sampling && !is_again)
        count_hit(t, thread, p, b->event, &r);
    stop = pass(t, thread, p, b, &r);
    t->breaks->stopped_ns += os_monotonic_ns() - start;
    return stop;
}

void tracer_break_signal(Tracer *t, TracedThread *thread, int signal)
{
    TracedProcess *p = tracer_find_process(t, thread->pid);
    UserRegs r;
    if (!p || p->breaks.len == 0 || !get_registers(thread, &r))
        return;
    for (size_t i = 0; i < p->breaks.len; i++) {
        const TracedBreak *b = &p->breaks.at[i];
        if (!b->copy || r.rip < b->copy || r.rip > b->copy + b->copy_len)
            continue;
        bool is_fault =
            signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
        if (r.rip == b->copy && !is_fault) { // the instruction comes after the handler
            thread->again_at = b->at;
            thread->again_sp = r.rsp;
        }
        r.rip = b->at + (r.rip - b->copy);
        set_registers(thread, &r);
        return;
    }
}

// ---- Removing ---------------------------------------------------------------------------------

static void remove_byte(const TracedProcess *p, uint64_t at, uint8_t original)
{
    uint8_t byte;
    if (code_read(p->memory_fd, (pid_t)p->pid, at, &byte, 1) && byte == BREAKPOINT_BYTE)
        (void)code_write(p->memory_fd, (pid_t)p->pid, at, &original, 1);
}

static void lower_semaphore(const TracedProcess *p, uint64_t at)
{
    uint16_t count;
    if (!at || !code_read(p->memory_fd, (pid_t)p->pid, at, &count, sizeof(count)) || count == 0)
        return;
    count--;
    (void)code_write(p->memory_fd, (pid_t)p->pid, at, (const uint8_t *)&count, sizeof(count));
}

void tracer_break_clean(Tracer *t)
{
    for (size_t i = 0; i < t->processes.len; i++) {
        const TracedProcess *p = &t->processes.at[i];
        for (size_t k = 0; k < p->breaks.len; k++) {
            remove_byte(p, p->breaks.at[k].at, p->breaks.at[k].code[0]);
            lower_semaphore(p, p->breaks.at[k].semaphore);
        }
        if (p->hook)
            remove_byte(p, p->hook, p->hook_byte);
        journal_drop_process(t->breaks->journal, (pid_t)p->pid);
    }
}

#else

void tracer_break_program(Tracer *t, TracedProcess *p)
{
    (void)t;
    (void)p;
}

BreakStop tracer_break_stop(Tracer *t, TracedThread *thread)
{
    (void)t;
    (void)thread;
    return (BreakStop){.signal = SIGTRAP};
}

void tracer_break_signal(Tracer *t, TracedThread *thread, int signal)
{
    (void)t;
    (void)thread;
    (void)signal;
}

void tracer_break_clean(Tracer *t)
{
    (void)t;
}

#endif // __x86_64__
