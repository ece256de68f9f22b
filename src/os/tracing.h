// SPDX-License-Identifier: Apache-2.0
// Requests to threads that this process traces. A request that is refused once must not leave a
// thread of the program stopped for ever, or with another state than the tracer believes.
// Document: ptrace(2).

#ifndef OS_TRACING_H
#define OS_TRACING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// ptrace(2) with any request but PTRACE_PEEK*; a request that is refused is made again, three times
// in all. False with errno when the last one failed, too: ESRCH when the thread has ended or runs.
bool tracing_ask(int request, pid_t tid, void *addr, void *data);

// The same for PTRACE_PEEKTEXT and PTRACE_PEEKUSER, whose result is a word. `*ret` is untouched on
// false.
bool tracing_peek(int request, pid_t tid, uint64_t at, uint64_t *ret);

// Whether a traced thread is in a stop that only its tracer can end, by /proc/TID/stat.
bool tracing_is_stopped(pid_t tid);

#endif // OS_TRACING_H
