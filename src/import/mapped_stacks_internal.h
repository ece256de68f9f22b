// SPDX-License-Identifier: Apache-2.0
// Stacks of addresses with the text of /proc/self/maps: how the profilers of gperftools write both.

#ifndef IMPORT_MAPPED_STACKS_INTERNAL_H
#define IMPORT_MAPPED_STACKS_INTERNAL_H

#include "base/arena.h"
#include "base/vec.h"
#include "import/import.h"
#include "replay/consumer.h"

// The one process of such a file, which does not state its number.
enum { MAPPED_STACKS_PID = 1 };

typedef struct MappedStacks {
    Profile *p;
    const ImportOptions *options;
    ModuleSearch search;
    Arena scratch;
    Consumer *consumer;
    SampleEvent event; // `metric` is the caller's to set
    U64Vec chain;      // of the heap
} MappedStacks;

// `ret` stays where it is until mapped_stacks_close. `options` may be NULL: no files are looked at.
void mapped_stacks_open(MappedStacks *ret, Profile *p, const ImportOptions *options);
void mapped_stacks_close(MappedStacks *m); // frees its memory, not the profile

// Takes the mappings, which addresses need: before the first stack. Notes when there are none.
void mapped_stacks_maps(MappedStacks *m, Str text);
// Adds a row without a time: places from the inner to the outer one, of which the first is where it
// was, the others return addresses. `value` is that of the event's metric. Gives the row.
size_t mapped_stacks_add(MappedStacks *m, const U64Vec *places, uint64_t value);
// After the last stack: finds the names, and the sources if the options want them.
MUST_CHECK bool mapped_stacks_finish(MappedStacks *m, Error *err);

#endif // IMPORT_MAPPED_STACKS_INTERNAL_H
