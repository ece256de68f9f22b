// SPDX-License-Identifier: Apache-2.0
// Made by tools/bpf-programs from wait.bpf.c: the compiled programs and
// the numbers of their maps.

#ifndef COLLECT_BPF_PROGRAMS_WAIT_PROGRAM_H
#define COLLECT_BPF_PROGRAMS_WAIT_PROGRAM_H

#include "collect/bpf/bpf.h"

// The order in which bpf_load gets the maps.
// clang-format off
enum {
    WAIT_MAP_CONFIG,
    WAIT_MAP_INTERRUPTS,
    WAIT_MAP_OUTPUTS,
    WAIT_MAP_SCRATCH,
    WAIT_MAP_SHARED,
    WAIT_MAP_COUNT
};
// clang-format on

extern const BpfObject wait_program;

#endif // COLLECT_BPF_PROGRAMS_WAIT_PROGRAM_H
