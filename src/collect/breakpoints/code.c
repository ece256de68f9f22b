// SPDX-License-Identifier: Apache-2.0
// Reads and writes the code of traced processes.

#include "collect/breakpoints/code.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/tracing.h"

bool code_read(int memory_fd, pid_t pid, uint64_t at, void *to, size_t len)
{
    if (memory_fd >= 0 && pread(memory_fd, to, len, (off_t)at) == (ssize_t)len)
        return true;
    struct iovec here = {to, len}, there = {(void *)(uintptr_t)at, len};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

// Some kernels refuse to write code through /proc; ptrace can.
static bool poke(pid_t tid, uint64_t at, const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        uint64_t word_at = (at + i) & ~7ull;
        uint64_t word;
        if (!tracing_peek(PTRACE_PEEKTEXT, tid, word_at, &word))
            return false;
        memcpy((char *)&word + (at + i - word_at), from + i, 1);
        if (!tracing_ask(PTRACE_POKETEXT, tid, (void *)(uintptr_t)word_at, (void *)(uintptr_t)word))
            return false;
    }
    return true;
}

bool code_write(int memory_fd, pid_t tid, uint64_t at, const uint8_t *from, size_t len)
{
    return (memory_fd >= 0 && pwrite(memory_fd, from, len, (off_t)at) == (ssize_t)len) ||
           poke(tid, at, from, len);
}
