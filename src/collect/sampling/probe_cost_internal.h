// SPDX-License-Identifier: Apache-2.0
// The cost of one hit of a probe for the observed program, measured on a function of assay.

#ifndef COLLECT_SAMPLING_PROBE_COST_INTERNAL_H
#define COLLECT_SAMPLING_PROBE_COST_INTERNAL_H

#include "base/str.h"

#include <linux/perf_event.h>

// What one hit takes of the program's processor time, in nanoseconds. 0: not known.
typedef struct ProbeCost {
    uint64_t warm_ns; // one hit after the other
    uint64_t cold_ns; // where the program used much other memory before: not less than warm_ns
} ProbeCost;

// Measures with the attributes of the recording's event how the kernel takes the hit and copies the
// sample. All 0: it cannot be measured. Takes about ten milliseconds.
// `is_emulated`: the kernel need not single-step the probed instruction.
ProbeCost probe_cost(const struct perf_event_attr *attr, bool is_emulated);
// The same of what `arm` sets at the probe of the event that it gets, which is disabled. It returns
// false when it cannot.
ProbeCost probe_cost_by(const struct perf_event_attr *attr, bool is_emulated,
                        bool (*arm)(void *ctx, int event), void *ctx);

#endif // COLLECT_SAMPLING_PROBE_COST_INTERNAL_H
