// SPDX-License-Identifier: Apache-2.0
// Rates and ratios of counts.

#include "collect/counters/derive.h"

#include <linux/perf_event.h>
#include <math.h>

#define CACHE_CONFIG(cache, op, result)                                                            \
    ((uint64_t)PERF_COUNT_HW_CACHE_##cache | (uint64_t)PERF_COUNT_HW_CACHE_OP_##op << 8 |          \
     (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static double value_of(const DerivedInput *in, uint64_t type, uint64_t config)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->types[i] == type && in->configs[i] == config)
            return in->values[i];
    return NAN;
}

// Nanoseconds on a CPU, by whichever clock was counted.
static double cpu_ns(const DerivedInput *in)
{
    double task = value_of(in, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    return isnan(task) ? value_of(in, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK) : task;
}

static Derived made(double value, const char *unit)
{
    return isfinite(value) ? (Derived){value, unit} : (Derived){NAN, NULL};
}

static Derived share(const DerivedInput *in, double part, uint64_t type, uint64_t whole,
                     const char *unit)
{
    return made(part / value_of(in, type, whole) * 100, unit);
}

static Derived per_second(const DerivedInput *in, double value)
{
    double rate = value / cpu_ns(in) * 1e9;
    if (rate >= 1e9)
        return made(rate / 1e9, "G/sec");
    if (rate >= 1e6)
        return made(rate / 1e6, "M/sec");
    return rate >= 1e3 ? made(rate / 1e3, "K/sec") : made(rate, "/sec");
}

Derived derive(const DerivedInput *in, size_t event)
{
    double v = in->values[event];
    uint64_t config = in->configs[event];
    if (in->types[event] == PERF_TYPE_SOFTWARE) {
        if (config == PERF_COUNT_SW_TASK_CLOCK || config == PERF_COUNT_SW_CPU_CLOCK)
            return made(v / (in->elapsed_s * 1e9), "CPUs utilized");
        return config == PERF_COUNT_SW_DUMMY ? made(NAN, NULL) : per_second(in, v);
    }
    if (in->types[event] == PERF_TYPE_HARDWARE) {
        switch (config) {
        case PERF_COUNT_HW_CPU_CYCLES:
            return made(v / cpu_ns(in), "GHz");
        case PERF_COUNT_HW_INSTRUCTIONS:
            return made(v / value_of(in, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
                        "insn per cycle");
        case PERF_COUNT_HW_BRANCH_MISSES:
            return share(in, v, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
                         "% of all branches");
        case PERF_COUNT_HW_CACHE_MISSES:
            return share(in, v, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES,
                         "% of all cache refs");
        default:
            return per_second(in, v);
        }
    }
    if (in->types[event] == PERF_TYPE_HW_CACHE) {
        if (config == CACHE_CONFIG(L1D, READ, MISS))
            return share(in, v, PERF_TYPE_HW_CACHE, CACHE_CONFIG(L1D, READ, ACCESS),
                         "% of all L1-dcache accesses");
        if (config == CACHE_CONFIG(LL, READ, MISS))
            return share(in, v, PERF_TYPE_HW_CACHE, CACHE_CONFIG(LL, READ, ACCESS),
                         "% of all LL-cache accesses");
        return per_second(in, v);
    }
    return per_second(in, v);
}
