// SPDX-License-Identifier: Apache-2.0
// Puts the agent into a statically linked program that assay starts: no dynamic linker loads a
// library there, and no thread data of libc's is there before its start has run. Breakpoints at
// the functions that allocate stop the program at its first allocation, where the agent is attached
// (collect/heap/attach.h).

#ifndef COLLECT_HEAP_AT_EXEC_H
#define COLLECT_HEAP_AT_EXEC_H

#include "collect/heap/attach.h"

typedef struct HeapAtExec {
    AttachTarget target;
    int memory_fd;
    bool has_exec;                 // the program has begun, and waits for heap_at_exec_arm
    uint64_t at[WIRE_ENTRIES_MAX]; // breakpoints
    uint8_t before[WIRE_ENTRIES_MAX];
    size_t count;
} HeapAtExec;

typedef enum HeapAtExecState {
    HEAP_AT_EXEC_RUNS,    // it has not allocated yet
    HEAP_AT_EXEC_REACHED, // it is stopped before its first allocation, or the start of a process
    HEAP_AT_EXEC_GONE     // it has ended, or runs another program now, without an allocation
} HeapAtExecState;

// Traces a child that will execute the program with these entries, both malloc and free among
// them. The other calls for it come from the same thread.
MUST_CHECK bool heap_at_exec_begin(uint32_t pid, const HeapEntries *entries, Str path,
                                   HeapAtExec *ret, Error *err);
// Lets the child go on to its exec.
void heap_at_exec_attend(HeapAtExec *x);
// After the exec: writes the breakpoints, and lets the program run.
MUST_CHECK bool heap_at_exec_arm(Arena *arena, HeapAtExec *x, Error *err);
// Looks how far it is, without waiting.
HeapAtExecState heap_at_exec_look(HeapAtExec *x);
// Once it was reached: takes the breakpoints away, attaches, and lets the program go on, also on
// false.
MUST_CHECK bool heap_at_exec_attach(Arena *arena, HeapAtExec *x, const AgentSession *session,
                                    HeapOrphan *orphan, HeapAttached *ret, Error *err);
// Takes the breakpoints away and lets the program go, whatever its state.
void heap_at_exec_end(HeapAtExec *x);

#endif // COLLECT_HEAP_AT_EXEC_H
