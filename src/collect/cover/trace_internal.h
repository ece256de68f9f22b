// SPDX-License-Identifier: Apache-2.0
// What the two halves of the breakpoint engine share: `trace` follows processes and
// their stops, `trace_text` knows what they map and puts breakpoints there.

#ifndef COLLECT_COVER_TRACE_INTERNAL_H
#define COLLECT_COVER_TRACE_INTERNAL_H

#include "collect/cover/trace.h"

enum { TRACE_BREAKPOINT = 0xcc }; // int3

typedef struct TraceMapped {
    TraceModule *module;
    uint64_t start, end; // addresses in the process
    uint64_t bias;       // address in the process - stated address
    bool is_there;       // found in the mappings that were last read
} TraceMapped;

typedef Vec(TraceMapped) TraceMappedVec;

typedef struct TraceProcess {
    pid_t pid; // 0: gone
    int mem_fd;
    TraceMappedVec mapped; // ascending by when they came
    uint64_t loader_hook;  // address of _dl_debug_state, 0: none
    uint8_t loader_byte;   // what the breakpoint there replaces
    bool is_clean;         // its breakpoints were taken out, to let it go
} TraceProcess;

// A thread that is traced.
typedef struct TraceTask {
    pid_t tid; // 0: gone
    uint32_t process;
    bool enters_handler; // of SIGTRAP: its next stop is the handler's first instruction
} TraceTask;

typedef struct Tracer {
    Arena arena;
    SiteLoader loader;
    Vec(TraceModule *) modules;
    Vec(TraceProcess) processes;
    Table process_index; // by pid; rows of dead ones stay
    Vec(TraceTask) tasks;
    Table task_index; // by tid; likewise
    CoverTraceResult *result;
    pid_t main;
    bool main_ended, letting_go;
    U8Vec buffer;
    size_t memories_open, memories_max; // descriptors of processes' memory
} Tracer;

// Memory of a process. False when it is gone or does not have these bytes.
bool trace_read(Tracer *t, TraceProcess *p, uint64_t at, void *to, size_t len);
bool trace_write(Tracer *t, TraceProcess *p, pid_t tid, uint64_t at, const uint8_t *from,
                 size_t len);
void trace_close_memory(Tracer *t, TraceProcess *p);

// What was mapped since the last look; breakpoints into it. `insert` is false for a
// forked child: its memory has those of its parent. `tid` is a thread that is stopped.
// False when the kernel keeps the mappings from us.
bool trace_look_at_maps(Tracer *t, TraceProcess *p, pid_t tid, bool insert);

// Takes out what stands near a place that was hit and would tell nothing more than it
// has: the other statements of its lines.
void trace_clear_lines(Tracer *t, TraceProcess *p, pid_t tid, const TraceMapped *m,
                       const TraceSite *hit);

// Takes the breakpoints out of a process.
void trace_clean(Tracer *t, TraceProcess *p, pid_t tid);

// A breakpoint where the loader says that it has mapped objects (<link.h>, r_brk).
void trace_set_hook(Tracer *t, TraceProcess *p, pid_t tid);

#endif // COLLECT_COVER_TRACE_INTERNAL_H
