// SPDX-License-Identifier: Apache-2.0
// On which processes a probe is set: a probe of one thread does not go over to its children.

#ifndef COLLECT_SAMPLING_PROBE_SCOPE_INTERNAL_H
#define COLLECT_SAMPLING_PROBE_SCOPE_INTERNAL_H

#include "collect/sampling/sampling.h"

// Whether no process has the file mapped but those that are recorded. Then a probe of all processes
// costs the others nothing, and new threads and processes have it from their first instruction.
bool probe_file_is_ours(const SamplingOptions *o, Str path);

#endif // COLLECT_SAMPLING_PROBE_SCOPE_INTERNAL_H
