// SPDX-License-Identifier: Apache-2.0
// The accounts that the agents of a session keep of the heaps of their processes. It is not
// trusted: the observed programs can write anything there.

#ifndef COLLECT_AGENTS_HEAPS_H
#define COLLECT_AGENTS_HEAPS_H

#include "base/vec.h"
#include "collect/agents/session.h"
#include "wire/heap.h"

// The heap of one program that a process ran.
typedef struct AgentHeap {
    uint32_t pid;
    char name[WIRE_NAME_MAX]; // of its ring
    uint64_t started_ns;      // CLOCK_MONOTONIC
    const WireHeap *shared;   // NULL once the program has ended
    size_t mapped;            // bytes at `shared`
    uint64_t inode;           // of its file
    uint32_t room;            // sites that fit into the file, as it was last looked at
    WireHeap sums;            // as they were last looked at
    uint64_t peak_seen;       // the highest peak so far
    WireSite *sites;          // [site_count], after agent_heaps_finish or the end of the program
    uint32_t site_count;
} AgentHeap;

typedef struct AgentHeaps {
    const AgentSession *session;
    bool in_memory; // the files are: in a tmpfs
    Vec(AgentHeap) at;
} AgentHeaps;

// An empty set for the session, which is borrowed.
void agent_heaps_init(AgentHeaps *h, const AgentSession *session);
// Adds the heap of the process whose ring has that name. False: it has no file yet.
bool agent_heaps_add(AgentHeaps *h, const char *ring_name);
// The program of that ring has ended: keeps the known values, and removes the file.
void agent_heaps_end(AgentHeaps *h, const char *ring_name);

// The bytes that are live in all processes, or were live at the peak if it has risen since the last
// look.
typedef struct AgentHeapLevel {
    uint64_t bytes, blocks;
    bool is_peak; // the peak of a process has risen
} AgentHeapLevel;

// Looks at the sums of each process.
AgentHeapLevel agent_heaps_level(AgentHeaps *h);

// The sites with most live bytes, largest first.
enum { AGENT_TOP_SITES = 8 };
typedef struct AgentTopSite {
    uint32_t heap, site; // rows of AgentHeaps.at and of its sites
    uint64_t bytes, blocks;
} AgentTopSite;

typedef struct AgentHeapSums {
    uint64_t blocks, bytes; // allocated so far
    uint32_t count;         // of top
    AgentTopSite top[AGENT_TOP_SITES];
} AgentHeapSums;

// Looks at every site, which takes a while when there are many.
void agent_heaps_sum(AgentHeaps *h, AgentHeapSums *ret);
// Keeps the known values of programs that still run.
void agent_heaps_finish(AgentHeaps *h);
void agent_heaps_deinit(AgentHeaps *h); // unmaps and frees all

#endif // COLLECT_AGENTS_HEAPS_H
