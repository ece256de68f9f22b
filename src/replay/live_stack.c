// SPDX-License-Identifier: Apache-2.0
// Stacks read from running processes.

#include "replay/live_stack.h"

#include <string.h>
#include <sys/uio.h>

enum { COMPARED_MAX = 1024 };
// Farther above lies no frame of the same stack: the usual limit, and room for more.
#define SPAN_MAX ((uint64_t)64 << 20)

size_t live_memory_read(uint32_t pid, uint64_t addr, void *to, size_t size)
{
    struct iovec local = {to, size};
    struct iovec remote = {(void *)(uintptr_t)addr, size}; // in that process
    ssize_t n = process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

bool live_stack_read(LiveStack *s, uint64_t addr, uint64_t *ret)
{
    if (addr < s->above || addr - s->above > SPAN_MAX)
        return false;
    if (s->length < 8 || addr < s->at || addr - s->at > s->length - 8) {
        s->at = addr;
        if (s->inwards) // the piece ends with this word
            s->at -= MIN(addr - s->above, sizeof(s->bytes) - sizeof(*ret)) & ~(uint64_t)7;
        s->length = live_memory_read(s->pid, s->at, s->bytes, sizeof(s->bytes));
        if (s->length < 8 || addr - s->at > s->length - 8) { // the stack's end is nearer
            s->at = addr;
            s->length = live_memory_read(s->pid, addr, s->bytes, 8);
        }
        s->bytes_read += s->length;
    }
    if (s->length < 8)
        return false;
    memcpy(ret, s->bytes + (addr - s->at), sizeof(*ret));
    return true;
}

static bool read_above(void *ctx, uint64_t addr, uint64_t *ret)
{
    return live_stack_read(ctx, addr, ret);
}

void live_stack_open_inwards(LiveStack *s, uint32_t pid, uint64_t above)
{
    s->pid = pid;
    s->above = above;
    s->inwards = true;
    s->length = s->bytes_read = 0;
}

bool live_stack_open(LiveStack *s, uint32_t pid, const UnwindMemory *window, UnwindMemory *memory)
{
    uint8_t now[COMPARED_MAX];
    // Below a large new frame the copy may end after a few words, at a page that is not there.
    size_t compared = (size_t)MIN(window->window_size, (uint64_t)COMPARED_MAX);
    uint64_t from = window->window_size - compared;
    if (compared < 8 ||
        live_memory_read(pid, window->window_addr + from, now, compared) != compared ||
        memcmp(now, (const uint8_t *)window->window + from, compared) != 0)
        return false;
    s->pid = pid;
    s->above = window->window_addr + window->window_size;
    s->inwards = false;
    s->length = s->bytes_read = 0;
    *memory = *window;
    memory->read = read_above;
    memory->ctx = s;
    return true;
}
