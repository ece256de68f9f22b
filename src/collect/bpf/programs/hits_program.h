// SPDX-License-Identifier: Apache-2.0
// Made by tools/bpf-programs from hits.bpf.c: the compiled programs and
// the numbers of their maps.

#ifndef COLLECT_BPF_PROGRAMS_HITS_PROGRAM_H
#define COLLECT_BPF_PROGRAMS_HITS_PROGRAM_H

#include "collect/bpf/bpf.h"

// The order in which bpf_load gets the maps.
// clang-format off
enum {
    HITS_MAP_CONFIG,
    HITS_MAP_SHARED,
    HITS_MAP_COUNT
};
// clang-format on

extern const BpfObject hits_program;

#endif // COLLECT_BPF_PROGRAMS_HITS_PROGRAM_H
