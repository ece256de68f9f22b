// SPDX-License-Identifier: Apache-2.0
// The programs in the kernel that look at samples: one that recognises stacks and one that reads
// Python's frames. The kernel needs 3 ms to check them, so they are loaded beside the recorded
// command, and not at all for a command that ends at once (docs/decisions/0289).

#ifndef COLLECT_SAMPLING_SAMPLE_PROGRAMS_INTERNAL_H
#define COLLECT_SAMPLING_SAMPLE_PROGRAMS_INTERNAL_H

#include "collect/sampling/known_samples_internal.h"
#include "collect/sampling/python_capture_internal.h"

typedef struct Programs {
    Arena arena; // of the thread that calls programs_load
    bool is_prepared;
    int place_fd; // of the program that holds the place
    int next_fd;  // the array by which others take the place
    KnownSamples known;
    Capture capture;
} Programs;

// Attaches a program to the sampling events that holds the place of the others. Call it before the
// recorded threads make others. Where this process may not load programs, or the kernel or the
// recording has no use for them, nothing is done.
void programs_prepare(const EventSet *events, Programs *ret);
// Loads the programs and lets them take their place; without `runtimes` only the one that
// recognises stacks. The calling thread must have the rights, and be the one that looks at the
// records of `events`. A program that cannot be loaded is left out; the log says why.
void programs_load(EventSet *events, bool runtimes, Programs *p);
void programs_close(Programs *p); // accepts a zeroed one

#endif // COLLECT_SAMPLING_SAMPLE_PROGRAMS_INTERNAL_H
