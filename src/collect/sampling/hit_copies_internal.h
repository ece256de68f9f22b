// SPDX-License-Identifier: Apache-2.0
// Probes whose hits a BPF program copies into the rings, with registers and stack. This costs less
// than the kernel's samples: a place has one event instead of one for each CPU, and only the used
// part of the stack is copied (docs/decisions/0322). Without the rights for BPF the recorder uses
// the kernel's samples.

#ifndef COLLECT_SAMPLING_HIT_COPIES_INTERNAL_H
#define COLLECT_SAMPLING_HIT_COPIES_INTERNAL_H

#include "collect/sampling/events_internal.h"

// Loads the program for the events of `set`, none of which may be open yet. `periods` has a value
// for each event, as events_fixed_period makes it; it is borrowed until hit_copies_close. NULL, and
// the reason in `err`, if this process has no right to load programs, the kernel does not support
// it, or the recording needs samples of the kernel.
HitCopies *hit_copies_load(const EventSet *set, const uint64_t *periods, Error *err);
// Sets the program at the probes and directs its output to the rings of `set`, which must be open.
// Nothing is copied before hit_copies_enable. `attr` and `ids`, one id for each ring, describe the
// output for events_add_outputs; `ids` belong to `h`. False, and the reason in `err`, on failure;
// then call hit_copies_close.
bool hit_copies_start(const EventSet *set, HitCopies *h, struct perf_event_attr *attr,
                      const uint64_t **ids, Error *err);
void hit_copies_close(HitCopies *h); // accepts NULL

// Tells the program which hits count: those of `child` and `pids`, or of the threads that the
// options name. The program itself adds later children of the processes.
void hit_copies_begin(HitCopies *h, pid_t child, const U32Vec *pids);
// Starts or stops the copying of hits.
void hit_copies_enable(HitCopies *h, bool is_on);
// The cost of one hit, measured on a function of assay. Call it between hit_copies_start and
// hit_copies_begin.
ProbeCost hit_copies_cost(const EventSet *set, HitCopies *h);

// A copied hit.
typedef struct CopiedHit {
    uint32_t event; // index into EventSet.events
    uint32_t tid;   // of the thread
    uint64_t sp;    // stack pointer
    uint32_t bytes; // of the stack, from `sp` upwards
    bool is_whole;  // as many bytes as were wanted
    bool by_base;   // the copy ends at the known base of the thread's stack
} CopiedHit;
typedef enum HitRecord {
    HIT_RECORD_NONE,   // the record is no copied hit
    HIT_RECORD_COPIED, // the record was changed into a sample as the kernel writes it
    HIT_RECORD_OWN,    // a hit of hit_copies_cost, which does not count
    HIT_RECORD_BROKEN, // the record is damaged
} HitRecord;
// If `r` is a copied hit, changes its sample into the kernel's form and fills `ret`. `h` may be
// NULL: then no record is a copied hit.
HitRecord hit_copies_take(const HitCopies *h, PerfRecord *r, CopiedHit *ret);
// Learns from a hit that was unwound how much of later stacks must be copied. `stack_bytes` is the
// distance from the stack pointer to the outermost frame; 0: the copy does not contain that frame.
// `is_short`: the copy ended before the stack did.
void hit_copies_see(HitCopies *h, const EventSet *set, const CopiedHit *hit, uint64_t stack_bytes,
                    bool is_short);

// The number of lost hits. `ret_unsaid`: how many of these no lost record of perf reports.
uint64_t hit_copies_lost(const HitCopies *h, uint64_t *ret_unsaid);
// The number of processes whose hits are missing because the table of processes was full.
uint64_t hit_copies_left_out(const HitCopies *h);

#endif // COLLECT_SAMPLING_HIT_COPIES_INTERNAL_H
