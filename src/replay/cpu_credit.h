// SPDX-License-Identifier: Apache-2.0
// The processor time that a sample stands for, by the kernel's records of context switches.
// A timer of the kernel begins anew with each thread, so that one that ends before its first
// period has no samples. Its time goes to a group: all threads that came about in the same way,
// told by the names from the first process down to theirs. The next sample of the group includes
// it. docs/decisions/0185-samples-weigh-processor-time.md

#ifndef REPLAY_CPU_CREDIT_H
#define REPLAY_CPU_CREDIT_H

#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"

typedef struct CreditGroup {
    uint32_t parent; // the group of the thread that made these threads; 0: not known
    StrId name;
    bool is_thread;     // of a process that has earlier threads
    uint16_t depth;     // number of parents
    uint64_t unsampled; // ns that no sample stands for yet
} CreditGroup;

// Zero-initialise, then credits_init. Times are in ns, of the clock of the records.
typedef struct CpuCredits {
    Vec(CreditGroup) groups; // heap memory; row 0: threads of an unknown origin
    Table by_origin;
    uint64_t from;        // credits count from here on; 0: they are not kept
    uint64_t stretch_max; // a thread runs no longer without a sample or a switch
    uint64_t given;       // ns that samples stand for
} CpuCredits;

// The state of one thread. Zero: nothing is known of it.
typedef struct ThreadCredit {
    uint32_t group;
    bool is_known;      // whether it runs is known
    uint64_t since;     // it runs since; 0: it does not
    uint64_t unsampled; // ns that no sample stands for yet
} ThreadCredit;

// `period_ns` is the period of the samples.
void credits_init(CpuCredits *c, uint64_t period_ns);
void credits_deinit(CpuCredits *c); // frees the groups

// The group of threads with this name that a thread of group `parent` makes.
uint32_t credits_group(CpuCredits *c, uint32_t parent, StrId name, bool is_thread);
// The thread has another name from here on: it becomes another program. `time` as below.
void credits_rename(CpuCredits *c, ThreadCredit *t, uint64_t time, StrId name);

// From `time` on samples have a value in processor time. All records of switches from then on must
// be given.
void credits_begin(CpuCredits *c, uint64_t time);
// A thread is given the processor, or loses it, at `time`.
void credits_switch(CpuCredits *c, ThreadCredit *t, uint64_t time, bool out);
// A thread ends: its time goes to its group.
void credits_end(CpuCredits *c, ThreadCredit *t, uint64_t time);
// The processor time that a sample at `time` stands for; `period` before credits begin.
uint64_t credits_take(CpuCredits *c, ThreadCredit *t, uint64_t time, uint64_t period);

// The processor time of threads that ended and of whose group no sample came afterwards.
uint64_t credits_unsampled(const CpuCredits *c);

#endif // REPLAY_CPU_CREDIT_H
