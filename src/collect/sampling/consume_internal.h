// SPDX-License-Identifier: Apache-2.0
// Records in time order -> rows of the profile.

#ifndef COLLECT_SAMPLING_CONSUME_INTERNAL_H
#define COLLECT_SAMPLING_CONSUME_INTERNAL_H

#include "collect/sampling/events_internal.h"
#include "collect/sampling/modules_internal.h"
#include "unwind/space.h"

enum {
    CONSUME_FRAMES_MAX = 4096, // 64 KiB of stack hold no more
    FRAME_CACHE_SIZE = 1 << 13,
    STACK_MEMO_SLOTS = 16,
    STACK_MEMO_FRAMES = 512,
};

typedef struct Process {
    uint32_t pid;
    ProcessId id;
    UnwindSpace space;
    uint64_t samples; // of this row
    uint32_t live_threads;
    bool ended;
    bool kernel_thread;
    bool in_exec; // its program has not run a user instruction yet
} Process;

typedef struct Thread {
    uint32_t tid;
    uint32_t pid;
    ThreadId id;
    bool ended;
} Thread;

// pc of a space -> frame, direct-mapped.
typedef struct FrameCacheEntry {
    uint64_t pc;
    uint64_t generation; // of the space; 0: empty
    FrameId frame;
    uint32_t flags;
} FrameCacheEntry;

// The last stack of a thread, outermost first: most of the next one is equal.
typedef struct StackMemo {
    uint32_t count;
    uint32_t frame[STACK_MEMO_FRAMES];
    StackId stack[STACK_MEMO_FRAMES];
} StackMemo;

typedef struct GroupCount { // last value of a counter that is read with its leader
    uint64_t id;
    uint32_t tid;
    uint64_t value;
} GroupCount;

typedef struct Consumer {
    Arena arena;
    Profile *profile;
    const EventSet *events;
    ModuleSet modules;
    int64_t start_ns;
    MetricId *metrics; // by event
    Vec(Process *) processes;
    Vec(Thread) threads;
    Table by_pid, by_tid;
    UnwindCache cache;
    FrameCacheEntry frame_cache[FRAME_CACHE_SIZE];
    StackMemo memo[STACK_MEMO_SLOTS];
    PerfSample sample;
    UnwindFrame walked[CONSUME_FRAMES_MAX];
    FrameId frames[CONSUME_FRAMES_MAX + 256]; // innermost first
    Vec(GroupCount) group_counts;
    Table by_group_count;
    // Counted on the way.
    uint64_t samples;
    uint64_t with_stack; // samples whose user part was asked for
    uint64_t complete;
    uint64_t frames_walked;
    uint64_t throttled;
    uint64_t lost_records; // as LOST records tell
    uint64_t malformed;
    uint64_t duplicates;    // samples that another event of the same thread took too
    uint64_t last_event_ns; // time of the last sample
    int64_t unwind_ns;
} Consumer;

void consumer_init(Consumer *c, Profile *profile, const EventSet *events, int64_t start_ns);
void consumer_deinit(Consumer *c);

// Applies one record.
void consumer_record(Consumer *c, Bytes record);
// A look at a record when it arrives, before its turn: opens the files it names.
void consumer_peek(Consumer *c, Bytes record);

// A process that was there before the recording: its maps, threads and names
// from /proc. False when it is gone.
bool consumer_add_existing(Consumer *c, uint32_t pid);
// Processes that started in the recording and did not end in it.
uint32_t consumer_running(const Consumer *c);

#endif // COLLECT_SAMPLING_CONSUME_INTERNAL_H
