// SPDX-License-Identifier: Apache-2.0
// Names in recordings of the heap.

#include "model/heap_metrics.h"

#include <inttypes.h>
#include <stdio.h>

unsigned heap_size_class(uint64_t size)
{
    unsigned bits = size ? 64 - (unsigned)__builtin_clzll(size) : 0;
    return MIN(bits, HEAP_SIZE_CLASSES - 1u);
}

Str heap_size_name(unsigned size_class, char buf[HEAP_SIZE_NAME_MAX])
{
    uint64_t low = size_class ? (uint64_t)1 << (size_class - 1) : 0;
    int n = size_class < 2
                ? snprintf(buf, HEAP_SIZE_NAME_MAX, "blocks of %" PRIu64 " byte%s", low,
                           low == 1 ? "" : "s")
                : snprintf(buf, HEAP_SIZE_NAME_MAX, "blocks of %" PRIu64 " to %" PRIu64 " bytes",
                           low, 2 * low - 1);
    return str_over(buf, (size_t)n);
}

const char *heap_clock_name(HeapClock clock)
{
    static const char *const names[HEAP_CLOCK_COUNT] = {"allocations", "bytes", "ns"};
    return names[clock];
}
