// SPDX-License-Identifier: Apache-2.0
// Where stacks of this process end, so that words of them can be loaded without care.

#ifndef AGENT_OWN_STACK_H
#define AGENT_OWN_STACK_H

#include <stdint.h>

// glibc's: the stack pointer at the start of the program. Other C libraries lack it.
extern void *__libc_stack_end __attribute__((weak));

// The first address behind the main thread's words that may be loaded; 0: not known.
static inline uint64_t main_stack_end(void)
{
    return &__libc_stack_end ? (uint64_t)(uintptr_t)__libc_stack_end : 0;
}

// The thread pointer of the calling thread. glibc and musl put it at the end of the stack of a
// thread that pthread_create started.
static inline uint64_t own_stack_end(void)
{
    uint64_t ret;
#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(ret));
#else
    __asm__("mrs %0, tpidr_el0" : "=r"(ret));
#endif
    return ret;
}

#endif // AGENT_OWN_STACK_H
