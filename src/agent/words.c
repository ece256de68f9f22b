// SPDX-License-Identifier: Apache-2.0
// Reads memory of this process that may not be there.

#include "agent/words.h"

#include "agent/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/uio.h>

// Set when a seccomp filter has refused the call.
static _Atomic bool readv_is_refused;

static bool copy_by_readv(uint32_t pid, uint64_t addr, void *to, size_t size)
{
    struct iovec local = {to, size}, remote = {(void *)(uintptr_t)addr, size};
    if (atomic_load_explicit(&readv_is_refused, memory_order_relaxed))
        return false;
    long n = SYS6(SYS_process_vm_readv, pid, &local, 1, &remote, 1, 0);
    if (n == -EPERM || n == -ENOSYS || n == -EACCES)
        atomic_store(&readv_is_refused, true);
    return n == (long)size;
}

static bool copy_by_file(int fd, uint64_t addr, void *to, size_t size)
{
    return fd >= 0 && SYS4(SYS_pread64, fd, to, size, addr) == (long)size;
}

bool words_copy(uint64_t addr, void *to, size_t size)
{
    if (copy_by_readv(sys_pid(), addr, to, size))
        return true;
    if (!atomic_load(&readv_is_refused))
        return false;
    int fd = sys_open("/proc/self/mem", O_RDONLY, 0);
    bool ok = copy_by_file(fd, addr, to, size);
    sys_close(fd);
    return ok;
}

void words_begin(WordPages *p)
{
    for (unsigned i = 0; i < WORDS_PAGES; i++)
        p->at[i] = 0;
    p->next = 0;
    p->memory_fd = -1;
    p->pid = 0;
}

void words_end(WordPages *p)
{
    sys_close(p->memory_fd);
}

static const uint8_t *page_of(WordPages *p, uint64_t addr)
{
    uint64_t start = align_down(addr, WORDS_PAGE);
    for (unsigned i = 0; i < WORDS_PAGES; i++)
        if (p->at[i] == start && start)
            return p->bytes[i];
    uint8_t *bytes = p->bytes[p->next];
    p->at[p->next] = 0;
    if (!p->pid)
        p->pid = sys_pid();
    bool ok = copy_by_readv(p->pid, start, bytes, WORDS_PAGE);
    if (!ok && atomic_load(&readv_is_refused)) {
        if (p->memory_fd < 0)
            p->memory_fd = sys_open("/proc/self/mem", O_RDONLY, 0);
        ok = copy_by_file(p->memory_fd, start, bytes, WORDS_PAGE);
    }
    if (!ok)
        return NULL;
    p->at[p->next] = start;
    p->next = (p->next + 1) % WORDS_PAGES;
    return bytes;
}

bool words_read(void *pages, uint64_t addr, uint64_t *ret)
{
    uint8_t word[8];
    for (unsigned i = 0; i < 8;) {
        const uint8_t *page = page_of(pages, addr + i);
        if (!page)
            return false;
        uint64_t at = (addr + i) % WORDS_PAGE;
        unsigned n = (unsigned)MIN((uint64_t)(8 - i), WORDS_PAGE - at);
        __builtin_memcpy(word + i, page + at, n);
        i += n;
    }
    __builtin_memcpy(ret, word, 8);
    return true;
}
