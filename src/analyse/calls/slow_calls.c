// SPDX-License-Identifier: Apache-2.0
// Slow calls beside fast ones.

#include "analyse/calls/slow_calls.h"

#include <math.h>
#include <stdlib.h>

#include "base/table.h"
#include "model/facts.h"
#include "stats/distributions.h"

#define LEVEL        0.95 // of all intervals together
#define LEAST_SHARE  0.01 // of the time of slow calls, that a cause must have
#define CALLS_FOR_IT 3    // a cause in fewer slow calls is chance, unless there are fewer

// What one cause took of one call.
typedef struct Part {
    uint32_t cause, span;
    double ns;
} Part;

typedef struct CauseKey {
    uint32_t kind, state, object, function;
} CauseKey;

typedef struct Judging {
    const Profile *p;
    SlowSpans spans;
    Vec(Part) parts;
    Table by_part;
    Vec(CauseKey) keys;
    Table by_key;
    SlowCalls *ret;
} Judging;

bool slow_limit_parse(Str text, SlowLimit *ret, Error *err)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    Str t = str_trim(text);
    double v;
    if (str_ends_with(t, STR("%")) && str_parse_double(str_slice(t, 0, t.len - 1), &v) && v > 0 &&
        v < 100) {
        *ret = (SlowLimit){.part = v / 100};
        return true;
    }
    Str number = str_starts_with(t, STR(">")) ? str_trim(str_slice(t, 1, t.len)) : STR("");
    for (size_t i = 0; number.len && i < ARRAY_LEN(units); i++) {
        Str unit = str_from_c(units[i].name);
        if (str_ends_with(number, unit) &&
            str_parse_double(str_trim(str_slice(number, 0, number.len - unit.len)), &v) && v > 0 &&
            v * units[i].ns < 1e18) {
            *ret = (SlowLimit){.ns = (uint64_t)(v * units[i].ns)};
            return true;
        }
    }
    (void)error_set(err, ERROR_USAGE, "--slow takes 1%% or '>5ms', not '%" STR_FMT "'",
                    STR_ARG(text));
    return error_hint(
        err, "1%% selects the slowest hundredth of the calls, '>5ms' the calls that take longer "
             "(ns, us, ms, s)");
}

// ---- Spans -------------------------------------------------------------------------------

static int by_thread_and_begin(const void *a, const void *b)
{
    const SlowSpan *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end); // the outer one first
}

// Calls within calls go: a slow inner call makes its outer one slow.
static SlowSpans make_spans(const Profile *p, const CallSummary *s, const uint8_t *is_slow,
                            size_t *left_out)
{
    const Calls *c = &p->calls;
    SlowSpans spans = {0};
    for (size_t i = 0; i < s->rows.len; i++) {
        uint32_t row = s->rows.at[i];
        vec_push(NULL, &spans,
                 (SlowSpan){c->thread.at[row].v, c->begin_ns.at[row], c->end_ns.at[row], is_slow[i],
                            row, call_goroutine(p, row)});
    }
    if (spans.len)
        qsort(spans.at, spans.len, sizeof(spans.at[0]), by_thread_and_begin);
    size_t kept = 0;
    for (size_t i = 0; i < spans.len; i++) {
        const SlowSpan *before = kept ? &spans.at[kept - 1] : NULL;
        if (before && before->thread == spans.at[i].thread && spans.at[i].begin < before->end) {
            *left_out += before->goroutine != spans.at[i].goroutine;
            continue;
        }
        spans.at[kept++] = spans.at[i];
    }
    spans.len = kept;
    return spans;
}

static uint8_t *label_rows(const Profile *p, const CallSummary *s, const SlowLimit *limit)
{
    uint8_t *is_slow = heap_alloc(s->rows.len + 1);
    size_t slow = (size_t)ceil(limit->part * (double)s->rows.len);
    for (size_t i = 0; i < s->rows.len; i++)
        is_slow[i] = limit->part > 0 ? i >= s->rows.len - slow
                                     : call_duration_ns(p, s->rows.at[i]) > (int64_t)limit->ns;
    return is_slow;
}

SlowSpans slow_spans(const Profile *p, const CallSummary *s, const SlowLimit *limit)
{
    uint8_t *is_slow = label_rows(p, s, limit);
    size_t left_out = 0;
    SlowSpans spans = make_spans(p, s, is_slow, &left_out);
    heap_free(is_slow);
    return spans;
}

bool slow_span_has(const Profile *p, const SlowSpan *span, StackId stack)
{
    return span->goroutine == 0 || call_holds_stack(p, span->call, stack);
}

size_t slow_span_after(const SlowSpans *spans, uint32_t thread, int64_t time)
{
    size_t low = 0, high = spans->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const SlowSpan *s = &spans->at[middle];
        if (s->thread < thread || (s->thread == thread && s->end <= time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ---- Parts -------------------------------------------------------------------------------

static uint32_t need_cause(Judging *j, CauseKey key, WaitPlace place)
{
    uint64_t hash =
        hash_pair((uint64_t)key.kind << 40 | (uint64_t)key.state << 32 | key.object, key.function);
    uint32_t row;
    for (TableProbe t = table_probe(&j->by_key, hash); table_next(&j->by_key, &t, &row);)
        if (memcmp(&j->keys.at[row], &key, sizeof(key)) == 0)
            return row;
    table_insert(&j->by_key, hash, (uint32_t)j->keys.len);
    vec_push(NULL, &j->keys, key);
    vec_push(NULL, &j->ret->causes,
             (SlowCause){.kind = (SlowKind)key.kind,
                         .state = (WaitClass)key.state,
                         .object = {key.object},
                         .place = place});
    return (uint32_t)j->keys.len - 1;
}

static void add_part(Judging *j, uint32_t cause, size_t span, double ns)
{
    uint64_t hash = hash_pair(cause, span);
    uint32_t row;
    for (TableProbe t = table_probe(&j->by_part, hash); table_next(&j->by_part, &t, &row);)
        if (j->parts.at[row].cause == cause && j->parts.at[row].span == span) {
            j->parts.at[row].ns += ns;
            return;
        }
    table_insert(&j->by_part, hash, (uint32_t)j->parts.len);
    vec_push(NULL, &j->parts, (Part){cause, (uint32_t)span, ns});
}

static uint32_t function_of(const Profile *p, WaitPlace place)
{
    FunctionId f = p->frames.function.at[place.frame.v];
    return f.v ? f.v : place.frame.v | 1u << 31;
}

// Of events that are no clock, a sample is the part of a second that the rate says.
double slow_sample_ns(const Profile *p, MetricId metric, int64_t value)
{
    double rate;
    if (str_equal(profile_text(p, p->metrics.unit.at[metric.v]), STR("ns")))
        return (double)value;
    if (!str_parse_double(profile_fact(p, STR(FACT_RATE_OBTAINED)), &rate) || rate <= 0)
        return 0;
    return value ? 1e9 / rate : 0;
}

static void add_samples(Judging *j)
{
    const Samples *s = &j->p->samples;
    MetricId metric = {0};
    for (size_t i = 0; s->value_columns && i < s->stack.len; i++) {
        int64_t time = s->time_ns.at[i];
        size_t span = slow_span_after(&j->spans, s->thread.at[i].v, time);
        double ns = slow_sample_ns(j->p, metric, s->values[metric.v].at[i]);
        if (time == TIME_NONE || ns <= 0 || span == j->spans.len ||
            j->spans.at[span].thread != s->thread.at[i].v || j->spans.at[span].begin > time ||
            !slow_span_has(j->p, &j->spans.at[span], s->stack.at[i]))
            continue;
        WaitPlace place = wait_place(j->p, s->stack.at[i]);
        uint32_t cause = need_cause(j, (CauseKey){SLOW_CPU, 0, 0, function_of(j->p, place)}, place);
        add_part(j, cause, span, ns);
    }
}

// Adds what an interval has in common with the calls of its thread.
static void add_interval(Judging *j, uint32_t thread, int64_t from, int64_t to, CauseKey key,
                         WaitPlace place, StackId stack)
{
    for (size_t i = slow_span_after(&j->spans, thread, from); i < j->spans.len; i++) {
        const SlowSpan *s = &j->spans.at[i];
        if (s->thread != thread || s->begin >= to)
            return;
        int64_t ns = MIN(s->end, to) - MAX(s->begin, from);
        if (ns > 0 && slow_span_has(j->p, s, stack))
            add_part(j, need_cause(j, key, place), i, (double)ns);
    }
}

static void add_states(Judging *j)
{
    const States *s = &j->p->states;
    for (size_t i = 0; i < s->thread.len; i++) {
        uint32_t thread = s->thread.at[i].v;
        CauseKey queue = {SLOW_RUN_QUEUE, 0, 0, 0};
        if (s->state.at[i] != WAIT_RUNNABLE) {
            WaitPlace place = wait_own_place(j->p, s->stack.at[i]);
            CauseKey key = {SLOW_WAIT, s->state.at[i], s->object.at[i].v, function_of(j->p, place)};
            add_interval(j, thread, s->start_ns.at[i], s->woken_ns.at[i], key, place,
                         s->stack.at[i]);
        }
        add_interval(j, thread, s->woken_ns.at[i], s->end_ns.at[i], queue, (WaitPlace){{0}, {0}, 0},
                     s->stack.at[i]);
    }
}

// What samples do not account for, without waits; and what is not seen of goroutines.
static void add_rest(Judging *j)
{
    double *known = heap_alloc(j->spans.len * sizeof(*known) + 1);
    for (size_t i = 0; i < j->parts.len; i++)
        known[j->parts.at[i].span] += j->parts.at[i].ns;
    for (size_t i = 0; i < j->spans.len; i++) {
        const SlowSpan *s = &j->spans.at[i];
        double rest = (double)(s->end - s->begin) - known[i];
        CauseKey key = {s->goroutine ? SLOW_PARKED : SLOW_OFF_CPU, 0, 0, 0};
        if (rest > 0 && (s->goroutine || !j->ret->has_waits))
            add_part(j, need_cause(j, key, (WaitPlace){{0}, {0}, 0}), i, rest);
    }
    heap_free(known);
}

// ---- Judging -----------------------------------------------------------------------------

typedef struct Sums {
    double sum[2], squares[2]; // [is_slow]
    size_t count[2];
} Sums;

static double variance_of_mean(const Sums *s, int slow, size_t n)
{
    if (n < 2)
        return INFINITY;
    double mean = s->sum[slow] / (double)n;
    double v = (s->squares[slow] - mean * s->sum[slow]) / (double)(n - 1);
    return MAX(v, 0) / (double)n;
}

// The probability that so many slow calls have a cause by chance.
static double chance_of_presence(const SlowCalls *all, const Sums *s)
{
    double pooled = (double)(s->count[0] + s->count[1]) / (double)(all->slow + all->fast);
    return 1 - binomial_cdf((int64_t)s->count[1] - 1, all->slow, pooled);
}

// Two tests share the error probability: of the means, and of how many calls have the cause, which
// is the sharper one for seldom ones.
static void judge_cause(const SlowCalls *all, const Sums *s, SlowCause *c)
{
    c->slow_ns = s->sum[1] / (double)all->slow;
    c->fast_ns = s->sum[0] / (double)all->fast;
    c->in_slow = (double)s->count[1] / (double)all->slow;
    c->in_fast = (double)s->count[0] / (double)all->fast;
    double d = c->slow_ns - c->fast_ns;
    double deviation = sqrt(variance_of_mean(s, 1, all->slow) + variance_of_mean(s, 0, all->fast));
    double tail = (1 - LEVEL) / 2 / (double)all->causes.len;
    double t = all->slow > 1 ? student_quantile(1 - tail, (double)all->slow - 1) : INFINITY;
    double width = deviation > 0 ? t * deviation : 0;
    c->difference = (Interval){d - width, d, d + width};
    bool differs = c->difference.low > 0 || chance_of_presence(all, s) < tail;
    c->is_certain = differs && d >= LEAST_SHARE * all->slow_ns &&
                    s->count[1] >= MIN((size_t)CALLS_FOR_IT, all->slow);
}

static int by_difference(const void *a, const void *b)
{
    const SlowCause *x = a, *y = b;
    if (x->is_certain != y->is_certain)
        return x->is_certain ? -1 : 1;
    if (x->difference.point != y->difference.point)
        return x->difference.point < y->difference.point ? 1 : -1;
    return (x->place.frame.v > y->place.frame.v) - (x->place.frame.v < y->place.frame.v);
}

static void judge(Judging *j)
{
    SlowCalls *r = j->ret;
    double total = 0, accounted = 0;
    Sums *sums = heap_alloc(r->causes.len * sizeof(*sums) + 1);
    for (size_t i = 0; i < j->parts.len; i++) {
        const Part *part = &j->parts.at[i];
        int slow = j->spans.at[part->span].is_slow;
        Sums *s = &sums[part->cause];
        s->sum[slow] += part->ns;
        s->squares[slow] += part->ns * part->ns;
        s->count[slow]++;
        accounted += slow ? part->ns : 0;
    }
    total = r->slow_ns * (double)r->slow;
    r->explained = total > 0 ? MAX(1 - fabs(total - accounted) / total, 0) : 0;
    for (size_t i = 0; i < r->causes.len; i++)
        judge_cause(r, &sums[i], &r->causes.at[i]);
    heap_free(sums);
    if (r->causes.len)
        qsort(r->causes.at, r->causes.len, sizeof(r->causes.at[0]), by_difference);
}

static bool count_spans(Judging *j)
{
    SlowCalls *r = j->ret;
    r->limit_ns = UINT64_MAX;
    for (size_t i = 0; i < j->spans.len; i++) {
        const SlowSpan *s = &j->spans.at[i];
        double ns = (double)(s->end - s->begin);
        if (s->is_slow) {
            int64_t tid;
            r->slow++;
            r->moved += call_value_find(j->p, s->call, STR("end_thread"), &tid);
            r->slow_ns += ns;
            r->limit_ns = MIN(r->limit_ns, (uint64_t)ns);
        } else {
            r->fast++;
            r->fast_ns += ns;
        }
    }
    r->slow_ns /= r->slow ? (double)r->slow : 1;
    r->fast_ns /= r->fast ? (double)r->fast : 1;
    return r->slow && r->fast;
}

bool slow_calls_judge(const Profile *p, const CallSummary *s, const uint8_t *is_slow,
                      SlowCalls *ret)
{
    *ret = (SlowCalls){.has_waits = profile_fact(p, STR(FACT_WAITS)).len > 0};
    Judging j = {.p = p, .ret = ret};
    j.spans = make_spans(p, s, is_slow, &ret->left_out);
    bool ok = count_spans(&j);
    if (ok) {
        add_samples(&j);
        add_states(&j);
        add_rest(&j);
        judge(&j);
    }
    vec_free(&j.spans);
    vec_free(&j.parts);
    vec_free(&j.keys);
    table_deinit(&j.by_part);
    table_deinit(&j.by_key);
    return ok;
}

bool slow_calls_compute(const Profile *p, const CallSummary *s, const SlowLimit *limit,
                        SlowCalls *ret)
{
    uint8_t *is_slow = label_rows(p, s, limit);
    bool ok = slow_calls_judge(p, s, is_slow, ret);
    heap_free(is_slow);
    return ok;
}

void slow_calls_deinit(SlowCalls *s)
{
    vec_free(&s->causes);
}
