// SPDX-License-Identifier: Apache-2.0
// Takes a sample of the thread that a signal has interrupted: walks its stack and writes a
// record. It runs on memory and on a stack of its own, so that the program's stack, which may be
// the small one of a coroutine or an alternate one, needs room for the signal's frame only.

#ifndef AGENT_SAMPLER_H
#define AGENT_SAMPLER_H

#include "base/defs.h"

// Walks the interrupted stack (`context` is a ucontext_t) and writes a sample that stands for
// `weight_ns`. False when all places to work in are taken, or the ring is full.
bool sampler_take(const void *context, uint32_t tid, uint64_t weight_ns);
// For the child of a fork: places that other threads held in the parent are free.
void sampler_reset(void);

#endif // AGENT_SAMPLER_H
