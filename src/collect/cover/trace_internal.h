// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of the breakpoint engine. `trace_run` starts two processes, the program and
// the one that traces it; in that one `trace` follows processes and their stops, and
// `trace_text` reads their mappings and sets breakpoints in them.

#ifndef COLLECT_COVER_TRACE_INTERNAL_H
#define COLLECT_COVER_TRACE_INTERNAL_H

#include "collect/breakpoints/code.h"
#include "collect/cover/trace.h"

typedef struct TraceMapped {
    TraceModule *module;
    uint64_t start, end; // addresses in the process
    uint64_t bias;       // address in the process - stated address
    bool is_there;       // was in the mappings when they were last read
} TraceMapped;

typedef Vec(TraceMapped) TraceMappedVec;

typedef struct TraceProcess {
    pid_t pid; // 0: has ended
    int mem_fd;
    TraceMappedVec mapped; // in the order in which they were found
    uint64_t loader_hook;  // address of _dl_debug_state, 0: none
    uint8_t loader_byte;   // the byte that the breakpoint there replaces
    bool is_clean;         // its breakpoints were removed because tracing ends
} TraceProcess;

// A thread that is traced.
typedef struct TraceTask {
    pid_t tid; // 0: has ended
    uint32_t process;
    bool enters_handler; // its next stop is the first instruction of its SIGTRAP handler
} TraceTask;

typedef struct Tracer {
    Arena arena;
    SiteLoader loader;
    Vec(TraceModule *) modules;
    Vec(TraceProcess) processes;
    Table process_index; // by pid; rows of ended processes stay
    Vec(TraceTask) tasks;
    Table task_index; // by tid; rows of ended threads stay
    CoverTraceResult *result;
    pid_t main;
    int journal; // collect/breakpoints/journal.h
    bool main_ended, letting_go;
    int failed_errno; // a thread could not be continued: tracing ends. 0: no
    U8Vec buffer;
    size_t memories_open, memories_max; // descriptors of processes' memory
} Tracer;

// Traces a child of this process's parent, which waits before its exec, until it has ended and
// for a moment longer the rest of its processes; until the parent has ended; or until a thread
// cannot be continued. Then removes all breakpoints that are left. `t` has its loader, journal and
// result. Calls `attached` once the tracing has begun. False when it could not begin, or when it
// ended before the program.
MUST_CHECK bool trace_follow(Tracer *t, pid_t child, bool (*attached)(void *ctx), void *ctx,
                             Error *err);
// Frees the memory of the tracer.
void trace_deinit(Tracer *t);

// Read and write the memory of a process; close its descriptor. `tid` is a stopped thread. False
// when the process has ended or does not have these bytes.
bool trace_read(Tracer *t, TraceProcess *p, uint64_t at, void *to, size_t len);
bool trace_write(Tracer *t, TraceProcess *p, pid_t tid, uint64_t at, const uint8_t *from,
                 size_t len);
void trace_close_memory(Tracer *t, TraceProcess *p);

// Reads the mappings of a process and sets breakpoints in new ones. `insert` is false for a forked
// child, whose memory has the breakpoints of its parent. `tid` is a stopped thread. False when the
// kernel refuses to show the mappings.
bool trace_look_at_maps(Tracer *t, TraceProcess *p, pid_t tid, bool insert);

// Removes breakpoints near one that was hit which would add nothing: those of other statements on
// the same lines.
void trace_clear_lines(Tracer *t, TraceProcess *p, pid_t tid, const TraceMapped *m,
                       const TraceSite *hit);

// Removes all breakpoints from a process.
void trace_clean(Tracer *t, TraceProcess *p, pid_t tid);

// Makes a program that begins set a handler of SIGTRAP (collect/breakpoints/trap_guard.h).
void trace_set_guard(Tracer *t, TraceProcess *p, pid_t tid);

// Sets a breakpoint in the function that the dynamic linker calls after it has mapped objects
// (<link.h>, r_brk).
void trace_set_hook(Tracer *t, TraceProcess *p, pid_t tid);

#endif // COLLECT_COVER_TRACE_INTERNAL_H
