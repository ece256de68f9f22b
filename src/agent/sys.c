// SPDX-License-Identifier: Apache-2.0
// System calls without libc.

#include "agent/sys.h"

#ifdef AGENT_ATTACHED
#include "wire/attach.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

enum { ERRNO_END = 4096 }; // results above minus this are errors

// ---- What there is to undo --------------------------------------------------------------

#ifdef AGENT_ATTACHED
static WireAttachMap maps[WIRE_ATTACH_MAPS];
static _Atomic int32_t files[WIRE_ATTACH_FILES];

void sys_kept(uint64_t *ret_maps, uint64_t *ret_files)
{
    *ret_maps = (uint64_t)(uintptr_t)maps;
    *ret_files = (uint64_t)(uintptr_t)files;
}

static void note_mapped(void *at, size_t size)
{
    for (unsigned i = 0; at && i < WIRE_ATTACH_MAPS; i++) {
        uint64_t none = 0;
        if (maps[i].at == 0 &&
            __atomic_compare_exchange_n(&maps[i].at, &none, (uint64_t)(uintptr_t)at, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            maps[i].size = size;
            return;
        }
    }
}

static void note_unmapped(void *at)
{
    for (unsigned i = 0; i < WIRE_ATTACH_MAPS; i++)
        if (maps[i].at == (uint64_t)(uintptr_t)at) {
            __atomic_store_n(&maps[i].at, 0, __ATOMIC_SEQ_CST);
            return;
        }
}

static void note_opened(int fd)
{
    for (unsigned i = 0; fd >= 0 && i < WIRE_ATTACH_FILES; i++) {
        int32_t none = 0;
        if (atomic_compare_exchange_strong(&files[i], &none, fd + 1))
            return;
    }
}

static void note_closed(int fd)
{
    for (unsigned i = 0; i < WIRE_ATTACH_FILES; i++) {
        int32_t there = fd + 1;
        if (atomic_compare_exchange_strong(&files[i], &there, 0))
            return;
    }
}
#else
static void note_mapped(void *at, size_t size)
{
    (void)at, (void)size;
}
static void note_unmapped(void *at)
{
    (void)at;
}
static void note_opened(int fd)
{
    (void)fd;
}
static void note_closed(int fd)
{
    (void)fd;
}
#endif

// ---- Calls ------------------------------------------------------------------------------

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
    int fd = (int)SYS4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY, mode);
    note_opened(fd);
    return fd;
}

void sys_close(int fd)
{
    if (fd < 0)
        return;
    note_closed(fd);
    (void)SYS1(SYS_close, fd);
}

void *sys_map(void *at, size_t size, int prot, int flags, int fd, uint64_t offset)
{
    long p = SYS6(SYS_mmap, at, size, prot, flags, fd, offset);
    void *ret = p < 0 && p > -ERRNO_END ? NULL : (void *)p;
    note_mapped(ret, size);
    return ret;
}

void sys_unmap(void *at, size_t size)
{
    if (!at)
        return;
    note_unmapped(at);
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
