// SPDX-License-Identifier: Apache-2.0
// What the BPF program at the entries and returns of functions shares with the recorder. Compiled
// for BPF, too.

#ifndef WIRE_CALLS_H
#define WIRE_CALLS_H

#include "wire/process_set.h"

enum {
    CALL_REGS = 15, // the first words of struct pt_regs on x86-64: r15 … di
};

// The cookie of a place: its number, and these.
#define CALL_IS_RETURN  (1ull << 32)
#define CALL_TAKES_REGS (1ull << 33) // its arguments are wanted
#define CALL_IS_HIDDEN  (1ull << 35) // the kernel replaces the return address of the call
#define CALL_IS_GO      (1ull << 34) // the register r14 names the goroutine
// Where a goroutine has its number, in bytes from its address on; 16 bits, 0: not known.
#define CALL_GOID_SHIFT 40
#define CALL_GOID_MASK  0xffffull

// Constants of the program.
typedef struct CallConfig {
    uint32_t task_tgid; // offset in struct task_struct
    uint32_t every;     // process of the machine is recorded
    uint32_t inherit;   // processes that recorded ones make are recorded, too
    uint32_t has_group; // sched_process_exit says whether the thread is the last of its process
} CallConfig;

typedef struct CallShared {
    ProcessSet processes; // that are recorded
    uint64_t hits;
    uint64_t lost; // without room in a ring
} CallShared;

// What is written at a hit. Time, process and thread are those of the record around it.
typedef struct CallRecord {
    uint64_t cookie;
    uint64_t sp;
    uint64_t goroutine;       // its address; 0: the thread
    uint64_t goroutine_id;    // its number; 0: not known
    uint64_t result;          // the register ax
    uint64_t return_address;  // with CALL_IS_HIDDEN: before it is replaced; 0: not read
    uint64_t regs[CALL_REGS]; // with CALL_TAKES_REGS
} CallRecord;

#endif // WIRE_CALLS_H
