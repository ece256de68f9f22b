// SPDX-License-Identifier: Apache-2.0
// The journal of breakpoints: which bytes of which processes are replaced. The process that traces
// writes it, to a file without a name, before it sets a breakpoint; when that process is killed,
// another one removes the breakpoints by it.

#ifndef COLLECT_BREAKPOINTS_JOURNAL_H
#define COLLECT_BREAKPOINTS_JOURNAL_H

#include "base/error.h"
#include "base/vec.h"

#include <sys/types.h>

// A new journal: a descriptor of an unnamed file in memory, closed by exec. -1 with `err` when none
// can be made.
int journal_open(Error *err);

// A place of a module with its byte, in one word: addresses have 48 bits.
static inline uint64_t journal_word(uint64_t svma, uint8_t original)
{
    return svma << 8 | original;
}

typedef struct JournalMapping {
    uint32_t module;     // its number in the journal
    uint64_t start, end; // addresses in the process
    uint64_t bias;       // address in the process - stated address
} JournalMapping;

// Adds what follows. False when it cannot be written; then no breakpoint may be set there.
// - the places of a module, a journal_word each, ascending; `number` is its number in the journal
bool journal_add_module(int journal, uint32_t number, const U64Vec *words);
// - a mapping of that module in a process
bool journal_add_mapping(int journal, pid_t pid, const JournalMapping *m);
// - one byte at an address of a process
bool journal_add_byte(int journal, pid_t pid, uint64_t at, uint8_t original);

// Removes all of a process: it has ended, has new memory, or has no breakpoints any more.
void journal_drop_process(int journal, pid_t pid);
// Removes one mapping.
void journal_drop_mapping(int journal, pid_t pid, uint64_t start);

// Removes the breakpoints of all processes in the journal, and of children that they have forked
// since. Writes their memory through /proc, which needs no stop and no tracing.
void journal_rescue(int journal);

#endif // COLLECT_BREAKPOINTS_JOURNAL_H
