// SPDX-License-Identifier: Apache-2.0
// What the runs amount to: pairs are pairs, the order is random and balanced,
// what went wrong is told.

#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect/bench/bench.h"
#include "collect/bench/conditions.h"
#include "random_normal.h"

static Error err;

static void add_run(Bench *b, uint32_t command, uint32_t round, double time_s)
{
    MeasuredRun run = {.time_s = time_s, .round = round};
    run.wall_ns = (int64_t)(time_s * 1e9);
    run.start_ns = (int64_t)round * 10000000;
    run.run_delay_ns = -1;
    vec_push(NULL, &b->set.groups[command].runs, run);
}

// A bench of two commands that was never run.
static void open_two(Bench *b)
{
    SpawnServer none = {.socket = -1};
    BenchOptions options = {.level = 0.95, .margin = 0.01};
    bench_init(b, &options, &none);
    for (int i = 0; i < 2; i++)
        vec_push(&b->arena, &b->commands, (BenchCommand){.name = STR("x")});
    bench_prepare(b);
}

// Rounds whose speed wanders by a factor of three; the second command takes 5 % more.
static void add_drifting_rounds(Bench *b, uint32_t rounds, double factor)
{
    Random random = random_seeded(7);
    for (uint32_t i = 0; i < rounds; i++) {
        double machine = 0.01 * exp(0.5 * random_normal(&random));
        add_run(b, 0, i, machine * exp(0.005 * random_normal(&random)));
        add_run(b, 1, i, machine * factor * exp(0.005 * random_normal(&random)));
    }
}

static void a_drift_that_hits_both_runs_of_a_pair_does_not_widen_the_interval(void **state)
{
    (void)state;
    Bench b;
    open_two(&b);
    add_drifting_rounds(&b, 40, 1.05);
    runs_summarise(&b.set);
    Comparison c = b.set.groups[1].comparison;
    assert_int_equal(c.pairs, 40);
    assert_int_equal(c.verdict, VERDICT_SLOWER);
    // Runs of neighbouring rounds as pairs would give an interval of a third.
    assert_true(c.ratio.high - c.ratio.low < 0.01);
    assert_true(c.ratio.low < 1.05 && c.ratio.high > 1.05);
    bench_deinit(&b);
}

static void runs_of_different_rounds_are_no_pair(void **state)
{
    (void)state;
    Bench b;
    open_two(&b);
    add_drifting_rounds(&b, 20, 1.05);
    // The second command has no run of round 10: what follows would be shifted.
    MeasuredRunVec *runs = &b.set.groups[1].runs;
    memmove(&runs->at[10], &runs->at[11], 9 * sizeof(MeasuredRun));
    runs->len--;
    runs_summarise(&b.set);
    assert_int_equal(b.set.groups[1].comparison.pairs, 10);
    assert_true(b.set.groups[1].comparison.ratio.high - b.set.groups[1].comparison.ratio.low <
                0.02);
    bench_deinit(&b);
}

static void counts_are_compared_in_pairs_too(void **state)
{
    (void)state;
    Bench b;
    open_two(&b);
    add_drifting_rounds(&b, 20, 1);
    b.set.counters = 2;
    for (uint32_t i = 0; i < 20; i++) {
        b.set.groups[0].runs.at[i].counts[0] = 1000 * (i + 1);
        b.set.groups[1].runs.at[i].counts[0] = 2000 * (i + 1);
        b.set.groups[0].runs.at[i].counts[1] = NAN; // not counted
        b.set.groups[1].runs.at[i].counts[1] = 1;
    }
    runs_summarise(&b.set);
    assert_true(fabs(b.set.groups[1].count_ratios[0].point - 2) < 1e-9);
    assert_true(b.set.groups[1].count_ratios[0].high - b.set.groups[1].count_ratios[0].low < 1e-9);
    assert_true(b.set.groups[1].count_ratios[1].low == 0);
    assert_true(fabs(b.set.groups[0].summary.counts[0] - 10500) < 1e-9);
    assert_true(isnan(b.set.groups[0].summary.counts[1]));
    bench_deinit(&b);
}

static void grouped_runs_are_compared_without_pairs(void **state)
{
    (void)state;
    Bench b;
    open_two(&b);
    b.set.plan.grouped = true;
    add_drifting_rounds(&b, 40, 1.05);
    runs_summarise(&b.set);
    assert_int_equal(b.set.groups[1].comparison.method, COMPARE_UNPAIRED);
    assert_true(b.set.groups[1].comparison.ratio.high - b.set.groups[1].comparison.ratio.low > 0.1);
    bench_deinit(&b);
}

// Rounds of 10 ms of work, the second command's `factor` as much, in times that are mostly
// a wait for a CPU.
static void add_waiting_rounds(Bench *b, uint32_t rounds, double factor)
{
    Random random = random_seeded(11);
    for (uint32_t i = 0; i < rounds; i++)
        for (uint32_t command = 0; command < 2; command++) {
            double work = (command ? factor : 1) * 0.01 * exp(0.005 * random_normal(&random));
            double waited = 0.05 * exp(0.5 * random_normal(&random));
            add_run(b, command, i, work + waited);
            b->set.groups[command].runs.at[i].waiting_s = waited;
        }
}

static void the_wait_for_a_cpu_is_left_out_where_it_is_much_and_known(void **state)
{
    (void)state;
    Bench b;
    open_two(&b);
    add_waiting_rounds(&b, 30, 1.02);
    runs_summarise(&b.set);
    assert_true(b.set.without_waiting && b.set.waiting_share > 0.7);
    assert_int_equal(b.set.groups[1].comparison.verdict, VERDICT_SLOWER);
    assert_true(b.set.groups[1].comparison.ratio.low < 1.02 &&
                b.set.groups[1].comparison.ratio.high > 1.02);
    // The whole times say next to nothing; they are there all the same.
    Interval whole = b.set.groups[1].elapsed_ratio;
    assert_true(whole.low < 1 && whole.high > 1.02 && whole.high - whole.low > 0.1);

    b.set.plan.with_waiting = true;
    runs_summarise(&b.set);
    assert_false(b.set.without_waiting);
    assert_memory_equal(&b.set.groups[1].comparison.ratio, &whole, sizeof(whole));
    assert_true(b.set.groups[1].elapsed_ratio.point == 0);
    b.set.plan.with_waiting = false;

    // Of one run it is not known: then of none.
    b.set.groups[1].runs.at[7].waiting_s = NAN;
    runs_summarise(&b.set);
    assert_false(b.set.without_waiting);
    bench_deinit(&b);
}

static void a_wait_of_a_hundredth_stays_in(void **state)
{
    (void)state;
    Bench b;
    open_two(&b);
    add_drifting_rounds(&b, 20, 1.05);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < 20; i++)
            b.set.groups[c].runs.at[i].waiting_s = b.set.groups[c].runs.at[i].time_s / 100;
    runs_summarise(&b.set);
    assert_false(b.set.without_waiting);
    bench_deinit(&b);
}

static void what_waits_is_told_from_what_computes_or_sleeps(void **state)
{
    (void)state;
    enum { RUNS = 9 };
    static const char *const scripts[] = {
        "exec sleep 0.02", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done", "/bin/true; true"};
    SpawnServer server;
    assert_ok(spawn_server_open(environ, true, &server, &err), &err);
    if (!server.kernel_clock) {
        spawn_server_close(&server);
        skip();
    }
    Bench b;
    BenchOptions options = {.level = 0.95, .margin = 0.01, .runs = RUNS, .seed = 1};
    bench_init(&b, &options, &server);
    const char *argv[3][4];
    for (size_t i = 0; i < 3; i++) {
        memcpy(argv[i], (const char *const[]){"sh", "-c", scripts[i], NULL}, sizeof(argv[i]));
        vec_push(&b.arena, &b.commands,
                 (BenchCommand){.text = STR("x"), .path = "/bin/sh", .argv = argv[i]});
    }
    assert_ok(bench_run(&b, &err), &err);
    // The kernel now and then counts a wait while a busy machine wakes a sleeper late.
    size_t whole = 0;
    for (size_t i = 0; i < RUNS; i++) {
        // Sleeping is not a wait for a CPU, and what was computed neither.
        const MeasuredRun *slept = &b.set.groups[0].runs.at[i],
                          *computed = &b.set.groups[1].runs.at[i];
        whole += slept->waiting_s >= 0 && slept->time_s - slept->waiting_s >= 0.0199;
        assert_true(computed->waiting_s >= 0 && computed->waiting_s < computed->time_s);
        assert_true(computed->time_s - computed->waiting_s > 0.0001);
        // Of two processes it is not known.
        assert_true(isnan(b.set.groups[2].runs.at[i].waiting_s));
    }
    assert_true(whole > RUNS / 2);
    assert_false(b.set.without_waiting);
    bench_deinit(&b);
    spawn_server_close(&server);
}

static void freeing_memory_is_told_from_the_way_to_exec(void **state)
{
    (void)state;
    double least = 0;
    // 80 us on the way to exec, in every run; it varies, and short runs hear nothing of it.
    assert_true(bench_freeing_ns(1080000, 1000000, &least) == 0 && least == 80000);
    assert_true(bench_freeing_ns(1190000, 1000000, &least) == 0 && least == 80000);
    assert_true(bench_freeing_ns(1060000, 1000000, &least) == 0 && least == 60000);
    // A large heap: 60 ms to free it.
    assert_true(fabs(bench_freeing_ns(620e6, 560e6, &least) - 60e6) < 0.3e6);
    // Also when nothing short ran before, and never below 0.
    least = 0;
    assert_true(fabs(bench_freeing_ns(620e6, 560e6, &least) - 60e6) < 0.4e6 && least == 150000);
    assert_true(bench_freeing_ns(5, 10, &least) == 0);
}

static void a_weighed_run_corrects_the_others(void **state)
{
    (void)state;
    WeighedRun weighed = {.known = true,
                          .exact_bytes = 700000,
                          .floor_bytes = 2500000,
                          .correction_bytes = 700000 - 2300000};
    // The spawner's memory hides what the run had: what was weighed stands.
    MeasuredRun run = {.max_rss_bytes = 2400000};
    assert_int_equal(runs_peak_memory(&weighed, &run), 700000);
    // A larger program's figure lacks what it lacked in the weighed run.
    weighed.exact_bytes = 5150000;
    weighed.correction_bytes = 150000;
    run.max_rss_bytes = 5004000;
    assert_int_equal(runs_peak_memory(&weighed, &run), 5154000);
    weighed = (WeighedRun){0};
    assert_int_equal(runs_peak_memory(&weighed, &run), 5004000);
}

static void real_runs_are_in_random_order(void **state)
{
    (void)state;
    enum { ROUNDS = 24 };
    static const char *const argv[] = {"true", NULL};
    SpawnServer server;
    assert_ok(spawn_server_open(environ, true, &server, &err), &err);
    uint32_t orders[2] = {0};
    for (uint64_t seed = 1; seed <= 2; seed++) {
        Bench b;
        BenchOptions options = {.level = 0.95, .margin = 0.01, .runs = ROUNDS, .seed = seed};
        bench_init(&b, &options, &server);
        for (int i = 0; i < 2; i++)
            vec_push(&b.arena, &b.commands,
                     (BenchCommand){.text = STR("true"), .path = "/bin/true", .argv = argv});
        assert_ok(bench_run(&b, &err), &err);
        uint32_t firsts = 0;
        for (uint32_t i = 0; i < ROUNDS; i++) {
            const MeasuredRun *x = &b.set.groups[0].runs.at[i], *y = &b.set.groups[1].runs.at[i];
            assert_true(x->round == i && y->round == i && x->position + y->position == 1);
            assert_true((x->position < y->position) == (x->start_ns < y->start_ns));
            firsts += x->position == 0;
            orders[seed - 1] = orders[seed - 1] << 1 | x->position;
        }
        assert_in_range(firsts, 4, 20);
        bench_deinit(&b);
    }
    assert_int_not_equal(orders[0], orders[1]);
    spawn_server_close(&server);
}

static void runs_of_a_pair_have_the_same_environment_and_pairs_have_not(void **state)
{
    (void)state;
    enum { ROUNDS = 8 };
    char path[] = "/tmp/assay-test-offsets-XXXXXX", script[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    snprintf(script, sizeof(script), "echo ${#HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET} >>%s", path);
    const char *const argv[] = {"sh", "-c", script, NULL};
    SpawnServer server;
    assert_ok(spawn_server_open(environ, true, &server, &err), &err);
    Bench b;
    BenchOptions options = {.level = 0.95, .margin = 0.01, .runs = ROUNDS, .warmup = 1, .seed = 3};
    bench_init(&b, &options, &server);
    for (int i = 0; i < 2; i++)
        vec_push(&b.arena, &b.commands,
                 (BenchCommand){.text = STR("x"), .path = "/bin/sh", .argv = argv});
    assert_ok(bench_run(&b, &err), &err);
    bench_deinit(&b);
    spawn_server_close(&server);
    // Lines in order of the runs: the warm-up's pair, then the rounds'.
    FILE *f = fdopen(fd, "r");
    unsigned first, second, before = UINT32_MAX, changes = 0;
    for (int i = 0; i <= ROUNDS; i++) {
        assert_int_equal(fscanf(f, "%u %u", &first, &second), 2);
        assert_int_equal(first, second);
        changes += first != before;
        before = first;
    }
    assert_true(changes >= ROUNDS - 1); // equal by chance once in 4096
    fclose(f);
    unlink(path);
}

static void the_speed_of_the_cpu_is_probed(void **state)
{
    (void)state;
    int64_t a = bench_speed_probe_ns(), b = bench_speed_probe_ns();
    assert_true(a > 10000 && b > 10000 && a < 100 * b && b < 100 * a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drift_that_hits_both_runs_of_a_pair_does_not_widen_the_interval),
        cmocka_unit_test(runs_of_different_rounds_are_no_pair),
        cmocka_unit_test(counts_are_compared_in_pairs_too),
        cmocka_unit_test(grouped_runs_are_compared_without_pairs),
        cmocka_unit_test(the_wait_for_a_cpu_is_left_out_where_it_is_much_and_known),
        cmocka_unit_test(a_wait_of_a_hundredth_stays_in),
        cmocka_unit_test(what_waits_is_told_from_what_computes_or_sleeps),
        cmocka_unit_test(freeing_memory_is_told_from_the_way_to_exec),
        cmocka_unit_test(a_weighed_run_corrects_the_others),
        cmocka_unit_test(real_runs_are_in_random_order),
        cmocka_unit_test(runs_of_a_pair_have_the_same_environment_and_pairs_have_not),
        cmocka_unit_test(the_speed_of_the_cpu_is_probed),
    };
    return RUN_TESTS(tests);
}
