// SPDX-License-Identifier: Apache-2.0
// Raw profiles of every version, pointer width and byte order, built here.

#include "harness.h"
#include "raw_profile.h"

#include "coverage/llvm/counts.h"
#include "llvmcov/profraw.h"

static void every_version_width_and_byte_order_gives_the_same_counts(void **state)
{
    (void)state;
    for (uint32_t version = profraw_versions.at[0].first;
         format_version_find(&profraw_versions, version); version++) {
        for (unsigned k = 0; k < 4; k++) {
            RawShape s = {version, k & 1 ? 4 : 8, k >= 2, 0};
            StrBuf b = {0};
            raw_build(&b, &s);
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
    RawShape s = {10, 8, false, 0};
    StrBuf b = {0};
    raw_build(&b, &s);
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
    RawShape s = {13, 8, false, 0};
    StrBuf b = {0};
    raw_build(&b, &s);
    ProfRaw p;
    Error err;
    assert_error(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &p, &err), &err,
                 ERROR_UNSUPPORTED, "version 13");
    assert_non_null(strstr(err.hint, "newer"));
    strbuf_deinit(&b);
}

static void variants_that_are_not_known_are_refused_by_name(void **state)
{
    (void)state;
    RawShape s = {10, 8, false, 0};
    StrBuf b = {0};
    raw_build(&b, &s);
    ProfRaw p;
    Error err;
    b.ptr[12] = 0x40; // bit 38
    assert_error(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &p, &err), &err,
                 ERROR_UNSUPPORTED, "variant bits 0x4000000000");
    b.ptr[12] = 0;
    b.ptr[14] = (char)0x80; // bit 55: loop entries
    assert_ok(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &p, &err), &err);
    assert_true(p.variant == PROF_VARIANT_LOOP_ENTRIES);
    strbuf_deinit(&b);
}

// The first 8 bytes of a function's counters say when it first ran.
static void a_temporal_profile_has_a_counter_less(void **state)
{
    (void)state;
    RawShape s = {10, 8, false, 0};
    StrBuf b = {0};
    raw_build(&b, &s);
    b.ptr[15] = (char)0x80; // bit 63
    ProfRaw p;
    ProfRecord r;
    Error err;
    assert_ok(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &p, &err), &err);
    assert_ok(profraw_record(&p, 1, &r, &err), &err);
    assert_int_equal(r.counter_count, 2);
    assert_int_equal(prof_record_counter(&r, 0), 13);
    assert_int_equal(prof_record_counter(&r, 1), 14);
    strbuf_deinit(&b);
}

// Runtimes of COFF write from the byte on that marks where the counters begin, so that
// these are 7 bytes further, and a word more of them is stated.
static void counters_that_begin_unaligned_are_whole(void **state)
{
    (void)state;
    enum { COUNT_AT = 5 * 8, DELTA_AT = 10 * 8, COUNTERS_AT = 128 + 2 * 64 };
    RawShape s = {10, 8, false, 0};
    StrBuf b = {0}, moved = {0};
    raw_build(&b, &s);
    strbuf_add_bytes(&moved, bytes_over(b.ptr, COUNTERS_AT));
    strbuf_add(&moved, STR("\xaa\xaa\xaa\xaa\xaa\xaa\xaa"));
    strbuf_add_bytes(&moved, bytes_over(b.ptr + COUNTERS_AT, 5 * 8));
    strbuf_add(&moved, STR("\xaa"));
    strbuf_add_bytes(&moved, bytes_over(b.ptr + COUNTERS_AT + 5 * 8, b.len - COUNTERS_AT - 5 * 8));
    moved.ptr[COUNT_AT]++;
    moved.ptr[DELTA_AT] = (char)(moved.ptr[DELTA_AT] - 7);
    Arena arena = {0};
    CoverCounts c = {.arena = &arena};
    Error err;
    for (int i = 0; i < 2; i++)
        assert_ok(cover_counts_add(&c, STR("x"), bytes_from_str(strbuf_str(&moved)), 1, &err),
                  &err);
    assert_ok(cover_counts_finish(&c, &err), &err);
    const CoverCountRow *row = cover_counts_find(&c, 0x12, 0x22);
    assert_non_null(row);
    assert_int_equal(cover_counts_of(&c, row)[0], 24);
    assert_int_equal(cover_counts_of(&c, row)[2], 28);
    // One that lies across others is none.
    ProfRaw p;
    ProfRecord r;
    b.ptr[128 + 64 + 16]++;
    assert_ok(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &p, &err), &err);
    assert_error(profraw_record(&p, 1, &r, &err), &err, ERROR_FORMAT, "across");
    cover_counts_deinit(&c);
    arena_deinit(&arena);
    strbuf_deinit(&b);
    strbuf_deinit(&moved);
}

static void profiles_behind_each_other_add_up_and_a_broken_end_is_noted(void **state)
{
    (void)state;
    RawShape s = {10, 8, false, 0};
    StrBuf b = {0};
    raw_build(&b, &s);
    size_t one = b.len;
    raw_build(&b, &s);
    raw_build(&b, &s);
    Arena arena = {0};
    CoverCounts c = {.arena = &arena};
    Error err;
    assert_ok(cover_counts_add(&c, STR("x"), bytes_over(b.ptr, 3 * one - 40), 1, &err), &err);
    assert_int_equal(c.profile_count, 2);
    assert_int_equal(c.notes.len, 1);
    assert_int_equal(c.layouts.at.len, 1); // both runs were added as one vector
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
    RawShape s = {9, 8, true, 0};
    StrBuf b = {0};
    raw_build(&b, &s);
    Arena arena = {0};
    CoverCounts c = {.arena = &arena};
    Error err;
    assert_ok(cover_counts_add(&c, STR("x"), bytes_from_str(strbuf_str(&b)), UINT64_MAX / 11, &err),
              &err);
    assert_ok(cover_counts_finish(&c, &err), &err);
    const CoverCountRow *row = cover_counts_find(&c, 0x11, 0x21);
    assert_true(cover_counts_of(&c, row)[0] == UINT64_MAX / 11 * 10);
    row = cover_counts_find(&c, 0x12, 0x22);
    assert_true(cover_counts_of(&c, row)[0] == COVER_COUNT_MAX);
    assert_int_equal(c.saturated, 3);
    cover_counts_deinit(&c);
    arena_deinit(&arena);
    strbuf_deinit(&b);
}

// Bytes that say what a record is, as opposed to where it was loaded.
static bool tells(const ProfRaw *p, size_t at)
{
    ProfRawFields f = p->fields;
    return at < 16 || (at >= f.counter_ptr && at < f.counter_ptr + p->pointer_size) ||
           (at >= f.counter_count && at < f.counter_count + 4u) ||
           (at >= f.sites && at < f.sites + 2 * f.kinds) ||
           (f.bitmap_bytes && at >= f.bitmap_bytes && at < f.bitmap_bytes + 4u);
}

// `count` records of version `version`, in which each byte in turn is another.
static void check_layouts(uint32_t version, uint8_t pointer_size, size_t count)
{
    RawShape s = {version, pointer_size, false, 0};
    StrBuf b = {0};
    raw_build(&b, &s);
    ProfRaw x, y;
    Error err;
    assert_ok(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &x, &err), &err);
    size_t size = x.fields.size;
    uint8_t *one = heap_alloc(count * size), *two = heap_alloc(count * size);
    for (size_t i = 0; i < count * size; i++)
        one[i] = two[i] = (uint8_t)(i * 7 + i / 251);
    x.record_count = count;
    x.records = bytes_over(one, count * size);
    x.bitmap = (Bytes){0};
    y = x;
    y.records = bytes_over(two, count * size);
    assert_true(profraw_same_layout(&x, &y));
    for (size_t i = 0; i < count * size; i++) {
        two[i] ^= 0x10;
        assert_int_equal(profraw_same_layout(&x, &y), !tells(&x, i % size));
        two[i] ^= 0x10;
    }
    heap_free(one);
    heap_free(two);
    strbuf_deinit(&b);
}

static void a_byte_of_any_record_makes_another_layout(void **state)
{
    (void)state;
    for (uint32_t version = profraw_versions.at[0].first;
         format_version_find(&profraw_versions, version); version++)
        for (size_t count = 0; count < 10; count++) {
            check_layouts(version, 8, count);
            check_layouts(version, 4, count);
        }
    check_layouts(10, 8, 301);
    check_layouts(5, 8, 301);
}

static void the_bits_that_are_listed_are_those_that_are_known(void **state)
{
    (void)state;
    uint64_t bits = 0;
    for (size_t i = 0; i < prof_variant_count; i++)
        bits |= prof_variants[i].bit;
    assert_true(bits == PROF_VARIANT_KNOWN);
    for (size_t i = 1; i < profraw_versions.count; i++)
        assert_int_equal(profraw_versions.at[i].first, profraw_versions.at[i - 1].last + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_width_and_byte_order_gives_the_same_counts),
        cmocka_unit_test(a_profile_cut_at_any_byte_is_refused),
        cmocka_unit_test(unknown_versions_are_refused_by_name),
        cmocka_unit_test(variants_that_are_not_known_are_refused_by_name),
        cmocka_unit_test(a_temporal_profile_has_a_counter_less),
        cmocka_unit_test(counters_that_begin_unaligned_are_whole),
        cmocka_unit_test(profiles_behind_each_other_add_up_and_a_broken_end_is_noted),
        cmocka_unit_test(sums_stop_at_the_largest_number),
        cmocka_unit_test(a_byte_of_any_record_makes_another_layout),
        cmocka_unit_test(the_bits_that_are_listed_are_those_that_are_known),
    };
    return RUN_TESTS(tests);
}
