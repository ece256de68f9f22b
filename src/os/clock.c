// SPDX-License-Identifier: Apache-2.0
// Clocks and the machine's own facts.

#include "os/clock.h"

#include "os/file.h"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_ns(clockid_t id)
{
    struct timespec t = {0};
    clock_gettime(id, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int64_t os_monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t os_realtime_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

int64_t os_process_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t os_thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

// The model is "model name" on x86, "Model" on some arm64 boards. The block of the first CPU is
// near the start of the file, so that a small buffer is enough.
static Str cpu_model(Arena *arena)
{
    char buf[4096];
    Str text, line, key, value;
    if (!os_read_small("/proc/cpuinfo", buf, sizeof(buf), &text))
        return STR("");
    while (str_next_line(&text, &line)) {
        if (!str_split(line, ':', &key, &value))
            continue;
        key = str_trim(key);
        if (str_equal(key, STR("model name")) || str_equal(key, STR("Model")))
            return arena_str(arena, str_trim(value));
    }
    return STR("");
}

Machine os_machine(Arena *arena)
{
    Machine m = {.cpu_model = cpu_model(arena)};
    struct utsname u;
    if (uname(&u) == 0) {
        m.host_name = arena_str(arena, str_from_c(u.nodename));
        m.kernel = arena_printf(arena, "%s %s", u.sysname, u.release);
        m.arch = arena_str(arena, str_from_c(u.machine));
    }
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    m.cpu_count = n > 0 ? (uint32_t)n : 1;
    return m;
}
