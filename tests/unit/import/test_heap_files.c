// SPDX-License-Identifier: Apache-2.0
// Files of DHAT, massif and heaptrack -> Profile. The files are those of the fuzzer's corpus.

#include "import_case.h"

#include "base/strbuf.h"
#include "model/heap_metrics.h"

// The sum of a metric over all stacks, -1: the profile does not have it.
static int64_t sum(const char *metric)
{
    for (size_t m = 0; m < p.metrics.name.len; m++) {
        if (!str_equal(profile_text(&p, p.metrics.name.at[m]), str_from_c(metric)))
            continue;
        int64_t ret = 0;
        for (size_t i = 0; i < p.samples.stack.len; i++)
            ret += p.samples.values[m].at[i];
        return ret;
    }
    return -1;
}

// The functions of a row's stack, innermost first.
static void assert_stack(size_t row, const char *want)
{
    StrBuf got = {0};
    for (uint32_t s = p.samples.stack.at[row].v; s; s = p.stacks.parent.at[s].v) {
        uint32_t frame = p.stacks.frame.at[s].v;
        strbuf_add(&got, profile_text(&p, p.functions.name.at[p.frames.function.at[frame].v]));
        strbuf_printf(&got, ":%u ", p.frames.line.at[frame]);
    }
    assert_str(strbuf_str(&got), want);
    strbuf_deinit(&got);
}

static void dhat_gives_blocks_and_lifetimes(void **state)
{
    (void)state;
    assert_ok(import_as(load("dhat.json"), "DHAT"), &err);
    assert_int_equal(sum("blocks allocated"), 4);
    assert_int_equal(sum("bytes allocated"), 244);
    assert_int_equal(sum("bytes at peak"), 148);
    assert_int_equal(sum("blocks at end"), 1);
    assert_int_equal(sum("lifetime"), 930);
    assert_int_equal(sum("bytes written"), 8);
    assert_stack(0, "malloc:0 leaks:3 main:5 ");
    assert_stack(1, "passes(int) const:4 main:5 ");
}

static void massif_gives_the_peak_and_the_time_line(void **state)
{
    (void)state;
    assert_ok(import_as(load("massif.out"), "massif"), &err);
    assert_int_equal(sum("bytes at peak"), 150);
    assert_stack(0, "leaks:3 main:5 ");
    assert_int_equal(p.series.value.len, 3);
    assert_int_equal(p.series.time_ns.at[1], 12000000);
}

static void heaptrack_is_played_back(void **state)
{
    (void)state;
    const char *const files[] = {"heaptrack.txt", "heaptrack-raw.txt"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        assert_ok(import_as(load(files[i]), "heaptrack"), &err);
        assert_int_equal(sum("blocks allocated"), 3);
        assert_int_equal(sum("bytes allocated"), 100 + 2 * 48);
        assert_int_equal(sum("bytes at peak"), 148);
        assert_int_equal(sum("bytes at end"), 100);
        assert_int_equal(sum("blocks freed"), 2);
    }
    // heaptrack names the program's module "x".
    uint32_t frame = p.stacks.frame.at[p.samples.stack.at[0].v].v;
    assert_str(profile_text(&p, p.modules.path.at[p.frames.module.at[frame].v]), "/tmp/tiny");
    assert_ok(import_as(load("heaptrack.txt"), "heaptrack"), &err);
    assert_stack(0, "leaks:3 main:5 ");
    assert_stack(1, "passes:4 main:5 "); // the caller was inlined around it
}

static void a_file_cut_at_each_byte_gives_an_error_or_what_was_before(void **state)
{
    (void)state;
    const char *const files[] = {"dhat.json", "massif.out", "heaptrack.txt", "heaptrack-raw.txt"};
    const char *const formats[] = {"DHAT", "massif", "heaptrack", "heaptrack"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        Bytes whole = load(files[i]);
        for (size_t n = 40; n < whole.len; n++) {
            err = (Error){0};
            bool ok = import_as(bytes_slice(whole, 0, n), formats[i]);
            assert_true(ok || err.text[0]);
        }
    }
}

static void wrong_files_are_refused_with_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"v 10400 9\n", "newer"},
        {"v 10400 3\nt 1 5\n", "line 2"},
        {"v 10400 3\ns 9 ab\n", "line 2"},
        {"v 10400 3\na 10 0\n+ 1\n", "line 3"},
        {"desc: x\ncmd: y\ntime_unit: ms\nsnapshot=0\ntime=1\nmem_heap_B=5\nheap_tree=peak\n"
         "n1: 5 all\n n0: 6 0x1: f (a.c:1)\n",
         "line 9"},
        {"{\"dhatFileVersion\":3,\"pps\":[],\"ftbl\":[]}", "version"},
        {"{\"dhatFileVersion\":2,\"pps\":[{\"tb\":1,\"tbk\":1,\"fs\":[4]}],\"ftbl\":[\"[root]\"]}",
         "frame '4'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const ImportFormat *format;
        Profile other;
        err = (Error){0};
        bool ok =
            import_bytes(bytes_from_str(str_from_c(cases[i].text)), NULL, &other, &format, &err);
        assert_false(ok);
        assert_non_null(strstr(err.text, cases[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dhat_gives_blocks_and_lifetimes, begin, end),
        cmocka_unit_test_setup_teardown(massif_gives_the_peak_and_the_time_line, begin, end),
        cmocka_unit_test_setup_teardown(heaptrack_is_played_back, begin, end),
        cmocka_unit_test_setup_teardown(a_file_cut_at_each_byte_gives_an_error_or_what_was_before,
                                        begin, end),
        cmocka_unit_test_setup_teardown(wrong_files_are_refused_with_the_place, begin, end),
    };
    return RUN_TESTS(tests);
}
