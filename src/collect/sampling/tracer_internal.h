// SPDX-License-Identifier: Apache-2.0
// Sampling where the kernel refuses perf_event_open: our own child is stopped by
// ptrace(2) at the rate asked for, each of its threads that used processor time
// since, its registers and stack are copied, and it goes on. The copies become
// perf's records, so that everything behind the queue is the same.
// What it costs and how it is biased: docs/decisions/0050.

#ifndef COLLECT_SAMPLING_TRACER_INTERNAL_H
#define COLLECT_SAMPLING_TRACER_INTERNAL_H

#include "base/table.h"
#include "collect/sampling/events_internal.h"
#include "collect/sampling/queue_internal.h"
#include "os/spawn.h"

typedef struct TracedThread {
    uint32_t tid;
    uint32_t pid;
    int schedstat_fd;    // -1: the kernel keeps none
    int stat_fd;         // -1: cannot be read
    uint64_t seen_ns;    // processor time at the last look
    uint64_t switches;   // times it was given a processor, at the last look
    uint64_t sampled_at; // the same at the last sample
    uint64_t counted_ns; // processor time that samples stand for
    uint64_t name_hash;  // 0: not seen yet
    int64_t asked_ns;    // when it was asked to stop last
    uint32_t cpu;        // at the last look
    bool was_running;    // at the last look
    bool interrupted;    // asked to stop, for a sample
    bool waited;         // … and had no processor then
    bool gone;
} TracedThread;

// One executable mapping that was told already.
typedef struct TracedMap {
    uint64_t start, end, offset, inode;
} TracedMap;

typedef struct TracedProcess {
    uint32_t pid;
    uint32_t threads;
    int memory_fd;     // /proc/PID/mem
    int size_fd;       // /proc/PID/statm
    uint64_t clock_ns; // its processor time at the last tick, all threads
    int64_t due_ns;    // of that, what no sample was asked for yet
    uint64_t pages;    // of the address space when the maps were read last; 0: never
    int64_t maps_read_ns;
    Vec(TracedMap) maps;
} TracedProcess;

typedef struct Tracer {
    const EventSet *events;
    ChunkQueue *queue;
    Chunk *chunk; // under way; may be NULL
    pid_t child;
    bool child_ended;
    ChildEnd child_end;
    Vec(TracedThread) threads;
    size_t gone; // of them
    Table by_tid;
    Vec(TracedProcess) processes;
    size_t first;        // where a tick begins, so that every thread has its turn
    bool sampling;       // samples are wanted now
    bool started;        // the child has become the program
    bool urgent;         // what came together must not wait
    int64_t pushed_ns;   // when the worker was given something last
    uint64_t samples;    // handed on
    uint64_t dropped;    // left out because the worker is far behind
    uint64_t unwatched;  // threads that /proc tells nothing of: out of descriptors
    uint64_t counted_ns; // processor time that samples stand for
    int64_t stopped_ns;  // what samples cost threads that could have run, in all
} Tracer;

// Fills the set for records that a tracer makes: one event, no descriptors.
// `why` says what refused the kernel's own.
void tracer_events(Arena *arena, const SamplingOptions *options, Str why, EventSet *ret);

// Takes hold of the child, which still waits for its release, and of all that
// will come of it.
MUST_CHECK bool tracer_seize(Tracer *t, const EventSet *events, ChunkQueue *queue, pid_t child,
                             Error *err);
// Deals with every stop and end that was reported, then gives the worker what
// came together. To be called on SIGCHLD, by the thread that seized.
void tracer_reap(Tracer *t);
// From now on samples are wanted: what was used before is not counted.
void tracer_start(Tracer *t);
// Asks threads that run to stop for a sample: as many of each process as the
// processor time it used since makes periods.
void tracer_tick(Tracer *t);
// Lets everything go that still runs.
void tracer_detach(Tracer *t);
void tracer_deinit(Tracer *t);

#endif // COLLECT_SAMPLING_TRACER_INTERNAL_H
