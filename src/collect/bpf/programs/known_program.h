// SPDX-License-Identifier: Apache-2.0
// Made by tools/bpf-programs from known.bpf.c: the compiled programs and
// the numbers of their maps.

#ifndef COLLECT_BPF_PROGRAMS_KNOWN_PROGRAM_H
#define COLLECT_BPF_PROGRAMS_KNOWN_PROGRAM_H

#include "collect/bpf/bpf.h"

// The order in which bpf_load gets the maps.
// clang-format off
enum {
    KNOWN_MAP_OUTPUTS,
    KNOWN_MAP_SCRATCH,
    KNOWN_MAP_SHARED,
    KNOWN_MAP_COUNT
};
// clang-format on

extern const BpfObject known_program;

#endif // COLLECT_BPF_PROGRAMS_KNOWN_PROGRAM_H
