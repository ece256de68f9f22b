// SPDX-License-Identifier: Apache-2.0
// The stacks that need not be copied again: which ones the kernel's program recognises
// (wire/known_stacks.h), and their frames.

#ifndef REPLAY_KNOWN_STACKS_H
#define REPLAY_KNOWN_STACKS_H

#include "model/profile.h"
#include "unwind/core.h"
#include "wire/known_stacks.h"

typedef struct KnownStacks KnownStacks;

// The share of a process in the tables. Zeroed, it is not there.
typedef struct KnownSpace {
    uint64_t seed;       // of its hashes; 0: it has none yet
    uint64_t generation; // of the UnwindSpace when its ranges were told
    bool is_told;
    bool is_unsteady; // other code took the place of its code, or frames lie beside the stack
    bool is_left;     // its threads change stacks: it is not told any more
    bool copy_only;   // no stack of it is looked for
    uint32_t copies;  // stacks that were copied since that was decided last
    uint64_t repeats; // stacks since then that had come before, recognised or copied again
    KnownProcess ranges;
} KnownSpace;

// A stack that was copied and walked to its end.
typedef struct WalkedStack {
    uint32_t pid, tid;
    UnwindSpace *space;
    const UnwindRegs *regs;
    const UnwindMemory *memory;
    const UnwindFrame *frames; // innermost first
    uint32_t count;
} WalkedStack;

// `shared` is borrowed and zeroed. With `checks` stacks that are known are copied all the same. The
// result is freed by known_stacks_close.
KnownStacks *known_stacks_open(KnownShared *shared, bool checks);
void known_stacks_close(KnownStacks *k); // accepts NULL

// Whether nothing but the hashed words decides how the walk went.
bool known_stacks_can_take(const WalkedStack *w);
// Counts a stack of the process and writes the state of the process and the thread for the program
// in the kernel. Whether the stack is to be added: not where too few stacks come again.
bool known_stacks_meet(KnownStacks *k, KnownSpace *s, const WalkedStack *w);
// Tells it the same where the stack cannot be recognised, but copied whole up to `base`.
void known_stacks_meet_copied(KnownStacks *k, KnownSpace *s, uint32_t pid, uint32_t tid,
                              uint64_t base);
// From now on the kernel's program recognises the stack; its frames but the innermost lead to
// `outer`.
void known_stacks_add(KnownStacks *k, KnownSpace *s, const WalkedStack *w, StackId outer);
// Whether the ranges of the process's code must be given before known_stacks_meet.
bool known_stacks_wants_ranges(const KnownSpace *s, const UnwindSpace *space);
void known_stacks_set_ranges(KnownSpace *s, const UnwindSpace *space, uint64_t low,
                             uint64_t low_size, uint64_t high, uint64_t high_size);

// The outer frames of a stack that was recognised. False when the hash is not one of the process's
// present code.
bool known_stacks_find(const KnownStacks *k, const KnownSpace *s, uint64_t hash, StackId *outer);

// No stack of the process is recognised any more, until one is added: it has another program, or
// has ended. With a NULL `k` nothing is done.
void known_stacks_forget(KnownStacks *k, KnownSpace *s, uint32_t pid);
// The same, for ever: other code took the place of its code.
void known_stacks_give_up(KnownStacks *k, KnownSpace *s, uint32_t pid);
// The same, and it is not told of any more: copies up to the base of a thread are too large.
void known_stacks_leave(KnownStacks *k, KnownSpace *s, uint32_t pid);
// The thread has ended, or its base is another one.
void known_stacks_forget_thread(KnownStacks *k, uint32_t tid);

#endif // REPLAY_KNOWN_STACKS_H
