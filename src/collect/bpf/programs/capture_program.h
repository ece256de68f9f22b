// SPDX-License-Identifier: Apache-2.0
// Made by tools/bpf-programs from capture.bpf.c: the compiled programs and
// the numbers of their maps.

#ifndef COLLECT_BPF_PROGRAMS_CAPTURE_PROGRAM_H
#define COLLECT_BPF_PROGRAMS_CAPTURE_PROGRAM_H

#include "collect/bpf/bpf.h"

// The order in which bpf_load gets the maps.
// clang-format off
enum {
    CAPTURE_MAP_NEXT,
    CAPTURE_MAP_OUTPUTS,
    CAPTURE_MAP_SCRATCH,
    CAPTURE_MAP_TARGETS,
    CAPTURE_MAP_COUNT
};
// clang-format on

extern const BpfObject capture_program;

#endif // COLLECT_BPF_PROGRAMS_CAPTURE_PROGRAM_H
