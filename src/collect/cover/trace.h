// SPDX-License-Identifier: Apache-2.0
// Which lines of a program run, without recompiling it: a breakpoint at every
// statement, removed when it is first hit. Threads, forks and exec are followed;
// objects that are loaded later get theirs when the loader says so.

#ifndef COLLECT_COVER_TRACE_H
#define COLLECT_COVER_TRACE_H

#include "collect/cover/sites.h"
#include "os/spawn.h"

typedef struct CoverTraceOptions {
    const Program *program;
    char *const *argv;
    TraceKeepFile *keep; // NULL: every source
    void *keep_ctx;
    const DebugSearch *debug; // separate debug files; NULL: the usual places only
} CoverTraceOptions;

typedef struct CoverTraceResult {
    ChildEnd child;
    uint64_t processes, modules_with_debug, modules_without, sites, off_boundary;
    uint64_t unreachable; // processes that made themselves undumpable: known up to there
    uint64_t unreadable;  // programs that may be run and not read: nothing is known of them
    uint64_t replaced;    // mappings of files that have become others since
    bool no_disassembler;
    bool no_loader; // objects that were loaded late may be missing
} CoverTraceResult;

// Runs the program and fills line and function counts of the profile with 0 and
// 1. x86-64 only: ERROR_UNSUPPORTED elsewhere.
MUST_CHECK bool cover_trace_run(const CoverTraceOptions *o, Profile *profile, CoverTraceResult *ret,
                                Error *err);

#endif // COLLECT_COVER_TRACE_H
