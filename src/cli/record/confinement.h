// SPDX-License-Identifier: Apache-2.0
// Work for a recorder that has given up its rights (os/privilege.h): a
// process beside it finishes the recording's file, writes the symbol cache and asks debuginfod.

#ifndef CLI_RECORD_CONFINEMENT_H
#define CLI_RECORD_CONFINEMENT_H

#include "base/arena.h"
#include "collect/sampling/sampling.h"
#include "os/keeper.h"
#include "symbolise/symbolise.h"

typedef struct Confinement {
    Keeper keeper;
    StoreWriter *writer;
    StoreEnds ends;
    SymboliseHelp help;
    uint64_t cache_max_bytes;
    int cache; // folder of the symbol cache; -1: none
} Confinement;

// Starts that process when this one has rights to give up, and lets the writer end through it.
// False when there are none, or no process can be made: the recorder then stays as it is. `ret`
// must stay where it is until confinement_end.
bool confinement_start(Arena *arena, StoreWriter *writer, Confinement *ret);
// Gives up the rights of this thread and of those that it starts; with `may_signal` it can still
// send signals to a command that changed its user. For what runs after the recording; while it
// runs, sampling does so (SamplingOptions.confine).
void confinement_enter(bool may_signal);
// Accepts one that was not started.
void confinement_end(Confinement *c);

#endif // CLI_RECORD_CONFINEMENT_H
