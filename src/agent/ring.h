// SPDX-License-Identifier: Apache-2.0
// The ring that this process writes its records to: in a file of the session's folder, or in
// private memory for a program that profiles itself. Every function may be called from a
// signal handler, on many threads at once.

#ifndef AGENT_RING_H
#define AGENT_RING_H

#include "wire/ring.h"

// The ring of this process; `shared` is NULL before it has one.
typedef struct AgentRing {
    const WireSession
        *session; // of the collector; NULL: the program profiles itself, or is not profiled
    WireRing *shared;
    uint8_t *data;
    uint32_t number;          // in its file's name, "PID-NUMBER"
    _Atomic uint64_t taken;   // records before that have their memory; UINT64_MAX: all of them
    uint64_t mapped;          // bytes of the mapping that begins at `shared`
    bool linear;              // in private memory: it has no reader, and it does not begin anew
    _Atomic uint32_t thinned; // linear: one sample of 2^thinned is kept
    _Atomic uint32_t writers; // linear: writers, while `closed` is false
    _Atomic bool closed;      // linear: no record may be written now
    _Atomic bool pinned;      // linear: see ring_pin
} AgentRing;

extern AgentRing agent_ring;

// The present command to the agent. Without a collector: WIRE_SAMPLING.
WireState agent_state(void);

// Makes the ring's file in `folder` and maps it. False: there is none, and nothing is recorded.
bool ring_open_shared(const char *folder, uint64_t size);
// Takes private memory for at most `size` bytes of records.
bool ring_open_private(uint64_t size);
void ring_close(void); // unmaps it

// Room for a record of `size` bytes, a multiple of 8; NULL when there is none. ring_commit must
// follow.
void *ring_reserve(uint32_t size);
// Finishes a record: stores its header last.
void ring_commit(void *record, uint32_t type, uint16_t misc, uint32_t size);
// Linear rings: removes every second sample and doubles the weight of the others. Returns without
// it while other threads write.
void ring_thin(void);
// Linear rings: the records so far, which stay where they are until ring_unpin.
bool ring_pin(const uint8_t **ret, uint64_t *ret_size);
void ring_unpin(void);
// Forgets all records: for the child of a fork.
void ring_reset(void);

#endif // AGENT_RING_H
