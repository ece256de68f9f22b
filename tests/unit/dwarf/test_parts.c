// SPDX-License-Identifier: Apache-2.0
// Parts of the reader on hand-made bytes: the sweep, paths, range lists, odd
// trees.

#include "dwarf/dwarf_internal.h"
#include "harness.h"

static Arena arena;
static Error err;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

// ---- The sweep -------------------------------------------------------------
static Segments sweep(const Range *ranges, size_t n)
{
    RangeVec v = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(NULL, &v, ranges[i]);
    Segments s = segments_from_ranges(&arena, &v);
    vec_free(&v);
    return s;
}

static void nested_ranges_give_the_innermost(void **state)
{
    (void)state;
    const Range r[] = {{10, 100, 0}, {20, 60, 1}, {30, 40, 2}, {60, 70, 3}};
    Segments s = sweep(r, ARRAY_LEN(r));
    const struct {
        uint64_t address;
        uint32_t id;
    } want[] = {{9, NONE}, {10, 0}, {19, 0}, {20, 1}, {30, 2},    {39, 2},
                {40, 1},   {59, 1}, {60, 3}, {70, 0}, {100, NONE}};
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_int_equal(segments_find(&s, want[i].address), want[i].id);
}

static void overlapping_ranges_give_the_later(void **state)
{
    (void)state;
    const Range r[] = {{50, 80, 1}, {10, 60, 2}, {10, 60, 0}, {0, 20, 3}};
    Segments s = sweep(r, ARRAY_LEN(r));
    assert_int_equal(segments_find(&s, 10), 3);
    assert_int_equal(segments_find(&s, 20), 2);
    assert_int_equal(segments_find(&s, 59), 2);
    assert_int_equal(segments_find(&s, 60), 1);
    assert_int_equal(segments_find(&s, 80), NONE);
}

// Against the plain way: the highest id that covers the address.
static void the_sweep_agrees_with_brute_force(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        Range r[24];
        for (uint32_t i = 0; i < ARRAY_LEN(r); i++) {
            seed = hash_u64(seed + i);
            uint64_t low = seed % 1000;
            r[i] = (Range){low, low + 1 + (seed >> 32) % 300, i};
        }
        Segments s = sweep(r, ARRAY_LEN(r));
        for (uint64_t a = 0; a < 1400; a++) {
            uint32_t want = NONE;
            for (uint32_t i = 0; i < ARRAY_LEN(r); i++)
                if (r[i].low <= a && a < r[i].high)
                    want = i;
            assert_int_equal(segments_find(&s, a), want);
        }
    }
}

// ---- Paths -----------------------------------------------------------------
static void paths_join_and_normalise(void **state)
{
    (void)state;
    const struct {
        const char *comp_dir, *dir, *name, *want;
    } cases[] = {
        {"/b", "src", "a.c", "/b/src/a.c"},
        {"/b", "", "a.c", "/b/a.c"},
        {"/b", "/usr/include", "a.h", "/usr/include/a.h"},
        {"/b", "src", "/abs/a.c", "/abs/a.c"},
        {"/b/c", "../d", "./a.c", "/b/d/a.c"},
        {"/b", "/usr/bin/../lib/gcc/../x", "a.h", "/usr/lib/x/a.h"},
        {"/", "..", "a.c", "/a.c"},
        {"", "", "../a.c", "../a.c"},
        {"", "x/../..", "a.c", "../a.c"},
        {".", "s//t/", "a.c", "s/t/a.c"},
        {"/b", "src", "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(path_join(&arena, str_from_c(cases[i].comp_dir), str_from_c(cases[i].dir),
                             str_from_c(cases[i].name)),
                   cases[i].want);
}

// ---- Hand-made units -------------------------------------------------------
// Abbreviations: 1 compile unit with children; 2 function {low, high, name};
// 3 function {low, high, abstract_origin}; 4 unit without ranges, children;
// 5 inlined copy {low, high, abstract_origin, call_line}, children;
// 6 block, children.
static const uint8_t abbrevs[] = {
    1,    0x11, 1,    0x11, 0x01, 0x12, 0x06, 0,    0, // low_pc addr, high_pc data4
    2,    0x2e, 0,    0x11, 0x01, 0x12, 0x06, 0x03, 0x08, 0,    0, 3, 0x2e, 1, 0x11, 0x01,
    0x12, 0x06, 0x31, 0x13, 0,    0,    4,    0x11, 1,    0,    0, 5, 0x1d, 1, 0x11, 0x01,
    0x12, 0x06, 0x31, 0x13, 0x59, 0x0b, 0,    0,    6,    0x0b, 1, 0, 0,    0};

typedef struct Maker {
    uint8_t bytes[65536];
    size_t len;
} Maker;

static Maker made;

static void put(uint64_t v, size_t size)
{
    assert(made.len + size <= sizeof(made.bytes));
    memcpy(made.bytes + made.len, &v, size);
    made.len += size;
}

static void begin_unit(void)
{
    made.len = 0;
    put(0, 4); // length, set at the end
    put(4, 2); // version
    put(0, 4); // abbreviations
    put(8, 1); // address size
}

static void put_pc(uint8_t code, uint64_t low, uint32_t size)
{
    put(code, 1);
    put(low, 8);
    put(size, 4);
}

static DwarfFile *end_unit(void)
{
    uint32_t length = (uint32_t)made.len - 4;
    memcpy(made.bytes, &length, 4);
    DwarfSections s = {.info = bytes_over(made.bytes, made.len),
                       .abbrev = bytes_over(abbrevs, sizeof(abbrevs))};
    DwarfFile *f;
    assert_ok(dwarf_open(&s, NULL, &f, &err), &err);
    return f;
}

static void an_origin_that_leads_to_itself_ends(void **state)
{
    (void)state;
    DwarfFrames frames;
    begin_unit();
    put_pc(1, 0x1000, 0x100);
    uint32_t die = (uint32_t)made.len;
    put_pc(3, 0x1000, 0x10);
    put(die, 4);
    put(0, 2);
    DwarfFile *f = end_unit();
    assert_true(dwarf_lookup(f, 0x1008, &frames));
    assert_int_equal(frames.len, 1);
    assert_str(frames.at[0].name, "");
    dwarf_close(f);
}

static void dropped_functions_are_not_found(void **state)
{
    (void)state;
    DwarfFrames frames;
    begin_unit();
    put_pc(1, 0x1000, 0x100);
    put_pc(2, 0, 0x2000); // the linker put it nowhere
    put('d', 2);
    put_pc(2, 0x1000, 0x10);
    put('k', 2);
    put(0, 1);
    DwarfFile *f = end_unit();
    assert_true(dwarf_lookup(f, 0x1008, &frames));
    assert_str(frames.at[0].name, "k");
    assert_false(dwarf_lookup(f, 0x800, &frames));
    dwarf_close(f);
}

static void units_without_ranges_are_found_by_their_functions(void **state)
{
    (void)state;
    DwarfFrames frames;
    begin_unit();
    put(4, 1);
    put_pc(2, 0x5000, 0x10);
    put('f', 2);
    put(0, 1);
    DwarfFile *f = end_unit();
    assert_true(dwarf_lookup(f, 0x500f, &frames));
    assert_str(frames.at[0].name, "f");
    assert_int_equal(frames.at[0].low, 0x5000);
    assert_false(dwarf_lookup(f, 0x5010, &frames));
    dwarf_close(f);
}

static void a_nested_function_is_not_inlined_into_the_outer(void **state)
{
    (void)state;
    DwarfFrames frames;
    begin_unit();
    put_pc(1, 0x1000, 0x100);
    uint32_t outer = (uint32_t)made.len;
    put_pc(3, 0x1000, 0x80);
    put(outer, 4);
    put(6, 1); // a block, then a function in it
    put_pc(2, 0x1040, 0x10);
    put('n', 2);
    put(0, 3);
    DwarfFile *f = end_unit();
    assert_true(dwarf_lookup(f, 0x1044, &frames));
    assert_int_equal(frames.len, 1);
    assert_str(frames.at[0].name, "n");
    dwarf_close(f);
}

static void chains_deeper_than_the_limit_are_cut(void **state)
{
    (void)state;
    static DwarfFrames frames;
    begin_unit();
    put_pc(1, 0x1000, 0x100);
    uint32_t die = (uint32_t)made.len;
    put_pc(3, 0x1000, 0x80);
    put(die, 4);
    for (int i = 0; i < 2 * DWARF_FRAMES_MAX; i++) {
        put_pc(5, 0x1000, 0x80);
        put(die, 4);
        put(7, 1);
    }
    DwarfFile *f = end_unit();
    assert_true(dwarf_lookup(f, 0x1000, &frames));
    assert_true(frames.is_cut);
    assert_int_equal(frames.len, DWARF_FRAMES_MAX);
    assert_int_equal(frames.at[1].line, 7);
    dwarf_close(f);
}

static void the_first_of_two_units_has_a_shared_address(void **state)
{
    (void)state;
    DwarfFrames frames;
    begin_unit();
    put_pc(1, 0x1000, 0x100);
    put_pc(2, 0x1000, 0x10);
    put('a', 2);
    put(0, 1);
    uint32_t length = (uint32_t)made.len - 4;
    size_t first = made.len;
    memcpy(made.bytes, &length, 4);
    memcpy(made.bytes + first, made.bytes, first);
    made.bytes[2 * first - 3] = 'b';
    DwarfSections s = {.info = bytes_over(made.bytes, 2 * first),
                       .abbrev = bytes_over(abbrevs, sizeof(abbrevs))};
    DwarfFile *f;
    assert_ok(dwarf_open(&s, NULL, &f, &err), &err);
    assert_int_equal(dwarf_unit_count(f), 2);
    assert_true(dwarf_lookup(f, 0x1001, &frames));
    assert_str(frames.at[0].name, "a");
    dwarf_close(f);
}

// ---- Damage ------------------------------------------------------------------
static void begin_unit_of(uint16_t version, uint8_t address_size)
{
    made.len = 0;
    put(0, 4); // length, set at the end
    put(version, 2);
    if (version >= 5)
        put(1, 1); // compile unit
    else
        put(0, 4); // abbreviations
    put(address_size, 1);
    if (version >= 5)
        put(0, 4);
}

// Asks for all that is in the made unit and compares the first damage with `want`.
static void check_trouble(DwarfSections s, const char *want)
{
    DwarfFile *f;
    DwarfFrames frames;
    DwarfStats stats;
    uint32_t length = (uint32_t)made.len - 4;
    memcpy(made.bytes, &length, 4);
    s.info = bytes_over(made.bytes, made.len);
    if (!dwarf_open(&s, NULL, &f, &err)) {
        assert_non_null(strstr(err.text, want));
        return;
    }
    (void)dwarf_lookup(f, 0x1008, &frames);
    (void)dwarf_unit_rows(f, 0);
    dwarf_stats(f, &stats);
    assert_non_null(strstr(stats.trouble, want));
    dwarf_close(f);
}

static void unknown_numbers_of_a_unit_are_in_the_error(void **state)
{
    (void)state;
    const DwarfSections s = {.abbrev = bytes_over(abbrevs, sizeof(abbrevs))};
    begin_unit_of(9, 8);
    put_pc(1, 0x1000, 0x100);
    check_trouble(s, "unknown version 9");
    begin_unit_of(4, 3);
    put_pc(1, 0x1000, 0x100);
    check_trouble(s, "unknown address size 3");
    begin_unit_of(4, 8);
    put_pc(1, 0x1000, 0x100);
    put(99, 1);
    check_trouble(s, "no abbreviation with code 99");
}

static void unknown_forms_are_in_the_error(void **state)
{
    (void)state;
    // 1 compile unit {low, high}, children; 2 function {name in the form at the end}.
    uint8_t with_form[] = {1, 0x11, 1, 0x11, 0x01, 0x12, 0x06, 0, 0,
                           2, 0x2e, 0, 0x03, 0x7f, 0,    0,    0};
    const DwarfSections s = {.abbrev = bytes_over(with_form, sizeof(with_form))};
    begin_unit();
    put_pc(1, 0x1000, 0x100);
    put(2, 1);
    check_trouble(s, "unknown attribute form 0x7f");
    with_form[13] = 0x16; // indirect: the form stands before the value
    begin_unit();
    put_pc(1, 0x1000, 0x100);
    put(2, 1);
    put(0x7e, 1);
    check_trouble(s, "unknown attribute form 0x7e");
    begin_unit();
    put_pc(1, 0x1000, 0x100);
    put(2, 1);
    put(0x16, 1);
    check_trouble(s, "indirect value of form 0x16");
    begin_unit();
    put(2, 1);
    with_form[13] = 0x7d;
    check_trouble(s, "unknown attribute form 0x7d");
}

static void unknown_numbers_of_lists_and_line_tables_are_in_the_error(void **state)
{
    (void)state;
    // 1 compile unit {low, ranges, stmt_list}.
    static const uint8_t with_lists[] = {1, 0x11, 0, 0x11, 0x01, 0x55, 0x17, 0x10, 0x17, 0, 0, 0};
    static const uint8_t bad_list[] = {0x77};
    static const uint8_t empty_list[] = {0};
    static const uint8_t bad_version[] = {2, 0, 0, 0, 77, 0};
    // Version 5, one form of a directory, 0x7c, and one directory.
    static const uint8_t bad_form[] = {20, 0, 0, 0, 5, 0, 8, 0, 12,   0, 0, 0,
                                       1,  1, 1, 0, 1, 1, 1, 1, 0x7c, 1, 0, 0};
    DwarfSections s = {.abbrev = bytes_over(with_lists, sizeof(with_lists)),
                       .rnglists = bytes_over(bad_list, sizeof(bad_list))};
    begin_unit_of(5, 8);
    put(1, 1);
    put(0x1000, 8);
    put(0, 4);
    put(0, 4);
    check_trouble(s, "range list: unknown range list entry 0x77");
    s.rnglists = bytes_over(empty_list, sizeof(empty_list));
    s.line = bytes_over(bad_version, sizeof(bad_version));
    check_trouble(s, "line table header: unknown version 77");
    s.line = bytes_over(bad_form, sizeof(bad_form));
    check_trouble(s, "line table header: unknown attribute form 0x7c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nested_ranges_give_the_innermost, clean_up),
        cmocka_unit_test_teardown(overlapping_ranges_give_the_later, clean_up),
        cmocka_unit_test_teardown(the_sweep_agrees_with_brute_force, clean_up),
        cmocka_unit_test_teardown(paths_join_and_normalise, clean_up),
        cmocka_unit_test_teardown(an_origin_that_leads_to_itself_ends, clean_up),
        cmocka_unit_test_teardown(dropped_functions_are_not_found, clean_up),
        cmocka_unit_test_teardown(units_without_ranges_are_found_by_their_functions, clean_up),
        cmocka_unit_test_teardown(a_nested_function_is_not_inlined_into_the_outer, clean_up),
        cmocka_unit_test_teardown(chains_deeper_than_the_limit_are_cut, clean_up),
        cmocka_unit_test_teardown(the_first_of_two_units_has_a_shared_address, clean_up),
        cmocka_unit_test_teardown(unknown_numbers_of_a_unit_are_in_the_error, clean_up),
        cmocka_unit_test_teardown(unknown_forms_are_in_the_error, clean_up),
        cmocka_unit_test_teardown(unknown_numbers_of_lists_and_line_tables_are_in_the_error,
                                  clean_up),
    };
    return RUN_TESTS(tests);
}
