// SPDX-License-Identifier: Apache-2.0
// The self values of events that the kernel counts on behalf of the program. A context switch or a
// tracepoint always happens in the same kernel function, so that this function would have all self
// values. The program's innermost frame tells where the events come from (decision 186).

#ifndef ANALYSE_PROGRAM_SELF_H
#define ANALYSE_PROGRAM_SELF_H

#include "model/profile.h"

// Whether a metric counts events of the kernel: software events such as page faults and context
// switches, and tracepoints. False for clocks, hardware counters, breakpoints and metrics that are
// no events. Decided by the metric's name, so that imported recordings have it too.
bool metric_counts_kernel_events(const Profile *p, MetricId metric);

// For each stack the stack that gets its self value: the part of it that ends in the program's
// innermost frame. A stack without frames of the program, or whose next frame outside the kernel is
// cut, keeps its value. `stacks.parent.len` elements of heap memory, for heap_free.
uint32_t *program_self_stacks(const Profile *p);

#endif // ANALYSE_PROGRAM_SELF_H
