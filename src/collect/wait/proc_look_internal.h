// SPDX-License-Identifier: Apache-2.0
// What one look at a thread needs: the lines that /proc has of it, and its stack.

#ifndef COLLECT_WAIT_PROC_LOOK_INTERNAL_H
#define COLLECT_WAIT_PROC_LOOK_INTERNAL_H

#include "base/defs.h"
#include "base/str.h"

#include <sys/types.h>

enum {
    PROC_STACK_BYTES = 32 << 10, // of a stack at most
    PROC_ARGS = 6,               // of a system call, in registers
};

// What a thread was seen to wait for, over one or more looks. The sampler makes it, and gives it to
// the reader by two events: when it begins, and when it is over.
typedef struct ProcWait {
    uint64_t begin_ns, end_ns;      // of the looks that saw it
    uint64_t span_ns;               // the time that it stands for
    uint32_t count;                 // of single waits: the thread ran between them
    uint64_t longest_ns, single_ns; // of the longest, and of the last so far
    uint32_t pid, tid;
    uint32_t call; // WAIT_NO_CALL: outside of a system call
    uint32_t how;  // WAIT_HOW_*
    uint64_t args[PROC_ARGS];
    uint64_t sp, pc;
    uint32_t stack_len;
    uint8_t *stack; // heap memory; the reader frees it when it has unwound it
    uint64_t mark;  // the reader's
} ProcWait;

// Reads a line of /proc/PID/task/TID/syscall. False: the thread runs, or this is no such line.
bool proc_syscall_parse(Str line, ProcWait *ret);
// The next number of a line, decimal or with "0x". False: there is none.
bool proc_next_number(Str *rest, uint64_t *ret);

// Opens a file of a thread for reading; -1, and errno, where that is not possible.
int proc_open_of(uint32_t pid, uint32_t tid, const char *file);
// Reads the file by `fd`, which may be -1: then it is opened for this. -1: it cannot be read.
ssize_t proc_read_of(int fd, uint32_t pid, uint32_t tid, const char *file, char *to, size_t size);

// Whether a thread was stopped, or sleeps without heeding signals: WAIT_HOW_*. Asked only for
// system calls that do not tell.
uint32_t proc_how_it_sleeps(uint32_t pid, uint32_t tid, uint32_t call);
// Whether the thread sleeps, by its state, which every user may read; and how.
bool proc_sleeps(uint32_t pid, uint32_t tid, uint32_t *how);
// Whether the thread is about to end or has ended: nobody but root may look at such a one.
bool proc_is_ending(uint32_t pid, uint32_t tid);

// Copies a stack from its pointer on, up to PROC_STACK_BYTES: the number of bytes.
uint32_t proc_read_stack(uint32_t pid, uint64_t sp, uint8_t *to);

#endif // COLLECT_WAIT_PROC_LOOK_INTERNAL_H
