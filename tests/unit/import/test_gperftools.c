// SPDX-License-Identifier: Apache-2.0
// CPU profiles of gperftools -> Profile. The files are those of the fuzzer's corpus.

#include "import_case.h"

#include "model/facts.h"

static bool import(Bytes file)
{
    return import_as(file, "gperftools");
}

static uint64_t address(StackId s)
{
    return p.frames.address.at[p.stacks.frame.at[s.v].v];
}

static void check_samples(uint64_t code)
{
    static const int64_t counts[] = {3, 1, 2};
    assert_int_equal(p.samples.stack.len, ARRAY_LEN(counts));
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        assert_int_equal(p.samples.values[0].at[i], counts[i] * 2500000);
        assert_int_equal(p.samples.values[1].at[i], counts[i]);
        assert_int_equal(p.samples.time_ns.at[i], TIME_NONE);
    }
    // All but the innermost are return addresses.
    StackId leaf = p.samples.stack.at[0], caller = p.stacks.parent.at[leaf.v];
    assert_int_equal(address(leaf), code + 0x10);
    assert_int_equal(address(caller), code + 0x1f);
    assert_int_equal(address(p.stacks.parent.at[caller.v]), code + 0x2f);
    // The innermost place that stands twice is one frame.
    leaf = p.samples.stack.at[1];
    assert_int_equal(address(leaf), code + 0x10);
    caller = p.stacks.parent.at[leaf.v];
    assert_int_equal(address(caller), code + 0x1f);
    assert_int_equal(p.stacks.parent.at[caller.v].v, 0);
    assert_int_equal(address(p.samples.stack.at[2]), code + 0x20);
    Str path =
        profile_text(&p, p.modules.path.at[p.frames.module.at[p.stacks.frame.at[leaf.v].v].v]);
    assert_str(path, "/no/such/program");
    assert_str(profile_fact(&p, STR(FACT_COMMAND)), "program");
}

static void words_of_both_sizes_and_orders(void **state)
{
    (void)state;
    assert_true(import(load("gperftools-64")));
    uint64_t code = address(p.samples.stack.at[2]) - 0x20;
    check_samples(code);
    assert_true(import(load("gperftools-32-big")));
    code = address(p.samples.stack.at[2]) - 0x20;
    check_samples(code);
}

static void a_cut_file_gives_its_whole_samples(void **state)
{
    (void)state;
    enum { HEADER = 40, FIRST = HEADER + 5 * 8, SECOND = FIRST + 5 * 8, END = SECOND + 6 * 8 };
    Bytes file = load("gperftools-64");
    for (size_t len = 0; len < file.len; len++) {
        uint8_t *copy = len ? arena_alloc(&arena, len, 1) : NULL;
        if (len)
            memcpy(copy, file.ptr, len);
        bool ok = import(bytes_over(copy, len));
        assert_int_equal(ok, len >= FIRST);
        if (!ok)
            continue;
        size_t want = len < SECOND ? 1 : len < SECOND + 3 * 8 ? 2 : 3;
        assert_int_equal(p.samples.stack.len, want);
        if (len < END)
            assert_true(p.notes.key.len >= 1);
    }
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    Bytes file = load("gperftools-64");
    uint8_t *copy = arena_alloc(&arena, file.len, 1);
    memcpy(copy, file.ptr, file.len);
    // More samples than nanoseconds can count.
    memset(copy + 40, 0x7f, 8);
    assert_false(import(bytes_over(copy, file.len)));
    assert_non_null(strstr(err.text, "too many"));
    // A chain that is longer than the file.
    memcpy(copy, file.ptr, file.len);
    memset(copy + 48, 0xff, 8);
    assert_false(import(bytes_over(copy, file.len)));
    assert_non_null(strstr(err.text, "no sample before"));
    // An empty profile is one.
    memcpy(copy, file.ptr, 40);
    memset(copy + 40, 0, 24);
    copy[48] = 1;
    assert_true(import(bytes_over(copy, 64)));
    assert_int_equal(p.samples.stack.len, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(words_of_both_sizes_and_orders),
        TEST(a_cut_file_gives_its_whole_samples),
        TEST(damaged_files_are_refused),
    };
    return RUN_TESTS(tests);
}
