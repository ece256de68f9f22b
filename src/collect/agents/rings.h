// SPDX-License-Identifier: Apache-2.0
// Reads the rings that the agents of a session write. Their content is not trusted: the
// observed programs can write anything there.

#ifndef COLLECT_AGENTS_RINGS_H
#define COLLECT_AGENTS_RINGS_H

#include "base/table.h"
#include "base/vec.h"
#include "collect/agents/heaps.h"

#include "collect/agents/session.h"
#include <time.h>

typedef struct AgentRing {
    char name[WIRE_NAME_MAX]; // of its file
    uint32_t pid;
    WireRing *shared;
    uint8_t *data; // `size` bytes, mapped twice in a row
    uint64_t size;
    uint64_t tail;       // bytes read
    uint64_t started_ns; // CLOCK_MONOTONIC, when its process made it
    bool replaced;       // a later program of the same process has another ring
    bool has_heap;       // it was added to the heaps
    bool ended;          // its process does not run any more, and all is read
    U32Vec threads;      // that run, as its records say
} AgentRing;

// The counts of the agents of ended and of running processes.
typedef struct AgentCounts {
    uint64_t processes;
    uint64_t samples;
    uint64_t counted_ns;      // processor time for which samples stand
    uint64_t lost;            // samples for which a ring had no room
    uint64_t untimed_threads; // threads for which the kernel gave no timer
    uint64_t broken;          // rings with bytes that are not records
    uint64_t left_out;        // rings that wait until fewer processes run
} AgentCounts;

typedef struct AgentRings {
    const AgentSession *session;
    AgentHeaps *heaps; // of the same processes; NULL: they keep no account of them
    Vec(AgentRing) rings;
    Table by_name; // of `rings`
    size_t next;   // row of the ring that is read next; 0: all had their turn
    uint64_t left_out;
    AgentCounts ended;              // the sums of rings that are closed
    U8Vec bytes;                    // the records of the last call
    struct timespec folder_changed; // the last time before it was searched for rings
    bool awaits_ring;               // one was found that was not ready
} AgentRings;

// An empty set for the session, which is borrowed. `heaps` gets a row for each ring; NULL: none.
void agent_rings_init(AgentRings *r, const AgentSession *session, AgentHeaps *heaps);
// Hands the records that were written since the last call to `take`, in the order of time, and
// a PERF_RECORD_EXIT for each thread of a process that has ended. The bytes are valid during the
// call. Each ring has its turn, in which it is read once. False: there are so many records that
// some rings wait for the next call, which goes on with them.
MUST_CHECK bool agent_rings_drain(AgentRings *r, void (*take)(void *ctx, Bytes record), void *ctx);
// The sums over all processes so far.
AgentCounts agent_rings_counts(const AgentRings *r);
void agent_rings_deinit(AgentRings *r); // unmaps all

#endif // COLLECT_AGENTS_RINGS_H
