// SPDX-License-Identifier: Apache-2.0
// The processor's counter of time. The collector tells how long its unit is.

#ifndef WIRE_TIMER_H
#define WIRE_TIMER_H

#include "base/defs.h"

// Reads it. Not ordered with loads and stores around it.
static inline uint64_t timer_read(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ret;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ret));
    return ret;
#endif
}

#endif // WIRE_TIMER_H
