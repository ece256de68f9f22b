// SPDX-License-Identifier: Apache-2.0
// The cost of one hit of a probe for the observed program, measured on a function of assay.

#ifndef COLLECT_SAMPLING_PROBE_COST_INTERNAL_H
#define COLLECT_SAMPLING_PROBE_COST_INTERNAL_H

#include "base/str.h"

#include <linux/perf_event.h>

// Measures with the attributes of the recording's event, in nanoseconds a hit: how the kernel takes
// the hit and copies the sample. 0: it cannot be measured. Takes a few milliseconds.
// `is_emulated`: the kernel need not single-step the probed instruction.
uint64_t probe_cost_ns(const struct perf_event_attr *attr, bool is_emulated);

#endif // COLLECT_SAMPLING_PROBE_COST_INTERNAL_H
