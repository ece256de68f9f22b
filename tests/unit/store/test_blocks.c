// SPDX-License-Identifier: Apache-2.0
// A recording that runs for days is kept in blocks that stand alone, and joins again.

#include "harness.h"
#include "model/facts.h"
#include "model/forget.h"
#include "model/state_sums.h"
#include "store/blocks.h"

#include <stdlib.h>

enum { HZ = 99, ROUND_S = 300, DAY_S = 86400 };

#define SECOND 1000000000ll

static void begin(Profile *p, uint64_t start_s)
{
    char text[32];
    profile_init(p);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)(1700000000 + start_s) * SECOND);
    profile_set_fact(p, STR(FACT_START_REALTIME), str_from_c(text));
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("sampling"));
    profile_add_metric(p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock"));
    // The server ran before, and goes on.
    ProcessId process = profile_add_process(p, 1, 0, profile_str(p, STR("srv")), TIME_NONE);
    profile_add_thread(p, process, 1, profile_str(p, STR("srv")), TIME_NONE);
}

// A second with a new process, a new module and a new stack of new functions, as on a machine that
// builds programs.
static void add_second(Profile *p, uint64_t second, uint64_t round_second)
{
    char text[64];
    int64_t at = (int64_t)round_second * SECOND;
    snprintf(text, sizeof(text), "/tmp/build/job-%llu", (unsigned long long)second);
    ModuleId module = profile_module(p, MODULE_FILE, str_from_c(text), STR(""));
    ProcessId process =
        profile_add_process(p, 1000 + (uint32_t)second, 1, profile_str(p, str_from_c(text)), at);
    ThreadId thread = profile_add_thread(p, process, 1000 + (uint32_t)second,
                                         profile_str(p, str_from_c(text)), at);
    StackId stack = {0};
    for (uint64_t i = 0; i < 12; i++)
        stack = profile_stack(p, stack, profile_frame(p, module, 0x1000 + i * 16, 0));
    for (int i = 0; i < HZ; i++) {
        size_t row =
            profile_add_sample(p, at + i * SECOND / HZ, i % 2 ? thread : (ThreadId){0}, stack, 0);
        profile_sample_set(p, row, (MetricId){0}, SECOND / HZ);
        p->samples.time_ns.at[row] += rand() % (SECOND / HZ); // a timer is not exact
    }
    p->processes.end_ns.at[process.v] = p->threads.end_ns.at[thread.v] = at + SECOND / 2;
}

// What the profile has taken, names and rows.
static uint64_t taken(const Profile *p)
{
    return p->arena.taken_bytes + (p->frame_index.mask + p->stack_index.mask +
                                   p->strings.table.mask + p->module_index.mask) *
                                      sizeof(TableSlot);
}

static void a_day_of_new_programs_stays_in_its_memory(void **state)
{
    (void)state;
    const uint64_t most = 4 << 20; // a quarter of what the recorder has by default
    StoreBlocks blocks = {0};
    Profile p;
    Error err;
    uint64_t largest = 0;
    for (uint64_t s = 0; s < DAY_S; s += ROUND_S) {
        begin(&p, s);
        for (uint64_t i = 0; i < ROUND_S; i++) {
            add_second(&p, s + i, i);
            if (profile_timed_bytes(&p) > most / 8) {
                assert_ok(store_blocks_add(&blocks, &p, most / 4, &err), &err);
                profile_forget(&p, INT64_MAX);
            }
            largest = MAX(largest, taken(&p) + blocks.size_bytes);
        }
        assert_ok(store_blocks_add(&blocks, &p, most / 4, &err), &err);
        profile_deinit(&p);
    }
    assert_true(blocks.dropped > 0);
    assert_true(largest <= most);
    // The newest second is there, and each block is kept whole or not at all.
    begin(&p, DAY_S);
    add_second(&p, DAY_S, 0);
    assert_ok(store_blocks_join(&blocks, &p, &err), &err);
    assert_ok(profile_check(&p, &err), &err);
    assert_int_equal(p.samples.stack.len % HZ, 0);
    assert_true(p.samples.stack.len >= 600 * HZ);
    int64_t first = p.samples.time_ns.at[0], last = vec_last(&p.samples.time_ns);
    assert_int_equal((last - first) / SECOND + 1, p.samples.stack.len / HZ);
    // The server is one process in all blocks; the others are one each.
    assert_int_equal(p.processes.pid.len, 1 + p.samples.stack.len / HZ);
    profile_deinit(&p);
    store_blocks_deinit(&blocks);
}

static void a_block_of_no_memory_is_the_newest(void **state)
{
    (void)state;
    StoreBlocks blocks = {0};
    Profile p;
    Error err;
    for (uint64_t s = 0; s < 3; s++) {
        begin(&p, s);
        add_second(&p, s, 0);
        assert_ok(store_blocks_add(&blocks, &p, 0, &err), &err);
        profile_deinit(&p);
    }
    assert_int_equal(blocks.at.len, 1);
    assert_int_equal(blocks.dropped, 2);
    store_blocks_deinit(&blocks);
}

static void a_process_of_a_number_that_comes_again_stays_apart(void **state)
{
    (void)state;
    StoreBlocks blocks = {0};
    Profile p;
    Error err;
    begin(&p, 0);
    add_second(&p, 7, 0);
    assert_ok(store_blocks_add(&blocks, &p, 1 << 20, &err), &err);
    profile_deinit(&p);
    begin(&p, 10);
    add_second(&p, 7, 3);
    assert_ok(store_blocks_join(&blocks, &p, &err), &err);
    assert_int_equal(p.processes.pid.len, 3);
    assert_int_equal(p.processes.start_ns.at[2], 13 * SECOND);
    profile_deinit(&p);
    store_blocks_deinit(&blocks);
}

static void single_waits_become_sums(void **state)
{
    (void)state;
    Profile p;
    begin(&p, 0);
    for (int i = WAIT_RUNNABLE; i < WAIT_CLASS_COUNT; i++)
        profile_add_metric(&p, str_from_c(wait_class_name((WaitClass)i)), STR("ns"), METRIC_SUM,
                           STR("waiting"));
    MetricId wall =
        profile_add_metric(&p, STR("wall time"), STR("ns"), METRIC_SUM, STR("wall time"));
    add_second(&p, 0, 0);
    StrId lock = profile_str(&p, STR("cache_lock"));
    for (int i = 0; i < 4; i++)
        profile_add_state(&p, &(StateRow){.start_ns = i * 1000000,
                                          .woken_ns = i * 1000000 + 700000,
                                          .end_ns = i * 1000000 + 800000,
                                          .state = WAIT_LOCK,
                                          .object = lock});
    profile_add_state(
        &p, &(StateRow){.start_ns = 5, .woken_ns = 5, .end_ns = 25, .state = WAIT_RUNNABLE});
    profile_sum_states(&p);
    uint64_t locked = 0, runnable = 0, running = 0, count = 0, in_buckets = 0;
    for (size_t i = 0; i < p.waits.thread.len; i++) {
        locked += p.waits.state.at[i] == WAIT_LOCK ? p.waits.blocked_ns.at[i] : 0;
        runnable += p.waits.runnable_ns.at[i];
        runnable += p.waits.state.at[i] == WAIT_RUNNABLE ? p.waits.blocked_ns.at[i] : 0;
        running += p.waits.state.at[i] == WAIT_RUNNING ? p.waits.blocked_ns.at[i] : 0;
        count += p.waits.state.at[i] == WAIT_RUNNING ? 0 : p.waits.count.at[i];
    }
    assert_int_equal(locked, 4 * 700000);
    assert_int_equal(runnable, 4 * 100000 + 20);
    assert_int_equal(running, HZ * (SECOND / HZ));
    for (size_t i = 0; i < p.wait_times.wait.len; i++) {
        uint32_t b = p.wait_times.bucket.at[i];
        in_buckets += p.wait_times.count.at[i];
        if (p.waits.state.at[p.wait_times.wait.at[i]] == WAIT_LOCK)
            assert_true(wait_bucket_ns(b) <= 800000 && wait_bucket_ns(b + 1) > 800000);
    }
    assert_int_equal(in_buckets, count);
    int64_t waiting = 0;
    for (size_t i = 0; i < p.samples.stack.len; i++)
        if (p.samples.time_ns.at[i] == TIME_NONE)
            waiting += p.samples.values[wall.v].at[i];
    assert_int_equal(waiting, 4 * 800000 + 20);
    Error err;
    assert_ok(profile_check(&p, &err), &err);
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_of_new_programs_stays_in_its_memory),
        cmocka_unit_test(a_block_of_no_memory_is_the_newest),
        cmocka_unit_test(a_process_of_a_number_that_comes_again_stays_apart),
        cmocka_unit_test(single_waits_become_sums),
    };
    return RUN_TESTS(tests);
}
