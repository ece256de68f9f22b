// SPDX-License-Identifier: Apache-2.0
// Conditions are judged by sums of single seconds, so that the rows need not be kept for them.

#include "analyse/calls/when.h"

#include <stdlib.h>

#include "analyse/calls/slow_calls.h"
#include "base/strbuf.h"

enum { CALLS_LEAST = 20 }; // of a percentile

// ---- Parsing -----------------------------------------------------------------------------

static bool parse_class(Str text, WaitClass *ret)
{
    for (int i = WAIT_RUNNABLE; i < WAIT_CLASS_COUNT; i++)
        if (str_equal(text, str_from_c(wait_class_name((WaitClass)i)))) {
            *ret = (WaitClass)i;
            return true;
        }
    return false;
}

static bool parse_share(Str text, double *ret)
{
    double number;
    if (!str_ends_with(text, STR("%")) ||
        !str_parse_double(str_trim(str_slice(text, 0, text.len - 1)), &number) || !(number > 0))
        return false;
    *ret = number / 100;
    return true;
}

// p99(handle), and 20ms.
static bool parse_percentile(Str left, Str right, When *w)
{
    Str number, rest;
    double percent;
    SlowLimit limit;
    StrBuf more = {0};
    strbuf_printf(&more, ">%" STR_FMT, STR_ARG(right));
    bool ok = str_starts_with(left, STR("p")) && str_ends_with(left, STR(")")) &&
              str_split(str_slice(left, 1, left.len - 1), '(', &number, &rest) && rest.len &&
              str_parse_double(number, &percent) && percent > 0 && percent < 100 &&
              slow_limit_parse(strbuf_str(&more), &limit, NULL) && limit.ns;
    strbuf_deinit(&more);
    if (!ok)
        return false;
    w->function = rest;
    w->part = percent / 100;
    w->ns = limit.ns;
    return true;
}

bool when_parse(Str text, When *ret, Error *err)
{
    When w = {.text = text, .measure = WHEN_CALLS};
    Str left = {0}, right = {0};
    bool ok = str_split(text, '>', &left, &right);
    left = str_trim(left);
    right = str_trim(right);
    if (ok && str_equal(left, STR("cpu")))
        w.measure = WHEN_CPU;
    else if (ok && parse_class(left, &w.class))
        w.measure = WHEN_WAITS;
    ok = ok && (w.measure == WHEN_CALLS ? parse_percentile(left, right, &w)
                                        : parse_share(right, &w.part));
    if (ok) {
        *ret = w;
        return true;
    }
    (void)error_set(err, ERROR_USAGE, "--when takes a condition, not '%" STR_FMT "'",
                    STR_ARG(text));
    return error_hint(err, "write 'p99(FUNCTION) > 20ms', with --calls FUNCTION; 'cpu > 90%%'; or "
                           "'lock > 50%%', with --wait");
}

// ---- The window --------------------------------------------------------------------------

void when_window_deinit(WhenWindow *w)
{
    for (size_t i = 0; i < WHEN_WINDOW_S; i++)
        vec_free(&w->seconds[i].calls);
    *w = (WhenWindow){0};
}

void when_window_forget(WhenWindow *w)
{
    w->samples = w->states = w->calls = 0;
}

// Processor time of the idle task is none.
static uint64_t cpu_since(const Profile *p, size_t from, uint64_t sample_ns)
{
    const Samples *s = &p->samples;
    uint64_t sum = 0;
    for (size_t i = from; i < s->stack.len; i++) {
        ProcessId process = p->threads.process.at[s->thread.at[i].v];
        if (p->processes.pid.at[process.v] == 0 || s->value_columns == 0 || s->values[0].at[i] <= 0)
            continue;
        sum += sample_ns ? sample_ns : (uint64_t)s->values[0].at[i];
    }
    return sum;
}

static uint64_t waits_since(const Profile *p, size_t from, WaitClass class)
{
    const States *s = &p->states;
    int64_t sum = 0;
    for (size_t i = from; i < s->thread.len; i++) {
        // The wait for a processor comes after each other wait, too.
        if (s->state.at[i] == class && class != WAIT_RUNNABLE)
            sum += s->woken_ns.at[i] - s->start_ns.at[i];
        else if (class == WAIT_RUNNABLE)
            sum += s->end_ns.at[i] - s->woken_ns.at[i];
    }
    return (uint64_t)MAX(sum, (int64_t)0);
}

static bool is_of(const When *when, const CallPlan *calls, const Profile *p, FrameId frame)
{
    for (size_t i = 0; i < calls->functions.len; i++) {
        const CallFunction *c = &calls->functions.at[i];
        if (c->svma == p->frames.address.at[frame.v] && str_glob_match(when->function, c->name))
            return true;
    }
    return false;
}

static void take_calls(WhenSecond *second, const When *when, const Profile *p,
                       const CallPlan *calls, size_t from)
{
    const Calls *c = &p->calls;
    second->calls.len = 0;
    for (size_t i = from; i < c->frame.len; i++)
        if (is_of(when, calls, p, c->frame.at[i]))
            vec_push(NULL, &second->calls, (uint64_t)(c->end_ns.at[i] - c->begin_ns.at[i]));
}

void when_window_look(WhenWindow *w, const When *when, const Profile *p, const CallPlan *calls,
                      uint64_t sample_ns, int64_t now_ns)
{
    WhenSecond *second = &w->seconds[w->at];
    if (w->looked_ns) {
        second->span_ns = now_ns - w->looked_ns;
        if (when->measure == WHEN_CPU)
            second->ns = cpu_since(p, w->samples, sample_ns);
        else if (when->measure == WHEN_WAITS)
            second->ns = waits_since(p, w->states, when->class);
        else
            take_calls(second, when, p, calls, w->calls);
        w->at = (w->at + 1) % WHEN_WINDOW_S;
        w->count = MIN(w->count + 1, (uint32_t)WHEN_WINDOW_S);
    }
    w->looked_ns = now_ns;
    w->samples = p->samples.stack.len;
    w->states = p->states.thread.len;
    w->calls = p->calls.frame.len;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool calls_are_slow(const When *when, const WhenWindow *w)
{
    U64Vec all = {0};
    bool slow = false;
    for (size_t i = 0; i < WHEN_WINDOW_S; i++)
        for (size_t k = 0; k < w->seconds[i].calls.len; k++)
            vec_push(NULL, &all, w->seconds[i].calls.at[k]);
    if (all.len >= CALLS_LEAST) {
        qsort(all.at, all.len, sizeof(all.at[0]), by_value);
        slow = all.at[MIN((size_t)(when->part * (double)all.len), all.len - 1)] > when->ns;
    }
    vec_free(&all);
    return slow;
}

bool when_holds(const When *when, const WhenWindow *w)
{
    double sum = 0, span = 0;
    if (w->count < WHEN_WINDOW_S)
        return false;
    if (when->measure == WHEN_CALLS)
        return calls_are_slow(when, w);
    for (size_t i = 0; i < WHEN_WINDOW_S; i++) {
        sum += (double)w->seconds[i].ns;
        span += (double)w->seconds[i].span_ns;
    }
    return sum > when->part * span;
}
