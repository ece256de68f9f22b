// SPDX-License-Identifier: Apache-2.0
// Which calls are timed.

#include "agent/heap_calls.h"

#include "wire/heap.h"

static __thread uint64_t random_state __attribute__((tls_model("initial-exec")));

// Random, so that a program's own rhythm cannot hide some of its calls.
__attribute__((noinline)) uint64_t heap_call_timed(uint32_t *until)
{
    if (random_state == 0)
        random_state = timer_read() | 1;
    random_state ^= random_state << 13; // xorshift (George Marsaglia)
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    *until = (uint32_t)(random_state >> 32) & ((2u << WIRE_TIMED_SHIFT) - 1);
    return timer_read();
}
