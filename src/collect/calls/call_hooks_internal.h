// SPDX-License-Identifier: Apache-2.0
// The loaded program and its places.

#ifndef COLLECT_CALLS_CALL_HOOKS_INTERNAL_H
#define COLLECT_CALLS_CALL_HOOKS_INTERNAL_H

#include "collect/calls/call_recorder.h"
#include "wire/calls.h"

typedef struct CallHooks {
    CallShared *shared; // NULL: not open
    int config_fd, shared_fd, outputs_fd;
    Vec(int) fds;   // of programs and places; heap
    int *event_fds; // one for each ring
    uint64_t *ids;
    size_t event_count;
} CallHooks;

// Makes the maps, opens the outputs and sets the places. The cookie of a place is its number.
MUST_CHECK bool call_hooks_open(const CallsSetup *setup, CallHooks *ret, Error *err);
void call_hooks_detach(CallHooks *h); // the places are removed, the memory stays
void call_hooks_close(CallHooks *h);  // accepts a zeroed one

#endif // COLLECT_CALLS_CALL_HOOKS_INTERNAL_H
