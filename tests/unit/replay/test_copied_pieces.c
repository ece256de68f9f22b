// SPDX-License-Identifier: Apache-2.0
// Stacks that programs in the kernel copy in pieces.

#include "harness.h"

#include "replay/consumer.h"

enum { TOO_LARGE = KNOWN_COPY_MAX + 64 };

static Profile profile;
static Consumer *consumer;
static SampleEvent event = {.stacks = SAMPLE_STACKS_TABLES};
static const ModuleSearch search = {.no_files = true};
static KnownShared known;

static int set_up(void **state)
{
    (void)state;
    memset(&known, 0, sizeof(known));
    profile_init(&profile);
    event.metric = profile_add_metric(&profile, STR("cycles"), STR(""), METRIC_SUM, STR("cycles"));
    consumer = consumer_open(
        &(ConsumerSetup){.profile = &profile, .arch = UNWIND_X86_64, .search = &search});
    consumer_use_programs(consumer, &known, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    consumer_close(consumer);
    profile_deinit(&profile);
    return 0;
}

// A piece of `size` bytes at `at` of a stack of `total` bytes. Returns the number of samples.
static size_t put(uint32_t at, uint32_t size, uint32_t total)
{
    KnownSample k = {.ip = 0x1000, .period = 1, .stack_size = size, .at = at, .total = total};
    size_t words = KNOWN_REGS * sizeof(uint64_t);
    uint8_t *raw = heap_alloc(sizeof(k) + words + size);
    memcpy(raw, &k, sizeof(k));
    PerfSample sample = {.raw = bytes_over(raw, sizeof(k) + words + size)};
    PerfRecord r = {.type = PERF_RECORD_SAMPLE, .pid = 7, .tid = 7, .time = 1, .u.sample = &sample};
    assert_true(consumer_known(consumer, &r, &event));
    heap_free(raw);
    return profile.samples.stack.len;
}

static void pieces_make_a_sample(void **state)
{
    (void)state;
    assert_int_equal(put(0, 4096, 4096), 1);
    assert_int_equal(put(0, KNOWN_PIECE, 2 * KNOWN_PIECE), 1);
    assert_int_equal(put(KNOWN_PIECE, KNOWN_PIECE, 2 * KNOWN_PIECE), 2);
}

// Of such a stack there are two ends, of one size.
static void a_large_stack_has_two_ends(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < KNOWN_HEAD; at += KNOWN_PIECE)
        assert_int_equal(put(at, KNOWN_PIECE, TOO_LARGE), 0);
    for (uint32_t at = TOO_LARGE - KNOWN_TAIL; at < TOO_LARGE - KNOWN_PIECE; at += KNOWN_PIECE)
        assert_int_equal(put(at, KNOWN_PIECE, TOO_LARGE), 0);
    assert_int_equal(put(TOO_LARGE - KNOWN_PIECE, KNOWN_PIECE, TOO_LARGE), 1);
}

static void a_large_stack_in_one_piece_is_refused(void **state)
{
    (void)state;
    assert_int_equal(put(0, TOO_LARGE, TOO_LARGE), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(pieces_make_a_sample),
        TEST(a_large_stack_has_two_ends),
        TEST(a_large_stack_in_one_piece_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
