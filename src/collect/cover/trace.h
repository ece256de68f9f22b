// SPDX-License-Identifier: Apache-2.0
// Coverage of a program without recompiling it: sets a breakpoint at every statement and
// removes it when it is first hit. Threads, forks and exec are followed; objects that are
// loaded later get their breakpoints when the dynamic linker reports them.

#ifndef COLLECT_COVER_TRACE_H
#define COLLECT_COVER_TRACE_H

#include "base/strbuf.h"
#include "collect/cover/sites.h"
#include "os/spawn.h"

typedef struct CoverTraceOptions {
    const Program *program;
    char *const *argv;
    TraceKeepFile *keep; // NULL: every source
    void *keep_ctx;
    const DebugSearch *debug; // separate debug files; NULL: the usual places only
    // Appends the text that is made of the lines. Runs in the process that traced.
    void (*print)(const Profile *p, StrBuf *out);
} CoverTraceOptions;

typedef struct CoverTraceResult {
    ChildEnd child;
    bool child_ran; // `child` is valid
    uint64_t processes, modules_with_debug, modules_without, sites, off_boundary;
    uint64_t lines, lines_ran;
    uint64_t unreachable; // processes that made themselves undumpable: not counted from then on
    uint64_t unreadable;  // programs that may be executed but not read: not counted
    uint64_t replaced;    // mappings whose file has been replaced
    bool no_disassembler;
    bool no_loader; // the dynamic linker was not found: objects loaded later may be missing
} CoverTraceResult;

// Runs the program and appends to `text` the output of `print` for its lines and functions, whose
// counts are 0 or 1. A process of its own traces the program and reads the debug information: when
// this process is killed, that one removes the breakpoints, and the other way round. False when the
// program did not start, or when it ran but the tracing ended before it; then `ret->child_ran` is
// set. x86-64 only: ERROR_UNSUPPORTED elsewhere.
MUST_CHECK bool cover_trace_run(const CoverTraceOptions *o, CoverTraceResult *ret, StrBuf *text,
                                Error *err);

#endif // COLLECT_COVER_TRACE_H
