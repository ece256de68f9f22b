// SPDX-License-Identifier: Apache-2.0
// Walks the stack of a thread of this process, in that thread or in a signal handler on it.

#ifndef AGENT_STACK_WALK_H
#define AGENT_STACK_WALK_H

#include "agent/words.h"
#include "unwind/frame_search.h"
#include "wire/ring.h"

// The state of a walk; one walk runs at a time. All zero is valid; pages that are never used take
// no memory.
typedef struct StackWalk {
    UnwindCache cache;
    UnwindFrame frames[WIRE_FRAMES_MAX];
    WordPages pages;
    FoundFrame found;
    bool meets_own; // an address of this library was looked up: stacks may have frames of it
    bool is_stale;  // a frame lies in a module that is no longer the one in the list of mappings
} StackWalk;

// Whether each module of the stack is asked of the dynamic linker again.
typedef enum StackTrust {
    STACK_ASKS,  // yes: a stack that the cache led through may belong to a module that was replaced
    STACK_TRUSTS // no: only libraries that dlclose unloads matter
} StackTrust;

// Walks from `regs`, and fills w->frames, innermost first, without those of this library. Words
// between the stack pointer and `stack_end` are loaded directly; 0: all are read with care.
// `*ret_count` is at least 1. Mappings that are new are recorded in the ring.
UnwindEnd stack_walk(StackWalk *w, const UnwindRegs *regs, uint64_t stack_end, StackTrust trust,
                     uint32_t *ret_count);

#endif // AGENT_STACK_WALK_H
