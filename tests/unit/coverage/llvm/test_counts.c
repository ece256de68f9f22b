// SPDX-License-Identifier: Apache-2.0
// Summing profiles: by layout, function by function, by several threads.

#include "harness.h"
#include "raw_profile.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/md5.h"
#include "coverage/llvm/merge.h"
#include "llvmcov/profdata.h"
#include "os/file.h"

typedef struct Fixture {
    Arena arena;
    CoverCounts counts;
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
    *f = (Fixture){0};
}

// Of one test.
static Fixture f, part;
static StrBuf b;
static Error err;

static int begin(void **state)
{
    (void)state;
    setup(&f);
    setup(&part);
    return 0;
}

static int end(void **state)
{
    (void)state;
    strbuf_deinit(&b);
    teardown(&part);
    teardown(&f);
    return 0;
}

static Bytes raw(RawShape s)
{
    strbuf_clear(&b);
    raw_build(&b, &s);
    return bytes_from_str(strbuf_str(&b));
}

static uint64_t counter(const CoverCounts *c, uint64_t name, uint64_t hash, size_t i)
{
    const CoverCountRow *row = cover_counts_find(c, name, hash);
    assert_non_null(row);
    assert_true(i < row->count);
    return cover_counts_of(c, row)[i];
}

static void profiles_of_all_versions_add_up_function_by_function(void **state)
{
    (void)state;
    for (uint32_t version = 5; version <= 12; version++)
        assert_ok(cover_counts_add(&f.counts, STR("x"), raw((RawShape){version, 8, false, 0}),
                                   version, &err),
                  &err);
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(f.counts.rows.len, 2);
    assert_int_equal(counter(&f.counts, 0x12, 0x22, 2), 14 * (5 + 6 + 7 + 8 + 9 + 10 + 11 + 12));
}

// The record of a profile of version 10 starts behind its header.
enum { HEADER_10 = 128, RECORD_10 = 64 };

static void a_record_that_differs_makes_a_layout_of_its_own(void **state)
{
    (void)state;
    assert_ok(cover_counts_add(&f.counts, STR("a"), raw((RawShape){10, 8, false, 0}), 1, &err),
              &err);
    raw((RawShape){10, 8, false, 0});
    b.ptr[HEADER_10 + RECORD_10 + 8] = 0x77; // hash of the second function
    assert_ok(cover_counts_add(&f.counts, STR("b"), bytes_from_str(strbuf_str(&b)), 1, &err), &err);
    raw((RawShape){10, 8, false, 0});
    b.ptr[HEADER_10 + 32] = 0x55; // address of the first function: moves from run to run
    assert_ok(cover_counts_add(&f.counts, STR("c"), bytes_from_str(strbuf_str(&b)), 1, &err), &err);
    assert_int_equal(f.counts.layouts.at.len, 2);
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(counter(&f.counts, 0x11, 0x21, 0), 30);
    assert_int_equal(counter(&f.counts, 0x12, 0x22, 0), 24);
    assert_int_equal(counter(&f.counts, 0x12, 0x77, 0), 12);
}

static void a_file_that_fails_adds_nothing(void **state)
{
    (void)state;
    raw((RawShape){10, 8, false, 0});
    b.ptr[HEADER_10 + RECORD_10 + 16] ^= 0x40; // the second function's counters lie outside
    assert_error(cover_counts_add(&f.counts, STR("bad"), bytes_from_str(strbuf_str(&b)), 1, &err),
                 &err, ERROR_FORMAT, "record 1");
    Str text = STR("f\n1\n2\n3\n4\n\ng\n1\n2\n5\n\nh\n1\n1\n9\n");
    assert_false(cover_counts_add(&f.counts, STR("text"), bytes_from_str(text), 1, &err));
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(f.counts.rows.len, 0);
    assert_int_equal(f.counts.profile_count, 0);
}

// An indexed profile of the functions of raw(), and what stands in front of its table.
static StrBuf indexed(uint32_t version, uint64_t *table_at)
{
    static const uint64_t counters[] = {10, 11, 12, 13, 14};
    ProfDataRow rows[] = {
        {.name = STR_INIT("first"), .hash = 0x21, .counters = counters, .counter_count = 2},
        {.name = STR_INIT("second"), .hash = 0x22, .counters = counters + 2, .counter_count = 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        rows[i].name_ref = md5_low64(bytes_from_str(rows[i].name));
    StrBuf out = {0};
    profdata_write(&out, version, 0, &(ProfDataExtras){0}, rows, ARRAY_LEN(rows));
    memcpy(table_at, out.ptr + 32, sizeof(*table_at));
    return out;
}

static void an_indexed_profile_cut_at_any_byte_gives_its_whole_functions(void **state)
{
    for (uint32_t version = 7; version <= 12; version += version == 7 ? 2 : 3) {
        uint64_t table_at, most = 0;
        StrBuf file = indexed(version, &table_at);
        for (size_t cut = 0; cut < file.len; cut++) {
            // Heap memory of this size only, so that a sanitizer sees reads behind it.
            uint8_t *bytes = heap_alloc(cut + 1);
            bytes_copy(bytes, bytes_over(file.ptr, cut));
            teardown(&f);
            setup(&f);
            bool ok = cover_counts_add(&f.counts, STR("cut"), bytes_over(bytes, cut), 1, &err);
            assert_true(ok || err.text[0]);
            assert_ok(cover_counts_finish(&f.counts, &err), &err);
            assert_true(ok == (f.counts.rows.len > 0));
            assert_true(f.counts.rows.len >= most); // more bytes, more functions
            most = f.counts.rows.len;
            bool is_table_whole = cut >= table_at + 16 + 8 * 4; // what follows has no counts
            assert_true(!ok || is_table_whole || f.counts.notes.len == 1);
            assert_true(cut < table_at || most == 2);
            for (size_t i = 0; i < f.counts.rows.len; i++) {
                const CoverCountRow *row = &f.counts.rows.at[i];
                assert_int_equal(cover_counts_of(&f.counts, row)[0], row->hash == 0x21 ? 10 : 12);
                assert_int_equal(row->count, row->hash == 0x21 ? 2 : 3);
            }
            heap_free(bytes);
        }
        strbuf_deinit(&file);
    }
    (void)state;
}

// Found by fuzzing: where the table is not whole, and stands where the functions should.
static void an_indexed_profile_with_its_table_in_front_is_refused(void **state)
{
    (void)state;
    uint64_t table_at;
    StrBuf file = indexed(12, &table_at);
    enum { AFTER_OFFSET = 40, FUNCTIONS_AT = 72 + 16 + 6 * 8 + 16 * 24 };
    for (uint64_t at = AFTER_OFFSET; at < FUNCTIONS_AT; at += 8) {
        uint64_t buckets = UINT64_MAX / 8;
        memcpy(file.ptr + 32, &at, sizeof(at));
        memcpy(file.ptr + at, &buckets, sizeof(buckets));
        assert_false(
            cover_counts_add(&f.counts, STR("x"), bytes_from_str(strbuf_str(&file)), 1, &err));
        strbuf_deinit(&file);
        file = indexed(12, &table_at);
    }
    strbuf_deinit(&file);
}

static void a_text_that_is_cut_gives_its_whole_functions(void **state)
{
    (void)state;
    Str text = STR("f\n1\n2\n3\n4\n\ng\n1\n2\n5\n");
    assert_ok(cover_counts_add(&f.counts, STR("text"), bytes_from_str(text), 1, &err), &err);
    assert_int_equal(f.counts.notes.len, 1);
    assert_true(str_find(f.counts.notes.at[0], STR("1 whole functions")) != SIZE_MAX);
    assert_true(str_find(f.counts.notes.at[0], STR("offset 0xa")) != SIZE_MAX);
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(f.counts.rows.len, 1);
    assert_int_equal(counter(&f.counts, md5_low64(bytes_from_str(STR("f"))), 1, 1), 4);
}

static void temporal_traces_are_kept_and_added(void **state)
{
    (void)state;
    Str text =
        STR(":ir\n:temporal_prof_traces\n# Num Temporal Profile Traces:\n2\n7\n# Weight:\n1\n"
            "f,g,\n5\ng,\n\nf\n1\n1\n3\n");
    assert_ok(cover_counts_add(&f.counts, STR("text"), bytes_from_str(text), 1, &err), &err);
    assert_ok(cover_counts_add(&part.counts, STR("text"), bytes_from_str(text), 3, &err), &err);
    assert_ok(cover_counts_absorb(&f.counts, &part.counts, &err), &err);
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(f.counts.notes.len, 0);
    assert_int_equal(f.counts.traces.seen, 4); // as llvm-profdata: those that are there
    assert_int_equal(f.counts.traces.at.len, 4);
    strbuf_clear(&b);
    assert_ok(cover_counts_write(&f.counts, 12, false, &b, &err), &err);
    ProfData read;
    Bytes written = bytes_from_str(strbuf_str(&b));
    assert_ok(profdata_open(written, &read, &err), &err);
    assert_true(read.variant == (PROF_VARIANT_IR | PROF_VARIANT_TEMPORAL));
    const uint64_t weights[] = {1, 5, 1, 5}, lengths[] = {2, 1, 2, 1};
    assert_int_equal(read.traces.count, 4);
    assert_int_equal(read.traces.seen, 4);
    for (size_t i = 0; i < 4; i++) {
        uint64_t weight, last;
        Bytes refs = prof_traces_next(&read.traces, &weight);
        assert_int_equal(weight, weights[i]);
        assert_int_equal(refs.len, 8 * lengths[i]);
        memcpy(&last, refs.ptr + refs.len - 8, 8);
        assert_true(last == md5_low64(bytes_from_str(STR("g"))));
    }
    for (size_t cut = written.len - 1; cut > written.len - 100; cut--) {
        assert_ok(profdata_open(bytes_slice(written, 0, cut), &read, &err), &err);
        assert_true(read.is_cut);
        assert_int_equal(read.traces.count, 0);
    }
    Str broken = str_slice(text, 0, str_find(text, STR("g,\n\n")));
    assert_error(cover_counts_add(&part.counts, STR("cut"), bytes_from_str(broken), 1, &err), &err,
                 ERROR_FORMAT, "functions of a temporal trace");
}

static void of_many_traces_a_sample_of_even_chances_is_kept(void **state)
{
    (void)state;
    enum { STREAM = 1000, ROUNDS = 200 };
    unsigned kept[STREAM] = {0};
    CoverTraces sum = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        // Half of the stream one by one, half as a sample that was made before.
        CoverTraces other = {.draws = sum.draws * 7 + round};
        cover_traces_deinit(&sum);
        sum.draws = 1000000ull * (round + 1);
        for (uint64_t i = 0; i < STREAM; i++)
            cover_traces_add(i % 2 ? &sum : &other, 1, bytes_over(&i, 8));
        cover_traces_take(&sum, &other);
        assert_int_equal(sum.seen, STREAM);
        assert_int_equal(sum.at.len, COVER_TRACES_MAX);
        for (size_t i = 0; i < sum.at.len; i++)
            kept[sum.at.at[i].refs.at[0]]++;
    }
    // 20 of 200 rounds each; a binomial's standard deviation is 4.2.
    unsigned odd = 0;
    for (size_t i = 0; i < STREAM; i++) {
        assert_in_range(kept[i], 1, 45);
        odd += i % 2 ? kept[i] : 0;
    }
    assert_in_range(odd, ROUNDS * COVER_TRACES_MAX / 2 - 500, ROUNDS * COVER_TRACES_MAX / 2 + 500);
    cover_traces_deinit(&sum);
}

static void a_trace_that_says_it_was_chosen_from_very_many_is_added_at_once(void **state)
{
    (void)state;
    CoverTraces huge = {.seen = UINT64_MAX}, sum = {0};
    const uint64_t ref = 7;
    for (unsigned i = 0; i < 3; i++) {
        cover_traces_add(&huge, 1, bytes_over(&ref, 8));
        huge.seen = UINT64_MAX;
        cover_traces_take(&sum, &huge);
        assert_true(sum.seen <= COVER_TRACES_SEEN_MAX);
    }
    cover_traces_deinit(&sum);
    cover_traces_deinit(&huge);
}

// Forked children that end at the same time write into each other's profiles.
static void a_profile_whose_names_are_no_names_is_not_added(void **state)
{
    (void)state;
    raw((RawShape){10, 8, false, 0});
    size_t one = b.len;
    raw_build(&b, &(RawShape){10, 8, false, 0});
    b.ptr[2 * one - 8] = 0x70; // more names than there are bytes
    assert_ok(cover_counts_add(&f.counts, STR("x"), bytes_from_str(strbuf_str(&b)), 1, &err), &err);
    assert_int_equal(f.counts.profile_count, 1);
    assert_int_equal(f.counts.notes.len, 1);
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(counter(&f.counts, 0x11, 0x21, 0), 10);
}

static void profiles_behind_a_broken_one_count(void **state)
{
    (void)state;
    raw((RawShape){10, 8, false, 0});
    size_t one = b.len;
    for (unsigned i = 0; i < 3; i++)
        raw_build(&b, &(RawShape){10, 8, false, 0});
    // The second process was killed as it wrote, and the third appended its own.
    memmove(b.ptr + one + 100, b.ptr + 2 * one, 2 * one);
    b.len -= one - 100;
    assert_ok(cover_counts_add(&f.counts, STR("x"), bytes_from_str(strbuf_str(&b)), 1, &err), &err);
    assert_int_equal(f.counts.profile_count, 3);
    assert_int_equal(f.counts.notes.len, 1);
    assert_true(str_find(f.counts.notes.at[0], STR("3 whole profiles read, 1 that")) != SIZE_MAX);
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(counter(&f.counts, 0x11, 0x21, 0), 30);
    // The first one too may be broken.
    raw((RawShape){10, 8, false, 0});
    b.len -= 40;
    raw_build(&b, &(RawShape){10, 8, false, 0});
    assert_ok(cover_counts_add(&part.counts, STR("x"), bytes_from_str(strbuf_str(&b)), 1, &err),
              &err);
    assert_int_equal(part.counts.profile_count, 1);
    assert_ok(cover_counts_finish(&part.counts, &err), &err);
    assert_int_equal(counter(&part.counts, 0x11, 0x21, 0), 10);
}

static void absorbing_is_the_same_as_adding(void **state)
{
    (void)state;
    Str text = STR("f\n7\n2\n3\n4\n");
    assert_ok(cover_counts_add(&f.counts, STR("a"), raw((RawShape){10, 8, true, 0}), 1, &err),
              &err);
    assert_ok(cover_counts_add(&part.counts, STR("b"), raw((RawShape){10, 8, true, 0}), 5, &err),
              &err);
    assert_ok(cover_counts_add(&part.counts, STR("c"), bytes_from_str(text), 2, &err), &err);
    assert_ok(cover_counts_absorb(&f.counts, &part.counts, &err), &err);
    teardown(&part); // nothing of it is needed any more
    assert_int_equal(f.counts.layouts.at.len, 1);
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(f.counts.rows.len, 3);
    assert_int_equal(f.counts.profile_count, 3);
    assert_int_equal(counter(&f.counts, 0x11, 0x21, 1), 66);
    assert_str(f.counts.rows.at[0].name, "f");
    assert_int_equal(f.counts.counters.at[1], 8);
}

static void sums_of_parts_stop_at_the_largest_number_too(void **state)
{
    (void)state;
    Bytes file = raw((RawShape){10, 8, false, 0});
    assert_ok(cover_counts_add(&f.counts, STR("a"), file, UINT64_MAX / 15, &err), &err);
    assert_ok(cover_counts_add(&part.counts, STR("b"), file, UINT64_MAX / 15, &err), &err);
    assert_ok(cover_counts_absorb(&f.counts, &part.counts, &err), &err);
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(f.counts.saturated, 5); // each is at least 10, twice
    assert_true(counter(&f.counts, 0x11, 0x21, 0) == COVER_COUNT_MAX);
}

// Sums are added in blocks; a large one makes its block, and no other, go step by step.
static void one_large_counter_among_many_stops_alone(void **state)
{
    (void)state;
    enum { N = 1200, LARGE = 700 };
    uint64_t sums[N] = {0}, counters[N];
    for (uint64_t i = 0; i < N; i++)
        counters[i] = 3 * i;
    counters[LARGE] = COVER_COUNT_MAX - 1;
    CoverLayout l = {.sums = sums, .counter_count = N};
    ProfRaw p = {.counters = bytes_over(counters, sizeof(counters)), .counter_size = 8};
    assert_false(cover_layout_add(&l, &p, 1));
    assert_true(sums[LARGE] == COVER_COUNT_MAX - 1);
    assert_true(cover_layout_add(&l, &p, 1));
    assert_true(sums[LARGE] == COVER_COUNT_MAX);
    for (uint64_t i = 0; i < N; i++)
        assert_true(i == LARGE || sums[i] == 6 * i);
}

// Two million functions in two texts of opposite order would take hours if one
// were looked for from the start; 20,000 show the same within a test.
static void the_order_of_functions_does_not_matter(void **state)
{
    (void)state;
    enum { N = 20000 };
    StrBuf up = {0}, down = {0};
    for (int i = 0; i < N; i++) {
        strbuf_printf(&up, "f%d\n%d\n1\n%d\n\n", i, i, i);
        strbuf_printf(&down, "f%d\n%d\n1\n%d\n\n", N - 1 - i, N - 1 - i, N - 1 - i);
    }
    assert_ok(cover_counts_add(&f.counts, STR("up"), bytes_from_str(strbuf_str(&up)), 1, &err),
              &err);
    assert_ok(cover_counts_add(&f.counts, STR("down"), bytes_from_str(strbuf_str(&down)), 1, &err),
              &err);
    assert_ok(cover_counts_finish(&f.counts, &err), &err);
    assert_int_equal(f.counts.rows.len, N);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(cover_counts_of(&f.counts, &f.counts.rows.at[i])[0], 2 * i);
    strbuf_deinit(&up);
    strbuf_deinit(&down);
}

typedef struct Folder {
    char path[64];
    Arena arena;
    CoverMergeInputVec inputs;
} Folder;

static void make_files(Folder *d, unsigned count, unsigned broken)
{
    (void)snprintf(d->path, sizeof(d->path), "/tmp/assay-test-XXXXXX");
    if (!mkdtemp(d->path))
        fail();
    Bytes file = raw((RawShape){10, 8, false, 0});
    for (unsigned i = 0; i < count; i++) {
        Str path = arena_printf(&d->arena, "%s/%03u.profraw", d->path, i);
        Bytes content = i == broken ? bytes_slice(file, 0, file.len / 2) : file;
        assert_ok(os_write_file(path, content, OUTPUT_KEEP, &err), &err);
        vec_push(&d->arena, &d->inputs, (CoverMergeInput){path, 1});
    }
}

static void remove_files(Folder *d)
{
    for (size_t i = 0; i < d->inputs.len; i++)
        unlink(d->inputs.at[i].path.ptr);
    rmdir(d->path);
    arena_deinit(&d->arena);
}

static void threads_give_the_sums_of_one_and_name_the_broken_file(void **state)
{
    (void)state;
    enum { FILES = 50, BROKEN = 31 };
    Folder d = {0};
    make_files(&d, FILES, BROKEN);
    for (unsigned threads = 1; threads <= 7; threads += 3) {
        CoverMergeResult result;
        CoverMergeOptions how = {.thread_count = threads};
        setup(&f);
        assert_ok(cover_merge_files(&f.counts, &d.inputs, &how, &result, &err), &err);
        assert_int_equal(result.merged, FILES - 1);
        assert_int_equal(result.failures.len, 1);
        assert_int_equal(result.failures.at[0].input, BROKEN);
        assert_non_null(strstr(result.failures.at[0].error.text, "031.profraw"));
        assert_ok(cover_counts_finish(&f.counts, &err), &err);
        assert_int_equal(counter(&f.counts, 0x12, 0x22, 1), 13 * (FILES - 1));
        cover_merge_result_deinit(&result);
        teardown(&f);
    }
    remove_files(&d);
}

static void a_merge_that_must_be_whole_ends_at_the_first_failure(void **state)
{
    (void)state;
    Folder d = {0};
    CoverMergeResult result;
    CoverMergeOptions how = {.thread_count = 1, .stop_at_failure = true};
    make_files(&d, 4, 2);
    assert_error(cover_merge_files(&f.counts, &d.inputs, &how, &result, &err), &err, ERROR_FORMAT,
                 "002.profraw");
    cover_merge_result_deinit(&result);
    remove_files(&d);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(profiles_of_all_versions_add_up_function_by_function),
        TEST(a_record_that_differs_makes_a_layout_of_its_own),
        TEST(a_file_that_fails_adds_nothing),
        TEST(an_indexed_profile_cut_at_any_byte_gives_its_whole_functions),
        TEST(an_indexed_profile_with_its_table_in_front_is_refused),
        TEST(a_text_that_is_cut_gives_its_whole_functions),
        TEST(temporal_traces_are_kept_and_added),
        TEST(of_many_traces_a_sample_of_even_chances_is_kept),
        TEST(a_trace_that_says_it_was_chosen_from_very_many_is_added_at_once),
        TEST(a_profile_whose_names_are_no_names_is_not_added),
        TEST(profiles_behind_a_broken_one_count),
        TEST(absorbing_is_the_same_as_adding),
        TEST(sums_of_parts_stop_at_the_largest_number_too),
        TEST(one_large_counter_among_many_stops_alone),
        TEST(the_order_of_functions_does_not_matter),
        TEST(threads_give_the_sums_of_one_and_name_the_broken_file),
        TEST(a_merge_that_must_be_whole_ends_at_the_first_failure),
    };
    return RUN_TESTS(tests);
}
