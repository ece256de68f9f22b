// SPDX-License-Identifier: Apache-2.0
// A process of its own attaches and detaches (collect/heap/attach.h), because a thread of the
// program runs the agent's code meanwhile: were the recorder killed then, nobody would put the
// thread back. This process ends its work, and detaches when the recorder is gone.

#ifndef COLLECT_HEAP_ATTACHER_H
#define COLLECT_HEAP_ATTACHER_H

#include "collect/heap/attach.h"
#include "os/keeper.h"

// How an attachment fares.
typedef struct HeapAttachment {
    bool is_attached;
    bool is_left;       // as in HeapAttached
    bool has_held;      // threads that have not stopped yet must be let go later
    uint32_t hooked;    // functions
    int64_t stopped_ns; // how long threads were stopped at most so far
    Error err;          // why it is not attached
} HeapAttachment;

typedef struct HeapAttacher {
    Keeper keeper;
    AgentSession *session;
    const AttachTarget *target;
    HeapAttachment is; // as the process said last
    // In the process.
    Arena arena;
    HeapAttached attached;
    bool has_tried; // so that there may be files of the target in the session
} HeapAttacher;

// Starts the process; all given is borrowed and must stay. Call it before this process has threads.
MUST_CHECK bool heap_attacher_start(AgentSession *session, const AttachTarget *target,
                                    HeapAttacher *ret, Error *err);
// Puts the agent into the target.
MUST_CHECK bool heap_attacher_attach(HeapAttacher *a, Error *err);
// Lets go threads that have left the kernel since they were to stop.
void heap_attacher_reap(HeapAttacher *a);
// Takes the agent out again and ends the process. Accepts one that was never started.
void heap_attacher_end(HeapAttacher *a);

#endif // COLLECT_HEAP_ATTACHER_H
