// SPDX-License-Identifier: Apache-2.0
// The loaded programs and their memory.

#ifndef COLLECT_WAIT_WATCH_INTERNAL_H
#define COLLECT_WAIT_WATCH_INTERNAL_H

#include "collect/wait/waiting.h"
#include "wire/wait.h"

enum { WATCH_FDS_MAX = 64 };

typedef struct Watch {
    WaitShared *shared; // NULL: not open
    int config_fd, shared_fd, scratch_fd, outputs_fd, interrupts_fd;
    int fds[WATCH_FDS_MAX]; // of programs
    uint32_t fd_count;
    int *event_fds; // one for each ring
    uint64_t *ids;
    size_t event_count;
} Watch;

// Makes the maps, opens the outputs and attaches the programs.
MUST_CHECK bool watch_open(const WaitingSetup *setup, Watch *ret, Error *err);
void watch_detach(Watch *w); // the programs end, the memory stays
void watch_close(Watch *w);  // accepts a zeroed one

#endif // COLLECT_WAIT_WATCH_INTERNAL_H
