// SPDX-License-Identifier: Apache-2.0
// Adds up processor time and waits within calls, by stack.

#include "analyse/calls/slow_picture.h"

typedef struct Painter {
    Profile *p;
    SlowPicture *picture;
    SlowSpans spans;
    double scale; // of fast calls
    FrameId frames[WAIT_CLASS_COUNT];
    FrameId off_cpu;
} Painter;

static FrameId class_frame(Profile *p, const char *class)
{
    StrBuf name = {0};
    strbuf_printf(&name, "[%s]", class);
    FunctionId function = profile_function(p, strbuf_str(&name), strbuf_str(&name), STR(""), 0);
    strbuf_deinit(&name);
    return profile_named_frame(p, (ModuleId){0}, 0, function, profile_str(p, STR("")), 0,
                               FRAME_EXACT);
}

// One sample for a part of a call.
static void add_part(Painter *d, const SlowSpan *span, StackId stack, double ns)
{
    double time = span->is_slow ? ns : ns * d->scale;
    if (!(time >= 1 && time < 9e18)) // a damaged file's
        return;
    size_t row =
        profile_add_sample(d->p, TIME_NONE, (ThreadId){span->thread}, stack, SAMPLE_CPU_NONE);
    profile_sample_set(d->p, row, span->is_slow ? d->picture->slow : d->picture->fast,
                       (int64_t)time);
}

// Adds the processor time; returns how much each call has of it, [span].
static double *add_samples(Painter *d)
{
    double *computed = heap_alloc((d->spans.len + 1) * sizeof(*computed));
    size_t rows = d->p->samples.stack.len;
    for (size_t i = 0; d->p->samples.value_columns && i < rows; i++) {
        const Samples *s = &d->p->samples; // rows are added on the way
        int64_t time = s->time_ns.at[i];
        uint32_t thread = s->thread.at[i].v;
        double ns = slow_sample_ns(d->p, (MetricId){0}, s->values[0].at[i]);
        size_t span = slow_span_after(&d->spans, thread, time);
        if (time == TIME_NONE || ns <= 0 || span == d->spans.len ||
            d->spans.at[span].thread != thread || d->spans.at[span].begin > time ||
            !slow_span_has(d->p, &d->spans.at[span], s->stack.at[i]))
            continue;
        computed[span] += ns;
        d->picture->sample_ns = ns;
        add_part(d, &d->spans.at[span], s->stack.at[i], ns);
    }
    return computed;
}

static void add_interval(Painter *d, uint32_t thread, int64_t from, int64_t to, StackId stack)
{
    for (size_t i = slow_span_after(&d->spans, thread, from); i < d->spans.len; i++) {
        const SlowSpan *s = &d->spans.at[i];
        if (s->thread != thread || s->begin >= to)
            return;
        if (slow_span_has(d->p, s, stack))
            add_part(d, s, stack, (double)MIN(s->end, to) - (double)MAX(s->begin, from));
    }
}

static void add_states(Painter *d)
{
    const States *s = &d->p->states;
    for (size_t i = 0; i < s->thread.len; i++) {
        uint32_t number = s->state.at[i]; // of a later version: unknown ones
        WaitClass class = number < WAIT_CLASS_COUNT ? (WaitClass)number : WAIT_OTHER;
        uint32_t thread = s->thread.at[i].v;
        int64_t start = s->start_ns.at[i], woken = s->woken_ns.at[i], end = s->end_ns.at[i];
        StackId stack = s->stack.at[i], queue = stack; // says that it waits for a processor
        if (class != WAIT_RUNNABLE) {
            add_interval(d, thread, start, woken, profile_stack(d->p, stack, d->frames[class]));
            queue = profile_stack(d->p, stack, d->frames[WAIT_RUNNABLE]);
        }
        add_interval(d, thread, woken, end, queue);
    }
}

// Without waits: the time that no sample accounts for, below the called function.
static void add_rest(Painter *d, const double *computed, FrameId called)
{
    StackId stack = profile_stack(d->p, profile_stack(d->p, (StackId){0}, called), d->off_cpu);
    for (size_t i = 0; i < d->spans.len; i++) {
        const SlowSpan *s = &d->spans.at[i];
        add_part(d, s, stack, (double)s->end - (double)s->begin - computed[i]);
    }
}

static void paint(Painter *d, FrameId called)
{
    Profile *p = d->p;
    d->picture->slow =
        profile_add_metric(p, STR("time of slow calls"), STR("ns"), METRIC_SUM, STR("slow calls"));
    d->picture->fast =
        profile_add_metric(p, STR("time of fast calls"), STR("ns"), METRIC_SUM, STR("fast calls"));
    for (int c = 0; c < WAIT_CLASS_COUNT; c++)
        d->frames[c] = class_frame(p, wait_class_name((WaitClass)c));
    d->off_cpu = class_frame(p, "off the processor");
    double *computed = add_samples(d);
    if (p->waits.thread.len)
        add_states(d);
    else
        add_rest(d, computed, called);
    d->picture->fast_sample_ns = d->picture->sample_ns * d->scale;
    heap_free(computed);
}

static bool is_wanted(const Profile *p, const CallSummary *s, Str function)
{
    return function.len == 0 ||
           str_equal(profile_text(p, p->functions.name.at[s->name.v]), function);
}

bool slow_picture_prepare(Profile *p, const SlowLimit *limit, Str function, SlowPicture *ret)
{
    CallSummaries all = call_summaries(p);
    bool found = false;
    for (size_t i = 0; i < all.len && !found; i++) {
        if (!is_wanted(p, &all.at[i], function))
            continue;
        *ret = (SlowPicture){.function = all.at[i].name};
        Painter d = {.p = p, .picture = ret, .spans = slow_spans(p, &all.at[i], limit)};
        for (size_t s = 0; s < d.spans.len; s++)
            ret->slow_calls += d.spans.at[s].is_slow;
        ret->fast_calls = d.spans.len - ret->slow_calls;
        found = ret->slow_calls && ret->fast_calls;
        if (found) {
            d.scale = (double)ret->slow_calls / (double)ret->fast_calls;
            paint(&d, all.at[i].frame);
        }
        vec_free(&d.spans);
    }
    call_summaries_free(&all);
    return found;
}
