// SPDX-License-Identifier: Apache-2.0
// Sorts the records of all rings by time.

#include "collect/sampling/order_internal.h"

void order_init(Order *o, const PerfLayout *layout, size_t rings, ChunkQueue *queue)
{
    *o = (Order){.layout = layout, .ring_count = rings, .queue = queue};
    o->rings = heap_alloc(rings * sizeof(RingBacklog));
}

void order_deinit(Order *o)
{
    for (size_t i = 0; i < o->ring_count; i++) {
        while (o->rings[i].first) {
            Chunk *c = o->rings[i].first;
            o->rings[i].first = c->next;
            queue_recycle(o->queue, c);
        }
    }
    heap_free(o->rings);
    vec_free(&o->heap);
    *o = (Order){0};
}

// The record at `at`; empty when the bytes cannot be one. The drain writes only whole records, so
// that this means that the ring itself was broken.
static Bytes record_at(const Chunk *c, uint32_t at)
{
    struct perf_event_header h;
    if (c->len - at < sizeof(h))
        return (Bytes){0};
    memcpy(&h, c->data + at, sizeof(h));
    if (h.size < sizeof(h) || h.size > c->len - at)
        return (Bytes){0};
    return bytes_over(c->data + at, h.size);
}

// ---- The heap of rings --------------------------------------------------------------

static bool before(const Order *o, uint32_t a, uint32_t b)
{
    uint64_t x = o->rings[a].time, y = o->rings[b].time;
    return x != y ? x < y : a < b;
}

static void sift_down(Order *o, size_t i)
{
    uint32_t *at = o->heap.at;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= o->heap.len)
            return;
        if (child + 1 < o->heap.len && before(o, at[child + 1], at[child]))
            child++;
        if (!before(o, at[child], at[i]))
            return;
        uint32_t swap = at[i];
        at[i] = at[child];
        at[child] = swap;
        i = child;
    }
}

static void heap_push(Order *o, uint32_t ring)
{
    vec_push(NULL, &o->heap, ring);
    size_t i = o->heap.len - 1;
    while (i > 0 && before(o, o->heap.at[i], o->heap.at[(i - 1) / 2])) {
        uint32_t swap = o->heap.at[i];
        o->heap.at[i] = o->heap.at[(i - 1) / 2];
        o->heap.at[(i - 1) / 2] = swap;
        i = (i - 1) / 2;
    }
}

// Moves a ring to its next record; false when it has none.
static bool settle_head(Order *o, RingBacklog *r)
{
    while (r->first) {
        Bytes record = record_at(r->first, r->at);
        if (record.len) {
            // Some records about problems of the kernel have no time: they keep their place.
            uint64_t time = perf_record_time(o->layout, record);
            r->time = MAX(time, r->time);
            return true;
        }
        Chunk *done = r->first;
        r->first = done->next;
        if (!r->first)
            r->last = NULL;
        r->at = 0;
        queue_recycle(o->queue, done);
    }
    return false;
}

void order_add(Order *o, Chunk *c, void (*peek)(void *ctx, Bytes record))
{
    for (uint32_t at = 0;;) {
        Bytes record = record_at(c, at);
        if (record.len == 0)
            break;
        uint64_t time = perf_record_time(o->layout, record);
        o->newest = MAX(o->newest, time);
        struct perf_event_header h;
        memcpy(&h, record.ptr, sizeof(h));
        if (h.type != PERF_RECORD_SAMPLE)
            peek(o->ctx, record);
        at += (uint32_t)record.len;
    }
    RingBacklog *r = &o->rings[c->ring];
    c->next = NULL;
    if (r->last) {
        r->last->next = c;
        r->last = c;
        return;
    }
    r->first = r->last = c;
    r->at = 0;
    if (settle_head(o, r))
        heap_push(o, c->ring);
}

static void deliver_until(Order *o, uint64_t horizon)
{
    while (o->heap.len > 0) {
        uint32_t ring = o->heap.at[0];
        RingBacklog *r = &o->rings[ring];
        if (r->time > horizon)
            return;
        Bytes record = record_at(r->first, r->at);
        o->deliver(o->ctx, record);
        r->at += (uint32_t)record.len;
        if (!settle_head(o, r)) {
            uint32_t moved = vec_pop(&o->heap);
            if (o->heap.len == 0)
                return;
            o->heap.at[0] = moved;
        }
        sift_down(o, 0);
    }
}

void order_round(Order *o)
{
    deliver_until(o, o->horizon);
    o->horizon = o->newest;
}

void order_flush(Order *o)
{
    deliver_until(o, UINT64_MAX);
}
