// SPDX-License-Identifier: Apache-2.0
// Lets the kernel recognise stacks that it has copied before: their samples come as short records
// in the rings, without a copy of the stack. Needs the rights for BPF; without them all stacks are
// copied (docs/decisions/0285).

#ifndef COLLECT_SAMPLING_KNOWN_SAMPLES_INTERNAL_H
#define COLLECT_SAMPLING_KNOWN_SAMPLES_INTERNAL_H

#include "collect/sampling/events_internal.h"
#include "wire/known_stacks.h"

typedef struct KnownSamples {
    KnownShared *shared; // NULL: all stacks are copied
    int shared_fd, scratch_fd, outputs_fd, program_fd;
    int *event_fds; // one for each ring
    uint64_t *ids;  // of their records
    size_t event_count;
} KnownSamples;

// Loads the program and directs its output to the rings of `events`, which must be of one event. It
// runs when another program goes on in it. False when this process may not, or the kernel or the
// recording cannot: `ret` is zeroed then. The ids of the outputs are in `arena`.
bool known_samples_open(Arena *arena, EventSet *events, KnownSamples *ret, Error *err);
void known_samples_close(KnownSamples *k); // accepts a zeroed one

// Whether the record with that id is a KnownSample.
bool known_samples_takes(const KnownSamples *k, uint64_t id);

#endif // COLLECT_SAMPLING_KNOWN_SAMPLES_INTERNAL_H
