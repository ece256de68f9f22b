// SPDX-License-Identifier: Apache-2.0
// Probes whose hits a BPF program copies, with registers and stack, into the rings: one event for
// each place instead of one for each place and CPU, and no more of the stack than is in use
// (docs/decisions/0322). Without the rights for BPF the kernel's own samples are used.

#ifndef COLLECT_SAMPLING_HIT_COPIES_INTERNAL_H
#define COLLECT_SAMPLING_HIT_COPIES_INTERNAL_H

#include "collect/sampling/events_internal.h"

// Loads the program for the events of `set`, of which nothing may be open yet. `periods` are those
// of events_fixed_period, borrowed until hit_copies_close, which closes it. NULL with the reason
// when this process may not, or the kernel or the recording cannot.
HitCopies *hit_copies_load(const EventSet *set, const uint64_t *periods, Error *err);
// Sets the program at the probes and directs its output to the rings of `set`, which must be open.
// Nothing is copied yet. `attr` and `ids`, one for each ring, are for events_add_outputs. False
// with the reason.
bool hit_copies_start(const EventSet *set, HitCopies *h, struct perf_event_attr *attr,
                      const uint64_t **ids, Error *err);
void hit_copies_close(HitCopies *h); // accepts NULL

// Tells the program whose hits count: those of the processes, or of the threads that the options
// name. Later children of the processes are added by the program.
void hit_copies_begin(HitCopies *h, pid_t child, const U32Vec *pids);
void hit_copies_enable(HitCopies *h, bool is_on);
// The cost of one hit, measured on a function of assay. Call it between hit_copies_start and
// hit_copies_begin.
ProbeCost hit_copies_cost(const EventSet *set, HitCopies *h);

// A copied hit.
typedef struct CopiedHit {
    uint32_t event; // index into EventSet.events
    uint32_t tid;
    uint64_t sp;
    uint32_t bytes;
    bool is_whole; // as many bytes as were wanted
    bool by_base;
} CopiedHit;
typedef enum HitRecord {
    HIT_RECORD_NONE,   // the record is no copied hit
    HIT_RECORD_COPIED, // the sample in it becomes one as the kernel would have written
    HIT_RECORD_OWN,    // of hit_copies_cost: it does not count
    HIT_RECORD_BROKEN,
} HitRecord;
// Takes the record of a sample, when it is a copied hit. `h` may be NULL.
HitRecord hit_copies_take(const HitCopies *h, PerfRecord *r, CopiedHit *ret);
// Learns from a hit how much of the stack must be copied. `stack_bytes` were in use up to the
// outermost frame; 0: that was not reached in the copy. `is_short`: the copy ended before the stack
// did.
void hit_copies_see(HitCopies *h, const EventSet *set, const CopiedHit *hit, uint64_t stack_bytes,
                    bool is_short);

// Hits that have no record; of these, those whose loss no record of perf says.
uint64_t hit_copies_lost(const HitCopies *h, uint64_t *ret_unsaid);
// Processes whose hits are missing because the table was full.
uint64_t hit_copies_left_out(const HitCopies *h);

#endif // COLLECT_SAMPLING_HIT_COPIES_INTERNAL_H
