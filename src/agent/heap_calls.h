// SPDX-License-Identifier: Apache-2.0
// Code shared by the functions that replace those of an allocator: which calls are noted, and
// which are timed.

#ifndef AGENT_HEAP_CALLS_H
#define AGENT_HEAP_CALLS_H

#include "agent/heap.h"
#include "agent/heap_sample.h"
#include "wire/timer.h"

// Of this thread, for the functions of one file: bytes until the next block that is noted, and
// calls until the next one that is timed.
static __thread int64_t heap_until_chosen __attribute__((tls_model("initial-exec")));
static __thread uint32_t heap_until_timed __attribute__((tls_model("initial-exec")));

// Whether a block of that size is noted, where blocks are.
static inline bool heap_call_chooses(uint64_t size)
{
    return !heap_samples() || heap_chooses(&heap_until_chosen, size);
}

// Counts a call that is not timed. False: it is to be timed.
static inline bool heap_call_passes(void)
{
    if (UNLIKELY(heap_until_timed == 0))
        return false;
    heap_until_timed--;
    return true;
}

// Counts a block that is not chosen, where blocks are sampled. False: it may be, and is not
// counted. heap_until_chosen stays 0 where every block is noted, so that this is all that a call
// has to ask.
static inline bool heap_call_is_left_out(uint64_t size)
{
    uint64_t until = (uint64_t)heap_until_chosen;
    if (size >= until)
        return false;
    heap_until_chosen = (int64_t)(until - size);
    return true;
}

// Draws how many calls come before the next one that is timed, and reads the timer.
uint64_t heap_call_timed(uint32_t *until);

// Before the allocator is called. 0: this call is not timed.
static inline uint64_t heap_call_begin(bool noted)
{
    // Each chosen block stands for all blocks of its site.
    if (heap_samples())
        return noted ? timer_read() : 0;
    return LIKELY(heap_until_timed--) ? 0 : heap_call_timed(&heap_until_timed);
}

// After it: units of the timer that the call took; 0: it is not timed. A call that takes longer
// than 50 us and 1 ns for each byte was interrupted: another thread had the processor.
static inline uint64_t heap_call_end(uint64_t begun, uint64_t size)
{
    if (LIKELY(!begun))
        return 0;
    uint64_t units = timer_read() - begun;
    units = MIN(units, heap_timer.longest + size * heap_timer.for_byte);
    return units > heap_timer.floor ? units - heap_timer.floor : 1;
}

#endif // AGENT_HEAP_CALLS_H
