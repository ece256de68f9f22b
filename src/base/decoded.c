// SPDX-License-Identifier: Apache-2.0
// How much a reader may make out of an input.

#include "base/decoded.h"

#include <stdatomic.h>
#include <sys/sysinfo.h>

// What an input becomes is there as text, as what the reader makes of the text, and as rows.
enum { MEMORY_RATIO = 3 };

static _Atomic uint64_t set_limit;

void decoded_limit_set(uint64_t bytes)
{
    atomic_store_explicit(&set_limit, bytes, memory_order_relaxed);
}

static uint64_t half_of_memory(void)
{
    struct sysinfo info;
    if (sysinfo(&info) != 0)
        return UINT64_MAX;
    return (uint64_t)info.totalram * info.mem_unit / 2;
}

uint64_t decoded_limit(uint64_t input_bytes)
{
    uint64_t set = atomic_load_explicit(&set_limit, memory_order_relaxed);
    if (set)
        return set;
    uint64_t by_size =
        input_bytes > UINT64_MAX / DECODED_RATIO ? UINT64_MAX : input_bytes * DECODED_RATIO;
    if (by_size <= DECODED_FLOOR_BYTES)
        return DECODED_FLOOR_BYTES;
    uint64_t by_memory = half_of_memory();
    return by_size < by_memory ? by_size : by_memory;
}

uint64_t decoded_memory_limit(uint64_t input_bytes)
{
    uint64_t decoded = decoded_limit(input_bytes), half = half_of_memory();
    return decoded < half / MEMORY_RATIO ? decoded * MEMORY_RATIO : half;
}

bool decoded_check(uint64_t bytes, uint64_t input_bytes, Error *err)
{
    uint64_t limit = decoded_limit(input_bytes);
    if (bytes <= limit)
        return true;
    return error_set(err, ERROR_LIMIT,
                     "unpacks to %llu bytes, more than the limit of %llu for an input of %llu "
                     "(give " DECODED_OPTION " SIZE to allow it)",
                     (unsigned long long)bytes, (unsigned long long)limit,
                     (unsigned long long)input_bytes);
}
