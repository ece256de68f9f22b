// SPDX-License-Identifier: Apache-2.0
// The handler, and how a program is made to set it: behind exec its first thread is sent through a
// few instructions of ours, which return to the program's first one. No step of this needs the
// tracer to live on.

#include "collect/breakpoints/trap_guard.h"

#ifdef __x86_64__

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "base/arena.h"
#include "collect/breakpoints/code.h"
#include "os/proc.h"
#include "os/tracing.h"

// si_addr of a breakpoint's signal: 0 from the kernel, 1 for one that is the program's own, else
// the address to go on at. The word behind it is the stack pointer at the stop, or 0.
enum { ADDRESS_IS_OWN = 1 };

// The code that is copied into the program.
//
// The handler gets siginfo in rsi and the context in rdx, whose rip, at 0xa8, is behind the
// breakpoint; the signal's code is SI_KERNEL, 0x80. It waits for the byte there to change; it is
// for the case that the breakpoint is never removed. To end as by default, it takes itself out and
// sends the signal again, which comes when the handler returns. The kernel restores all registers
// then.
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "trap_guard_begin:\n"
        "trap_guard_setter:\n"
        "    mov $13, %eax\n" // rt_sigaction
        "    mov $5, %edi\n"
        "    lea trap_guard_action(%rip), %rsi\n"
        "    xor %edx, %edx\n"
        "    mov $8, %r10d\n"
        "    syscall\n"
        "    xor %eax, %eax\n"
        "    xor %edi, %edi\n"
        "    xor %esi, %esi\n"
        "    xor %ecx, %ecx\n"
        "    xor %r10d, %r10d\n"
        "    xor %r11d, %r11d\n"
        "    ret\n"
        "trap_guard_handler:\n"
        "    mov 8(%rsi), %ecx\n"
        "    mov 16(%rsi), %r8\n"
        "    cmp $0x80, %ecx\n"
        "    jne 3f\n"
        "    cmp $1, %r8\n"
        "    je 3f\n"
        "    ja 1f\n"
        "    mov 0xa8(%rdx), %r8\n"
        "    dec %r8\n"
        "1:  mov 24(%rsi), %r9\n"
        "    test %r9, %r9\n"
        "    jz 5f\n"
        "    cmp %r9, 0xa0(%rdx)\n" // rsp of the context
        "    jne 6f\n"
        "5:  mov $0x8000000, %r9d\n"
        "2:  cmpb $0xcc, (%r8)\n"
        "    jne 4f\n"
        "    pause\n"
        "    dec %r9d\n"
        "    jnz 2b\n"
        "3:  mov $13, %eax\n"
        "    mov $5, %edi\n"
        "    lea trap_guard_default(%rip), %rsi\n"
        "    xor %edx, %edx\n"
        "    mov $8, %r10d\n"
        "    syscall\n"
        "    mov $39, %eax\n" // getpid
        "    syscall\n"
        "    mov %eax, %r8d\n"
        "    mov $186, %eax\n" // gettid
        "    syscall\n"
        "    mov %r8d, %edi\n"
        "    mov %eax, %esi\n"
        "    mov $5, %edx\n"
        "    mov $234, %eax\n" // tgkill
        "    syscall\n"
        "    ret\n"
        "4:  mov %r8, 0xa8(%rdx)\n"
        "6:  ret\n"
        "trap_guard_restorer:\n"
        "    mov $15, %eax\n" // rt_sigreturn
        "    syscall\n"
        ".balign 8\n"
        "trap_guard_action:\n"
        "    .quad 0, 0, 0, 0\n"
        "trap_guard_default:\n"
        "    .quad 0, 0, 0, 0\n"
        "trap_guard_end:\n"
        ".popsection\n");
extern const uint8_t trap_guard_begin[], trap_guard_setter[], trap_guard_handler[],
    trap_guard_restorer[], trap_guard_action[], trap_guard_end[];

enum { GUARD_MAX = 512 };

// struct sigaction of the kernel.
typedef struct KernelAction {
    uint64_t handler, flags, restorer, mask;
} KernelAction;

#define FLAG_RESTORER 0x04000000ull

static bool is_zero(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i])
            return false;
    return true;
}

// An address of `len` unused bytes at the end of the [vdso]; 0: none.
static uint64_t find_room(pid_t tid, int memory_fd, size_t len)
{
    Arena scratch = {0};
    ProcMapVec maps = {0};
    uint64_t at = 0;
    uint8_t there[GUARD_MAX];
    if (proc_maps_read(&scratch, (uint32_t)tid, &maps, NULL))
        for (size_t i = 0; i < maps.len; i++)
            if (str_equal(maps.at[i].path, STR("[vdso]")) &&
                maps.at[i].end - maps.at[i].start > len)
                at = (maps.at[i].end - len) & ~15ull;
    arena_deinit(&scratch);
    return at && code_read(memory_fd, tid, at, there, len) && is_zero(there, len) ? at : 0;
}

static uint64_t place_of(uint64_t at, const uint8_t *part)
{
    return at + (uint64_t)(part - trap_guard_begin);
}

bool trap_guard_set(pid_t tid, int memory_fd)
{
    enum { CODE_64_BIT = 0x33 }; // cs of a 64-bit program
    uint8_t text[GUARD_MAX];
    struct user_regs_struct r;
    size_t len = (size_t)(trap_guard_end - trap_guard_begin);
    if (len > sizeof(text) || !tracing_ask(PTRACE_GETREGS, tid, NULL, &r) || r.cs != CODE_64_BIT)
        return false;
    uint64_t at = find_room(tid, memory_fd, len), back = r.rip;
    if (!at)
        return false;
    KernelAction action = {place_of(at, trap_guard_handler),
                           SA_SIGINFO | SA_ONSTACK | FLAG_RESTORER,
                           place_of(at, trap_guard_restorer), 0};
    memcpy(text, trap_guard_begin, len);
    memcpy(text + (trap_guard_action - trap_guard_begin), &action, sizeof(action));
    r.rip = place_of(at, trap_guard_setter);
    r.rsp -= sizeof(back);
    return code_write(memory_fd, tid, at, text, len) &&
           code_write(memory_fd, tid, r.rsp, (const uint8_t *)&back, sizeof(back)) &&
           tracing_ask(PTRACE_SETREGS, tid, NULL, &r);
}

static void set_address(pid_t tid, uint64_t address, uint64_t stack)
{
    siginfo_t info = {0};
    info.si_signo = SIGTRAP;
    info.si_code = SI_KERNEL;
    info.si_addr = (void *)(uintptr_t)address;
    memcpy((char *)&info + offsetof(siginfo_t, si_addr) + sizeof(address), &stack, sizeof(stack));
    (void)tracing_ask(PTRACE_SETSIGINFO, tid, NULL, &info);
}

void trap_guard_resume_at(pid_t tid, uint64_t address, uint64_t stack)
{
    set_address(tid, address, stack);
}

void trap_guard_is_own(pid_t tid)
{
    set_address(tid, ADDRESS_IS_OWN, 0);
}

#endif // __x86_64__
