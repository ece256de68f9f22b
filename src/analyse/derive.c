// SPDX-License-Identifier: Apache-2.0
// Rates and ratios of counts.

#include "analyse/derive.h"

#include <math.h>

#include "base/defs.h"

// Events that are shown as a share of another one, in percent.
static const struct {
    const char *part, *whole, *unit;
} shares[] = {
    {"branch-misses", "branches", "% of all branches"},
    {"cache-misses", "cache-references", "% of all cache refs"},
    {"L1-dcache-load-misses", "L1-dcache-loads", "% of all L1-dcache accesses"},
    {"LLC-load-misses", "LLC-loads", "% of all LL-cache accesses"},
    {"topdown-retiring", "slots", "% of all slots retiring"},
    {"topdown-bad-spec", "slots", "% of all slots bad speculation"},
    {"topdown-fe-bound", "slots", "% of all slots frontend bound"},
    {"topdown-be-bound", "slots", "% of all slots backend bound"},
};

static double value_of(const DerivedInput *in, const char *event)
{
    for (size_t i = 0; i < in->count; i++)
        if (str_equal(in->events[i], str_from_c(event)))
            return in->values[i];
    return NAN;
}

// Nanoseconds on a CPU, by whichever clock was counted.
static double cpu_ns(const DerivedInput *in)
{
    double task = value_of(in, "task-clock");
    return isnan(task) ? value_of(in, "cpu-clock") : task;
}

static Derived made(double value, const char *unit)
{
    return isfinite(value) ? (Derived){value, unit} : (Derived){NAN, NULL};
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
    Str name = in->events[event];
    if (str_equal(name, STR("task-clock")) || str_equal(name, STR("cpu-clock")))
        return made(v / (in->elapsed_s * 1e9), "CPUs utilized");
    if (str_equal(name, STR("dummy")) || str_equal(name, STR("slots")) || name.len == 0)
        return made(NAN, NULL);
    if (str_equal(name, STR("cycles")))
        return made(v / cpu_ns(in), "GHz");
    if (str_equal(name, STR("instructions")))
        return made(v / value_of(in, "cycles"), "insn per cycle");
    for (size_t i = 0; i < ARRAY_LEN(shares); i++)
        if (str_equal(name, str_from_c(shares[i].part)))
            return made(v / value_of(in, shares[i].whole) * 100, shares[i].unit);
    return per_second(in, v);
}
