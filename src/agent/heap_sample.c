// SPDX-License-Identifier: Apache-2.0
// Chooses blocks and weighs them. There is no libm here.

#include "agent/heap_sample.h"

#include "agent/sys.h"
#include "wire/heap.h"
#include "wire/timer.h"

uint64_t heap_sample_bytes;
_Atomic uint8_t heap_filter[HEAP_FILTER_SLOTS] = {HEAP_FILTER_KEPT};
uint64_t heap_filter_mask;
static __thread uint64_t state __attribute__((tls_model("initial-exec")));

static uint64_t random_bits(void)
{
    // xorshift64* (Sebastiano Vigna)
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1dull;
}

// -ln u, for u in (0, 1]: u = m 2^-e with m in [1/2, 1], and ln m by the series of artanh.
static double minus_log(double u)
{
    static const double ln2 = 0.69314718055994530942;
    double sum = 0;
    while (u < 0.5) {
        u *= 2;
        sum += ln2;
    }
    double s = (1 - u) / (1 + u), square = s * s, term = 2 * s;
    for (unsigned i = 1; i < 20; i += 2, term *= square)
        sum += term / i;
    return sum;
}

static int64_t draw(void)
{
    double u = (double)((random_bits() >> 11) + 1) / (double)((uint64_t)1 << 53);
    double bytes = minus_log(u) * (double)heap_sample_bytes;
    return bytes < (double)(INT64_MAX / 4) ? (int64_t)bytes : INT64_MAX / 4;
}

bool heap_chosen(int64_t *until)
{
    if (state == 0) {
        state = (timer_read() * 0x9e3779b97f4a7c15ull ^ (uint64_t)(uintptr_t)&state) | 1;
        (void)random_bits();
        *until += draw();
        if (*until >= 0)
            return false;
    }
    *until = draw();
    return true;
}

// 1 - e^-x: t(y) = e^-y - 1 by its series for a small y, and t(2y) = t(y) (t(y) + 2).
static double one_minus_exp(double x)
{
    enum { DOUBLINGS = 12 };
    if (x > 50)
        return 1;
    double y = x / (1 << DOUBLINGS);
    double t = -y + y * y / 2 - y * y * y / 6 + y * y * y * y / 24;
    for (unsigned i = 0; i < DOUBLINGS; i++)
        t *= t + 2;
    return -t;
}

void heap_weigh(uint64_t size, HeapWeight *ret)
{
    const double one = 1 << WIRE_SAMPLED_SHIFT, kib = 1024;
    double s = (double)MAX(size, (uint64_t)1);
    double w = 1 / one_minus_exp(s / (double)heap_sample_bytes);
    ret->blocks = (uint64_t)(w * one + 0.5);
    ret->bytes = (uint64_t)(w * one * (double)size + 0.5);
    ret->var_blocks = (uint64_t)(w * w - w + 0.5);
    ret->var_bytes = (uint64_t)((w * w - w) * (s / kib) * (s / kib) + 0.5);
}

// ---- Noted blocks -----------------------------------------------------------------------

void heap_filter_start(void)
{
    heap_filter_mask = HEAP_FILTER_SLOTS - 1;
}

void heap_filter_keep(const void *block)
{
    atomic_store(&heap_filter[heap_filter_slot(block)], HEAP_FILTER_KEPT);
}
