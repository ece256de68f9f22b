// SPDX-License-Identifier: Apache-2.0
// Coverage of a program without recompiling it: sets a breakpoint at every statement and
// removes it when it is first hit. Threads, forks and exec are followed; objects that are
// loaded later get their breakpoints when the dynamic linker reports them.

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
    uint64_t unreachable; // processes that made themselves undumpable: not counted from then on
    uint64_t unreadable;  // programs that may be executed but not read: not counted
    uint64_t replaced;    // mappings whose file has been replaced
    bool no_disassembler;
    bool no_loader; // the dynamic linker was not found: objects loaded later may be missing
} CoverTraceResult;

// Runs the program and adds its line and function counts, 0 or 1, to the profile. x86-64 only:
// ERROR_UNSUPPORTED elsewhere.
MUST_CHECK bool cover_trace_run(const CoverTraceOptions *o, Profile *profile, CoverTraceResult *ret,
                                Error *err);

#endif // COLLECT_COVER_TRACE_H
