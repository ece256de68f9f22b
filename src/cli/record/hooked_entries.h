// SPDX-License-Identifier: Apache-2.0
// Allocators that are linked into a program whose heap is recorded, for `heap` and `record --heap`.

#ifndef CLI_RECORD_HOOKED_ENTRIES_H
#define CLI_RECORD_HOOKED_ENTRIES_H

#include "collect/heap/entries.h"
#include "collect/sampling/sampling.h"
#include "os/spawn.h"

// The file whose code runs: the program, or the interpreter of a script.
Str hooked_program_file(const Program *p);

// Lets the recorder hook these functions. `e` is borrowed.
void hooked_entries_set(const HeapEntries *e, SamplingOptions *ret);

// Notes in the recording which functions of the program are hooked, with the allocator's name if
// `names`, and which blocks are missing.
void hooked_entries_note(Profile *p, const Program *program, const HeapEntries *e, bool names);

#endif // CLI_RECORD_HOOKED_ENTRIES_H
