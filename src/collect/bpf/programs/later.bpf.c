// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Holds the place of the programs that look at samples, until they are loaded: events that threads
// inherit keep the program that they were made with (docs/decisions/0289).

#include "collect/bpf/programs/kernel.h"

extern int next MAP; // the program that takes its place

PROGRAM("perf_event") int on_sample(void *ctx)
{
    bpf_tail_call(ctx, &next, 0);
    return 1; // the kernel writes the sample
}
