// SPDX-License-Identifier: Apache-2.0
// Reads Python's frames at the moment of a sample, by a BPF program on the sampling events. It
// writes them into the events' rings, each before the sample that it belongs to. Needs the rights
// for BPF; without them recordings go without (docs/decisions/0191).

#ifndef COLLECT_SAMPLING_PYTHON_CAPTURE_INTERNAL_H
#define COLLECT_SAMPLING_PYTHON_CAPTURE_INTERNAL_H

#include "collect/sampling/events_internal.h"
#include "wire/python_capture.h"

typedef struct Capture {
    CaptureTarget *targets; // CAPTURE_TARGETS of them, which the program reads; NULL: not open
    int targets_fd, scratch_fd, outputs_fd, next_fd, program_fd;
    int *event_fds; // one for each ring
    uint64_t *ids;  // of their records
    size_t event_count;
} Capture;

// Loads the program and directs its output to the rings of `events`. It runs when another program
// goes on in it, and then goes on in `next`, a program for samples; -1: in none. False when this
// process may not, or the kernel cannot: `ret` is zeroed then. The ids of the outputs are in
// `arena`.
bool capture_open(Arena *arena, EventSet *events, int next, Capture *ret, Error *err);
void capture_close(Capture *c); // accepts a zeroed one

#endif // COLLECT_SAMPLING_PYTHON_CAPTURE_INTERNAL_H
