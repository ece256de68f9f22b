// SPDX-License-Identifier: Apache-2.0
// Summing value profiles: addresses become names, sums go by value, 255 stay.

#include "harness.h"
#include "raw_profile.h"

#include "coverage/llvm/counts.h"
#include "llvmcov/profdata.h"

typedef struct Fixture {
    Arena arena;
    CoverCounts counts;
    StrBuf file;
    Error err;
} Fixture;

static void setup(Fixture *f)
{
    *f = (Fixture){0};
    f->counts.arena = &f->arena;
}

static void teardown(Fixture *f)
{
    cover_counts_deinit(&f->counts);
    arena_deinit(&f->arena);
    strbuf_deinit(&f->file);
}

static void add(Fixture *f, CoverCounts *c, RawShape s, uint64_t weight)
{
    strbuf_clear(&f->file);
    raw_build(&f->file, &s);
    assert_ok(cover_counts_add(c, STR("x"), bytes_from_str(strbuf_str(&f->file)), weight, &f->err),
              &f->err);
}

static void add_text(Fixture *f, const char *text, uint64_t weight)
{
    assert_ok(
        cover_counts_add(&f->counts, STR("x"), bytes_from_str(str_from_c(text)), weight, &f->err),
        &f->err);
}

// What the text form says from the first value profile on.
static const char *text_of(Fixture *f)
{
    StrBuf out = {0};
    assert_ok(cover_counts_finish(&f->counts, &f->err), &f->err);
    assert_ok(cover_counts_write(&f->counts, 0, false, &out, &f->err), &f->err);
    const char *text = arena_c_str(&f->arena, strbuf_str(&out));
    strbuf_deinit(&out);
    const char *values = strstr(text, "# Num Value Kinds");
    return values ? values : "";
}

static void check_site(const CoverValueSite *site, const ProfValue *want, size_t count)
{
    assert_int_equal(site->len, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(site->at[i].value, want[i].value);
        assert_int_equal(site->at[i].count, want[i].count);
    }
}

// `tables`: how many of the profiles have tables of virtual functions.
static void check_sums(const CoverCounts *c, uint64_t times, uint64_t tables)
{
    const CoverCountRow *row = cover_counts_find(c, 0x12, 0x22);
    assert_non_null(row);
    assert_non_null(row->values);
    cover_values_finish(row->values);
    const CoverValueSite *site = row->values->sites;
    assert_int_equal(row->values->site_counts[0], 2);
    assert_int_equal(row->values->site_counts[1], 1);
    check_site(&site[0], (ProfValue[]){{0x11, 9 * times}, {0x12, 5 * times}, {0, 2 * times}}, 3);
    check_site(&site[1], NULL, 0);
    check_site(&site[2], (ProfValue[]){{8, 3 * times}}, 1);
    assert_int_equal(row->values->site_counts[2], tables != 0);
    if (tables)
        check_site(&site[3], (ProfValue[]){{0x44, 4 * tables}, {0, tables}}, 2);
}

static void every_version_width_and_byte_order_gives_the_same_values(void **state)
{
    (void)state;
    for (uint32_t version = profraw_versions.at[0].first;
         format_version_find(&profraw_versions, version); version++) {
        for (unsigned k = 0; k < 4; k++) {
            Fixture f;
            setup(&f);
            add(&f, &f.counts, (RawShape){version, k & 1 ? 4 : 8, k >= 2, 0x8000}, 1);
            // Loaded elsewhere.
            add(&f, &f.counts, (RawShape){version, k & 1 ? 4 : 8, k >= 2, 0x91000}, 2);
            assert_ok(cover_counts_finish(&f.counts, &f.err), &f.err);
            check_sums(&f.counts, 3, version >= 10 ? 3 : 0);
            assert_int_equal(f.counts.vtables.names.len, version >= 10 ? 2 : 0);
            teardown(&f);
        }
    }
}

static void versions_and_threads_add_up(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    CoverCounts other = {.arena = &f.arena};
    add(&f, &f.counts, (RawShape){10, 8, false, 0x8000}, 1);
    add(&f, &other, (RawShape){10, 8, false, 0x9000}, 1);
    add(&f, &other, (RawShape){11, 8, true, 0x5000}, 5);
    assert_ok(cover_counts_absorb(&f.counts, &other, &f.err), &f.err);
    assert_ok(cover_counts_finish(&f.counts, &f.err), &f.err);
    check_sums(&f.counts, 7, 7);
    cover_counts_deinit(&other);
    teardown(&f);
}

static void functions_that_moved_apart_are_found_where_they_are(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    add(&f, &f.counts, (RawShape){8, 8, false, 0x8000}, 1);
    RawShape s = {8, 8, false, 0x8000};
    strbuf_clear(&f.file);
    raw_build(&f.file, &s);
    // The first function's address, and the first call's second target.
    enum { HEADER = 88, FUNCTION_PTR = 24, RECORDS = 96, COUNTERS = 40, NAMES = 8 };
    uint64_t address = 0x4444;
    memcpy(f.file.ptr + HEADER + FUNCTION_PTR, &address, 8);
    memcpy(f.file.ptr + HEADER + RECORDS + COUNTERS + NAMES + 24 + 16, &address, 8);
    assert_ok(cover_counts_add(&f.counts, STR("x"), bytes_from_str(strbuf_str(&f.file)), 1, &f.err),
              &f.err);
    assert_ok(cover_counts_finish(&f.counts, &f.err), &f.err);
    check_sums(&f.counts, 2, 0);
    teardown(&f);
}

static const char calls[] = "f\n1\n1\n7\n2\n0\n2\n0\n3\ng:4\nf:9\n** External Symbol **:4\n"
                            "1\n1\n1\n100:7\n\ng\n2\n1\n3\n";

static void a_text_keeps_the_order_of_equals(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    add_text(&f, calls, 1);
    assert_string_equal(text_of(&f),
                        "# Num Value Kinds:\n2\n# ValueKind = IPVK_IndirectCallTarget:\n0\n"
                        "# NumValueSites:\n2\n0\n3\nf:9\ng:4\n** External Symbol **:4\n"
                        "# ValueKind = IPVK_MemOPSize:\n1\n# NumValueSites:\n1\n1\n100:7\n\n"
                        "g\n# Func Hash:\n2\n# Num Counters:\n1\n# Counter Values:\n3\n\n");
    teardown(&f);
}

static void equals_outside_the_program_add_up_one_by_one(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    add_text(&f, "f\n1\n1\n7\n1\n0\n1\n2\n** External Symbol **:2\n** External Symbol **:5\n", 1);
    add_text(&f, "f\n1\n1\n7\n1\n0\n1\n2\n** External Symbol **:10\n** External Symbol **:20\n", 2);
    assert_non_null(
        strstr(text_of(&f), "1\n2\n** External Symbol **:42\n** External Symbol **:25\n"));
    teardown(&f);
}

static void values_with_other_sites_leave_the_first_ones(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    add_text(&f, calls, 1);
    add_text(&f, "f\n1\n1\n7\n2\n0\n1\n1\ng:40\n1\n1\n2\n100:3\n5:50\n\n", 1);
    const char *text = text_of(&f);
    assert_int_equal(f.counts.site_mismatched, 1);
    assert_non_null(strstr(text, "0\n3\nf:9\ng:4\n** External Symbol **:4\n"));
    assert_non_null(strstr(text, "# NumValueSites:\n1\n2\n5:50\n100:10\n"));
    teardown(&f);
}

static void a_site_keeps_the_255_most_frequent(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    StrBuf text = {0};
    strbuf_add(&text, STR("f\n1\n1\n7\n1\n1\n1\n300\n"));
    for (int i = 0; i < 300; i++)
        strbuf_printf(&text, "%d:%d\n", i, i + 1);
    strbuf_add_char(&text, '\0');
    add_text(&f, text.ptr, 1);
    add_text(&f, "f\n1\n1\n7\n1\n1\n1\n2\n1000:5000\n299:1\n", 1);
    const char *got = text_of(&f);
    assert_non_null(strstr(got, "1\n255\n1000:5000\n299:301\n298:299\n"));
    assert_non_null(strstr(got, "\n46:47\n\n")); // the last one
    strbuf_deinit(&text);
    teardown(&f);
}

static void sums_of_values_stop_at_the_largest_number(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    add_text(&f, calls, UINT64_MAX / 5);
    const char *text = text_of(&f);
    assert_true(f.counts.is_saturated);
    assert_non_null(strstr(text, "f:18446744073709551615\ng:14757395258967641292\n"));
    teardown(&f);
}

static const char tables[] = ":ir\nf\n1\n1\n7\n1\n2\n1\n1\n_ZTV1A:3\n";

static void tables_of_virtual_functions_keep_their_names_in_version_12(void **state)
{
    (void)state;
    Fixture f, back;
    StrBuf out = {0};
    setup(&f);
    setup(&back);
    add_text(&f, tables, 1);
    assert_non_null(
        strstr(text_of(&f), "IPVK_VTableTarget:\n2\n# NumValueSites:\n1\n1\n_ZTV1A:3\n"));
    assert_ok(cover_counts_write(&f.counts, 12, false, &out, &f.err), &f.err);
    assert_ok(cover_counts_add(&back.counts, STR("x"), bytes_from_str(strbuf_str(&out)), 1, &f.err),
              &f.err);
    assert_string_equal(text_of(&back), text_of(&f));
    // Older tools would take the whole file for broken.
    strbuf_clear(&out);
    assert_ok(cover_counts_write(&f.counts, 9, false, &out, &f.err), &f.err);
    ProfData p;
    ProfRecord r;
    assert_ok(profdata_open(bytes_from_str(strbuf_str(&out)), &p, &f.err), &f.err);
    assert_ok(profdata_next(&p, &r, &f.err), &f.err);
    assert_int_equal(r.values.len, 0);
    strbuf_deinit(&out);
    teardown(&f);
    teardown(&back);
}

static void a_broken_value_in_a_text_is_named_by_its_line(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    const char *texts[][2] = {
        {"f\n1\n1\n7\n1\n3\n1\n0\n", "line 7: unknown kind of a value profile: 3"},
        {"f\n1\n1\n7\n2\n0\n1\n0\n0\n1\n0\n", "a kind of value profile stands twice"},
        {"f\n1\n1\n7\n1\n0\n1\n1\ng4\n", "line 9: a value is missing"},
        {"f\n1\n1\n7\n1\n0\n1\n2\ng:4\n", "a value is missing"},
        {"f\n1\n1\n7\n1\n1\n1\n1\ng:4\n", "the size of a value is not a number"},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_error(cover_counts_add(&f.counts, STR("x"), bytes_from_str(str_from_c(texts[i][0])),
                                      1, &f.err),
                     &f.err, ERROR_FORMAT, texts[i][1]);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_width_and_byte_order_gives_the_same_values),
        cmocka_unit_test(versions_and_threads_add_up),
        cmocka_unit_test(functions_that_moved_apart_are_found_where_they_are),
        cmocka_unit_test(a_text_keeps_the_order_of_equals),
        cmocka_unit_test(equals_outside_the_program_add_up_one_by_one),
        cmocka_unit_test(values_with_other_sites_leave_the_first_ones),
        cmocka_unit_test(a_site_keeps_the_255_most_frequent),
        cmocka_unit_test(sums_of_values_stop_at_the_largest_number),
        cmocka_unit_test(tables_of_virtual_functions_keep_their_names_in_version_12),
        cmocka_unit_test(a_broken_value_in_a_text_is_named_by_its_line),
    };
    return RUN_TESTS(tests);
}
