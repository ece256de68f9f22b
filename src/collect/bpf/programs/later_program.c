// SPDX-License-Identifier: Apache-2.0
// Made by tools/bpf-programs from later.bpf.c with clang-14 (docs/decisions/0290).
// Hash of the sources: 7ea67b8db40416419c31ebe9be52fb91b587e0e89e9e17f746e99171119484d4

#include "collect/bpf/programs/later_program.h"

// clang-format off
static const uint64_t code_0[] = {
    0x218, 0x0, 0x3b4, 0xc00000085, 0x1000000b4, 0x95,
};
static const BpfPlace places_0[] = {
    {0, 0},
};
static const BpfCode programs[] = {
    {"perf_event", code_0, 6, places_0, 1, {0}},
};
// clang-format on

const BpfObject later_program = {programs, 1};
