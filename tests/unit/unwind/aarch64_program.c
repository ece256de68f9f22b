// SPDX-License-Identifier: Apache-2.0
// Runs on aarch64, without libc: goes through frames of several shapes into a
// signal handler, and writes its registers, its stack and the return addresses
// that each function found to stdout. make-aarch64-stacks makes a header of it.

typedef unsigned long u64;

enum { CALLS_MAX = 64, STACK_MAX = 16384, SIGTRAP_NUMBER = 5, SA_SIGINFO_FLAG = 4 };

// What the frames themselves say: the oracle. Innermost last.
static u64 calls[CALLS_MAX];
static u64 call_count;
static u64 stack_top;

static struct Record {
    u64 regs[33]; // x0 to x30, sp, pc
    u64 interrupted;
    u64 sigreturn;
    u64 call_count;
    u64 calls[CALLS_MAX];
    u64 stack_size;
    u64 stack[STACK_MAX / 8];
} record;

#define ENTER()  (calls[call_count++] = (u64)__builtin_return_address(0))
#define NOINLINE __attribute__((noinline, noclone))

static u64 system_call(u64 number, u64 a, u64 b, u64 c, u64 d)
{
    register u64 x8 __asm__("x8") = number;
    register u64 x0 __asm__("x0") = a;
    register u64 x1 __asm__("x1") = b;
    register u64 x2 __asm__("x2") = c;
    register u64 x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

// Stores the registers as they are where it was called.
void capture(u64 *regs);
__asm__(
    ".text\n.global capture\n.type capture, %function\ncapture:\n"
    ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"
    "  str x\\i, [x0, 8 * \\i]\n"
    ".endr\n"
    "  mov x1, sp\n  str x1, [x0, 248]\n  str x30, [x0, 256]\n  ret\n");

static NOINLINE void finish(void)
{
    ENTER();
    capture(record.regs);
    u64 sp = record.regs[31];
    record.stack_size = stack_top - sp;
    for (u64 i = 0; i < record.stack_size / 8; i++)
        record.stack[i] = ((volatile u64 *)sp)[i];
    record.call_count = call_count;
    for (u64 i = 0; i < call_count; i++)
        record.calls[i] = calls[i];
    u64 size = (u64)&record.stack[record.stack_size / 8] - (u64)&record;
    system_call(64, 1, (u64)&record, size, 0);
    system_call(94, 0, 0, 0, 0);
}

static NOINLINE void handler(int signal, void *info, char *context)
{
    (void)signal;
    (void)info;
    record.sigreturn = (u64)__builtin_return_address(0);
    record.interrupted = *(u64 *)(context + 176 + 8 + 256); // pc of the sigcontext
    finish();
    __asm__ volatile("");
}

// A leaf: its return address is in x30 only.
static NOINLINE u64 leaf(u64 n)
{
    ENTER();
    __asm__ volatile("brk 0");
    return n * 3;
}

static NOINLINE u64 saves_many(u64 *p)
{
    ENTER();
    u64 a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6];
    u64 r = leaf(a + 1);
    return r + a * b + c * d + e * f * g + leaf(b);
}

static NOINLINE u64 moves_its_stack(u64 n)
{
    ENTER();
    volatile u64 *p = __builtin_alloca(8 * n);
    for (u64 i = 0; i < n; i++)
        p[i] = i;
    u64 r = saves_many((u64 *)p);
    return r + p[n - 1];
}

static NOINLINE u64 has_a_big_frame(u64 n)
{
    ENTER();
    volatile u64 big[40];
    big[n] = n;
    u64 r = moves_its_stack(n + 7);
    return r + big[n];
}

static NOINLINE u64 recurses(u64 depth)
{
    ENTER();
    u64 r = depth ? recurses(depth - 1) : has_a_big_frame(3);
    __asm__ volatile("" : "+r"(r)); // or it becomes a loop
    return r + depth;
}

void start(u64 *sp)
{
    struct {
        void *handler;
        u64 flags;
        void *restorer;
        u64 mask;
    } action = {(void *)handler, SA_SIGINFO_FLAG, 0, 0};
    ENTER();
    stack_top = (u64)sp;
    system_call(134, SIGTRAP_NUMBER, (u64)&action, 0, 8);
    recurses(5);
    system_call(94, 1, 0, 0, 0);
}

__asm__(".global _start\n.type _start, %function\n_start:\n.cfi_startproc\n.cfi_undefined x30\n"
        "  mov x0, sp\n  bl start\n  brk 1\n.cfi_endproc\n.size _start, . - _start\n");
