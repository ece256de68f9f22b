// SPDX-License-Identifier: Apache-2.0
// `record --flight`: keeps the newest part of a recording in memory and writes it when asked.

#ifndef CLI_RECORD_FLIGHT_H
#define CLI_RECORD_FLIGHT_H

#include "collect/sampling/sampling.h"
#include "symbolise/symbolise.h"

// A condition on which it is written: p99(handle) > 20ms, or cpu > 90%.
typedef struct FlightWhen {
    Str function; // "": the processor time
    double part;  // of the calls, from 0 to 1; of the processor time: 1 is one processor
    uint64_t ns;
    Str text;
} FlightWhen;

typedef struct Flight {
    Arena *arena;
    Str output; // dumps are OUTPUT-1.assay and so on
    uint64_t memory_bytes;
    const StrVec *debug_dirs;
    const SourceOptions *sources;
    const CallPlan *calls;
    FlightWhen when;
    bool has_when;
    // Its own:
    uint64_t dumps_asked;
    int64_t looked_ns, dumped_ns;
    pid_t writer; // the process that writes a dump; 0: none
} Flight;

// Parses a condition.
MUST_CHECK bool flight_when_parse(Str text, FlightWhen *ret, Error *err);
// A watcher for SamplingOptions: `flight` is a Flight.
SamplingWish flight_watch(void *flight, Sampling *s, Profile *p, const SamplingState *state);
// Waits for a dump that is being written.
void flight_end(Flight *f);

#endif // CLI_RECORD_FLIGHT_H
