// SPDX-License-Identifier: Apache-2.0
// The instructions at which a probe is set.

#ifndef PROBES_PROBE_PLACES_H
#define PROBES_PROBE_PLACES_H

#include "probes/probe_object.h"
#include "probes/probe_text.h"

typedef struct ProbePlace {
    uint64_t svma;
    Str function;       // to which it belongs, in the arena; "": of a line or marker
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

// Appends where calls of a function begin and return. With `by_instruction` no return is by the
// kernel's trampoline: false, without an error, when returns cannot be seen then. `colds`
// are the parts of functions to which these jump seldom.
bool probe_call_places(Arena *arena, const ProbeContext *context, const ProbeObject *o,
                       const ProbeFunction *function, const ProbeFunctions *colds,
                       bool by_instruction, ProbePlaces *ret);

// Notes how often a function of that name is inlined: such calls have no return. Returns how often.
size_t probe_note_inlined(Arena *arena, const ProbeContext *context, const ProbeObject *o,
                          Str name);

#endif // PROBES_PROBE_PLACES_H
