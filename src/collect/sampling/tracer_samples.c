// SPDX-License-Identifier: Apache-2.0
// Chooses the threads that are stopped for a sample, and takes the samples.

#include "collect/sampling/tracer_parts_internal.h"

#include "os/clock.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <time.h>

// ---- A sample -------------------------------------------------------------------------

// Whether the stopped thread `tid` was at the end of a system call and not in an interrupt. On
// x86-64 the registers show it, on aarch64 the regset that holds the number of the call.
static bool left_syscall(pid_t tid, const UserRegs *r)
{
#if defined(__x86_64__)
    (void)tid;
    return (int64_t)r->orig_rax >= 0;
#else
    (void)r;
    int number = -1;
    struct iovec iov = {&number, sizeof(number)};
    return ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_ARM_SYSTEM_CALL, &iov) == 0 &&
           number >= 0;
#endif
}

// The registers of a stopped thread. Those of a 32-bit program are widened.
static bool read_registers(pid_t tid, UserRegs *ret)
{
    struct iovec iov = {ret, sizeof(*ret)};
    if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov) != 0)
        return false;
#if defined(__x86_64__)
    // ebx, ecx, edx, esi, edi, ebp, eax, ds, es, fs, gs, orig_eax, eip, cs, eflags, esp, ss
    uint32_t r[17];
    if (iov.iov_len == sizeof(r)) {
        memcpy(r, ret, sizeof(r));
        *ret = (UserRegs){.rbx = r[0],
                          .rcx = r[1],
                          .rdx = r[2],
                          .rsi = r[3],
                          .rdi = r[4],
                          .rbp = r[5],
                          .rax = r[6],
                          .orig_rax = (unsigned long long)(long long)(int32_t)r[11],
                          .rip = r[12],
                          .cs = r[13],
                          .eflags = r[14],
                          .rsp = r[15],
                          .ss = r[16]};
        return true;
    }
#endif
    return iov.iov_len == sizeof(*ret);
}

void tracer_take_sample(Tracer *t, TracedThread *thread)
{
    uint64_t cpu_ns, switches;
    UserRegs regs;
    TracedProcess *p = tracer_find_process(t, thread->pid);
    if (!p || !tracer_read_cpu_time(thread, &cpu_ns, &switches))
        return;
    thread->waited = switches != thread->switches || cpu_ns <= thread->counted_ns;
    if (cpu_ns <= thread->counted_ns || !read_registers((pid_t)thread->tid, &regs))
        return;
    // The kernel often takes a processor away at the end of a system call. Such a place does not
    // represent where time is spent.
    if (thread->waited && left_syscall(thread->tid, &regs)) {
        p->due_ns += (int64_t)(1000000000u / t->events->freq_hz);
        return;
    }
    thread->sampled_at = switches;
    uint64_t weight = cpu_ns - thread->counted_ns;
    thread->counted_ns = cpu_ns;
    if (!t->sampling)
        return;
    tracer_refresh_maps(t, p);
    tracer_tell_sample(t, thread, p, &regs, thread->cpu, weight);
    t->counted_ns += weight;
}

// ---- Asking for samples ---------------------------------------------------------------

// Requests a stop of a thread that runs or waits for a processor. A thread that sleeps in a system
// call is not stopped, because some system calls would end early. True when a stop was requested.
static bool ask(Tracer *t, TracedThread *thread)
{
    char buf[1024];
    uint64_t cpu_ns, switches;
    ThreadStat st;
    if (thread->interrupted || !tracer_read_cpu_time(thread, &cpu_ns, &switches))
        return false;
    // It has not run since its last sample.
    if (switches && switches == thread->sampled_at)
        return false;
    if (!thread->was_running && cpu_ns == thread->seen_ns && switches == thread->switches)
        return false;
    thread->seen_ns = cpu_ns;
    thread->switches = switches;
    if (!tracer_read_stat(thread, buf, sizeof(buf), &st))
        return false;
    tracer_look_at_name(t, thread, st.name);
    thread->was_running = st.state == 'R';
    thread->cpu = st.cpu;
    if (!thread->was_running || ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) != 0)
        return false;
    thread->interrupted = true;
    thread->asked_ns = os_monotonic_ns();
    return true;
}

// The processor time of a whole process, by the kernel's clock for it (clock_getcpuclockid(3)).
// Without such a clock it grows by one period at each call.
static uint64_t process_cpu_ns(const TracedProcess *p, uint64_t period_ns)
{
    clockid_t clock;
    struct timespec ts;
    if (clock_getcpuclockid((pid_t)p->pid, &clock) != 0 || clock_gettime(clock, &ts) != 0)
        return p->clock_ns + period_ns;
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool tracer_tick(Tracer *t)
{
    enum { DUE_MAX = 8 }; // periods; more are not caught up
    int64_t period = (int64_t)(1000000000u / t->events->freq_hz);
    bool any = false, asked = false;
    for (size_t i = 0; i < t->processes.len; i++) {
        TracedProcess *p = &t->processes.at[i];
        uint64_t now = process_cpu_ns(p, (uint64_t)period);
        int64_t used = now > p->clock_ns ? (int64_t)(now - p->clock_ns) : 0;
        p->due_ns = MIN(p->due_ns + used, period * DUE_MAX * (int64_t)MAX(p->threads, 1u));
        p->clock_ns = now;
        any = any || p->due_ns >= period;
    }
    size_t count = t->threads.len;
    for (size_t i = 0; any && i < count; i++) {
        TracedThread *thread = &t->threads.at[(t->first + i) % count];
        TracedProcess *p = thread->gone ? NULL : tracer_find_process(t, thread->pid);
        if (p && p->due_ns >= period && ask(t, thread)) {
            p->due_ns -= period;
            asked = true;
        }
    }
    t->first = count ? (t->first + 1) % count : 0;
    return asked;
}

void tracer_start(Tracer *t)
{
    uint64_t switches;
    for (size_t i = 0; i < t->threads.len; i++)
        if (!t->threads.at[i].gone)
            (void)!tracer_read_cpu_time(&t->threads.at[i], &t->threads.at[i].counted_ns, &switches);
    t->sampling = true;
}
