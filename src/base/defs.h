// SPDX-License-Identifier: Apache-2.0
// Attributes and small arithmetic that every file may use.

#ifndef BASE_DEFS_H
#define BASE_DEFS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_CHECK                      __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt_arg, first_arg) __attribute__((format(printf, fmt_arg, first_arg)))
#define UNUSED                          __attribute__((unused))
#define COLD                            __attribute__((cold))
#define LIKELY(x)                       __builtin_expect(!!(x), 1)
#define UNLIKELY(x)                     __builtin_expect(!!(x), 0)

// The number of elements of an array. For a pointer the result is wrong; gcc warns of it
// (-Wsizeof-pointer-div).
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define MIN(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) min_a_ = (a);                                                                \
        __typeof__(b) min_b_ = (b);                                                                \
        min_a_ < min_b_ ? min_a_ : min_b_;                                                         \
    })
#define MAX(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) max_a_ = (a);                                                                \
        __typeof__(b) max_b_ = (b);                                                                \
        max_a_ > max_b_ ? max_a_ : max_b_;                                                         \
    })

// Binary search: the first `i` in 0 … len - 1 for which the condition `before` is false; `len`
// when it is true for all. `before` is an expression over the variable `i`. It must be true for
// all numbers before that `i` and false for all from there on.
#define PARTITION_POINT(i, len, before)                                                            \
    ({                                                                                             \
        size_t low_ = 0, high_ = (len);                                                            \
        while (low_ < high_) {                                                                     \
            size_t i = low_ + (high_ - low_) / 2;                                                  \
            if (before)                                                                            \
                low_ = i + 1;                                                                      \
            else                                                                                   \
                high_ = i;                                                                         \
        }                                                                                          \
        low_;                                                                                      \
    })

// Rounds up to a multiple of `align`, a power of two.
static inline uint64_t align_up(uint64_t x, uint64_t align)
{
    return (x + align - 1) & ~(align - 1);
}

// Rounds down to a multiple of `align`, a power of two.
static inline uint64_t align_down(uint64_t x, uint64_t align)
{
    return x & ~(align - 1);
}

// Smallest power of two that is >= x; 1 for 0. x must not exceed 2^63.
static inline uint64_t round_up_pow2(uint64_t x)
{
    return x <= 1 ? 1 : 1ull << (64 - __builtin_clzll(x - 1));
}

// The ending of a regular English noun after the number `n`: "1 sample", "2 samples".
static inline const char *plural_s(uint64_t n)
{
    return n == 1 ? "" : "s";
}

#endif // BASE_DEFS_H
