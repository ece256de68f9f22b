// SPDX-License-Identifier: Apache-2.0
// Data that the BPF program that watches the scheduler shares with the recorder: tables in shared
// memory, and records in the rings. Compiled for BPF, too.

#ifndef WIRE_WAIT_H
#define WIRE_WAIT_H

#include <stdint.h>

enum {
    // Tables are hashed by a number modulo their size, a power of two. An entry lies in one of the
    // WAIT_PROBES places from there on.
    WAIT_THREADS = 1 << 14,
    WAIT_PROCESSES = 1 << 12,
    WAIT_SUMS = 1 << 15,
    WAIT_SEEN = 1 << 16,
    WAIT_PROBES = 8,
    WAIT_SEEN_PROBES = 4,
    WAIT_CALLS = 512,      // numbers of system calls are below
    WAIT_NO_CALL = 0xffff, // asleep outside of a system call: in a page fault
    WAIT_BUCKETS = 48,     // of a histogram: two for each power of two from 1 µs on
    WAIT_BUCKET_FIRST = 9, // log2 of ns; shorter waits count in the first bucket
    WAIT_WINDOW = 4096,    // bytes of the stack that are hashed where its base is not known
    WAIT_HASH_MAX = 8192,  // … and where it is known, at most
    WAIT_DUMP_MAX = 32768, // bytes of the stack that are copied at most
    WAIT_REGS = 21,        // words of struct pt_regs on x86-64
    WAIT_PAGE = 4096,
};

// What a thread does.
enum {
    WAIT_IS_NEW,       // has not run its program yet
    WAIT_IS_RUNNING,   //
    WAIT_IS_PREEMPTED, // could run, and has no processor
    WAIT_IS_BLOCKED,   // until woken_ns, then it could run
};

// How a thread went to sleep: bits of `how`.
enum {
    WAIT_HOW_DEEP = 1 << 0,      // not to be disturbed by signals: in most cases for a disk
    WAIT_HOW_STOPPED = 1 << 1,   // by a signal or a debugger
    WAIT_HOW_PREEMPTED = 1 << 2, // it did not: another thread got its processor
};

// Who woke a thread.
enum {
    WAIT_WOKEN_NOT,       // not known
    WAIT_WOKEN_TASK,      // a thread
    WAIT_WOKEN_INTERRUPT, // a timer or a device
};

// Constants of the program. Offsets in bytes in the kernel's structures.
typedef struct WaitConfig {
    uint32_t task_pid, task_tgid, task_mm, task_flags, task_state, mm_exec_pages;
    uint32_t task_ran; // the processor time of a task in ns, as the scheduler counts it
    uint32_t regs_call, regs_sp, regs_ip;
    uint32_t regs_arg[4];
    uint32_t has_state;    // sched_switch states the state; else it is read from the task
    uint32_t every;        // thread of the machine is watched
    uint32_t inherit;      // threads that watched ones make are watched, too
    uint32_t self;         // the recorder, which `every` leaves out
    uint64_t min_wait_ns;  // shorter waits are in the sums only
    uint64_t min_waker_ns; // the stack of the waker is taken for longer waits
    uint64_t task_kthread; // PF_KTHREAD, of the flags
    // [number of a system call] 1 + the number of the argument that names the awaited object; 0:
    // none
    uint8_t object_of[WAIT_CALLS];
} WaitConfig;

typedef struct WaitThread {
    uint32_t tid; // 0: the entry is free
    uint32_t tgid;
    uint32_t state; // WAIT_IS_*
    uint32_t call;
    uint64_t since_ns; // in this state
    uint64_t woken_ns; // 0: still asleep
    uint64_t running_ns, preempted_ns, switches;
    uint64_t base; // the end of its stack; 0: not known. The recorder writes it.
    uint64_t signature, object;
    uint64_t waker_signature;
    uint32_t how;
    uint32_t sum; // 1 + the row of the wait's sum; 0: there was no room
    uint32_t waker;
    uint32_t waker_how; // WAIT_WOKEN_*
    uint32_t waker_tgid;
    uint32_t unused;
    uint64_t ran_ns; // its processor time when it was last switched out
} WaitThread;

// Where the code of a process lies: two ranges, of the program and of libraries.
typedef struct WaitProcess {
    uint32_t tgid;
    uint32_t unused;
    uint64_t exec_pages; // for which the ranges are right; else every address counts as code
    uint64_t low, low_size, high, high_size;
    uint64_t unused2[2];
} WaitProcess;

// Waits of one thread, at one stack, for one thing.
typedef struct WaitSum {
    uint32_t taken; // 0: the entry is free
    uint32_t tid;
    uint64_t signature;
    uint64_t object;
    uint32_t call;
    uint32_t how;
    uint32_t tgid;
    uint32_t count;
    uint64_t blocked_ns, runnable_ns, longest_ns;
    uint32_t buckets[WAIT_BUCKETS];
} WaitSum;

typedef struct WaitCounts {
    uint64_t switches;
    uint64_t sums;              // entries that were taken
    uint64_t no_thread;         // threads without an entry
    uint64_t no_sum;            // waits without an entry
    uint64_t no_sum_ns;         // and their time
    uint64_t dumps, lost_dumps; // stacks that were sent, and those that had no room in a ring
    uint64_t records, lost_records;
    uint64_t made_up; // switches whose event did not come
    uint64_t unread;  // stacks that could not be read
} WaitCounts;

typedef struct WaitShared {
    WaitCounts counts;
    uint64_t unused[5];
    WaitThread threads[WAIT_THREADS];
    WaitProcess processes[WAIT_PROCESSES];
    WaitSum sums[WAIT_SUMS];
    uint64_t seen[WAIT_SEEN]; // signatures whose stack was sent
} WaitShared;

// The kinds of records.
enum {
    WAIT_RECORD_DUMP = 1, // a stack that was not seen before
    WAIT_RECORD_WAIT,     // one wait
    WAIT_RECORD_FIRST,    // a thread waits for this for the first time
    WAIT_RECORD_END,      // of a thread
    WAIT_RECORD_BEGIN,    // of a thread; of the launched one, when its program is loaded
};

// The programs' own.
typedef struct WaitWork {
    uint64_t space, exec_pages, got;
    WaitProcess code;
} WaitWork;

typedef struct WaitDump {
    uint32_t kind;
    uint32_t tid, tgid;
    uint32_t size; // of the stack
    uint64_t signature;
    uint64_t exec_pages;
    uint64_t regs[WAIT_REGS];              // struct pt_regs
    uint64_t stack[WAIT_DUMP_MAX / 8 + 8]; // with room for the end of a loop
    WaitWork work;
} WaitDump;

typedef struct WaitRecord {
    uint32_t kind;
    uint32_t tid, tgid;
    uint32_t call, how;
    uint32_t waker, waker_how, waker_tgid; // of WAIT_RECORD_BEGIN: the thread that made this one
    uint64_t object, signature, waker_signature;
    uint64_t start_ns, woken_ns, end_ns;
    uint64_t running_ns, preempted_ns; // of WAIT_RECORD_END
} WaitRecord;

// The bucket of a wait (model/profile.h, wait_times). The search has a fixed number of turns, as
// the kernel asks of programs.
__attribute__((always_inline)) static inline uint32_t wait_bucket_of(uint64_t ns)
{
    uint32_t log = 0;
    uint64_t left = ns;
    for (uint32_t half = 32; half; half >>= 1)
        if (left >> half) {
            log += half;
            left >>= half;
        }
    if (log < WAIT_BUCKET_FIRST)
        return 0;
    uint32_t half = (uint32_t)(ns >> ((log - 1) & 63)) & 1;
    uint32_t bucket = (log - WAIT_BUCKET_FIRST) * 2 + half;
    return bucket < WAIT_BUCKETS ? bucket : WAIT_BUCKETS - 1;
}

#endif // WIRE_WAIT_H
