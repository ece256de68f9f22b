// SPDX-License-Identifier: Apache-2.0
// Made by tools/bpf-programs from later.bpf.c: the compiled programs and
// the numbers of their maps.

#ifndef COLLECT_BPF_PROGRAMS_LATER_PROGRAM_H
#define COLLECT_BPF_PROGRAMS_LATER_PROGRAM_H

#include "collect/bpf/bpf.h"

// The order in which bpf_load gets the maps.
// clang-format off
enum {
    LATER_MAP_NEXT,
    LATER_MAP_COUNT
};
// clang-format on

extern const BpfObject later_program;

#endif // COLLECT_BPF_PROGRAMS_LATER_PROGRAM_H
