// SPDX-License-Identifier: Apache-2.0
// Rates and ratios of counts, formed only from events that were counted.

#ifndef ANALYSE_DERIVE_H
#define ANALYSE_DERIVE_H

#include "base/str.h"

// Events that were counted together, one array element for each.
typedef struct DerivedInput {
    const Str *events;    // the kernel's names, without modifiers: "cycles"
    const double *values; // scaled; NaN: not counted
    size_t count;
    double elapsed_s;
} DerivedInput;

typedef struct Derived {
    double value;
    const char *unit; // "insn per cycle"; NULL: nothing can be derived
} Derived;

// The figure that belongs beside the count of `event`, as perf stat chooses it: a ratio to
// another event where there is one, CPUs for a clock, else the rate a second of CPU time.
Derived derive(const DerivedInput *in, size_t event);

#endif // ANALYSE_DERIVE_H
