// SPDX-License-Identifier: Apache-2.0
// System calls without libc.

#include "agent/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

enum { ERRNO_END = 4096 }; // results above minus this are errors

uint32_t sys_pid(void)
{
    return (uint32_t)SYS0(SYS_getpid);
}

uint32_t sys_tid(void)
{
    return (uint32_t)SYS0(SYS_gettid);
}

uint64_t sys_clock_ns(int clock)
{
    struct timespec t = {0};
    if (SYS2(SYS_clock_gettime, clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int sys_open(const char *path, int flags, int mode)
{
    return (int)SYS4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY, mode);
}

void sys_close(int fd)
{
    if (fd >= 0)
        (void)SYS1(SYS_close, fd);
}

void *sys_map(void *at, size_t size, int prot, int flags, int fd, uint64_t offset)
{
    long p = SYS6(SYS_mmap, at, size, prot, flags, fd, offset);
    return p < 0 && p > -ERRNO_END ? NULL : (void *)p;
}

void sys_unmap(void *at, size_t size)
{
    if (at)
        (void)SYS2(SYS_munmap, at, size);
}

bool sys_write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        long n = SYS3(SYS_write, fd, at, size);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

SysText sys_text(char *buf, size_t size)
{
    buf[0] = 0;
    return (SysText){buf, buf + size - 1};
}

void sys_text_add(SysText *t, const char *more)
{
    while (*more && t->at < t->end)
        *t->at++ = *more++;
    *t->at = 0;
}

void sys_text_number(SysText *t, uint64_t value)
{
    char digits[24];
    size_t n = sizeof(digits) - 1;
    digits[n] = 0;
    do
        digits[--n] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    sys_text_add(t, digits + n);
}
