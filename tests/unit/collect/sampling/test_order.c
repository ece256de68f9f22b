// SPDX-License-Identifier: Apache-2.0
// Records of several rings in the order of time.

#include "collect/sampling/order_internal.h"

#include "harness.h"

static const struct perf_event_attr attr = {
    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME,
    .sample_id_all = 1,
};

typedef struct Seen {
    uint64_t time[64];
    size_t count;
    size_t peeked;
    PerfLayout layout;
} Seen;

static void deliver(void *ctx, Bytes record)
{
    Seen *s = ctx;
    assert_true(s->count < ARRAY_LEN(s->time));
    s->time[s->count++] = perf_record_time(&s->layout, record);
}

static void peek(void *ctx, Bytes record)
{
    (void)record;
    ((Seen *)ctx)->peeked++;
}

typedef struct Wire {
    struct perf_event_header header;
    uint64_t id, time;
} Wire;

static void put(Chunk *c, uint32_t type, uint64_t time)
{
    Wire w = {.header = {.type = type, .size = sizeof(Wire)}, .id = 1, .time = time};
    if (type != PERF_RECORD_SAMPLE) { // there the time stands before the id
        w.id = time;
        w.time = 1;
    }
    memcpy(c->data + c->len, &w, sizeof(w));
    c->len += sizeof(w);
}

static Chunk *chunk(ChunkQueue *q, uint32_t ring)
{
    Chunk *c = queue_take_empty(q, true);
    c->ring = ring;
    return c;
}

static void two_rings_are_merged_across_rounds(void **state)
{
    (void)state;
    ChunkQueue q;
    Order o;
    Seen seen = {.layout = perf_layout(&attr)};
    queue_init(&q);
    order_init(&o, &seen.layout, 2, &q);
    o.deliver = deliver;
    o.ctx = &seen;

    Chunk *a = chunk(&q, 0), *b = chunk(&q, 1);
    put(a, PERF_RECORD_SAMPLE, 10);
    put(a, PERF_RECORD_SAMPLE, 30);
    put(b, PERF_RECORD_COMM, 20);
    order_add(&o, a, peek);
    order_add(&o, b, peek);
    order_round(&o);
    assert_int_equal(seen.count, 0); // a late record may still come
    assert_int_equal(seen.peeked, 1);

    a = chunk(&q, 1);
    put(a, PERF_RECORD_SAMPLE, 25); // written while ring 0 was read
    put(a, PERF_RECORD_SAMPLE, 40);
    order_add(&o, a, peek);
    order_round(&o);
    assert_int_equal(seen.count, 4); // up to 30, the newest of the round before

    order_flush(&o);
    static const uint64_t want[] = {10, 20, 25, 30, 40};
    assert_int_equal(seen.count, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_int_equal(seen.time[i], want[i]);
    order_deinit(&o);
    queue_deinit(&q);
}

static void broken_bytes_end_their_chunk_and_nothing_else(void **state)
{
    (void)state;
    ChunkQueue q;
    Order o;
    Seen seen = {.layout = perf_layout(&attr)};
    queue_init(&q);
    order_init(&o, &seen.layout, 1, &q);
    o.deliver = deliver;
    o.ctx = &seen;
    Chunk *a = chunk(&q, 0), *b = chunk(&q, 0), *empty = chunk(&q, 0);
    put(a, PERF_RECORD_SAMPLE, 1);
    memset(a->data + a->len, 0, 4); // no whole header
    a->len += 4;
    put(b, PERF_RECORD_SAMPLE, 2);
    put(b, PERF_RECORD_SAMPLE, 3);
    uint16_t too_long = 60000;
    memcpy(b->data + sizeof(Wire) + offsetof(struct perf_event_header, size), &too_long, 2);
    order_add(&o, empty, peek);
    order_add(&o, a, peek);
    order_add(&o, b, peek);
    order_flush(&o);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.time[1], 2);
    order_deinit(&o);
    queue_deinit(&q);
}

static void a_full_queue_refuses_what_is_not_a_must(void **state)
{
    (void)state;
    ChunkQueue q;
    queue_init(&q);
    Chunk *taken = NULL, *c;
    size_t n = 0;
    while ((c = queue_take_empty(&q, false))) {
        c->next = taken;
        taken = c;
        n++;
    }
    assert_int_equal(n, QUEUE_MAX_BYTES / CHUNK_BYTES);
    c = queue_take_empty(&q, true);
    assert_non_null(c);
    queue_recycle(&q, c);
    while (taken) {
        c = taken->next;
        queue_recycle(&q, taken);
        taken = c;
    }
    assert_non_null(c = queue_take_empty(&q, false));
    c->ends_round = true;
    queue_push(&q, c);
    queue_close(&q);
    assert_ptr_equal(queue_pop_all(&q), c);
    assert_null(queue_pop_all(&q));
    queue_recycle(&q, c);
    queue_deinit(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_rings_are_merged_across_rounds),
        cmocka_unit_test(broken_bytes_end_their_chunk_and_nothing_else),
        cmocka_unit_test(a_full_queue_refuses_what_is_not_a_must),
    };
    return RUN_TESTS(tests);
}
