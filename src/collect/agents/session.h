// SPDX-License-Identifier: Apache-2.0
// A session: a folder with the library that the observed programs preload, and with what they
// share with the collector. Only this user can enter it, and its name cannot be guessed. It is
// removed at the end, and also when this process is killed: a separate process, the guard, waits
// for that. While a program of the session runs, the library stays, because the dynamic linker
// complains on the program's stderr where it is missing.

#ifndef COLLECT_AGENTS_SESSION_H
#define COLLECT_AGENTS_SESSION_H

#include "base/arena.h"
#include "base/error.h"
#include "wire/ring.h"

#include <sys/types.h>

typedef struct AgentSessionOptions {
    Str temp_folder; // where to make the folder if possible: $TMPDIR; "" for the usual ones
    char *const *environment; // of the programs, without the session; ends in NULL
    uint64_t period_ns;       // of processor time, from sample to sample; 0: no samples
    bool notes_heap;          // agents keep account of the heap (wire/heap.h)
    bool notes_mappings;      // with notes_heap: and of mappings
    bool notes_copies;        // with notes_heap: and of copies
    uint32_t clock_kind;      // with notes_heap: as in WireHeap, like the next two
    uint64_t short_lived;
    uint64_t sample_bytes; // 0: each block is noted
    uint64_t ring_bytes;   // a power of two
    Bytes entries;         // with notes_heap: the file WIRE_ENTRIES_FILE; empty: none
    // Called in the guard when this process was killed. The result is a process that is no longer
    // one of the session; 0: none. NULL: there is nothing to do.
    uint32_t (*orphaned)(void *ctx);
    void *orphaned_ctx;
} AgentSessionOptions;

typedef struct AgentSession {
    char folder[256];
    int folder_fd;
    WireSession *page;
    uint64_t ring_bytes; // as in the options: `page` can be changed by programs of this user
    int guard_fd;        // its end tells the guard that this process has ended
    pid_t guard;
    char *const *environment; // for the programs to observe, in the arena
} AgentSession;

// Makes the folder and starts the guard. Call it before this process has threads.
MUST_CHECK bool agent_session_open(Arena *arena, const AgentSessionOptions *options,
                                   AgentSession *ret, Error *err);
// Gives a command to all agents, present and future ones.
void agent_session_set(AgentSession *s, WireState state);
// Gives the folder and its files to user `uid`, the effective user of a process that the agent is
// put into. From then on that user can change all that is in the folder.
void agent_session_give(const AgentSession *s, uint32_t uid);
// For a process from which the agent was taken out: removes its files, so that the session does not
// wait for its end. AGENT_ALL: of all processes, also of one that has another number in its
// container.
#define AGENT_ALL UINT32_MAX
void agent_session_leave(AgentSession *s, uint32_t pid);
// Ends the session. Programs that still run keep the folder until they have ended.
void agent_session_close(AgentSession *s);

// Whether the process of a ring still runs; a zombie does not.
bool agent_process_runs(uint32_t pid);
// The process in the name of a ring's file, "PID-NUMBER"; 0 for any other name.
uint32_t agent_ring_pid(const char *name);

#endif // COLLECT_AGENTS_SESSION_H
