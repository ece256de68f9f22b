// SPDX-License-Identifier: Apache-2.0
// Takes a sample of the interrupted thread.

#include "agent/sampler.h"

#include "agent/records.h"
#include "agent/stack_walk.h"
#include "agent/sys.h"

#include <stdatomic.h>
#include <ucontext.h>

enum { PLACES = 64, STACK_BYTES = 48 << 10 };

// A place to work in: as many threads as there are places can take a sample at once.
typedef struct Place {
    StackWalk walk;
    // The request to the walk.
    const SampleAsk *ask;
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
enum { SP = UNWIND_X86_64_SP };

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
#else
enum { SP = UNWIND_AARCH64_SP };

static void read_registers(const ucontext_t *u, UnwindRegs *ret)
{
    for (unsigned i = 0; i < 31; i++)
        ret->reg[i] = u->uc_mcontext.regs[i];
    ret->reg[UNWIND_AARCH64_SP] = u->uc_mcontext.sp;
    ret->pc = ret->reg[UNWIND_AARCH64_PC] = u->uc_mcontext.pc;
    ret->known = 0x1ffffffffull;
}
#endif

static void take(Place *p)
{
    UnwindRegs regs;
    uint32_t count;
    const SampleAsk *ask = p->ask;
    read_registers(ask->context, &regs);
    uint64_t sp = regs.reg[SP];
    bool is_known = sp >= ask->stack_low && sp < ask->stack_high;
    UnwindEnd end = stack_walk(&p->walk, &regs, is_known ? ask->stack_high : 0, STACK_ASKS, &count);
    SampleRecord record = {.event_id = WIRE_EVENT_ID,
                           .pid = sys_pid(),
                           .tid = ask->tid,
                           .time_ns = ask->time_ns,
                           .value = ask->weight_ns,
                           .frames = p->walk.frames,
                           .frame_count = count,
                           .end = end};
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

bool sampler_take(const SampleAsk *ask)
{
    Place *p = take_place();
    if (!p)
        return false;
    p->ask = ask;
    take_on_own_stack(p);
    bool written = p->written;
    leave_place(p);
    return written;
}
