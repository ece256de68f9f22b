// SPDX-License-Identifier: Apache-2.0
// Sampling by ptrace(2), for kernels that refuse perf_event_open, or probes. At the asked rate it
// stops each thread of the child that has used processor time since its last sample, copies
// registers and stack, and continues the thread. The copies become perf records, so that the
// worker behind the queue is the same. Cost and bias: docs/decisions/0050.

#ifndef COLLECT_SAMPLING_TRACER_INTERNAL_H
#define COLLECT_SAMPLING_TRACER_INTERNAL_H

#include "base/table.h"
#include "collect/breakpoints/step.h"
#include "collect/sampling/events_internal.h"
#include "collect/sampling/queue_internal.h"
#include "os/spawn.h"

typedef struct TracedThread {
    uint32_t tid;
    uint32_t pid;
    int schedstat_fd;    // -1: this kernel has no such file
    int stat_fd;         // -1: cannot be read
    uint64_t seen_ns;    // processor time when it was last read
    uint64_t switches;   // number of times it was scheduled in, when that was last read
    uint64_t sampled_at; // the same number at the last sample
    uint64_t counted_ns; // processor time that its samples account for
    uint64_t name_hash;  // of the last name that a record gave; 0: none
    int64_t asked_ns;    // time of the last request to stop
    uint32_t cpu;        // when it was last read
    uint64_t again_at;   // breakpoint that it runs into again without a new hit; 0: none
    uint64_t again_sp;   // and its stack pointer there
    bool was_running;    // when it was last read
    bool interrupted;    // a stop was requested for a sample
    bool waited;         // … while it was not running
    bool gone;           // has ended
} TracedThread;

// An executable mapping for which a record was made.
typedef struct TracedMap {
    uint64_t start, end, offset, inode;
} TracedMap;

// A breakpoint in a process.
typedef struct TracedBreak {
    uint64_t at;
    uint32_t event;                // index into EventSet.events
    uint64_t semaphore;            // address of a marker's counter that was raised; 0: none
    uint8_t code[STEP_CODE_BYTES]; // as it is without breakpoints
    uint64_t copy;                 // address of a permanent copy of the instruction; 0: none
    unsigned copy_len;             // bytes of it in front of the jump back
} TracedBreak;

typedef struct TracedProcess {
    uint32_t pid;
    uint32_t threads;
    int memory_fd;     // /proc/PID/mem
    int size_fd;       // /proc/PID/statm
    uint64_t clock_ns; // processor time of all threads at the last tick
    int64_t due_ns;    // the part of it for which no sample has been requested
    uint64_t pages;    // size of the address space when the maps were last read; 0: never read
    int64_t maps_read_ns;
    Vec(TracedMap) maps;
    Vec(TracedBreak) breaks;
    uint64_t hook; // where the dynamic linker reports new mappings; 0: none
    uint8_t hook_byte;
    uint64_t slot; // STEP_CODE_BYTES of code for single steps
} TracedProcess;

// Where the breakpoints of an event are.
typedef struct BreakPlace {
    uint64_t device, inode; // of the file
    Str path;
    uint64_t offset;           // in the file
    uint64_t semaphore_offset; // of a marker's counter in the file; 0: none
    uint64_t count;            // hits so far
    uint64_t sampled;          // hits at the last sample
    int64_t sampled_ns;        // time of the last sample
} BreakPlace;

// Breakpoints in place of the kernel's probes.
typedef struct Breaks {
    int journal;            // collect/breakpoints/journal.h
    Vec(BreakPlace) places; // [event]
    uint64_t hits;
    int64_t stopped_ns; // sum of the times that hits stopped threads
    uint64_t refused;   // places whose instruction cannot be passed: they have no breakpoint
    uint64_t replaced;  // mapped files with other code than the file that was read
    uint64_t no_loader; // programs whose libraries may be missing
} Breaks;

typedef struct Tracer {
    const EventSet *events;
    Breaks *breaks; // NULL: samples by time
    ChunkQueue *queue;
    Chunk *chunk; // being filled; may be NULL
    pid_t child;
    bool child_ended;
    ChildEnd child_end;
    Vec(TracedThread) threads;
    size_t gone; // how many of them have ended
    Table by_tid;
    Vec(TracedProcess) processes;
    size_t first;        // the thread at which the next tick begins, so that all get their turn
    bool sampling;       // tracer_start was called
    bool started;        // the child has executed the program
    bool urgent;         // the chunk must go to the worker at once
    int64_t pushed_ns;   // when a chunk last went to the worker
    uint64_t samples;    // passed to the worker
    uint64_t dropped;    // samples left out because the queue to the worker is full
    uint64_t unwatched;  // threads whose files in /proc could not be opened: no descriptors left
    uint64_t counted_ns; // processor time that samples account for
    int64_t stopped_ns;  // sum of the times that samples stopped threads that could have run
} Tracer;

// Fills an EventSet for the records of a tracer: one event, no descriptors. `why` says why the
// kernel's events were refused.
void tracer_events(Arena *arena, const SamplingOptions *options, Str why, EventSet *ret);

// Starts to trace the child, which still waits for its release, and with it every thread and
// process that it will start.
MUST_CHECK bool tracer_seize(Tracer *t, const EventSet *events, ChunkQueue *queue, pid_t child,
                             Error *err);
// Handles all stops and ends of threads that the kernel has reported, then passes the records to
// the worker. Call it on SIGCHLD, from the thread that called tracer_seize. True when there may be
// more of them: they are left for the next call, which must come without a signal.
bool tracer_reap(Tracer *t);
// Starts to sample. Processor time that was used before is not counted.
void tracer_start(Tracer *t);
// Requests stops for samples: in each process as many running threads as the processor time that
// it used since the last tick is sampling periods. Whether it requested any.
bool tracer_tick(Tracer *t);
// Ends the tracing of all threads that still run; they continue.
void tracer_detach(Tracer *t);
void tracer_deinit(Tracer *t); // closes all descriptors and frees all rows

// Ends a round of the queue, also an empty one, which lets the worker look at the time.
void tracer_push_round(Tracer *t);

#endif // COLLECT_SAMPLING_TRACER_INTERNAL_H
