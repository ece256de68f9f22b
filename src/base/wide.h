// SPDX-License-Identifier: Apache-2.0
// Vectors of 256 bits for the few loops that run over whole files.
// Document: gcc manual, "Using Vector Instructions through Built-in Functions".

#ifndef BASE_WIDE_H
#define BASE_WIDE_H

#include <stdint.h>

// Four 64-bit words, at any address. For a processor with narrower registers the compiler splits
// every operation.
typedef uint64_t WideU64 __attribute__((vector_size(32), aligned(1), may_alias));
enum { WIDE_WORDS = sizeof(WideU64) / sizeof(uint64_t) };

// An attribute for a function: it is compiled for AVX2, too, and the loader takes the variant
// that the processor can run. Functions must not pass or return such vectors, because the two
// variants would do so in different registers.
#if defined(__x86_64__)
#define WIDE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WIDE_CLONES
#endif

#endif // BASE_WIDE_H
