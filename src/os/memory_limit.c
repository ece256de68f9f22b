// SPDX-License-Identifier: Apache-2.0
// RLIMIT_DATA, which counts private writable memory: the heap, anonymous mappings, stacks. Mapped
// files do not count: a large input may be mapped and read.

#include "os/memory_limit.h"

#include "base/arena.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// Whether this build has the memory of a sanitizer, which is far larger than the program's.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HAS_SANITIZER = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
enum { HAS_SANITIZER = 1 };
#else
enum { HAS_SANITIZER = 0 };
#endif
#else
enum { HAS_SANITIZER = 0 };
#endif

// The private memory that the process has; 0 where the kernel does not say it.
static uint64_t private_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return 0;
    // size, resident, shared, text, lib, data: the last is what the limit counts.
    int got = fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages);
    fclose(f);
    return got == 1 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

MemoryLimit memory_limit_begin(uint64_t more_bytes, const char *message)
{
    struct rlimit old;
    uint64_t has = private_bytes();
    if (HAS_SANITIZER || !has || getrlimit(RLIMIT_DATA, &old) != 0 ||
        old.rlim_cur <= has + more_bytes)
        return (MemoryLimit){0};
    struct rlimit new = {.rlim_cur = has + more_bytes, .rlim_max = old.rlim_max};
    if (setrlimit(RLIMIT_DATA, &new) != 0)
        return (MemoryLimit){0};
    memory_refusal_message(message);
    return (MemoryLimit){.soft_bytes = old.rlim_cur, .is_set = true};
}

void memory_limit_end(MemoryLimit *limit)
{
    struct rlimit now;
    if (!limit->is_set)
        return;
    limit->is_set = false;
    memory_refusal_message(NULL);
    if (getrlimit(RLIMIT_DATA, &now) != 0)
        return;
    now.rlim_cur = limit->soft_bytes;
    // A limit that stays is only stricter than needed.
    if (setrlimit(RLIMIT_DATA, &now) != 0)
        return;
}

uint64_t memory_private_bytes(void)
{
    unsigned long long resident = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return 0;
    int got = fscanf(f, "%*u %llu %llu", &resident, &shared);
    fclose(f);
    return got == 2 && resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE)
                                         : 0;
}
