// SPDX-License-Identifier: Apache-2.0
// Made by tools/bpf-programs from calls.bpf.c: the compiled programs and
// the numbers of their maps.

#ifndef COLLECT_BPF_PROGRAMS_CALLS_PROGRAM_H
#define COLLECT_BPF_PROGRAMS_CALLS_PROGRAM_H

#include "collect/bpf/bpf.h"

// The order in which bpf_load gets the maps.
// clang-format off
enum {
    CALLS_MAP_CONFIG,
    CALLS_MAP_OUTPUTS,
    CALLS_MAP_SHARED,
    CALLS_MAP_COUNT
};
// clang-format on

extern const BpfObject calls_program;

#endif // COLLECT_BPF_PROGRAMS_CALLS_PROGRAM_H
