// SPDX-License-Identifier: Apache-2.0
// A handler of SIGTRAP in a traced program, for the moment when its tracer is killed: the kernel
// then delivers the signal of every thread that is stopped at a breakpoint, and without a handler
// that ends the program. x86-64 only. Documents: ptrace(2), sigaction(2), vdso(7).

#ifndef COLLECT_BREAKPOINTS_TRAP_GUARD_H
#define COLLECT_BREAKPOINTS_TRAP_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Makes a program set the handler first of all. `tid` is its only thread, in the stop behind exec;
// the handler lies in the unused end of the [vdso], so that no mapping is added. False when there
// is no room or the program is of 32 bits: then it is as it was.
//
// The handler waits until the breakpoint has been removed (journal_rescue) and goes on at its
// address; a thread whose stack pointer the tracer has changed since the stop has passed the
// instruction, and goes on where it is. A SIGTRAP that no breakpoint caused ends the program as by
// default.
bool trap_guard_set(pid_t tid, int memory_fd);

// `tid` is stopped because of a breakpoint, by a signal of SI_KERNEL. Tells the handler, through
// that signal, at which address to go on, for the case that the tracer is killed before it lets the
// thread go on without the signal. `stack` is the thread's stack pointer, 0 where the tracer does
// not change it.
void trap_guard_resume_at(pid_t tid, uint64_t address, uint64_t stack);

// The same, but the breakpoint is the program's own: the caller delivers the signal.
void trap_guard_is_own(pid_t tid);

#endif // COLLECT_BREAKPOINTS_TRAP_GUARD_H
