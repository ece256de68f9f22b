// SPDX-License-Identifier: Apache-2.0
// Computes and prints the truth line.

#include "analyse/truth.h"

#include "analyse/flat.h"
#include "model/facts.h"

#include <math.h>

static double fact_hz(const Profile *p, Str key)
{
    double hz;
    return str_parse_double(profile_fact(p, key), &hz) && isfinite(hz) && hz > 0 ? hz : 0;
}

// Whether an event's modifiers leave the kernel out, with u and without k: "cycles:u",
// "cpu-clock:Pu".
static bool event_is_user_only(Str event)
{
    size_t colon = str_find_last_char(event, ':');
    if (colon == SIZE_MAX)
        return false;
    Str modifiers = str_slice(event, colon + 1, event.len);
    for (size_t i = 0; i < modifiers.len; i++)
        if (!strchr("ukpPhGHSDWe", modifiers.ptr[i]))
            return false; // the colon of a tracepoint, "sys:name"
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
    (void)profile_fact_u64(p, STR(FACT_PROBE_HIT_NS), &t->probe_hit_ns);
    (void)profile_fact_u64(p, STR(FACT_PROBE_COLD_NS), &t->probe_cold_ns);
    uint64_t with_stack = 0;
    for (size_t i = 0; i < STACK_CUT_COUNT; i++) {
        t->cut[i] = w->cut_samples[i];
        with_stack += w->cut_samples[i];
    }
    // Frame pointers and branch records may skip callers without a sign, so that the share is not
    // known.
    bool tables = t->stack_mode.len == 0 || str_equal(t->stack_mode, STR("tables"));
    t->complete_percent = tables ? share_or_nan(t->cut[STACK_CUT_NONE], with_stack) : NAN;
    t->kernel_percent = share_or_nan(w->kernel_value, w->value);
    t->unnamed_percent = share_or_nan(w->unnamed_value, w->value);
    // The event of the metric says more than the main event of the recording.
    if (w->selection.metric.v < p->metrics.event.len) {
        Str event = profile_text(p, p->metrics.event.at[w->selection.metric.v]);
        if (event.len)
            t->event = event;
    }
    t->user_only = event_is_user_only(t->event);
    if (str_equal(t->event, STR(EVENT_PTRACE)) || str_equal(t->event, STR(EVENT_TIMERS)))
        t->kernel_percent = NAN;
    // Formats without times have a row for each stack, not for each sample.
    t->aggregated = str_starts_with(profile_fact(p, STR(FACT_COLLECTOR)), STR("import ")) &&
                    p->samples.time_ns.len && p->samples.time_ns.at[0] == TIME_NONE;
    t->sampled = !str_equal(profile_fact(p, STR(FACT_COLLECTOR)), STR("heap")) &&
                 !str_equal(profile_fact(p, STR(FACT_COLLECTOR)), STR("cover"));
    t->sampled |= str_equal(t->event, STR(EVENT_TIMERS));
}

// ---- In words ------------------------------------------------------------------

static void add_part(StrBuf *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add_part(StrBuf *out, const char *fmt, ...)
{
    if (out->len)
        strbuf_add(out, STR(" · "));
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(out, fmt, args);
    va_end(args);
}

static void add_text_part(StrBuf *out, Str text)
{
    if (text.len == 0)
        return;
    if (out->len)
        strbuf_add(out, STR(" · "));
    strbuf_add(out, text);
}

static void add_complete(const Truth *t, StrBuf *out)
{
    if (isnan(t->complete_percent)) {
        bool some = t->kept > t->without_stack && !str_equal(t->stack_mode, STR("none"));
        if (t->kept && some)
            add_part(out, "stacks by %" STR_FMT ", which may skip callers", STR_ARG(t->stack_mode));
        else if (t->kept)
            add_part(out, "no stacks recorded");
        return;
    }
    uint64_t cut = 0, with_stack = t->cut[STACK_CUT_NONE];
    for (int i = STACK_CUT_NONE + 1; i < STACK_CUT_COUNT; i++) {
        cut += t->cut[i];
        with_stack += t->cut[i];
    }
    if (cut == 0) {
        add_part(out, "all stacks complete");
        return;
    }
    // It must not read "100.0 %" while some stacks are cut.
    add_part(out, "%.1f%% of stacks complete", MIN(t->complete_percent, 99.9));
    if (t->cut[STACK_CUT_GAP])
        strbuf_printf(out, ", %.1f%% more reach their outermost call over a marked gap: %.1f%%",
                      MAX(percent_of(t->cut[STACK_CUT_GAP], with_stack), 0.1),
                      percent_of(with_stack - cut + t->cut[STACK_CUT_GAP], with_stack));
    if (cut == t->cut[STACK_CUT_GAP])
        return;
    strbuf_add(out, STR(" ("));
    const char *before = "";
    for (int i = STACK_CUT_NONE + 1; i < STACK_CUT_COUNT; i++) {
        if (t->cut[i] == 0 || i == STACK_CUT_GAP)
            continue;
        double share = percent_of(t->cut[i], with_stack);
        strbuf_printf(out, "%s%s %s%.1f%%", before, stack_cut_name((StackCut)i),
                      share < 0.05 ? "<" : "", MAX(share, 0.1));
        before = ", ";
    }
    strbuf_add_char(out, ')');
}

void truth_add_text(const Truth *t, StrBuf *out)
{
    add_text_part(out, t->event);
    if (t->user_only)
        add_part(out, "user code only");
    if (t->outside)
        add_part(out, "%.1f%% of all samples selected", percent_of(t->kept, t->kept + t->outside));
    if (t->lost_known)
        add_part(out, "%llu lost", (unsigned long long)t->lost);
    else if (t->sampled)
        add_part(out, "lost samples not known");
    if (t->throttled_known && t->throttled)
        add_part(out, "%llu time%s throttled", (unsigned long long)t->throttled,
                 plural_s(t->throttled));
    add_complete(t, out);
    double hit_us = (double)t->probe_hit_ns / 1e3, cold_us = (double)t->probe_cold_ns / 1e3;
    if (t->probe_cold_ns)
        add_part(out, "a hit costs %.1f µs in a loop, %.1f µs or more with cold caches", hit_us,
                 cold_us);
    else if (t->probe_hit_ns)
        add_part(out, "a hit costs %.1f µs", hit_us);
    if (t->asked_hz > 0 && t->obtained_hz > 0)
        add_part(out, "%.0f Hz asked, %.0f obtained", t->asked_hz, t->obtained_hz);
    else if (t->asked_hz > 0)
        add_part(out, "%.0f Hz asked", t->asked_hz);
    if (!t->user_only && !isnan(t->kernel_percent) && t->kernel_percent >= 0.05)
        add_part(out, "%.1f%% in the kernel", t->kernel_percent);
    if (!isnan(t->unnamed_percent) && t->unnamed_percent >= 0.05)
        add_part(out, "%.1f%% without symbols", t->unnamed_percent);
    if (truth_few_samples(t))
        add_part(out, "only %llu sample%s", (unsigned long long)t->kept, plural_s(t->kept));
    add_text_part(out, t->fallback);
    add_text_part(out, t->incomplete);
}
