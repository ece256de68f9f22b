// SPDX-License-Identifier: Apache-2.0
// Takes a sample of the thread that a signal has interrupted: walks its stack and writes a
// record. It runs on memory and on a stack of its own, so that the program's stack, which may be
// the small one of a coroutine or an alternate one, needs room for the signal's frame only.

#ifndef AGENT_SAMPLER_H
#define AGENT_SAMPLER_H

#include "base/defs.h"

typedef struct SampleAsk {
    const void *context; // a ucontext_t: what was interrupted
    uint32_t tid;        // of the calling thread
    uint64_t time_ns;    // CLOCK_MONOTONIC
    uint64_t weight_ns;  // processor time that the sample stands for
    // The thread's stack, whose words above the interrupted stack pointer are there; 0: not known.
    uint64_t stack_low, stack_high;
} SampleAsk;

// Walks the interrupted stack and writes a sample. False when all places to work in are taken, or
// the ring is full.
bool sampler_take(const SampleAsk *ask);
// For the child of a fork: places that other threads held in the parent are free.
void sampler_reset(void);

#endif // AGENT_SAMPLER_H
