// SPDX-License-Identifier: Apache-2.0
// Results of Criterion, libtest, divan and <assay/bench.h>.

#include "harness.h"

#include <math.h>

#include "collect/bench/harness.h"

static Arena arena;
static Error err;
static HarnessResults found;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    err = (Error){0};
    found = (HarnessResults){0};
    return 0;
}

static void read_text(const char *text)
{
    harness_read_output(&arena, str_from_c(text), &found);
}

static void assert_found(size_t at, const char *name, double seconds)
{
    assert_true(at < found.len);
    assert_true(str_equal(found.at[at].name, str_from_c(name)));
    assert_int_equal(found.at[at].count, 1);
    assert_true(found.at[at].iterations[0] == 1);
    assert_true(fabs(found.at[at].seconds[0] / seconds - 1) < 1e-9);
}

static void lines_of_libtest_are_read_with_old_and_new_numbers(void **state)
{
    (void)state;
    read_text("\nrunning 3 tests\ntest old::sum ... bench:   1,234,567 ns/iter (+/- 12)\n"
              "test new ... bench:          12.34 ns/iter (+/- 0.10) = 1234 MB/s\n"
              "test checked ... ok\n\ntest result: ok. 0 passed; 2 measured\n");
    assert_int_equal(found.len, 2);
    assert_found(0, "old::sum", 1.234567e-3);
    assert_found(1, "new", 12.34e-9);
}

static const char divan[] =
    "Timer precision: 20 ns\n"
    "dv            fastest       │ slowest       │ median        │ mean          │ samples │ "
    "iters\n"
    "├─ inner                    │               │               │               │         │\n"
    "│  ╰─ deep    1.699 µs      │ 2.009 µs      │ 1.701 µs      │ 1.72 µs       │ 100     │ 1600\n"
    "│             588.3 Mitem/s │ 497 Mitem/s   │ 587 Mitem/s   │ 581 Mitem/s   │         │\n"
    "├─ left out   (ignored)     │               │               │               │         │\n"
    "╰─ steps                    │               │               │               │         │\n"
    "   ├─ 100     156.6 ns      │ 189.1 ns      │ 156.9 ns      │ 157.4 ns      │ 100     │ 6400\n"
    "   ╰─ (1, a)  16.95 ms      │ 21.65 ms      │ 16.97 ms      │ 17.12 ms      │ 100     │ 100\n";

static void tables_of_divan_are_trees_of_medians(void **state)
{
    (void)state;
    read_text(divan);
    assert_int_equal(found.len, 3);
    assert_found(0, "inner::deep", 1.701e-6);
    assert_found(1, "steps::100", 156.9e-9);
    assert_found(2, "steps::(1, a)", 16.97e-3);
}

static void output_cut_at_each_byte_gives_no_more_than_the_whole(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof(divan); n++) {
        found = (HarnessResults){0};
        harness_read_output(&arena, str_over(divan, n), &found);
        assert_true(found.len <= 3);
    }
}

static void output_of_something_else_has_no_results(void **state)
{
    (void)state;
    read_text("├─ a  1 ns │ 1 ns │ 1 ns │ 1 ns │ 1 │ 1\n"
              "test  ... bench: 5 ns/iter (+/- 0)\ntest x ... bench: many ns/iter\n"
              "test y ... bench: -5 ns/iter (+/- 0)\ntest z ... bench: 5 parsecs\n");
    assert_int_equal(found.len, 0);
}

static const char sample[] =
    "{\"sampling_mode\":\"Linear\",\"iters\":[10.0,20.0],\"times\":[1000.0,2100.0]}";
static const char about[] = "{\"group_id\":\"g\",\"throughput\":{\"Elements\":100},"
                            "\"full_id\":\"g/sort/100\",\"title\":\"g/sort/100\"}";

static void samples_of_criterion_have_their_name_and_throughput(void **state)
{
    HarnessResult r;
    (void)state;
    assert_true(harness_read_criterion(&arena, str_from_c(sample), str_from_c(about), &r, &err));
    assert_true(str_equal(r.name, STR("g/sort/100")));
    assert_int_equal(r.count, 2);
    assert_true(r.iterations[1] == 20 && fabs(r.seconds[1] - 2.1e-6) < 1e-15);
    assert_true(r.elements == 100 && isnan(r.bytes) && !r.waits && !r.cpus);
}

static void files_of_criterion_cut_at_each_byte_are_refused(void **state)
{
    HarnessResult r;
    (void)state;
    for (size_t n = 0; n + 1 < sizeof(sample); n++)
        assert_false(
            harness_read_criterion(&arena, str_over(sample, n), str_from_c(about), &r, &err));
    for (size_t n = 0; n + 1 < sizeof(about); n++)
        assert_false(
            harness_read_criterion(&arena, str_from_c(sample), str_over(about, n), &r, &err));
    assert_false(harness_read_criterion(&arena, str_from_c(sample), STR("{}"), &r, &err));
}

static const char line[] =
    "{\"name\":\"sum\",\"iters\":[1,2],\"times\":[10,20],\"waits\":[1,0],\"elements\":7}";

static void lines_of_our_header_have_their_waits(void **state)
{
    HarnessResult r;
    (void)state;
    assert_true(harness_read_assay(&arena, str_from_c(line), &r, &err));
    assert_int_equal(r.count, 2);
    assert_true(fabs(r.seconds[1] - 20e-9) < 1e-18 && fabs(r.waits[0] - 1e-9) < 1e-18);
    assert_true(r.elements == 7 && !r.cpus && isnan(r.cycle));
    for (size_t n = 0; n + 1 < sizeof(line); n++)
        assert_false(harness_read_assay(&arena, str_over(line, n), &r, &err));
    assert_false(
        harness_read_assay(&arena, STR("{\"name\":\"a\",\"iters\":[1],\"times\":[]}"), &r, &err));
}

static void a_harness_is_known_by_its_variables(void **state)
{
    (void)state;
    assert_int_equal(harness_of(bytes_from_str(STR("xCRITERION_HOMEy"))), HARNESS_CRITERION);
    assert_int_equal(harness_of(bytes_from_str(STR("xDIVAN_MAX_TIMEy"))), HARNESS_DIVAN);
    assert_int_equal(harness_of(bytes_from_str(STR("CRITERION"))), HARNESS_LIBTEST);
    assert_int_equal(harness_of((Bytes){0}), HARNESS_LIBTEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(lines_of_libtest_are_read_with_old_and_new_numbers, clean_up),
        cmocka_unit_test_teardown(tables_of_divan_are_trees_of_medians, clean_up),
        cmocka_unit_test_teardown(output_cut_at_each_byte_gives_no_more_than_the_whole, clean_up),
        cmocka_unit_test_teardown(output_of_something_else_has_no_results, clean_up),
        cmocka_unit_test_teardown(samples_of_criterion_have_their_name_and_throughput, clean_up),
        cmocka_unit_test_teardown(files_of_criterion_cut_at_each_byte_are_refused, clean_up),
        cmocka_unit_test_teardown(lines_of_our_header_have_their_waits, clean_up),
        cmocka_unit_test(a_harness_is_known_by_its_variables),
    };
    return RUN_TESTS(tests);
}
