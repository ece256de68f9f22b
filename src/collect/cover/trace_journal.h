// SPDX-License-Identifier: Apache-2.0
// The journal of breakpoints: which bytes of which processes are replaced. The process that traces
// writes it, to a file without a name, before it sets a breakpoint; when that process is killed,
// another one removes the breakpoints by it.

#ifndef COLLECT_COVER_TRACE_JOURNAL_H
#define COLLECT_COVER_TRACE_JOURNAL_H

#include "collect/cover/trace_internal.h"

// A new journal: a descriptor of an unnamed file in memory, closed by exec. -1 with `err` when none
// can be made.
int trace_journal_open(Error *err);

// Adds what follows. False when it cannot be written; then no breakpoint may be set there.
// - the sites of a module; `number` is its number in the journal
bool trace_journal_add_module(int journal, uint32_t number, const TraceModule *m);
// - a mapping of that module in a process
bool trace_journal_add_mapping(int journal, uint32_t number, pid_t pid, const TraceMapped *m);
// - one byte at an address of a process
bool trace_journal_add_byte(int journal, pid_t pid, uint64_t at, uint8_t original);

// Removes all of a process: it has ended, has new memory, or has no breakpoints any more.
void trace_journal_drop_process(int journal, pid_t pid);
// Removes one mapping.
void trace_journal_drop_mapping(int journal, pid_t pid, uint64_t start);

// Removes the breakpoints of all processes in the journal, and of children that they have forked
// since. Writes their memory through /proc, which needs no stop and no tracing.
void trace_rescue(int journal);

#endif // COLLECT_COVER_TRACE_JOURNAL_H
