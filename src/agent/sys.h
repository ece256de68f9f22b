// SPDX-License-Identifier: Apache-2.0
// System calls without libc: they set no errno, allocate nothing and are no cancellation
// points, so that a signal handler and any libc can use them.

#ifndef AGENT_SYS_H
#define AGENT_SYS_H

#include "base/defs.h"

#include <sys/syscall.h>

// The result of system call `n`; -errno when it failed.
static inline long sys_call(long n, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    long ret;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
#else
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#endif
}

#define SYS0(n)             sys_call(n, 0, 0, 0, 0, 0, 0)
#define SYS1(n, a)          sys_call(n, (long)(a), 0, 0, 0, 0, 0)
#define SYS2(n, a, b)       sys_call(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYS3(n, a, b, c)    sys_call(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS4(n, a, b, c, d) sys_call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYS6(n, a, b, c, d, e, f)                                                                  \
    sys_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#define AGENT_EXPORT __attribute__((visibility("default")))

enum { AGENT_PATH_MAX = 4096 };

uint32_t sys_pid(void); // of this process, asked anew each time
uint32_t sys_tid(void); // of this thread
// Nanoseconds of a clock (clock_gettime(2)); 0 when it cannot be read.
uint64_t sys_clock_ns(int clock);
// Opens a file, close-on-exec; -errno when that fails.
int sys_open(const char *path, int flags, int mode);
void sys_close(int fd); // closes a descriptor
// Maps memory (mmap(2)); NULL when that fails. `fd` is -1 for private memory.
void *sys_map(void *at, size_t size, int prot, int flags, int fd, uint64_t offset);
void sys_unmap(void *at, size_t size); // unmaps it; accepts NULL
// Writes all bytes; false when that fails.
bool sys_write_all(int fd, const void *bytes, size_t size);
#ifdef AGENT_ATTACHED
// Where the collector finds what is mapped and open, as WireAttach has it.
void sys_kept(uint64_t *ret_maps, uint64_t *ret_files);
#endif

// A text of limited size that is put together piece by piece; what does not fit is cut. It always
// ends in NUL.
typedef struct SysText {
    char *at, *end;
} SysText;

SysText sys_text(char *buf, size_t size);         // an empty text in `buf`
void sys_text_add(SysText *t, const char *more);  // appends a C string
void sys_text_number(SysText *t, uint64_t value); // appends a decimal number

#endif // AGENT_SYS_H
