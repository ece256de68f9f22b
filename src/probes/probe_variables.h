// SPDX-License-Identifier: Apache-2.0
// Variables of the program as arguments of a probe: where they are at its address.

#ifndef PROBES_PROBE_VARIABLES_H
#define PROBES_PROBE_VARIABLES_H

#include "probes/probe_places.h"

// Whether a word may be the name of a variable: "len", "buffer.len", "list->head".
bool probe_variable_is(Str word);

// Finds the value of a variable, or of a member of one, at a place. Sets all of `ret` but its name.
// The error says why a sample cannot have it.
MUST_CHECK bool probe_variable_find(const ProbeObject *o, const ProbePlace *place, Str word,
                                    EventArg *ret, Error *err);

#endif // PROBES_PROBE_VARIABLES_H
