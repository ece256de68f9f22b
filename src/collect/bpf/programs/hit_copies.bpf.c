// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Copies the registers and the stack at the hits of probes into the rings of a recording, in some
// processes and in those that they make (docs/decisions/0322).

#include "wire/hit_copies.h"

#include "collect/bpf/programs/kernel.h"
#include "collect/bpf/programs/processes.h"
#include "wire/process_set.h"

enum { REGS_SP = 19, PAGE_BYTES = 4096 }; // number of the word in struct pt_regs (asm/ptrace.h)

extern const volatile HitCopyConfig config MAP;
extern HitCopyShared shared MAP;
extern int slots MAP;   // HIT_COPY_SLOTS for each CPU
extern int outputs MAP; // one perf event for each CPU, whose ring gets the records

INLINE bool is_recorded(uint64_t id)
{
    if (config.whose == HIT_COPY_ALL)
        return true;
    uint32_t whose = config.whose == HIT_COPY_TASKS ? (uint32_t)id : (uint32_t)(id >> 32);
    return processes_have(&shared.processes, whose);
}

// Counts the hit. True if it is one of those that the period selects.
INLINE bool is_due(const HitCopyEvent *e, uint32_t number, uint32_t cpu)
{
    uint64_t period = e->period;
    if (period <= 1)
        return true;
    uint64_t *passed = &shared.passed[number * HIT_COPY_CPUS + (cpu & (HIT_COPY_CPUS - 1))];
    return (__sync_fetch_and_add(passed, 1) + 1) % period == 0;
}

INLINE uint64_t base_of(uint32_t tid)
{
    for (uint32_t i = 0; i < HIT_COPY_PROBES; i++) {
        const volatile HitCopyThread *t = &shared.threads[(tid + i) & (HIT_COPY_THREADS - 1)];
        if (t->tid == tid)
            return t->base;
    }
    return 0;
}

// A free slot of the CPU; 0: all are in use. More than one can be in use, because the kernel may
// run another thread in the middle of a hit.
INLINE HitCopySlot *take_slot(uint32_t cpu)
{
#pragma unroll
    for (uint32_t i = 0; i < HIT_COPY_SLOTS; i++) {
        uint32_t key = cpu * HIT_COPY_SLOTS + i;
        HitCopySlot *s = bpf_map_lookup_elem(&slots, &key);
        if (!s)
            return 0;
        if (__sync_val_compare_and_swap(&s->is_used, 0, 1) == 0)
            return s;
    }
    return 0;
}

typedef struct PageReader {
    HitCopySlot *slot;
    uint64_t sp;
} PageReader;

static long read_page(uint64_t number, PageReader *reader);

// Reads the stack page by page, `copy.wanted` bytes or up to the end of its memory.
INLINE void read_pages(HitCopySlot *s, uint64_t sp)
{
    PageReader reader = {s, sp};
    s->copy.size = 0;
    bpf_loop(HIT_COPY_STACK_MAX / PAGE_BYTES + 2, read_page, &reader, 0);
}

INLINE void read_stack(HitCopySlot *s, const HitCopyEvent *e, uint64_t sp, uint32_t tid)
{
    uint64_t size = e->bytes, base = size && !e->exact ? base_of(tid) : 0;
    s->copy.by_base = base > sp && base - sp < HIT_COPY_BASE_FAR;
    if (s->copy.by_base)
        size = base - sp;
    if (size > HIT_COPY_STACK_MAX)
        size = HIT_COPY_STACK_MAX;
    s->copy.size = s->copy.wanted = (uint32_t)size;
    OPAQUE(size);
    if (size == 0 || size > HIT_COPY_STACK_MAX)
        return;
    if (bpf_probe_read_user(s->stack, (uint32_t)size, (const void *)sp))
        read_pages(s, sp);
}

// Runs at each hit. The cookie of the probe is the number of its event.
PROGRAM("kprobe") int on_hit(uint64_t *ctx)
{
    uint64_t id = bpf_get_current_pid_tgid();
    uint32_t number = (uint32_t)bpf_get_attach_cookie(ctx) & (HIT_COPY_EVENTS - 1);
    uint32_t cpu = bpf_get_smp_processor_id();
    const HitCopyEvent *e = &shared.events[number];
    if (!e->is_on || !is_recorded(id) || !is_due(e, number, cpu))
        return 0;
    HitCopySlot *s = take_slot(cpu);
    if (!s) {
        __sync_fetch_and_add(&shared.no_slot, 1);
        return 0;
    }
    s->copy.event = number;
#pragma unroll
    for (uint32_t i = 0; i < HIT_COPY_REGS; i++)
        s->copy.regs[i] = ctx[i];
    read_stack(s, e, ctx[REGS_SP], (uint32_t)id);
    uint64_t size = *(volatile uint32_t *)&s->copy.size;
    OPAQUE(size);
    if (size > HIT_COPY_STACK_MAX)
        size = 0;
    if (bpf_perf_event_output(ctx, &outputs, THIS_CPU, &s->copy, sizeof(HitCopy) + size))
        __sync_fetch_and_add(&shared.no_room, 1);
    BARRIER();
    *(volatile uint64_t *)&s->is_used = 0;
    return 0; // the kernel writes no sample
}

__attribute__((section("kprobe"), used, noinline)) static long read_page(uint64_t number,
                                                                         PageReader *reader)
{
    (void)number;
    HitCopySlot *s = reader->slot;
    uint64_t at = s->copy.size, wanted = s->copy.wanted, from = reader->sp + at;
    OPAQUE(at);
    if (at >= wanted || at > HIT_COPY_STACK_MAX - PAGE_BYTES)
        return 1;
    uint64_t size = PAGE_BYTES - (from & (PAGE_BYTES - 1));
    if (size > wanted - at)
        size = wanted - at;
    OPAQUE(size);
    if (size > PAGE_BYTES || bpf_probe_read_user((char *)s->stack + at, size, (const void *)from))
        return 1;
    s->copy.size = (uint32_t)(at + size);
    return 0;
}

PROGRAM("sched_process_fork") int on_fork(uint64_t *ctx)
{
    if (config.whose == HIT_COPY_PROCESSES)
        processes_follow(&shared.processes, ctx, config.task_tgid);
    return 0;
}

PROGRAM("sched_process_exit") int on_exit(uint64_t *ctx)
{
    if (config.whose == HIT_COPY_PROCESSES)
        processes_leave(&shared.processes, ctx, config.has_group);
    return 0;
}
