// SPDX-License-Identifier: Apache-2.0
// The events of a recording, among them places in programs.

#ifndef CLI_RECORD_RECORD_EVENTS_H
#define CLI_RECORD_RECORD_EVENTS_H

#include "base/error.h"
#include "cli/event_filters.h"
#include "os/call_plan.h"
#include "probes/probes.h"

// Where events are looked up, places in programs among them.
typedef struct RecordSources {
    DebugSearch debug;
    StrVec notes;
    ProbeContext context;
    EventSources events;
} RecordSources;

// `program` is the file that will run ("": none), and `pids` are the processes that are observed:
// probes are searched there. `ret` must not be moved.
void record_sources_init(Arena *arena, Str program, const U32Vec *pids, const StrVec *debug_dirs,
                         RecordSources *ret);
// Prints the notes about probes.
void record_sources_say(const RecordSources *s);

// Parses the words of -e, and gives the tracepoints among them their filters. Prints notes about
// probes.
MUST_CHECK bool record_events_parse(Arena *arena, const StrVec *words, const EventFilters *filters,
                                    Str program, const U32Vec *pids, const StrVec *debug_dirs,
                                    EventSpecVec *ret, Error *err);

// Finds the functions of each --calls, with the words of --key ("" for none).
MUST_CHECK bool record_calls_parse(Arena *arena, const StrVec *words, Str key, Str program,
                                   const U32Vec *pids, const StrVec *debug_dirs, CallPlan *ret,
                                   Error *err);

#endif // CLI_RECORD_RECORD_EVENTS_H
