// SPDX-License-Identifier: Apache-2.0
// Puts the records of a perf.data file into the order of time.
// Format: linux tools/perf/Documentation/perf.data-file-format.txt,
// PERF_RECORD_FINISHED_ROUND.

#include "perfdata/time_order.h"

// A file without rounds would be copied whole; beyond this the records so far are sorted and
// delivered.
enum { COPIES_MAX_BYTES = 256 << 20 };

void time_order_deinit(TimeOrder *o)
{
    vec_free(&o->queued);
    vec_free(&o->scratch);
    vec_free(&o->runs);
    arena_deinit(&o->copies[0]);
    arena_deinit(&o->copies[1]);
    *o = (TimeOrder){0};
}

void time_order_add(TimeOrder *o, uint64_t time, Bytes bytes, bool stay, uint32_t event)
{
    if (!stay) {
        bytes = arena_bytes(&o->copies[0], bytes);
        o->copied_bytes += bytes.len;
    }
    TimedRecord record = {time, bytes.ptr, (uint32_t)bytes.len, event};
    vec_push(NULL, &o->queued, record);
    o->newest = MAX(o->newest, time);
    if (o->copied_bytes > COPIES_MAX_BYTES)
        time_order_flush(o);
}

// ---- Sorting ---------------------------------------------------------------
// Records of one ring are in order already: a merge of a few stretches.

static void merge(const TimedRecord *a, size_t a_len, const TimedRecord *b, size_t b_len,
                  TimedRecord *out)
{
    while (a_len && b_len) {
        if (b->time < a->time) {
            *out++ = *b++;
            b_len--;
        } else {
            *out++ = *a++;
            a_len--;
        }
    }
    memcpy(out, a, a_len * sizeof(*a));
    memcpy(out + a_len, b, b_len * sizeof(*b));
}

static void find_runs(TimeOrder *o)
{
    o->runs.len = 0;
    for (size_t i = 0; i < o->queued.len; i++)
        if (i == 0 || o->queued.at[i].time < o->queued.at[i - 1].time)
            vec_push(NULL, &o->runs, i);
}

static void merge_neighbours(TimeOrder *o)
{
    const TimedRecord *from = o->queued.at;
    size_t count = o->runs.len, kept = 0;
    o->scratch.len = 0;
    vec_reserve(NULL, &o->scratch, o->queued.len);
    for (size_t i = 0; i < count; i += 2) {
        size_t start = o->runs.at[i];
        size_t middle = i + 1 < count ? o->runs.at[i + 1] : o->queued.len;
        size_t end = i + 2 < count ? o->runs.at[i + 2] : o->queued.len;
        merge(from + start, middle - start, from + middle, end - middle, o->scratch.at + start);
        o->runs.at[kept++] = start;
    }
    o->runs.len = kept;
    o->scratch.len = o->queued.len;
    TimedRecordVec swap = o->queued;
    o->queued = o->scratch;
    o->scratch = swap;
}

static void sort(TimeOrder *o)
{
    find_runs(o);
    while (o->runs.len > 1)
        merge_neighbours(o);
}

// ---- Delivering ------------------------------------------------------------

static void deliver_until(TimeOrder *o, uint64_t horizon)
{
    size_t n = 0;
    sort(o);
    for (; n < o->queued.len && o->queued.at[n].time <= horizon; n++) {
        uint64_t time = o->queued.at[n].time;
        o->late += time && time < o->delivered;
        o->delivered = MAX(o->delivered, time);
        o->deliver(o->ctx, &o->queued.at[n]);
    }
    o->queued.len -= n;
    if (n && o->queued.len)
        memmove(o->queued.at, o->queued.at + n, o->queued.len * sizeof(o->queued.at[0]));
}

void time_order_round(TimeOrder *o)
{
    deliver_until(o, o->horizon);
    o->horizon = o->newest;
    // All of the round before is delivered now; of this one something may be left.
    Arena done = o->copies[1];
    o->copied_bytes -= MIN(o->copied_bytes, done.used_bytes);
    arena_deinit(&done);
    o->copies[1] = o->copies[0];
    o->copies[0] = (Arena){0};
}

void time_order_flush(TimeOrder *o)
{
    deliver_until(o, UINT64_MAX);
    arena_deinit(&o->copies[0]);
    arena_deinit(&o->copies[1]);
    o->copied_bytes = 0;
}
