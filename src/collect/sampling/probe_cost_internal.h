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
// The same of what `arm` sets at the probe of the event that it gets, which is disabled. It returns
// false when it cannot.
uint64_t probe_cost_by_ns(const struct perf_event_attr *attr, bool is_emulated,
                          bool (*arm)(void *ctx, int event), void *ctx);

#endif // COLLECT_SAMPLING_PROBE_COST_INTERNAL_H
