// SPDX-License-Identifier: Apache-2.0
// ptrace(2) with repeated requests.

#include "os/tracing.h"

#include "base/str.h"
#include "os/file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ptrace.h>

enum { TRIES = 3 };

bool tracing_ask(int request, pid_t tid, void *addr, void *data)
{
    for (int i = 0; i < TRIES; i++)
        if (ptrace((enum __ptrace_request)request, tid, addr, data) != -1)
            return true;
    return false;
}

bool tracing_peek(int request, pid_t tid, uint64_t at, uint64_t *ret)
{
    for (int i = 0; i < TRIES; i++) {
        errno = 0;
        long word = ptrace((enum __ptrace_request)request, tid, (void *)(uintptr_t)at, NULL);
        if (word == -1 && errno)
            continue;
        *ret = (uint64_t)word;
        return true;
    }
    return false;
}

bool tracing_is_stopped(pid_t tid)
{
    char path[40], text[1024];
    Str stat;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
    if (!os_read_small(path, text, sizeof(text), &stat))
        return false;
    // The name, in brackets, may hold brackets and spaces itself.
    for (size_t i = stat.len; i-- > 0;)
        if (stat.ptr[i] == ')')
            return i + 2 < stat.len && stat.ptr[i + 2] == 't';
    return false;
}
