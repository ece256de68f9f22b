// SPDX-License-Identifier: Apache-2.0
// The reader against what gcc and clang make of tests/programs/dwarf_shapes.*,
// in every version and packaging. tests/fuzz/make-dwarf-corpus made the files.

#include "../../fuzz/dwarf_bundle.h"
#include "harness.h"

#include <stdlib.h>

// Lines of dwarf_shapes.c.
enum { LEAF = 11, MIDDLE = 16, OUTER = 23, COLD_STORE = 29, ENTRY = 37 };
// Lines of dwarf_shapes.cc.
enum { ADD = 14, APPLY = 19, LOCAL = 26, LAMBDA = 29 };

static const char *const plain[] = {
    "gcc-2",       "gcc-3",       "gcc-4",          "gcc-5",    "clang-4",
    "clang-5",     "gcc-5-lto",   "gcc-5-offset64", "gcc-5-g1", "clang-5-addr32",
    "gcc-4-split", "gcc-5-split", "clang-5-split"};
static const char *const plus_plus[] = {"gcc-5-cc",    "clang-5-cc",    "gcc-4-types",
                                        "gcc-5-types", "gcc-4-package", "gcc-5-package",
                                        "gcc-5-dwz"};

static Arena arena;
static Error err;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static DwarfBundle bundle_load(const char *name)
{
    const char *top = getenv("TOP");
    Str path = arena_printf(&arena, "%s/tests/fuzz/corpus/dwarf/%s", top ? top : ".", name);
    FILE *file = fopen(path.ptr, "rb");
    if (!file)
        fail_msg("cannot read '%s'", path.ptr);
    static uint8_t bytes[65536];
    size_t len = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    DwarfBundle b;
    dwarf_bundle_parse(arena_bytes(&arena, bytes_over(bytes, len)), &b);
    return b;
}

static DwarfFile *open_named(const char *name, DwarfBundle *b)
{
    DwarfFile *f;
    *b = bundle_load(name);
    assert_ok(dwarf_bundle_open(b, &f, &err), &err);
    return f;
}

// The last row that gives a line in the main source file: an address inside of
// what the line became.
static uint64_t address_of_line(DwarfFile *f, uint32_t line)
{
    uint64_t found = 0;
    for (size_t unit = 0; unit < dwarf_unit_count(f); unit++) {
        DwarfRows rows = dwarf_unit_rows(f, unit);
        for (size_t i = 0; i + 1 < rows.len; i++)
            if (rows.at[i].line == line && !(rows.at[i].flags & DWARF_ROW_END) &&
                rows.at[i + 1].address > rows.at[i].address)
                found = rows.at[i].address;
    }
    if (!found)
        fail_msg("no row for line %u", line);
    return found;
}

static void assert_frame(const char *which, const DwarfFrames *frames, size_t i, const char *name,
                         uint32_t line)
{
    if (i >= frames->len)
        fail_msg("%s: %zu frames, want one for '%s'", which, frames->len, name);
    const DwarfFrame *f = &frames->at[i];
    if (!str_equal(f->name, str_from_c(name)) || f->line != line)
        fail_msg("%s: frame %zu is '%" STR_FMT "' line %u, want '%s' line %u", which, i,
                 STR_ARG(f->name), f->line, name, line);
}

static void inlined_calls_come_innermost_first_in_every_version(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        DwarfBundle b;
        DwarfFrames frames;
        DwarfFile *f = open_named(plain[i], &b);
        assert_true(dwarf_lookup(f, address_of_line(f, LEAF), &frames));
        assert_int_equal(frames.len, 3);
        assert_frame(plain[i], &frames, 0, "leaf", LEAF);
        assert_frame(plain[i], &frames, 1, "middle", MIDDLE);
        assert_frame(plain[i], &frames, 2, "outer", OUTER);
        assert_true(frames.at[0].is_inlined && frames.at[1].is_inlined);
        assert_false(frames.at[2].is_inlined);
        dwarf_close(f);
    }
}

static void paths_are_absolute_and_columns_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        DwarfBundle b;
        DwarfFrames frames;
        DwarfFile *f = open_named(plain[i], &b);
        assert_true(dwarf_lookup(f, address_of_line(f, LEAF), &frames));
        for (size_t k = 0; k < frames.len; k++)
            assert_str(frames.at[k].file, "/src/dwarf_shapes.c");
        assert_int_not_equal(frames.at[0].column, 0);
        dwarf_close(f);
    }
}

static void declarations_say_where_a_function_stands(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        DwarfBundle b;
        DwarfFrames frames;
        DwarfFile *f = open_named(plain[i], &b);
        assert_true(dwarf_lookup(f, address_of_line(f, LEAF), &frames));
        if (strcmp(plain[i], "gcc-5-g1") != 0) { // -g1 leaves them out
            assert_int_equal(frames.at[0].decl_line, 9);
            assert_str(frames.at[0].decl_file, "/src/dwarf_shapes.c");
            assert_int_equal(frames.at[2].decl_line, 19);
        }
        dwarf_close(f);
    }
}

static void functions_are_listed_with_their_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        DwarfBundle b;
        DwarfFrames frames;
        DwarfFile *f = open_named(plain[i], &b);
        size_t outers = 0;
        for (size_t unit = 0; unit < dwarf_unit_count(f); unit++) {
            DwarfFunctions functions = dwarf_unit_functions(f, unit);
            for (size_t k = 0; k < functions.len; k++) {
                DwarfFunction fn = functions.at[k];
                outers += str_equal(fn.name, STR("outer"));
                assert_true(dwarf_lookup(f, fn.low, &frames));
                assert_true(str_equal(frames.at[frames.len - 1].name, fn.name));
                assert_true(dwarf_lookup(f, fn.high - 1, &frames));
                assert_true(str_equal(frames.at[frames.len - 1].name, fn.name));
            }
        }
        assert_int_equal(outers, 1);
        dwarf_close(f);
    }
}

static void addresses_outside_of_the_code_are_not_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        DwarfBundle b;
        DwarfFrames frames;
        DwarfFile *f = open_named(plain[i], &b);
        const uint64_t nowhere[] = {0, 1, UINT32_MAX, UINT64_MAX, UINT64_MAX - 1};
        for (size_t k = 0; k < ARRAY_LEN(nowhere); k++) {
            assert_false(dwarf_lookup(f, nowhere[k], &frames));
            assert_int_equal(frames.len, 0);
        }
        dwarf_close(f);
    }
}

static void lambdas_templates_and_local_classes_have_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(plus_plus); i++) {
        DwarfBundle b;
        DwarfFrames frames;
        DwarfFile *f = open_named(plus_plus[i], &b);
        assert_true(dwarf_lookup(f, address_of_line(f, LOCAL), &frames));
        assert_frame(plus_plus[i], &frames, frames.len - 1, "twice", LOCAL);
        // The lambda went into the template, which went into entry.
        bool found = false;
        DwarfRows rows = dwarf_unit_rows(f, 0);
        for (size_t unit = 0; unit < dwarf_unit_count(f); unit++) {
            rows = dwarf_unit_rows(f, unit);
            for (size_t k = 0; k < rows.len; k++) {
                if (!dwarf_lookup(f, rows.at[k].address, &frames) || frames.len != 3)
                    continue;
                found = true;
                assert_frame(plus_plus[i], &frames, 0, "operator()", LAMBDA);
                assert_int_equal(frames.at[1].line, APPLY);
                assert_true(str_starts_with(frames.at[1].name, STR("apply<")));
                assert_frame(plus_plus[i], &frames, 2, "entry", LAMBDA);
            }
        }
        assert_true(found);
        dwarf_close(f);
    }
}

static void a_member_is_named_by_its_declaration(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(plus_plus); i++) {
        DwarfBundle b;
        DwarfFrames frames;
        DwarfFile *f = open_named(plus_plus[i], &b);
        bool found = false;
        for (size_t unit = 0; unit < dwarf_unit_count(f); unit++) {
            DwarfRows rows = dwarf_unit_rows(f, unit);
            for (size_t k = 0; k < rows.len; k++) {
                if (!dwarf_lookup(f, rows.at[k].address, &frames) || frames.at[0].line != ADD)
                    continue;
                found = true;
                assert_str(frames.at[0].name, "add");
                assert_str(frames.at[0].linkage_name, "_ZN4shop4Till3addEi");
            }
        }
        assert_true(found);
        dwarf_close(f);
    }
}

static void line_tables_alone_give_lines_without_names(void **state)
{
    (void)state;
    DwarfBundle b;
    DwarfFrames frames;
    DwarfFile *f = open_named("clang-5-lines", &b);
    assert_true(dwarf_lookup(f, address_of_line(f, COLD_STORE), &frames));
    assert_int_equal(frames.at[0].line, COLD_STORE);
    assert_str(frames.at[0].file, "/src/dwarf_shapes.c");
    dwarf_close(f);
}

static void a_missing_dwo_leaves_lines_and_is_counted(void **state)
{
    (void)state;
    DwarfBundle b = bundle_load("gcc-5-split");
    DwarfFrames frames;
    DwarfStats stats;
    DwarfFile *f;
    b.dwo = (DwarfSections){0};
    assert_ok(dwarf_bundle_open(&b, &f, &err), &err);
    assert_true(dwarf_lookup(f, address_of_line(f, LEAF), &frames));
    assert_int_equal(frames.len, 1);
    assert_int_equal(frames.at[0].line, LEAF);
    dwarf_stats(f, &stats);
    assert_int_equal(stats.dwo_missing, 1);
    assert_int_equal(stats.dwo_found, 0);
    dwarf_close(f);
}

static void a_dwo_of_another_build_is_refused(void **state)
{
    (void)state;
    DwarfBundle b = bundle_load("gcc-5-split");
    DwarfBundle other = bundle_load("clang-5-split");
    DwarfFrames frames;
    DwarfStats stats;
    DwarfFile *f;
    b.dwo = other.dwo;
    assert_ok(dwarf_bundle_open(&b, &f, &err), &err);
    assert_true(dwarf_lookup(f, address_of_line(f, LEAF), &frames));
    assert_int_equal(frames.len, 1);
    dwarf_stats(f, &stats);
    assert_int_equal(stats.dwo_missing, 1);
    dwarf_close(f);
}

static void a_missing_dwz_file_is_counted(void **state)
{
    (void)state;
    DwarfBundle b = bundle_load("gcc-5-dwz");
    DwarfFile *f;
    DwarfStats stats;
    b.alt = (DwarfSections){0};
    assert_ok(dwarf_bundle_open(&b, &f, &err), &err);
    for (size_t unit = 0; unit < dwarf_unit_count(f); unit++)
        (void)dwarf_unit_functions(f, unit);
    dwarf_stats(f, &stats);
    assert_true(stats.alt_missing > 0);
    dwarf_close(f);
}

static void no_debug_information_is_said_so(void **state)
{
    (void)state;
    DwarfSections none = {0};
    DwarfFile *f = NULL;
    assert_error(dwarf_open(&none, NULL, &f, &err), &err, ERROR_NOT_FOUND, "no debug information");
    assert_null(f);
    dwarf_close(NULL);
}

// Asks everything; what comes out matters less than that it comes.
static void ask_all(const DwarfBundle *cut)
{
    DwarfBundle b = *cut;
    DwarfFile *f;
    DwarfFrames frames;
    if (!dwarf_bundle_open(&b, &f, &err)) {
        assert_true(err.text[0] != '\0');
        return;
    }
    for (size_t unit = 0; unit < dwarf_unit_count(f); unit++) {
        DwarfRows rows = dwarf_unit_rows(f, unit);
        for (size_t i = 0; i < rows.len; i++)
            (void)dwarf_lookup(f, rows.at[i].address, &frames);
        DwarfFunctions functions = dwarf_unit_functions(f, unit);
        for (size_t i = 0; i < functions.len; i++)
            (void)dwarf_lookup(f, functions.at[i].low, &frames);
    }
    dwarf_close(f);
}

// Each section of each part, cut at each byte, in a block of just that size.
static void sections_cut_at_each_byte_do_no_harm(void **state)
{
    (void)state;
    const char *const names[] = {"gcc-2",       "gcc-4",         "gcc-5",       "clang-5",
                                 "gcc-5-split", "gcc-4-package", "gcc-5-types", "gcc-5-dwz"};
    for (size_t n = 0; n < ARRAY_LEN(names); n++) {
        DwarfBundle b = bundle_load(names[n]);
        DwarfSections *parts[] = {&b.main, &b.dwo, &b.alt};
        for (size_t part = 0; part < ARRAY_LEN(parts); part++) {
            for (unsigned id = 0; dwarf_bundle_section(parts[part], id); id++) {
                Bytes *section = dwarf_bundle_section(parts[part], id);
                Bytes whole = *section;
                for (size_t len = 0; len < whole.len; len++) {
                    uint8_t *copy = heap_alloc(len);
                    memcpy(copy, whole.ptr, len);
                    *section = bytes_over(copy, len);
                    ask_all(&b);
                    heap_free(copy);
                }
                *section = whole;
            }
        }
    }
}

static void flipped_bits_do_no_harm(void **state)
{
    (void)state;
    DwarfBundle b = bundle_load("gcc-5");
    Bytes *const sections[] = {&b.main.info, &b.main.abbrev, &b.main.line, &b.main.rnglists};
    for (size_t s = 0; s < ARRAY_LEN(sections); s++) {
        Bytes whole = *sections[s];
        uint8_t *copy = heap_alloc(whole.len);
        bytes_copy(copy, whole);
        *sections[s] = bytes_over(copy, whole.len);
        for (size_t bit = 0; bit < whole.len * 8; bit++) {
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            ask_all(&b);
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        *sections[s] = whole;
        heap_free(copy);
    }
}

// Found by the fuzzer: addresses of no size were read.
static void a_line_table_with_addresses_of_no_size_is_damaged(void **state)
{
    (void)state;
    enum { ADDRESS_SIZE_AT = 6, DIRECTORY_FORM_AT = 32, FORM_ADDR = 1 };
    DwarfBundle b = bundle_load("gcc-5");
    DwarfStats stats;
    DwarfFile *f;
    Bytes line = b.main.line;
    uint8_t *bytes = arena_alloc(&arena, line.len, 1);
    bytes_copy(bytes, line);
    bytes[ADDRESS_SIZE_AT] = 0;
    bytes[DIRECTORY_FORM_AT] = FORM_ADDR;
    b.main.line = bytes_over(bytes, line.len);
    assert_ok(dwarf_bundle_open(&b, &f, &err), &err);
    assert_int_equal(dwarf_unit_rows(f, 0).len, 0);
    dwarf_stats(f, &stats);
    assert_int_equal(stats.units_damaged, 1);
    assert_non_null(strstr(stats.trouble, "line table header"));
    dwarf_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(inlined_calls_come_innermost_first_in_every_version, clean_up),
        cmocka_unit_test_teardown(paths_are_absolute_and_columns_kept, clean_up),
        cmocka_unit_test_teardown(declarations_say_where_a_function_stands, clean_up),
        cmocka_unit_test_teardown(functions_are_listed_with_their_ranges, clean_up),
        cmocka_unit_test_teardown(addresses_outside_of_the_code_are_not_found, clean_up),
        cmocka_unit_test_teardown(lambdas_templates_and_local_classes_have_names, clean_up),
        cmocka_unit_test_teardown(a_member_is_named_by_its_declaration, clean_up),
        cmocka_unit_test_teardown(line_tables_alone_give_lines_without_names, clean_up),
        cmocka_unit_test_teardown(a_missing_dwo_leaves_lines_and_is_counted, clean_up),
        cmocka_unit_test_teardown(a_dwo_of_another_build_is_refused, clean_up),
        cmocka_unit_test_teardown(a_missing_dwz_file_is_counted, clean_up),
        cmocka_unit_test_teardown(no_debug_information_is_said_so, clean_up),
        cmocka_unit_test_teardown(sections_cut_at_each_byte_do_no_harm, clean_up),
        cmocka_unit_test_teardown(a_line_table_with_addresses_of_no_size_is_damaged, clean_up),
        cmocka_unit_test_teardown(flipped_bits_do_no_harm, clean_up),
    };
    return RUN_TESTS(tests);
}
