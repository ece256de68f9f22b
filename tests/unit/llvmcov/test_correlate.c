// SPDX-License-Identifier: Apache-2.0
// Joining counters with what a program says of them.

#include "harness.h"
#include "raw_profile.h"

#include "coverage/llvm/correlated_programs.h"
#include "llvmcov/correlate.h"

enum { COUNTERS_AT = 0x5000 };

// A profile of 5 counters, 10 … 14, and nothing else.
static void counters_alone(StrBuf *b, const RawShape *s)
{
    raw_put(b, s, s->pointer == 8 ? 0xff6c70726f667281ull : 0xff6c70726f665281ull, 8);
    raw_put(b, s, s->version, 8);
    unsigned words = s->version >= 11 ? 17 : s->version == 10 ? 14 : s->version == 9 ? 12 : 9;
    for (unsigned i = 0; i < words; i++)
        raw_put(b, s, i == 3 ? 5 : 0, 8);
    for (unsigned i = 0; i < 5; i++)
        raw_put(b, s, 10 + i, 8);
}

static const ProfCorrelated functions[] = {
    {.name = {"one", 3}, .hash = 1, .counters_address = COUNTERS_AT, .counter_count = 2},
    {.name = {"dropped", 7}, .hash = 2, .counters_address = 0, .counter_count = 9},
    {.name = {"two", 3}, .hash = 3, .counters_address = COUNTERS_AT + 16, .counter_count = 3},
    {.name = {"one", 3}, .hash = 1, .counters_address = COUNTERS_AT, .counter_count = 2},
    {.name = {"behind", 6}, .hash = 4, .counters_address = COUNTERS_AT + 40, .counter_count = 1},
};

static ProfCorrelation correlation_like(const RawShape *s)
{
    return (ProfCorrelation){.pointer_size = (uint8_t)s->pointer,
                             .big_endian = s->big,
                             .counters_address = COUNTERS_AT,
                             .counters_size = 40};
}

static void check_joined(const RawShape *s)
{
    Arena arena = {0};
    StrBuf b = {0};
    ProfRaw p;
    ProfRecord r;
    Error err;
    counters_alone(&b, s);
    assert_ok(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &p, &err), &err);
    assert_true(profraw_lacks_records(&p));
    ProfCorrelation c = correlation_like(s);
    prof_correlation_make(&arena, &c, functions, ARRAY_LEN(functions));
    assert_ok(prof_correlation_settle(&arena, &c, s->version, &err), &err);
    assert_true(profraw_fits(&p, &c));
    profraw_join(&p, &c);
    assert_int_equal(p.record_count, 2);
    assert_ok(profraw_record(&p, 0, &r, &err), &err);
    assert_int_equal(r.hash, 1);
    assert_int_equal(prof_record_counter(&r, 1), 11);
    assert_ok(profraw_record(&p, 1, &r, &err), &err);
    assert_int_equal(r.hash, 3);
    assert_int_equal(r.counter_count, 3);
    assert_int_equal(prof_record_counter(&r, 2), 14);
    strbuf_deinit(&b);
    arena_deinit(&arena);
}

static void made_records_join_profiles_of_every_version_width_and_byte_order(void **state)
{
    (void)state;
    for (uint32_t version = 8; format_version_find(&profraw_versions, version); version++)
        for (unsigned k = 0; k < 4; k++)
            check_joined(&(RawShape){version, k & 1 ? 4 : 8, k >= 2, 0});
}

static void records_that_are_cut_short_are_refused(void **state)
{
    (void)state;
    RawShape s = {10, 8, false, 0};
    StrBuf b = {0};
    raw_put_record(&b, &s, 0x11, 1, COUNTERS_AT, 2);
    raw_put_record(&b, &s, 0x12, 2, COUNTERS_AT + 16, 3);
    for (size_t cut = 0; cut <= b.len; cut++) {
        Arena arena = {0};
        Error err;
        ProfCorrelation c = correlation_like(&s);
        c.records = bytes_over(b.ptr, cut);
        // Each has 64 bytes; what fills up the last may be missing.
        bool whole = (cut > 56 && cut <= 64) || cut > 120;
        assert_int_equal(prof_correlation_settle(&arena, &c, 10, &err), whole);
        assert_int_equal(whole ? c.records.len : 0, whole ? (cut > 64 ? 128 : 64) : 0);
        assert_true(whole || err.text[0]);
        arena_deinit(&arena);
    }
    strbuf_deinit(&b);
}

static void records_of_no_counters_are_refused(void **state)
{
    (void)state;
    Arena arena = {0};
    Error err;
    RawShape s = {10, 8, false, 0};
    ProfCorrelation c = correlation_like(&s);
    prof_correlation_make(&arena, &c, functions + 1, 1);
    assert_error(prof_correlation_settle(&arena, &c, 10, &err), &err, ERROR_FORMAT,
                 "none of its 1");
    arena_deinit(&arena);
}

static void a_program_with_other_counters_does_not_fit(void **state)
{
    (void)state;
    RawShape s = {10, 8, false, 0};
    StrBuf b = {0};
    ProfRaw p;
    Error err;
    counters_alone(&b, &s);
    assert_ok(profraw_parse(bytes_from_str(strbuf_str(&b)), 0, &p, &err), &err);
    ProfCorrelation c = correlation_like(&s);
    assert_true(profraw_fits(&p, &c));
    c.counters_size = 41;
    assert_false(profraw_fits(&p, &c));
    c.counters_size = 32;
    assert_false(profraw_fits(&p, &c));
    c = correlation_like(&s);
    c.pointer_size = 4;
    assert_false(profraw_fits(&p, &c));
    c = correlation_like(&s);
    c.big_endian = true;
    assert_false(profraw_fits(&p, &c));
    strbuf_deinit(&b);
}

static void without_a_program_counters_alone_are_refused(void **state)
{
    (void)state;
    RawShape s = {10, 8, false, 0};
    StrBuf b = {0};
    Arena arena = {0};
    CoverCorrelations none;
    CoverCounts c = {.arena = &arena};
    Error err;
    counters_alone(&b, &s);
    assert_error(cover_counts_add(&c, STR("x"), bytes_from_str(strbuf_str(&b)), 1, &err), &err,
                 ERROR_NOT_FOUND, "only counters");
    cover_correlations_init(&none);
    c.correlations = &none;
    assert_error(cover_counts_add(&c, STR("x"), bytes_from_str(strbuf_str(&b)), 1, &err), &err,
                 ERROR_NOT_FOUND, "only counters");
    assert_non_null(strstr(err.hint, "name the program"));
    assert_int_equal(c.profile_count, 0);
    cover_counts_deinit(&c);
    cover_correlations_deinit(&none);
    arena_deinit(&arena);
    strbuf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_records_join_profiles_of_every_version_width_and_byte_order),
        cmocka_unit_test(records_that_are_cut_short_are_refused),
        cmocka_unit_test(records_of_no_counters_are_refused),
        cmocka_unit_test(a_program_with_other_counters_does_not_fit),
        cmocka_unit_test(without_a_program_counters_alone_are_refused),
    };
    return RUN_TESTS(tests);
}
