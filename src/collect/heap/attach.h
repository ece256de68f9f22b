// SPDX-License-Identifier: Apache-2.0
// Puts the agent into a program that runs already, and takes it out again, by ptrace alone: no
// debugger, no dlopen, nothing of the program's own libraries is called there.

#ifndef COLLECT_HEAP_ATTACH_H
#define COLLECT_HEAP_ATTACH_H

#include "collect/agents/session.h"
#include "collect/heap/entries.h"
#include "collect/heap/remote.h"
#include "wire/attach.h"

// What is to be hooked in a running process.
typedef struct AttachTarget {
    uint32_t pid;
    HeapEntries entries;
    bool is_glibc;
    Str object; // whose functions they are
} AttachTarget;

// Finds the functions that allocate: of the program, or of its C library. Fails when the process
// cannot be attached to: it has gone, is stopped, traced, of another machine, in a sanitizer's
// hands, or its functions cannot be hooked.
MUST_CHECK bool heap_attach_find(Arena *arena, uint32_t pid, AttachTarget *ret, Error *err);

// Whether functions that allocate and free are among the entries, without which there is no
// account, and this kind of machine has the means (x86-64).
bool heap_attach_can(const HeapEntries *entries);

// What another process needs to take the agent out when this one was killed; in memory that both
// share.
typedef struct HeapOrphan HeapOrphan;

// Makes it, before the other process is forked. NULL: there is no memory.
HeapOrphan *heap_orphan_new(const WireEntries *entries);
void heap_orphan_free(HeapOrphan *o); // accepts NULL
// In the other process, with a HeapOrphan: takes the agent out of the process that has it. Gives
// its number; 0: none has it.
uint32_t heap_orphan_detach(void *orphan);

// A process that has the agent in it.
typedef struct HeapAttached {
    HeapOrphan *orphan; // NULL: there is none
    Remote remote;
    const WireEntries *entries;
    uint64_t image, image_bytes; // in its memory
    WireAttach request;
    uint32_t hooked;
    bool is_hooked;
    bool is_left; // the agent's code stays there: a thread is still in it
} HeapAttached;

// Puts the agent of the session there, which must have the target's entries. `a` is to be detached
// on true. `orphan` is told where the agent is; NULL: if this process is killed, it stays.
MUST_CHECK bool heap_attach(Arena *arena, const AgentSession *session, const AttachTarget *target,
                            HeapOrphan *orphan, HeapAttached *a, Error *err);
// Restores every byte of code. When no thread is in the agent any more, unmaps all of it and closes
// its files; after two seconds of waiting it stays, and `is_left` is set. A process that has ended
// is no matter.
void heap_detach(HeapAttached *a);

#endif // COLLECT_HEAP_ATTACH_H
