// SPDX-License-Identifier: Apache-2.0
// Recorded calls by function.

#include "analyse/calls/call_summary.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

int64_t call_duration_ns(const Profile *p, uint32_t call)
{
    return p->calls.end_ns.at[call] - p->calls.begin_ns.at[call];
}

static CallSummary *need_summary(const Profile *p, CallSummaries *s, Table *by_name, FrameId frame)
{
    FunctionId name = p->frames.function.at[frame.v];
    uint64_t hash = hash_u64(name.v ? name.v : (uint64_t)frame.v << 32);
    uint32_t row;
    for (TableProbe t = table_probe(by_name, hash); table_next(by_name, &t, &row);)
        if (s->at[row].name.v == name.v && (name.v || s->at[row].frame.v == frame.v))
            return &s->at[row];
    table_insert(by_name, hash, (uint32_t)s->len);
    vec_push(NULL, s, (CallSummary){.frame = frame, .name = name});
    return &vec_last(s);
}

static void sort_by_duration(const Profile *p, U32Vec *rows)
{
    SortRow *a = heap_alloc(2 * rows->len * sizeof(*a) + 1);
    for (size_t i = 0; i < rows->len; i++)
        a[i] = (SortRow){(uint64_t)call_duration_ns(p, rows->at[i]), rows->at[i]};
    const SortRow *sorted = sort_rows(a, a + rows->len, rows->len);
    for (size_t i = 0; i < rows->len; i++)
        rows->at[i] = sorted[i].row;
    heap_free(a);
}

static int by_total(const void *a, const void *b)
{
    const CallSummary *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return (x->frame.v > y->frame.v) - (x->frame.v < y->frame.v);
}

CallSummaries call_summaries(const Profile *p)
{
    CallSummaries all = {0};
    Table by_name = {0};
    for (uint32_t i = 0; i < p->calls.frame.len; i++) {
        CallSummary *s = need_summary(p, &all, &by_name, p->calls.frame.at[i]);
        if (p->calls.flags.at[i] & CALL_IS_OPEN) {
            s->open++;
            continue;
        }
        vec_push(NULL, &s->rows, i);
        s->total_ns += (uint64_t)MAX(call_duration_ns(p, i), (int64_t)0);
        s->late += (p->calls.flags.at[i] & CALL_ENDS_LATE) != 0;
    }
    table_deinit(&by_name);
    for (size_t i = 0; i < all.len; i++)
        sort_by_duration(p, &all.at[i].rows);
    if (all.len)
        qsort(all.at, all.len, sizeof(all.at[0]), by_total);
    return all;
}

void call_summaries_free(CallSummaries *s)
{
    for (size_t i = 0; i < s->len; i++)
        vec_free(&s->at[i].rows);
    vec_free(s);
}

uint64_t call_percentile_ns(const Profile *p, const CallSummary *s, double part)
{
    size_t rank = (size_t)ceil(part * (double)s->rows.len);
    size_t at = rank ? MIN(rank, s->rows.len) - 1 : 0;
    return (uint64_t)call_duration_ns(p, s->rows.at[at]);
}

// The number of the bucket: linear between powers of two.
static uint64_t bucket_of(uint64_t ns, uint32_t per_power)
{
    if (ns < 2)
        return 0;
    uint32_t log = 63 - (uint32_t)__builtin_clzll(ns);
    double part = ((double)ns / (double)(1ull << log) - 1) * per_power;
    return (uint64_t)log * per_power + MIN((uint64_t)part, (uint64_t)per_power - 1);
}

static uint64_t bucket_from(uint64_t bucket, uint32_t per_power)
{
    uint64_t power = 1ull << (bucket / per_power);
    return power + (uint64_t)ceil((double)power * (double)(bucket % per_power) / per_power);
}

CallBuckets call_histogram(const Profile *p, const CallSummary *s, uint32_t per_power)
{
    CallBuckets all = {0};
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i < s->rows.len; i++) {
        int64_t ns = call_duration_ns(p, s->rows.at[i]);
        uint64_t bucket = bucket_of((uint64_t)MAX(ns, (int64_t)0), per_power);
        if (bucket != last)
            vec_push(NULL, &all, (CallBucket){bucket ? bucket_from(bucket, per_power) : 0, 0});
        vec_last(&all).count++;
        last = bucket;
    }
    return all;
}

void call_name_add(const Profile *p, const CallSummary *s, StrBuf *out)
{
    if (s->name.v)
        strbuf_add(out, profile_text(p, p->functions.name.at[s->name.v]));
    else
        strbuf_printf(out, "0x%llx", (unsigned long long)p->frames.address.at[s->frame.v]);
}

size_t call_values_first(const Profile *p, uint32_t call)
{
    const U32Vec *calls = &p->call_values.call;
    size_t low = 0, high = calls->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls->at[middle] < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool call_value_find(const Profile *p, uint32_t call, Str name, int64_t *ret)
{
    const CallValues *v = &p->call_values;
    for (size_t i = call_values_first(p, call); i < v->call.len && v->call.at[i] == call; i++)
        if (str_equal(profile_text(p, v->name.at[i]), name)) {
            *ret = v->value.at[i];
            return true;
        }
    return false;
}

int64_t call_goroutine(const Profile *p, uint32_t call)
{
    int64_t number = 0;
    return call_value_find(p, call, STR("goroutine"), &number) ? number : 0;
}

bool call_holds_stack(const Profile *p, uint32_t call, StackId stack)
{
    FrameId called = p->calls.frame.at[call];
    FunctionId function = p->frames.function.at[called.v];
    for (; stack.v; stack = p->stacks.parent.at[stack.v]) {
        FrameId frame = p->stacks.frame.at[stack.v];
        if (frame.v == called.v || (function.v && p->frames.function.at[frame.v].v == function.v))
            return true;
    }
    return false;
}

void call_values_add(const Profile *p, uint32_t call, StrBuf *out)
{
    const CallValues *v = &p->call_values;
    size_t first = call_values_first(p, call);
    for (size_t i = first; i < v->call.len && v->call.at[i] == call; i++)
        strbuf_printf(out, "%s%" STR_FMT "=%lld", i > first ? " " : "",
                      STR_ARG(profile_text(p, v->name.at[i])), (long long)v->value.at[i]);
}
