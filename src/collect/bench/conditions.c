// SPDX-License-Identifier: Apache-2.0
// The machine from /proc and uname, a probe of its speed, and its page cache.

#include "collect/bench/conditions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "os/file.h"

static Str cpu_model(Arena *arena)
{
    Bytes text;
    Error err;
    if (!os_read_file(arena, STR("/proc/cpuinfo"), 16 << 20, &text, &err))
        return STR("");
    Str rest = str_from_bytes(text), line, key, value;
    while (str_next_line(&rest, &line))
        if (str_split(line, ':', &key, &value) && str_equal(str_trim(key), STR("model name")))
            return str_trim(value);
    return STR("");
}

void bench_machine(Arena *arena, RunMachine *ret)
{
    struct utsname u;
    char buf[128];
    Str text;
    *ret = (RunMachine){.cpu_model = cpu_model(arena)};
    if (uname(&u) == 0) {
        ret->hostname = arena_printf(arena, "%s", u.nodename);
        ret->kernel = arena_printf(arena, "%s %s", u.sysname, u.release);
    }
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    ret->cpus = cpus > 0 ? (uint32_t)cpus : 0;
    if (os_read_small("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", buf, sizeof(buf),
                      &text))
        ret->governor = arena_str(arena, text);
    double load[1];
    if (getloadavg(load, 1) == 1)
        ret->load = load[0];
}

int64_t bench_speed_probe_ns(void)
{
    enum { TRIES = 9, STEPS = 60000 };
    int64_t least = INT64_MAX;
    volatile uint64_t sink;
    for (int i = 0; i < TRIES; i++) {
        struct timespec from, to;
        uint64_t x = 88172645463325252u;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        for (int k = 0; k < STEPS; k++) { // each step waits for the one before
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        sink = x;
        least =
            MIN(least, (int64_t)(to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec);
    }
    (void)sink;
    return least;
}

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

bool bench_drop_cache(Str path, size_t *left, Error *err)
{
    // linux/mman.h has these from 6.5 on.
    struct {
        uint64_t off, len;
    } range = {0};
    struct {
        uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } stat = {0};
    int fd = os_open_read(path, err);
    if (fd < 0)
        return false;
    fdatasync(fd); // dirty pages cannot be dropped
    int failed = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    *left = syscall(SYS_cachestat, fd, &range, &stat, 0) == 0 ? (size_t)stat.cached : SIZE_MAX;
    close(fd);
    if (failed) {
        errno = failed;
        return error_os(err, "cannot drop '%" STR_FMT "' from the page cache", STR_ARG(path));
    }
    return true;
}
