// SPDX-License-Identifier: Apache-2.0
// Removes the first rows of tables with times.

#include "model/forget.h"

#include "model/schema.h"

typedef struct TimedTable {
    TableId table;
    size_t end; // of the column with the time at which a row ends, in Profile
} TimedTable;

static const TimedTable timed[] = {
    {TABLE_STATES, offsetof(Profile, states.end_ns)},
    {TABLE_CALLS, offsetof(Profile, calls.end_ns)},
    {TABLE_INTERVALS, offsetof(Profile, intervals.end_ns)},
    {TABLE_SERIES, offsetof(Profile, series.time_ns)},
};

static const I64Vec *ends_of(const Profile *p, const TimedTable *t)
{
    return (const I64Vec *)(const void *)((const char *)p + t->end);
}

static size_t row_bytes(const TableSchema *t)
{
    size_t bytes = 0;
    for (size_t i = 0; i < t->column_count; i++)
        bytes += column_type_size(t->columns[i].type);
    return bytes;
}

uint64_t profile_timed_bytes(const Profile *p)
{
    const Samples *s = &p->samples;
    uint64_t bytes = s->stack.len * (row_bytes(profile_schema_find(TABLE_SAMPLES)) +
                                     s->value_columns * sizeof(int64_t));
    for (size_t i = 0; i < ARRAY_LEN(timed); i++)
        bytes += ends_of(p, &timed[i])->len * row_bytes(profile_schema_find(timed[i].table));
    return bytes + p->call_values.call.len * row_bytes(profile_schema_find(TABLE_CALL_VALUES));
}

static size_t count_before(const I64Vec *times, int64_t before_ns)
{
    size_t n = 0;
    while (n < times->len && times->at[n] < before_ns)
        n++;
    return n;
}

static void remove_first(RawVec *v, size_t size, size_t count)
{
    memmove(v->at, (char *)v->at + count * size, (v->len - count) * size);
    v->len -= count;
}

static void remove_rows(Profile *p, TableId table, size_t count)
{
    const TableSchema *t = profile_schema_find(table);
    for (size_t i = 0; count && i < t->column_count; i++)
        remove_first(column_vec(p, &t->columns[i]), column_type_size(t->columns[i].type), count);
}

static void forget_samples(Profile *p, int64_t before_ns)
{
    size_t count = count_before(&p->samples.time_ns, before_ns);
    remove_rows(p, TABLE_SAMPLES, count);
    for (size_t m = 0; count && m < p->samples.value_columns; m++)
        remove_first((RawVec *)(void *)&p->samples.values[m], sizeof(int64_t), count);
}

static void forget_values(Profile *p, uint32_t calls)
{
    CallValues *v = &p->call_values;
    size_t count = 0;
    while (count < v->call.len && v->call.at[count] < calls)
        count++;
    remove_rows(p, TABLE_CALL_VALUES, count);
    for (size_t i = 0; i < v->call.len; i++)
        v->call.at[i] -= calls;
}

void profile_forget(Profile *p, int64_t before_ns)
{
    forget_samples(p, before_ns);
    for (size_t i = 0; i < ARRAY_LEN(timed); i++) {
        size_t count = count_before(ends_of(p, &timed[i]), before_ns);
        remove_rows(p, timed[i].table, count);
        if (timed[i].table == TABLE_CALLS && count)
            forget_values(p, (uint32_t)count);
    }
}
