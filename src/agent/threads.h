// SPDX-License-Identifier: Apache-2.0
// One timer for each thread, on the thread's processor time (timer_create(2),
// SIGEV_THREAD_ID). The timer's signal goes to its thread only, and only while that thread runs, so
// that it wakes no thread.

#ifndef AGENT_THREADS_H
#define AGENT_THREADS_H

#include "base/defs.h"

// Installs the handler and times the calling thread, and with `all` the threads that exist. False:
// there is no free signal, or the kernel has no such timers.
bool threads_start(uint64_t period_ns, bool all);
// Deletes all timers.
void threads_stop(void);
// Times the calling thread, which has just begun. `stack_bytes` of stack lie below its thread
// pointer; 0: not known.
void threads_begin(uint64_t stack_bytes);
// The calling thread ends.
void threads_end(void);
// For the child of a fork, which has one thread and no timers: times that thread.
void threads_restart(void);

// Whether threads are timed now.
bool threads_are_timed(void);
// The number of the signal; 0 before threads_start.
int threads_signal(void);
// Removes the timers' signal from a signal mask of the kernel's form.
uint64_t threads_unblocked(uint64_t mask);

#endif // AGENT_THREADS_H
