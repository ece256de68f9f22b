// SPDX-License-Identifier: Apache-2.0
// Counts how often functions of the command are called, beside the account of the heap: for limits
// on what one call may allocate. docs/decisions/0272 says why by counters on probes.

#ifndef CLI_HEAP_CALL_COUNTS_H
#define CLI_HEAP_CALL_COUNTS_H

#include "cli/heap/heap_gates.h"
#include "collect/counters/process_hits.h"

// Probes at the functions, in the processes that this process starts.
typedef struct CallCounts {
    Arena *arena;
    StrVec functions;  // of each limit by calls
    U32Vec first, end; // of each: its events
    ProcessHits *hits; // NULL: no limit needs any
} CallCounts;

// Starts to count the calls of each function that a limit names by FUNCTION=N/call, in `program`
// and the children that run the same file. False when the program has no such function, or the
// kernel refuses probes: then there is nothing to stop.
MUST_CHECK bool call_counts_start(Arena *arena, const HeapGates *gates, Str program,
                                  const StrVec *debug_dirs, CallCounts *ret, Error *err);
// Reads the counts, and stops. `ret` gets one for each limit by calls, in their order, in the arena
// of call_counts_start. False when calls were not counted.
MUST_CHECK bool call_counts_stop(CallCounts *c, U64Vec *ret, Error *err);

#endif // CLI_HEAP_CALL_COUNTS_H
