// SPDX-License-Identifier: Apache-2.0
// Stands before the functions of libc that map memory. Mappings that libc makes for malloc and for
// the stacks of threads do not pass here.

#include "agent/heap.h"
#include "agent/join.h"
#include "agent/sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/types.h>

#define WEAK __attribute__((weak))

extern void *dlsym(void *restrict handle, const char *restrict name) WEAK;
extern int *__errno_location(void) WEAK;

// The two names of one function: sys/mman.h gives mmap the name of mmap64 where off_t is 64 bits by
// an option of the compiler.
AGENT_EXPORT void *hook_mmap(void *at, size_t size, int prot, int flags, int fd,
                             off_t offset) __asm__("mmap");
AGENT_EXPORT void *hook_mmap64(void *at, size_t size, int prot, int flags, int fd,
                               off_t offset) __asm__("mmap64");
int brk(void *end);
void *sbrk(intptr_t by);

static void *next(const char *name)
{
    return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}

static bool notes(void)
{
    if (join_is_pending())
        join_session();
    return heap_is_on() && heap_notes_maps();
}

// The result of a system call as libc gives it.
static long result(long rc)
{
    enum { ERRNO_END = 4096 };
    if (rc >= 0 || rc <= -ERRNO_END)
        return rc;
    if (__errno_location)
        *__errno_location() = (int)-rc;
    return -1;
}

static void *map(void *at, size_t size, int prot, int flags, int fd, off_t offset,
                 const HeapCaller *caller)
{
    static void *(*behind)(void *, size_t, int, int, int, off_t);
    if (!behind)
        behind = (void *(*)(void *, size_t, int, int, int, off_t))next("mmap");
    void *to = behind ? behind(at, size, prot, flags, fd, offset)
                      : (void *)result(SYS6(SYS_mmap, at, size, prot, flags, fd, offset));
    if (to != MAP_FAILED && notes())
        heap_mapped(to, size, 0, caller);
    return to;
}

void *hook_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    return map(at, size, prot, flags, fd, offset, HEAP_CALLER);
}

void *hook_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    return map(at, size, prot, flags, fd, offset, HEAP_CALLER);
}

AGENT_EXPORT int munmap(void *at, size_t size)
{
    static int (*behind)(void *, size_t);
    if (!behind)
        behind = (int (*)(void *, size_t))next("munmap");
    // Before the kernel may give the place to another thread.
    if (notes())
        (void)heap_unmapped(at, size, HEAP_CALLER);
    return behind ? behind(at, size) : (int)result(SYS2(SYS_munmap, at, size));
}

// A mapping that moves or changes its size belongs to the site that made it.
AGENT_EXPORT void *mremap(void *at, size_t size, size_t new_size, int flags, ...)
{
    static void *(*behind)(void *, size_t, size_t, int, ...);
    va_list more;
    va_start(more, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    if (!behind)
        behind = (void *(*)(void *, size_t, size_t, int, ...))next("mremap");
    bool noted = notes();
    uint32_t site = noted ? heap_unmapped(at, size, HEAP_CALLER) : 0;
    void *to = behind
                   ? behind(at, size, new_size, flags, wanted)
                   : (void *)result(SYS6(SYS_mremap, at, size, new_size, flags, (long)wanted, 0));
    if (noted && to != MAP_FAILED)
        heap_mapped(to, new_size, site, HEAP_CALLER);
    else if (noted && site)
        heap_mapped(at, size, site, HEAP_CALLER);
    return to;
}

// ---- The break --------------------------------------------------------------------------

static uint64_t break_now(void)
{
    return (uint64_t)SYS1(SYS_brk, 0);
}

static void note_break(uint64_t before, const HeapCaller *caller)
{
    uint64_t now = break_now();
    if (now > before)
        heap_mapped((void *)(uintptr_t)before, now - before, 0, caller);
    else if (now < before)
        (void)heap_unmapped((void *)(uintptr_t)now, before - now, caller);
}

AGENT_EXPORT int brk(void *end)
{
    static int (*behind)(void *);
    if (!behind)
        behind = (int (*)(void *))next("brk");
    bool noted = notes();
    uint64_t before = noted ? break_now() : 0;
    int rc = behind ? behind(end) : (int)result(-ENOSYS);
    if (noted && rc == 0)
        note_break(before, HEAP_CALLER);
    return rc;
}

AGENT_EXPORT void *sbrk(intptr_t by)
{
    static void *(*behind)(intptr_t);
    if (!behind)
        behind = (void *(*)(intptr_t))next("sbrk");
    bool noted = notes() && by != 0;
    uint64_t before = noted ? break_now() : 0;
    void *to = behind ? behind(by) : (void *)result(-ENOSYS);
    if (noted && to != MAP_FAILED)
        note_break(before, HEAP_CALLER);
    return to;
}
