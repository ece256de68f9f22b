// SPDX-License-Identifier: Apache-2.0
// The truth line's figures.

#include "analyse/truth.h"

#include "model/facts.h"

#include <math.h>

static double fact_hz(const Profile *p, Str key)
{
    double hz;
    return str_parse_double(profile_fact(p, key), &hz) && isfinite(hz) && hz > 0 ? hz : 0;
}

// "cycles:u", "cpu-clock:Pu": modifiers with u and without k leave the kernel out.
static bool event_is_user_only(Str event)
{
    size_t colon = str_find_last_char(event, ':');
    if (colon == SIZE_MAX)
        return false;
    Str modifiers = str_slice(event, colon + 1, event.len);
    for (size_t i = 0; i < modifiers.len; i++)
        if (!strchr("ukpPhGHSDWe", modifiers.ptr[i]))
            return false; // "sys:name" of a tracepoint
    return str_find_char(modifiers, 'u') != SIZE_MAX && str_find_char(modifiers, 'k') == SIZE_MAX;
}

static double share_or_nan(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : NAN;
}

void truth_init(Truth *t, const Weights *w)
{
    const Profile *p = w->profile;
    *t = (Truth){
        .kept = w->samples,
        .outside = w->samples_outside,
        .without_stack = w->samples_without_stack,
        .asked_hz = fact_hz(p, STR(FACT_RATE_ASKED)),
        .obtained_hz = fact_hz(p, STR(FACT_RATE_OBTAINED)),
        .event = profile_fact(p, STR(FACT_EVENT)),
        .fallback = profile_fact(p, STR(FACT_EVENT_FALLBACK)),
        .stack_mode = profile_fact(p, STR(FACT_STACK_MODE)),
        .incomplete = profile_fact(p, STR(FACT_INCOMPLETE)),
    };
    t->lost_known = profile_fact_u64(p, STR(FACT_SAMPLES_LOST), &t->lost);
    t->throttled_known = profile_fact_u64(p, STR(FACT_THROTTLED), &t->throttled);
    uint64_t with_stack = 0;
    for (size_t i = 0; i < STACK_CUT_COUNT; i++) {
        t->cut[i] = w->cut_samples[i];
        with_stack += w->cut_samples[i];
    }
    t->complete_percent = share_or_nan(t->cut[STACK_CUT_NONE], with_stack);
    t->kernel_percent = share_or_nan(w->kernel_value, w->value);
    t->unnamed_percent = share_or_nan(w->unnamed_value, w->value);
    // The metric's own event says more than the recording's main one.
    if (w->selection.metric.v < p->metrics.event.len) {
        Str event = profile_text(p, p->metrics.event.at[w->selection.metric.v]);
        if (event.len)
            t->event = event;
    }
    t->user_only = event_is_user_only(t->event);
    t->sampled = !str_equal(profile_fact(p, STR(FACT_COLLECTOR)), STR("heap")) &&
                 !str_equal(profile_fact(p, STR(FACT_COLLECTOR)), STR("cover"));
}
