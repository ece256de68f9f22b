// SPDX-License-Identifier: Apache-2.0
// Raw profiles of every version, pointer width and byte order, built here.

#include "harness.h"

#include "base/strbuf.h"
#include "collect/cover/counts.h"
#include "llvmcov/profraw.h"

typedef struct Shape {
    uint32_t version;
    unsigned pointer;
    bool big;
} Shape;

static void put(StrBuf *b, const Shape *s, uint64_t v, unsigned size)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < size; i++)
        bytes[s->big ? size - 1 - i : i] = (uint8_t)(v >> (8 * i));
    strbuf_add_bytes(b, bytes_over(bytes, size));
}

// One record, laid out as the table in docs/formats/coverage.md states.
static void put_record(StrBuf *b, const Shape *s, uint64_t name, uint64_t hash,
                       uint64_t counter_ptr, uint32_t counters)
{
    size_t start = b->len;
    put(b, s, name, 8);
    put(b, s, hash, 8);
    put(b, s, counter_ptr, s->pointer);
    if (s->version >= 11)
        put(b, s, 0, s->pointer);
    if (s->version >= 9)
        put(b, s, 0, s->pointer);
    put(b, s, 0x1234, s->pointer);
    put(b, s, 0, s->pointer);
    put(b, s, counters, 4);
    for (unsigned i = 0; i < (s->version >= 10 ? 3u : 2u); i++)
        put(b, s, 0, 2);
    if (s->version >= 11)
        put(b, s, 32, 2);
    if (s->version >= 9) {
        while ((b->len - start) % 4)
            put(b, s, 0, 1);
        put(b, s, 0, 4);
    }
    if (s->version >= 12)
        put(b, s, 0, 4);
    while ((b->len - start) % 8)
        put(b, s, 0, 1);
}

// Two functions with 2 and 3 counters, 10 … 14.
static void build(StrBuf *b, const Shape *s)
{
    StrBuf one = {0};
    put_record(&one, s, 0, 0, 0, 0);
    uint64_t record = one.len;
    strbuf_deinit(&one);
    bool relative = s->version >= 8;
    uint64_t counters_at = relative ? (uint64_t)-64 : 0x5000;

    put(b, s, s->pointer == 8 ? 0xff6c70726f667281ull : 0xff6c70726f665281ull, 8);
    put(b, s, s->version, 8);
    if (s->version >= 6)
        put(b, s, 0, 8); // binary ids
    put(b, s, 2, 8);     // records
    put(b, s, 0, 8);
    put(b, s, 5, 8); // counters
    put(b, s, 0, 8);
    if (s->version >= 9) {
        put(b, s, 0, 8);
        put(b, s, 0, 8);
    }
    if (s->version >= 11) {
        put(b, s, 0, 8);
        put(b, s, 0, 8);
        put(b, s, 0, 8);
    }
    put(b, s, 6, 8); // names
    put(b, s, s->pointer == 4 ? (uint32_t)counters_at : counters_at, 8);
    // Without bitmaps this is an address, other in each run.
    static uint64_t address = 0x7f0000001000;
    if (s->version >= 9)
        put(b, s, address += 0x1000, 8);
    put(b, s, address, 8); // names delta
    if (s->version >= 10) {
        put(b, s, 0, 8);
        put(b, s, 0, 8);
    }
    put(b, s, s->version >= 10 ? 2 : 1, 8);
    put_record(b, s, 0x11, 0x21, counters_at, 2);
    put_record(b, s, 0x12, 0x22, relative ? counters_at - record + 16 : counters_at + 16, 3);
    for (unsigned i = 0; i < 5; i++)
        put(b, s, 10 + i, 8);
    strbuf_add(b, STR("\4\0a\1bc\0\0"));
}

static void every_version_width_and_byte_order_gives_the_same_counts(void **state)
{
    (void)state;
    for (uint32_t version = PROFRAW_VERSION_MIN; version <= PROFRAW_VERSION_MAX; version++) {
        for (unsigned k = 0; k < 4; k++) {
            Shape s = {version, k & 1 ? 4 : 8, k >= 2};
            StrBuf b = {0};
            build(&b, &s);
            ProfRaw p;
            ProfRecord r;
            Error err;
            assert_ok(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &p, &err), &err);
            assert_int_equal(p.version, version);
            assert_int_equal(p.size, b.len);
            assert_int_equal(p.record_count, 2);
            assert_ok(profraw_record(&p, 0, &r, &err), &err);
            assert_int_equal(r.hash, 0x21);
            assert_int_equal(prof_record_counter(&r, 1), 11);
            assert_ok(profraw_record(&p, 1, &r, &err), &err);
            assert_int_equal(r.name_ref, 0x12);
            assert_int_equal(r.counter_count, 3);
            assert_int_equal(prof_record_counter(&r, 2), 14);
            strbuf_deinit(&b);
        }
    }
}

static void a_profile_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    Shape s = {10, 8, false};
    StrBuf b = {0};
    build(&b, &s);
    for (size_t cut = 0; cut < b.len; cut++) {
        ProfRaw p;
        Error err;
        assert_false(profraw_parse(bytes_over(b.ptr, cut), 0, &p, &err));
        assert_true(err.text[0]);
    }
    strbuf_deinit(&b);
}

static void unknown_versions_are_refused_by_name(void **state)
{
    (void)state;
    Shape s = {13, 8, false};
    StrBuf b = {0};
    build(&b, &s);
    ProfRaw p;
    Error err;
    assert_error(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &p, &err), &err,
                 ERROR_UNSUPPORTED, "version 13");
    assert_non_null(strstr(err.hint, "newer"));
    strbuf_deinit(&b);
}

static void profiles_behind_each_other_add_up_and_a_broken_end_is_noted(void **state)
{
    (void)state;
    Shape s = {10, 8, false};
    StrBuf b = {0};
    build(&b, &s);
    size_t one = b.len;
    build(&b, &s);
    build(&b, &s);
    Arena arena = {0};
    CoverCounts c = {.arena = &arena};
    Error err;
    assert_ok(cover_counts_add(&c, STR("x"), bytes_over(b.ptr, 3 * one - 40), 1, &err), &err);
    assert_int_equal(c.profile_count, 2);
    assert_int_equal(c.notes.len, 1);
    assert_int_equal(c.layouts.len, 1); // both runs were added as one vector
    assert_ok(cover_counts_finish(&c, &err), &err);
    const CoverCountRow *row = cover_counts_find(&c, 0x12, 0x22);
    assert_non_null(row);
    assert_int_equal(cover_counts_of(&c, row)[2], 28);
    assert_null(cover_counts_find(&c, 0x12, 0x23));
    assert_non_null(cover_counts_find_name(&c, 0x12));
    cover_counts_deinit(&c);
    arena_deinit(&arena);
    strbuf_deinit(&b);
}

static void sums_stop_at_the_largest_number(void **state)
{
    (void)state;
    Shape s = {9, 8, true};
    StrBuf b = {0};
    build(&b, &s);
    Arena arena = {0};
    CoverCounts c = {.arena = &arena};
    Error err;
    assert_ok(cover_counts_add(&c, STR("x"), bytes_from_str(strbuf_str(&b)), UINT64_MAX / 11, &err),
              &err);
    assert_ok(cover_counts_finish(&c, &err), &err);
    const CoverCountRow *row = cover_counts_find(&c, 0x11, 0x21);
    assert_true(cover_counts_of(&c, row)[0] == UINT64_MAX / 11 * 10);
    row = cover_counts_find(&c, 0x12, 0x22);
    assert_true(cover_counts_of(&c, row)[0] == UINT64_MAX);
    assert_int_equal(c.saturated, 3);
    cover_counts_deinit(&c);
    arena_deinit(&arena);
    strbuf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_width_and_byte_order_gives_the_same_counts),
        cmocka_unit_test(a_profile_cut_at_any_byte_is_refused),
        cmocka_unit_test(unknown_versions_are_refused_by_name),
        cmocka_unit_test(profiles_behind_each_other_add_up_and_a_broken_end_is_noted),
        cmocka_unit_test(sums_stop_at_the_largest_number),
    };
    return RUN_TESTS(tests);
}
