// SPDX-License-Identifier: Apache-2.0
// What counts say of each other: rates and ratios, formed only from what was
// counted.

#ifndef COLLECT_COUNTERS_DERIVE_H
#define COLLECT_COUNTERS_DERIVE_H

#include "base/str.h"

typedef struct DerivedInput {
    const Str *names;      // of the events as opened: "cycles:u"
    const double *values;  // scaled; NaN: not counted
    const uint64_t *types; // perf's type and config, to know aliases by
    const uint64_t *configs;
    size_t count;
    double elapsed_s;
    double cpus; // counted for whole CPUs: that many; 0 for processes
} DerivedInput;

typedef struct Derived {
    double value;
    const char *unit; // "insn per cycle"; NULL: nothing can be derived
} Derived;

Derived derive(const DerivedInput *in, size_t event);

#endif // COLLECT_COUNTERS_DERIVE_H
