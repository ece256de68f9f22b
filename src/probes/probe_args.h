// SPDX-License-Identifier: Apache-2.0
// The values that are taken at a probe: registers, memory of the stack, arguments of markers.

#ifndef PROBES_PROBE_ARGS_H
#define PROBES_PROBE_ARGS_H

#include "os/event.h"
#include "probes/probe_places.h"

typedef Vec(EventArg) EventArgs;

// Makes the argument that a word behind the probe stands for, at one of its places:
//   [NAME=]%di[:s32]  [NAME=]$retval  [NAME=]$arg2  [NAME=]+8(%sp)  [NAME=]+0($retval):string
// The error says what the word may be.
MUST_CHECK bool probe_arg_parse(Arena *arena, const ProbeObject *o, const ProbePlace *place,
                                Str word, EventArg *ret, Error *err);

// Appends the arguments that a marker states, as arg1, arg2, …: size and place of each, as
// "8@%rdi -4@$5 8@-8(%rbp)". Arguments of other forms keep their number and are left out.
void probe_args_of_marker(Arena *arena, const Elf *elf, Str stated, EventArgs *ret);

#endif // PROBES_PROBE_ARGS_H
