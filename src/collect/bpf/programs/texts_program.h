// SPDX-License-Identifier: Apache-2.0
// Made by tools/bpf-programs from texts.bpf.c: the compiled programs and
// the numbers of their maps.

#ifndef COLLECT_BPF_PROGRAMS_TEXTS_PROGRAM_H
#define COLLECT_BPF_PROGRAMS_TEXTS_PROGRAM_H

#include "collect/bpf/bpf.h"

// The order in which bpf_load gets the maps.
// clang-format off
enum {
    TEXTS_MAP_OUTPUTS,
    TEXTS_MAP_PLANS,
    TEXTS_MAP_SCRATCH,
    TEXTS_MAP_COUNT
};
// clang-format on

extern const BpfObject texts_program;

#endif // COLLECT_BPF_PROGRAMS_TEXTS_PROGRAM_H
