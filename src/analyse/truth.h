// SPDX-License-Identifier: Apache-2.0
// The truth line: how reliable a recording and its selected part are. Every
// report shows it beside its numbers.

#ifndef ANALYSE_TRUTH_H
#define ANALYSE_TRUTH_H

#include "analyse/weights.h"

typedef struct Truth {
    uint64_t kept;    // samples in the selection
    uint64_t outside; // samples that the selection left out
    bool lost_known;
    uint64_t lost;
    bool throttled_known;
    uint64_t throttled;
    double complete_percent; // of the samples with a stack; NAN when none has one, or not known
    uint64_t without_stack;
    uint64_t cut[STACK_CUT_COUNT];
    double kernel_percent;  // of the value; NAN when there is no value
    double unnamed_percent; // of the value in frames without a function name
    bool user_only;         // the event left the kernel out
    bool sampled;           // values come from samples, not from exact counts
    bool aggregated;        // imported sums: the number of samples behind them is not known
    uint64_t probe_hit_ns;  // cost of a hit of the probe for the program; 0: no probe
    uint64_t probe_cold_ns; // the same where its caches are cold; 0: not measured
    double asked_hz;        // 0: not known
    double obtained_hz;
    Str event;    // "" when not known
    Str fallback; // why no better event was used; "" when this is the best
    Str stack_mode;
    Str incomplete; // why the recording has no proper end; "" when it has one
} Truth;

// Collects the facts for the samples that `w` selects. Texts borrow the profile.
void truth_init(Truth *t, const Weights *w);

// With fewer samples than this, reports show shares with their interval.
enum { TRUTH_FEW_SAMPLES = 100 };

// Whether the selection has fewer samples than that. False where values are exact or are sums.
static inline bool truth_few_samples(const Truth *t)
{
    return t->sampled && !t->aggregated && t->kept && t->kept < TRUTH_FEW_SAMPLES;
}

// Appends the truth line, parts joined by " · ": event, lost samples, complete stacks and why
// others are incomplete, rates, missing symbols, fallbacks. Unescaped.
void truth_add_text(const Truth *t, StrBuf *out);

#endif // ANALYSE_TRUTH_H
