// SPDX-License-Identifier: Apache-2.0
// `record --flight`: keeps the newest part of a recording in memory and writes it when asked.

#ifndef CLI_RECORD_FLIGHT_H
#define CLI_RECORD_FLIGHT_H

#include "analyse/calls/when.h"
#include "collect/sampling/sampling.h"
#include "store/blocks.h"
#include "symbolise/symbolise.h"

// When the recorder begins anew, so that names and tables of what has ended do not stay.
typedef struct FlightRounds {
    uint64_t count;         // how often it did
    uint64_t allowed_bytes; // by which its memory may grow in a round
    uint64_t base_bytes;    // its memory when the round began; 0: not seen yet
    int64_t begun_ns, ended_ns;
    int64_t gap_ns, gaps_ns; // without a recorder: the longest, and all
    bool is_over;            // the present round
} FlightRounds;

typedef struct Flight {
    Arena *arena;
    Str output; // dumps are OUTPUT-1.assay and so on
    uint64_t memory_bytes;
    const StrVec *debug_dirs;
    const SourceOptions *sources;
    const CallPlan *calls;
    When when;
    bool has_when;
    // Its own:
    const SamplingOptions *options; // of the round
    StoreBlocks blocks;
    FlightRounds rounds;
    WhenWindow window;
    U32Vec pids; // that are recorded in the rounds after the first
    pid_t child; // the command, from the second round on; 0: there is none
    bool child_ended;
    bool failed; // to keep a block: said once
    uint64_t dumps_asked;
    int64_t looked_ns, dumped_ns;
    pid_t writer; // the process that writes a dump; 0: none
} Flight;

// Records as sampling_run does, in rounds. At the end `profile` is all that is kept.
MUST_CHECK bool flight_run(Flight *f, const SamplingOptions *options, Profile *profile,
                           Sampling **ret, SamplingResult *result, Error *err);
// A watcher for SamplingOptions: `flight` is a Flight.
SamplingWish flight_watch(void *flight, Sampling *s, Profile *p, const SamplingState *state);
// Waits for a dump that is being written, and frees the blocks.
void flight_end(Flight *f);

#endif // CLI_RECORD_FLIGHT_H
