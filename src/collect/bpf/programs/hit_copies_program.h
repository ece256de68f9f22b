// SPDX-License-Identifier: Apache-2.0
// Made by tools/bpf-programs from hit_copies.bpf.c: the compiled programs and
// the numbers of their maps.

#ifndef COLLECT_BPF_PROGRAMS_HIT_COPIES_PROGRAM_H
#define COLLECT_BPF_PROGRAMS_HIT_COPIES_PROGRAM_H

#include "collect/bpf/bpf.h"

// The order in which bpf_load gets the maps.
// clang-format off
enum {
    HIT_COPIES_MAP_CONFIG,
    HIT_COPIES_MAP_OUTPUTS,
    HIT_COPIES_MAP_SHARED,
    HIT_COPIES_MAP_SLOTS,
    HIT_COPIES_MAP_COUNT
};
// clang-format on

extern const BpfObject hit_copies_program;

#endif // COLLECT_BPF_PROGRAMS_HIT_COPIES_PROGRAM_H
