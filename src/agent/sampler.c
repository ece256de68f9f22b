// SPDX-License-Identifier: Apache-2.0
// Takes a sample of the interrupted thread.

#include "agent/sampler.h"

#include "agent/mappings.h"
#include "agent/records.h"
#include "agent/sys.h"
#include "agent/words.h"
#include "wire/ring.h"

#include <stdatomic.h>
#include <ucontext.h>

enum { PLACES = 64, STACK_BYTES = 48 << 10 };

// A place to work in: as many threads as there are places can take a sample at once. Pages that
// are never used take no memory.
typedef struct Place {
    UnwindCache cache;
    UnwindFrame frames[WIRE_FRAMES_MAX];
    WordPages pages;
    FoundFrame found;
    bool is_stale; // a frame lies in a module that is no longer the one in the list
    // What the walk is asked for.
    const void *context;
    uint32_t tid;
    uint64_t weight_ns;
    bool written;
    _Alignas(16) uint8_t stack[STACK_BYTES];
} Place;

static Place places[PLACES];
static _Atomic uint64_t taken; // bit i: places[i]

static Place *take_place(void)
{
    uint64_t now = atomic_load(&taken);
    while (~now) {
        unsigned free = (unsigned)__builtin_ctzll(~now);
        if (atomic_compare_exchange_weak(&taken, &now, now | (uint64_t)1 << free))
            return &places[free];
    }
    return NULL;
}

static void leave_place(const Place *p)
{
    atomic_fetch_and(&taken, ~((uint64_t)1 << (p - places)));
}

void sampler_reset(void)
{
    atomic_store(&taken, 0);
}

// ---- The walk -------------------------------------------------------------------------

#if defined(__x86_64__)
#define OWN_ARCH UNWIND_X86_64

static void read_registers(const ucontext_t *u, UnwindRegs *ret)
{
    // By DWARF's numbers (System V psABI x86-64, table 3.36).
    static const uint8_t number[16] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                       REG_R12, REG_R13, REG_R14, REG_R15};
    for (unsigned i = 0; i < ARRAY_LEN(number); i++)
        ret->reg[i] = (uint64_t)u->uc_mcontext.gregs[number[i]];
    ret->pc = ret->reg[UNWIND_X86_64_PC] = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
    ret->known = 0x1ffff;
}

static uint64_t stack_pointer(const UnwindRegs *r)
{
    return r->reg[UNWIND_X86_64_SP];
}
#else
#define OWN_ARCH UNWIND_AARCH64

static void read_registers(const ucontext_t *u, UnwindRegs *ret)
{
    for (unsigned i = 0; i < 31; i++)
        ret->reg[i] = u->uc_mcontext.regs[i];
    ret->reg[UNWIND_AARCH64_SP] = u->uc_mcontext.sp;
    ret->pc = ret->reg[UNWIND_AARCH64_PC] = u->uc_mcontext.pc;
    ret->known = 0x1ffffffffull;
}

static uint64_t stack_pointer(const UnwindRegs *r)
{
    return r->reg[UNWIND_AARCH64_SP];
}
#endif

// UnwindSpace.find: a table of one row.
static bool find_mapping(void *ctx, uint64_t pc, UnwindMapping *ret)
{
    Place *p = ctx;
    AgentMapping m;
    if (!mappings_find(pc, &m))
        return false;
    *ret = (UnwindMapping){.start = pc, .end = pc + 1};
    if (m.inode == 0 && !m.frames.hdr)
        ret->flags = UNWIND_MAP_JIT;
    if (!mappings_is_current(&m, pc))
        p->is_stale = true;
    else if (frame_search(&m.frames, pc, &p->found))
        ret->table = &p->found.table;
    return true;
}

static UnwindWalk walk(Place *p, const UnwindRegs *regs)
{
    UnwindSpace space = {
        .arch = OWN_ARCH, .generation = mappings_generation(), .find = find_mapping, .ctx = p};
    UnwindMemory memory = {
        .window_addr = stack_pointer(regs), .read = words_read, .ctx = &p->pages};
    p->is_stale = false;
    words_begin(&p->pages);
    UnwindWalk w = unwind_walk(&space, &p->cache, regs, &memory, p->frames, WIRE_FRAMES_MAX);
    words_end(&p->pages);
    return w;
}

// A stack that came from the cache may lead through a module that has been replaced since.
static bool all_current(Place *p, const UnwindWalk *w)
{
    AgentMapping m = {0};
    for (uint32_t i = 0; i < w->frame_count; i++) {
        uint64_t pc = p->frames[i].pc;
        bool same = pc >= m.start && pc < m.end;
        if (!same && (!mappings_find(pc, &m) || !mappings_is_current(&m, pc)))
            return false;
    }
    return true;
}

// The frames of the agent itself, below which a thread's first function runs.
static uint32_t drop_own_frames(UnwindFrame *frames, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!mappings_is_own_code(frames[i].pc))
            frames[kept++] = frames[i];
    return kept;
}

static void take(Place *p)
{
    UnwindRegs regs;
    read_registers(p->context, &regs);
    if (mappings_are_stale())
        (void)mappings_refresh(record_mapping);
    UnwindWalk w = walk(p, &regs);
    bool unknown = w.end == UNWIND_CUT_UNKNOWN_MAP || p->is_stale || !all_current(p, &w);
    if (unknown && mappings_refresh(record_mapping))
        w = walk(p, &regs);
    uint32_t count = drop_own_frames(p->frames, w.frame_count);
    SampleRecord record = {.pid = sys_pid(),
                           .tid = p->tid,
                           .weight_ns = p->weight_ns,
                           .frames = p->frames,
                           .frame_count = MAX(count, 1u),
                           .end = w.end};
    p->written = record_sample(&record);
}

// ---- The stack ------------------------------------------------------------------------

// Calls take(p) on the stack of the place.
static void take_on_own_stack(Place *p)
{
    uint8_t *top = p->stack + STACK_BYTES;
    void (*function)(Place *) = take;
#if defined(__x86_64__)
    Place *argument = p;
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "call *%[function]\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(argument), [function] "+r"(function), [top] "+r"(top)
                     :
                     : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc",
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#else
    register Place *argument __asm__("x0") = p;
    __asm__ volatile("mov x19, sp\n\t"
                     "mov sp, %[top]\n\t"
                     "blr %[function]\n\t"
                     "mov sp, x19"
                     : "+r"(argument), [function] "+r"(function), [top] "+r"(top)
                     :
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
                       "x13", "x14", "x15", "x16", "x17", "x19", "x30", "memory", "cc", "v0", "v1",
                       "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21",
                       "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#endif
}

bool sampler_take(const void *context, uint32_t tid, uint64_t weight_ns)
{
    Place *p = take_place();
    if (!p)
        return false;
    p->context = context;
    p->tid = tid;
    p->weight_ns = weight_ns;
    take_on_own_stack(p);
    bool written = p->written;
    leave_place(p);
    return written;
}
