// SPDX-License-Identifier: Apache-2.0
// The tables and records that the BPF program for hits of probes shares with the recorder. The
// program copies registers and stack of each hit. This file is compiled for BPF, too.

#ifndef WIRE_HIT_COPIES_H
#define WIRE_HIT_COPIES_H

#include "wire/process_set.h"

enum {
    HIT_COPY_EVENTS = 1024,        // the most places that can be probed
    HIT_COPY_CPUS = 64,            // columns of counts; CPUs from number 64 on share columns
    HIT_COPY_THREADS = 1 << 13,    // entries of the table of threads; the place is the thread's
                                   // number modulo this
    HIT_COPY_PROBES = 2,           // a thread's entry is at its place or at one of the next ones
    HIT_COPY_STACK_MAX = 63 << 10, // bytes; a record of perf has at most 64 KiB
    HIT_COPY_REGS = 21,            // words of struct pt_regs on x86-64
    HIT_COPY_SLOTS = 8, // for each CPU: the number of threads that can be within a copy there
    HIT_COPY_COST = HIT_COPY_EVENTS - 1, // the event by which the cost of a hit is measured
    // Bytes. If the base of a thread is further above the stack pointer, the thread is on another
    // stack, for example that of a coroutine.
    HIT_COPY_BASE_FAR = 8 << 20,
};

// Whose hits are copied.
enum { HIT_COPY_ALL, HIT_COPY_PROCESSES, HIT_COPY_TASKS };

// Constants of the program.
typedef struct HitCopyConfig {
    uint32_t task_tgid; // offset in struct task_struct
    uint32_t has_group; // sched_process_exit says whether the thread is the last of its process
    uint32_t whose;     // HIT_COPY_ALL …
    uint32_t unused;
} HitCopyConfig;

// The base of a thread's stack: stacks of this thread are copied up to this address.
typedef struct HitCopyThread {
    uint32_t tid; // 0: the entry is free
    uint32_t unused;
    uint64_t base; // 0: not known; HitCopyEvent.bytes are copied
} HitCopyThread;

typedef struct HitCopyEvent {
    uint32_t is_on;
    uint32_t bytes; // to copy of a stack whose base is not known; 0: no stack is copied
    uint32_t exact; // not 0: copies always have the size `bytes`
    uint32_t unused;
    uint64_t period; // every period-th hit is copied; 0 and 1: every hit
} HitCopyEvent;

typedef struct HitCopyShared {
    ProcessSet processes; // the hits of these are copied; with HIT_COPY_TASKS they are threads
    uint64_t no_room;     // lost hits, because the ring was full
    uint64_t no_slot;     // lost hits, because all slots of the CPU were in use
    HitCopyThread threads[HIT_COPY_THREADS];
    HitCopyEvent events[HIT_COPY_EVENTS];
    uint64_t passed[HIT_COPY_EVENTS * HIT_COPY_CPUS]; // hits of events with a period above 1
} HitCopyShared;

// A record: a hit. `size` bytes of the stack follow, from the stack pointer upwards.
typedef struct HitCopy {
    uint32_t event;   // its number in HitCopyShared.events
    uint32_t size;    // bytes
    uint32_t wanted;  // bytes; more than `size` if the stack's memory ends earlier
    uint32_t by_base; // not 0: `wanted` is the distance to the base of the thread
    uint64_t regs[HIT_COPY_REGS];
} HitCopy;

// The place in which a thread builds its record.
typedef struct HitCopySlot {
    uint64_t is_used; // 1 from take_slot until the record is written
    HitCopy copy;
    uint64_t stack[HIT_COPY_STACK_MAX / 8];
} HitCopySlot;

#endif // WIRE_HIT_COPIES_H
