// SPDX-License-Identifier: Apache-2.0
// The threads of a process that ran before the agent: a build of its own (AGENT_ATTACHED), which no
// dynamic linker loads (wire/attach.h).

#ifndef AGENT_ATTACHED_THREADS_H
#define AGENT_ATTACHED_THREADS_H

#include "base/defs.h"

#include <stdatomic.h>

#ifdef AGENT_ATTACHED

#include "wire/attach.h"

// A call of a hook that is running.
typedef struct AttachedCall {
    _Atomic uint32_t *inside; // of its thread; NULL: there was no room for it
    bool is_first;            // of this thread, whose stack is stack_low to stack_high (0: unknown)
    bool had_other;           // another thread with the same thread pointer was there before
    uint64_t stack_low, stack_high;
} AttachedCall;

// Before the first call of a hook: fills in where the collector finds the threads and what is to
// be undone. False: there is no memory.
bool attach_begin(WireAttach *a);
// Where to count calls of hooks in child processes, which share this memory and have the hooks,
// too.
void attach_count_children(_Atomic uint64_t *to);
// At the begin of a hook: counts that this thread is inside. False: it must note nothing, because
// it is in a child of the process, or because there are too many threads. `sp` is the hook's.
bool attach_enter(uint64_t sp, AttachedCall *ret);
void attach_leave(const AttachedCall *call); // at its end, also after false

#endif

#endif // AGENT_ATTACHED_THREADS_H
