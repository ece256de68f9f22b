// SPDX-License-Identifier: Apache-2.0
// Reads the state of a thread from outside: its files in /proc (proc(5)), and its stack.

#ifndef COLLECT_WAIT_PROC_LOOK_INTERNAL_H
#define COLLECT_WAIT_PROC_LOOK_INTERNAL_H

#include "base/defs.h"
#include "base/str.h"

#include <sys/types.h>

enum {
    PROC_STACK_BYTES = 32 << 10, // the most that is copied of a stack
    PROC_ARGS = 6,               // arguments of a system call, in registers
};

// A wait of a thread, which one or more looks saw. The sampler gives it to the reader by two
// events: one when the wait begins, one when it is over.
typedef struct ProcWait {
    uint64_t begin_ns, end_ns;      // times of the first and the last look that saw it
    uint64_t span_ns;               // the waiting time that these looks stand for
    uint32_t count;                 // single waits in it; the thread ran between them
    uint64_t longest_ns, single_ns; // length of the longest single wait, and of the last one so far
    uint32_t pid, tid;
    uint32_t call;            // number of the system call; WAIT_NO_CALL: outside of one
    uint32_t how;             // WAIT_HOW_*
    uint64_t args[PROC_ARGS]; // of the system call
    uint64_t sp, pc;          // stack pointer and instruction pointer in the program
    uint32_t stack_len;       // bytes at `stack`
    uint8_t *stack;           // copied from `sp` on; heap memory, which the reader frees
    uint64_t mark;            // for the reader's own use
} ProcWait;

// Reads a line of /proc/PID/task/TID/syscall: call, args, sp and pc of `ret`. False: the thread
// runs, or the line has another form.
bool proc_syscall_parse(Str line, ProcWait *ret);
// Takes the next number from the front of a line, decimal or with "0x". False: there is none.
bool proc_next_number(Str *rest, uint64_t *ret);

// Opens a file of a thread in /proc for reading. The caller closes it. -1 and errno on failure.
int proc_open_of(uint32_t pid, uint32_t tid, const char *file);
// Reads a file of a thread from its start, by `fd`; if `fd` is -1, it opens and closes the file.
// Returns the number of bytes; -1: the file cannot be read.
ssize_t proc_read_of(int fd, uint32_t pid, uint32_t tid, const char *file, char *to, size_t size);

// How a thread sleeps (WAIT_HOW_*): stopped, without taking signals, or usually. It reads the state
// of the thread only for system calls that do not decide this.
uint32_t proc_how_it_sleeps(uint32_t pid, uint32_t tid, uint32_t call);
// Whether the thread sleeps; then `how` is a WAIT_HOW_*. It reads the state of the thread, which
// every user may read.
bool proc_sleeps(uint32_t pid, uint32_t tid, uint32_t *how);
// Whether the thread is ending or has ended. Only root can read the other files of such a thread.
bool proc_is_ending(uint32_t pid, uint32_t tid);

// Copies at most PROC_STACK_BYTES of a stack, from `sp` upwards. Returns the number of bytes; 0: it
// cannot be read.
uint32_t proc_read_stack(uint32_t pid, uint64_t sp, uint8_t *to);

#endif // COLLECT_WAIT_PROC_LOOK_INTERNAL_H
