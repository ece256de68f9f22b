// SPDX-License-Identifier: Apache-2.0
// Work in another process by ptrace: stop its threads, read and write its memory, let one of its
// threads make system calls or run code that was put there, and let all go as they were.

#ifndef COLLECT_HEAP_REMOTE_H
#define COLLECT_HEAP_REMOTE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#include <signal.h>
#include <sys/types.h>
#include <sys/user.h>

// How the kernel schedules a thread.
typedef struct RemoteTurn {
    bool is_changed;
    int policy, priority; // as before
} RemoteTurn;

typedef struct RemoteThread {
    pid_t tid;
    RemoteTurn turn;
    bool is_stopped; // else the kernel holds it, or it waits for a processor
    bool has_info;   // `info` is that of `signal`
    int signal;      // to be delivered when it goes on; 0: none
    siginfo_t info;
    struct user_regs_struct regs; // as it stopped
} RemoteThread;

typedef struct Remote {
    uint32_t pid;
    int memory_fd;
    uint64_t syscall_at; // of a syscall instruction
    Vec(RemoteThread) threads;
    RemoteTurn own;                    // of the calling thread
    int64_t stopped_ns, stop_began_ns; // how long threads were stopped at most so far
} Remote;

// Opens the memory of a process of this machine's kind. Nothing is stopped.
MUST_CHECK bool remote_open(Arena *arena, uint32_t pid, Remote *ret, Error *err);
void remote_close(Remote *r); // lets all go first

// Stops one thread, which can then work, or all of them. Threads that the kernel holds are counted
// as stopped. On false none is stopped.
MUST_CHECK bool remote_stop(Remote *r, bool all, Error *err);
// Lets the threads go on, each with the signal that it was about to get.
void remote_go(Remote *r);
// Lets go threads that have left the kernel since remote_go.
void remote_reap(Remote *r);

// Copy memory; false when some of it is not there. Writing ignores protection.
bool remote_read(const Remote *r, uint64_t at, void *to, size_t size);
bool remote_write(const Remote *r, uint64_t at, const void *from, size_t size);

// Of a stopped thread: where it executes, the end of its stack, and the address of its thread data.
uint64_t remote_pc(const RemoteThread *t);
uint64_t remote_sp(const RemoteThread *t);
uint64_t remote_thread_data(const RemoteThread *t);

// The next two work on x86-64 and are refused elsewhere.
// While it is stopped: a system call, by a thread that is stopped. False: it could not be made.
// `*ret` is its result, -errno included.
MUST_CHECK bool remote_syscall(Remote *r, long number, const uint64_t arg[6], long *ret,
                               Error *err);
// Runs code at `entry` with the argument, on its own stack, until it reaches a breakpoint
// instruction.
MUST_CHECK bool remote_call(Remote *r, uint64_t entry, uint64_t argument, uint64_t stack,
                            Error *err);

#endif // COLLECT_HEAP_REMOTE_H
