// SPDX-License-Identifier: Apache-2.0
// How much a reader may make out of an input.

#include "base/decoded.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

// What an input becomes is there as text, as what the reader makes of the text, and as rows.
enum { MEMORY_RATIO = 3 };

static _Atomic uint64_t set_limit;
static _Atomic uint64_t half_read;   // half of the memory there is, as last read
static _Atomic int64_t half_read_at; // and when; 0: never

void decoded_limit_set(uint64_t bytes)
{
    atomic_store_explicit(&set_limit, bytes, memory_order_relaxed);
}

// The beginning of a small file of the kernel; "" when it cannot be read.
static void read_small(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

uint64_t decoded_available_bytes(const char *meminfo)
{
    const char *row = strstr(meminfo, "MemAvailable:");
    return row ? strtoull(row + strlen("MemAvailable:"), NULL, 10) * 1024 : UINT64_MAX;
}

uint64_t decoded_left_of_limit(const char *max, const char *current)
{
    // "max" where the group has no limit.
    if (max[0] < '0' || max[0] > '9' || current[0] < '0' || current[0] > '9')
        return UINT64_MAX;
    uint64_t limit = strtoull(max, NULL, 10), used = strtoull(current, NULL, 10);
    return limit > used ? limit - used : 0;
}

// Half of the memory that is free or can be made free, on the machine and in the container. The
// first recording of a comparison has taken its part when the second is read.
static uint64_t read_half_of_memory(void)
{
    static const char *const groups[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
    };
    char text[4096], current[64];
    struct sysinfo info;
    uint64_t least = UINT64_MAX;
    if (sysinfo(&info) == 0)
        least = (uint64_t)info.totalram * info.mem_unit;
    read_small("/proc/meminfo", text, sizeof(text));
    uint64_t available = decoded_available_bytes(text);
    least = least < available ? least : available;
    for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
        read_small(groups[i][0], text, sizeof(text));
        read_small(groups[i][1], current, sizeof(current));
        uint64_t left = decoded_left_of_limit(text, current);
        least = least < left ? least : left;
    }
    return least == UINT64_MAX ? least : least / 2;
}

// The same, read anew when it is older than 20 ms: readers ask for each part of an input, and the
// kernel needs longer for the answer than they for the part.
static uint64_t half_of_memory(void)
{
    enum { KEEP_NS = 20 * 1000 * 1000 };
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0)
        return read_half_of_memory();
    int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    int64_t read_at = atomic_load_explicit(&half_read_at, memory_order_acquire);
    if (read_at && ns - read_at < KEEP_NS)
        return atomic_load_explicit(&half_read, memory_order_relaxed);
    uint64_t half = read_half_of_memory();
    atomic_store_explicit(&half_read, half, memory_order_relaxed);
    atomic_store_explicit(&half_read_at, ns, memory_order_release);
    return half;
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
