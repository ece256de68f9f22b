// SPDX-License-Identifier: Apache-2.0
// What the BPF program that copies the stacks of probed calls shares with the recorder. Compiled
// for BPF, too.

#ifndef WIRE_HIT_COPIES_H
#define WIRE_HIT_COPIES_H

#include "wire/process_set.h"

enum {
    HIT_COPY_EVENTS = 1024,        // so many places are probed
    HIT_COPY_CPUS = 64,            // each counts in a column of its own; further CPUs share them
    HIT_COPY_THREADS = 1 << 13,    // hashed by the thread number
    HIT_COPY_PROBES = 2,           // an entry lies in one of so many places
    HIT_COPY_STACK_MAX = 63 << 10, // bytes; a record of perf has at most 64 KiB
    HIT_COPY_REGS = 21,            // words of struct pt_regs on x86-64
    HIT_COPY_SLOTS = 8, // for each CPU: so many threads may be in the middle of a copy there
    HIT_COPY_COST = HIT_COPY_EVENTS - 1, // the event by which the cost of a hit is measured
    // A stack that is deeper than this below the base of its thread is another one, as of a
    // coroutine.
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

// Stacks of the thread are copied up to here.
typedef struct HitCopyThread {
    uint32_t tid; // 0: the entry is free
    uint32_t unused;
    uint64_t base; // 0: so much is copied as the event says
} HitCopyThread;

typedef struct HitCopyEvent {
    uint32_t is_on;
    uint32_t bytes; // of a stack whose base is not known; 0: no stack is copied
    uint32_t exact; // copies never have another size
    uint32_t unused;
    uint64_t period; // one of so many hits is copied
} HitCopyEvent;

typedef struct HitCopyShared {
    ProcessSet processes; // whose hits are copied; with HIT_COPY_TASKS of threads
    uint64_t no_room;     // hits whose record had no room in the ring
    uint64_t no_slot;     // … and those that found all slots of the CPU in use
    HitCopyThread threads[HIT_COPY_THREADS];
    HitCopyEvent events[HIT_COPY_EVENTS];
    uint64_t passed[HIT_COPY_EVENTS * HIT_COPY_CPUS]; // hits of events with a period above 1
} HitCopyShared;

// A record. `size` bytes of the stack follow, from the stack pointer upwards.
typedef struct HitCopy {
    uint32_t event;
    uint32_t size;
    uint32_t wanted;  // more than `size` where the stack's memory ends before
    uint32_t by_base; // the size is the distance to the base of the thread
    uint64_t regs[HIT_COPY_REGS];
} HitCopy;

typedef struct HitCopySlot {
    uint64_t is_used;
    HitCopy copy;
    uint64_t stack[HIT_COPY_STACK_MAX / 8];
} HitCopySlot;

#endif // WIRE_HIT_COPIES_H
