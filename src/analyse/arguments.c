// SPDX-License-Identifier: Apache-2.0
// The values that arguments of probes had.

#include "analyse/arguments.h"

#include <stdlib.h>

// The bucket by powers of two that holds a value: 0; 1; 2 to 3; 4 to 7; … and the same below 0.
static ArgumentBucket bucket_of(int64_t v)
{
    if (v == 0)
        return (ArgumentBucket){0};
    uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    unsigned bits = 63u - (unsigned)__builtin_clzll(size);
    uint64_t low = 1ull << bits, high = low * 2 - 1;
    if (v > 0)
        return (ArgumentBucket){.low = (int64_t)low,
                                .high = (int64_t)MIN(high, (uint64_t)INT64_MAX)};
    return (ArgumentBucket){.low = high > INT64_MAX ? INT64_MIN : -(int64_t)high,
                            .high = bits == 63 ? INT64_MIN : -(int64_t)low};
}

static int by_low(const void *a, const void *b)
{
    const ArgumentBucket *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

// Adds to the bucket with these bounds. False when it is new and `max` buckets are there.
static bool add(Arena *arena, ArgumentBuckets *buckets, ArgumentBucket wanted, size_t max)
{
    for (size_t i = 0; i < buckets->len; i++)
        if (buckets->at[i].low == wanted.low && buckets->at[i].high == wanted.high) {
            buckets->at[i].count += wanted.count;
            return true;
        }
    if (buckets->len == max)
        return false;
    vec_push(arena, buckets, wanted);
    return true;
}

static void count_values(Arena *arena, const Profile *p, const U32Vec *rows, MetricId owner,
                         ArgumentValues *ret)
{
    const I64Vec *values = &p->samples.values[ret->metric.v];
    const I64Vec *counts = &p->samples.values[owner.v];
    ArgumentBuckets exact = {0};
    bool is_exact = true;
    double sum = 0;
    for (size_t i = 0; i < rows->len; i++) {
        int64_t v = values->at[rows->at[i]];
        uint64_t count = (uint64_t)MAX(counts->at[rows->at[i]], (int64_t)0);
        if (count == 0)
            continue;
        ret->least = ret->samples ? MIN(ret->least, v) : v;
        ret->most = ret->samples ? MAX(ret->most, v) : v;
        ret->samples++;
        ret->count += count;
        sum += (double)v * (double)count;
        ArgumentBucket one = {v, v, count}, power = bucket_of(v);
        power.count = count;
        is_exact = is_exact && add(arena, &exact, one, ARGUMENT_EXACT_MAX);
        (void)add(arena, &ret->buckets, power, SIZE_MAX);
    }
    ret->mean = ret->count ? sum / (double)ret->count : 0;
    if (is_exact)
        ret->buckets = exact;
    if (ret->buckets.len)
        qsort(ret->buckets.at, ret->buckets.len, sizeof(ret->buckets.at[0]), by_low);
}

static int by_count(const void *a, const void *b)
{
    const ArgumentBucket *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return by_low(a, b);
}

static void count_texts(Arena *arena, const Profile *p, const U32Vec *rows, MetricId owner,
                        ArgumentValues *ret)
{
    const I64Vec *values = &p->samples.values[ret->metric.v];
    const I64Vec *counts = &p->samples.values[owner.v];
    Table by_text = {0};
    ret->is_text = true;
    for (size_t i = 0; i < rows->len; i++) {
        int64_t v = values->at[rows->at[i]];
        uint64_t count = (uint64_t)MAX(counts->at[rows->at[i]], (int64_t)0);
        uint32_t row = UINT32_MAX;
        if (count == 0 || v < 0 || (uint64_t)v >= p->strings.texts.len)
            continue;
        for (TableProbe t = table_probe(&by_text, hash_u64((uint64_t)v));
             table_next(&by_text, &t, &row) && ret->buckets.at[row].low != v;)
            row = UINT32_MAX;
        if (row == UINT32_MAX) {
            row = (uint32_t)ret->buckets.len;
            table_insert(&by_text, hash_u64((uint64_t)v), row);
            vec_push(arena, &ret->buckets, ((ArgumentBucket){v, v, 0}));
        }
        ret->buckets.at[row].count += count;
        ret->samples++;
        ret->count += count;
    }
    table_deinit(&by_text);
    if (ret->buckets.len)
        qsort(ret->buckets.at, ret->buckets.len, sizeof(ret->buckets.at[0]), by_count);
    for (size_t i = ARGUMENT_TEXTS_MAX; i < ret->buckets.len; i++) {
        ret->other_texts++;
        ret->other_count += ret->buckets.at[i].count;
    }
    ret->buckets.len = MIN(ret->buckets.len, (size_t)ARGUMENT_TEXTS_MAX);
}

bool arguments_of(Arena *arena, const Report *r, ArgumentValuesVec *ret, Error *err)
{
    const Profile *p = r->profile;
    MetricId wanted = r->request.selection.metric, owner;
    *ret = (ArgumentValuesVec){0};
    if (wanted.v >= p->metrics.name.len)
        return true;
    if (metric_is_argument(p, wanted, &owner))
        wanted = owner;
    U32Vec rows = {0};
    for (uint32_t m = 0; m < p->metrics.name.len; m++) {
        if (!metric_is_argument(p, (MetricId){m}, &owner) || owner.v != wanted.v)
            continue;
        Selection s = r->request.selection;
        s.metric = wanted;
        if (ret->len == 0 && !selection_samples(p, &s, false, &rows, err))
            return false;
        ArgumentValues v = {.metric = {m}};
        if (metric_is_text(p, v.metric))
            count_texts(arena, p, &rows, wanted, &v);
        else
            count_values(arena, p, &rows, wanted, &v);
        vec_push(arena, ret, v);
    }
    vec_free(&rows);
    return true;
}
