// SPDX-License-Identifier: Apache-2.0
// The instructions at which a probe is set.

#ifndef PROBES_PROBE_PLACES_H
#define PROBES_PROBE_PLACES_H

#include "probes/probe_object.h"
#include "probes/probe_text.h"

typedef struct ProbePlace {
    uint64_t svma;
    bool by_trampoline; // at the return, by the kernel's trampoline (uretprobe)
    bool is_return;     // a return instruction
    Str args;           // of a USDT marker, as it states them
    uint64_t semaphore; // of a USDT marker: stated address; 0: none
} ProbePlace;
typedef Vec(ProbePlace) ProbePlaces;

enum { PROBE_PLACES_MAX = 256 }; // of one probe

// Appends the places that a probe's words stand for, ascending. The error names what is nearest
// when nothing fits, and the limit when too much does.
MUST_CHECK bool probe_places_find(Arena *arena, const ProbeContext *context, const ProbeObject *o,
                                  const ProbeText *text, ProbePlaces *ret, Error *err);

#endif // PROBES_PROBE_PLACES_H
