// SPDX-License-Identifier: Apache-2.0
// The option --filter, which belongs to the events of the -e before it.

#ifndef CLI_EVENT_FILTERS_H
#define CLI_EVENT_FILTERS_H

#include "base/error.h"
#include "os/event.h"

// The texts of --filter, and behind how many -e each stands.
typedef struct EventFilters {
    StrVec texts;
    U32Vec events_before;
} EventFilters;

// Notes behind which -e each --filter stands, which the table of options cannot tell. Its memory
// comes from the arena.
void event_filters_note(Arena *arena, int argc, char **argv, EventFilters *ret);

// Gives the filters to the tracepoints among `events`. `ends` has for each -e the number of events
// up to its last one.
MUST_CHECK bool event_filters_apply(const EventFilters *filters, const U32Vec *ends,
                                    EventSpecVec *events, Error *err);

#endif // CLI_EVENT_FILTERS_H
