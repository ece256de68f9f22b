// SPDX-License-Identifier: Apache-2.0
// A bench as rows: what is computed from a stored recording is what was computed from the runs.

#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyse/function_summary.h"
#include "analyse/run_summary.h"
#include "collect/bench/function_runs.h"
#include "collect/bench/record.h"
#include "model/facts.h"
#include "model/run_names.h"
#include "os/file.h"
#include "random_normal.h"
#include "store/store.h"

static Error err;

static double wobble(Random *random, double around)
{
    return around * exp(0.02 * random_normal(random));
}

// A run of `command`, by the kernel's clock, that waited for a CPU now and then.
static MeasuredRun some_run(Random *random, const BenchResult *shell, double seconds)
{
    MeasuredRun r = {.wall_ns = (int64_t)(wobble(random, seconds) * 1e9),
                     .user_ns = (int64_t)(wobble(random, seconds / 2) * 1e9),
                     .system_ns = (int64_t)(wobble(random, seconds / 4) * 1e9),
                     .start_ns = (int64_t)random_below(random, 1000000000000),
                     .run_delay_ns = (int64_t)random_below(random, 1000000),
                     .steal_ns = -1,
                     .max_rss_bytes = 2000000 + random_below(random, 100000),
                     .minor_faults = random_below(random, 300),
                     .major_faults = random_below(random, 2),
                     .voluntary_switches = random_below(random, 9),
                     .involuntary_switches = random_below(random, 5),
                     .blocks_in = random_below(random, 2),
                     .kernel_clocked = random_below(random, 4) > 0};
    r.waited_ns = r.wall_ns + 123456;
    r.time_s = (double)r.wall_ns * 1e-9 - shell->shell_time_s;
    r.user_s = (double)r.user_ns * 1e-9 - shell->shell_user_s;
    r.system_s = (double)r.system_ns * 1e-9;
    r.waiting_s = (double)r.run_delay_ns * 1e-9;
    r.counts[0] = wobble(random, 1e9);
    r.counts[1] = NAN; // not open
    r.counts[2] = random_below(random, 3) ? wobble(random, 1e6) : NAN;
    return r;
}

// Three commands with parameters, two of one name, one through a shell, warm-ups, a weighed
// run, and counters of which one is not open.
static void make_bench(Bench *b, bool grouped)
{
    static const char *const names[] = {"./prog", "./prog", "cat <x | ./prog"};
    SpawnServer server = {.socket = -1, .kernel_clock = true, .rss_floor_bytes = 1500000};
    BenchOptions options = {.level = 0.9, .margin = 0.02, .seed = 77, .grouped = grouped};
    Random random = random_seeded(3);
    options.reference = 1;
    bench_init(b, &options, &server);
    for (uint32_t i = 0; i < 3; i++)
        vec_push(&b->arena, &b->commands,
                 (BenchCommand){.name = str_from_c(names[i]),
                                .text = str_from_c(names[i]),
                                .via_shell = i == 2});
    vec_push(&b->arena, &b->commands.at[0].parameters,
             (RunParameter){STR("rows"), STR("a=b\\\nc")});
    bench_prepare(b);
    b->begin_ns = 1000000000;
    b->speed_change = 0.123456789012345678;
    b->left_children = true;
    b->set.counters = 3;
    b->set.rss_floor_bytes = server.rss_floor_bytes;
    const SpawnCounter counters[] = {{.open = true, .name = "cycles:u"},
                                     {.name = "branch-misses", .reason = {.text = "no PMU"}},
                                     {.open = true, .name = "task-clock", .is_time = true}};
    memcpy(b->counters, counters, sizeof(counters));
    b->results[2].shell_time_s = 0.001234567891234567;
    b->results[2].shell_error_s = 1.5e-5;
    b->results[2].shell_user_s = 0.0003;
    b->set.groups[0].weighed = (WeighedRun){
        .known = true, .correction_bytes = -300000, .floor_bytes = 2010000, .exact_bytes = 1234567};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t round = 0; round < 30; round++) {
            MeasuredRun r = some_run(&random, &b->results[i], 0.01 * (i + 1));
            r.round = round;
            r.position = (round + i) % 3;
            r.status = round == 7;
            vec_push(NULL, &b->set.groups[i].runs, r);
        }
        vec_push(NULL, &b->results[i].warmups, some_run(&random, &b->results[i], 1));
    }
    runs_summarise(&b->set);
}

// Field by field, as bytes, so that NaN equals NaN; the padding between fields may differ.
#define SAME(x, y, field) assert_memory_equal(&(x)->field, &(y)->field, sizeof((x)->field))

static void assert_same_run(const MeasuredRun *x, const MeasuredRun *y)
{
    // No padding lies before `kernel_clocked`, nor between the fields of an interval.
    assert_memory_equal(x, y, offsetof(MeasuredRun, kernel_clocked));
    SAME(x, y, kernel_clocked);
    // Counters that are not open are left out, which changes their indices.
    assert_true(x->counts[0] == y->counts[0]);
    assert_true(x->counts[2] == y->counts[1] || (isnan(x->counts[2]) && isnan(y->counts[1])));
}

static void assert_same_summary(const RunSummary *x, const RunSummary *y)
{
    assert_memory_equal(x, y, offsetof(RunSummary, peak_rss_is_floor));
    SAME(x, y, peak_rss_is_floor);
    SAME(x, y, minor_faults);
    SAME(x, y, major_faults);
    SAME(x, y, switches);
    SAME(x, y, run_delay_s);
    SAME(x, y, outliers);
    SAME(x, y, causes);
    SAME(x, y, steady.kind);
    SAME(x, y, steady.prefix);
    SAME(x, y, lag1);
    SAME(x, y, effective_runs);
    SAME(x, y, kernel_clocked);
    SAME(x, y, first_slow);
    assert_true(x->counts[0] == y->counts[0] && x->counts[2] == y->counts[1]);
}

static void assert_same_comparison(const Comparison *x, const Comparison *y)
{
    assert_memory_equal(x, y, offsetof(Comparison, differs));
    SAME(x, y, differs);
    SAME(x, y, p);
    SAME(x, y, sign_p);
    SAME(x, y, pairs);
    SAME(x, y, least_seen);
    SAME(x, y, more_pairs);
    SAME(x, y, lag1);
}

static void assert_same_group(const RunGroup *x, const RunGroup *y)
{
    assert_int_equal(x->runs.len, y->runs.len);
    assert_int_equal(x->weighed.known, y->weighed.known);
    for (size_t i = 0; i < x->runs.len; i++) {
        const MeasuredRun *a = &x->runs.at[i], *b = &y->runs.at[i];
        assert_same_run(a, b);
        assert_int_equal(runs_peak_memory(&x->weighed, a), runs_peak_memory(&y->weighed, b));
    }
    assert_same_summary(&x->summary, &y->summary);
    assert_same_comparison(&x->comparison, &y->comparison);
    SAME(x, y, elapsed_ratio);
    assert_memory_equal(&x->count_ratios[2], &y->count_ratios[1], sizeof(Interval));
    assert_true(x->adjusted_p == y->adjusted_p);
}

static void store_and_load(const Profile *from, Profile *to)
{
    char path[] = "/tmp/assay-test-record-XXXXXX";
    int fd = mkstemp(path);
    StoreOptions options = {.force = true};
    assert_true(fd >= 0);
    close(fd);
    assert_ok(store_write(str_from_c(path), &options, from, &err), &err);
    MappedFile file;
    assert_ok(os_map_file(str_from_c(path), &file, &err), &err);
    assert_ok(store_read(file.bytes, to, &err), &err);
    os_unmap_file(&file);
    unlink(path);
}

static void check_round_trip(bool grouped)
{
    Bench b;
    Profile p, loaded;
    RunSummaries s;
    const BenchContext context = {.machine = {.hostname = STR("h"), .cpus = 2, .load = 9.5},
                                  .command_line = STR("assay bench"),
                                  .revision = STR("0123456789012345678901234567890123456789")};
    make_bench(&b, grouped);
    profile_init(&p);
    bench_record(&b, &context, &p);
    store_and_load(&p, &loaded);
    assert_true(run_summaries_apply(&loaded));
    assert_ok(run_summaries_init(&s, &loaded, &err), &err);
    assert_int_equal(s.set.count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_same_group(&b.set.groups[i], &s.set.groups[i]);
    assert_true(s.set.without_waiting == b.set.without_waiting);
    assert_true(s.set.waiting_share == b.set.waiting_share);
    assert_true(s.set.gap_ratio == b.set.gap_ratio && s.speed_change == b.speed_change);
    assert_true(s.shell_time_s == b.results[2].shell_time_s);
    assert_int_equal(s.set.counters, 2);
    assert_str(s.counters[1].name, "task-clock");
    assert_true(s.counters[1].is_time && !s.counters[0].is_time);
    assert_str(s.commands[0].parameters.at[0].name, "rows");
    assert_str(s.commands[0].parameters.at[0].value, "a=b\\\nc");
    assert_true(s.commands[2].via_shell && !s.commands[1].via_shell);
    assert_str(s.commands[1].revision, "0123456789012345678901234567890123456789");
    assert_int_equal(s.commands[0].warmups, 1);
    assert_true(s.machine.cpus == 2 && s.machine.load == 9.5);
    run_summaries_deinit(&s);
    profile_deinit(&loaded);
    profile_deinit(&p);
    bench_deinit(&b);
}

static void a_stored_bench_has_the_figures_that_were_printed(void **state)
{
    (void)state;
    check_round_trip(false);
    check_round_trip(true);
}

static void a_command_without_a_run_stays_a_command(void **state)
{
    (void)state;
    Bench b;
    Profile p;
    RunSummaries s;
    const BenchContext context = {0};
    make_bench(&b, false);
    b.set.groups[1].runs.len = 0;
    runs_summarise(&b.set);
    profile_init(&p);
    bench_record(&b, &context, &p);
    assert_ok(run_summaries_init(&s, &p, &err), &err);
    assert_int_equal(s.set.count, 3);
    assert_int_equal(s.set.groups[1].runs.len, 0);
    assert_int_equal(s.set.groups[2].runs.len, 30);
    assert_int_equal(s.set.groups[2].comparison.pairs, 0);
    run_summaries_deinit(&s);
    profile_deinit(&p);
    bench_deinit(&b);
}

static void rows_that_cannot_be_are_refused(void **state)
{
    (void)state;
    Profile p;
    RunSummaries s;
    profile_init(&p);
    profile_set_fact(&p, STR(FACT_COLLECTOR), STR(COLLECTOR_BENCH));
    RunRow row = RUN_NOT_KNOWN;
    row.name = profile_str(&p, STR("x"));
    profile_add_run(&p, &row); // without any time
    assert_false(run_summaries_init(&s, &p, &err));
    assert_non_null(strstr(err.text, "run 0 of 'x'"));
    MetricId time = run_metric(&p, STR(RUN_METRIC_TIME), STR("s"), METRIC_SUM, STR(""));
    profile_add_run_value(&p, (RunId){0}, time, -1);
    assert_false(run_summaries_init(&s, &p, &err));
    p.run_values.value.at[0] = 1;
    assert_ok(run_summaries_init(&s, &p, &err), &err);
    run_summaries_deinit(&s);
    profile_set_fact(&p, STR(FACT_REFERENCE), STR("1"));
    assert_false(run_summaries_init(&s, &p, &err));
    assert_non_null(strstr(err.text, "reference"));
    profile_deinit(&p);
}

static void conditions_keep_every_text(void **state)
{
    (void)state;
    StrBuf text = {0};
    Arena arena = {0};
    const Str keys[] = {STR("a=b"), STR(""), STR("n\\n\n")};
    const Str values[] = {STR("x=y"), STR("\n\n\\"), STR("\r")};
    for (size_t i = 0; i < 3; i++)
        run_conditions_add(&text, keys[i], values[i]);
    Str rest = strbuf_str(&text), key, value;
    for (size_t i = 0; i < 3; i++) {
        assert_true(run_conditions_next(&arena, &rest, &key, &value));
        assert_true(str_equal(key, keys[i]) && str_equal(value, values[i]));
        assert_true(str_equal(run_conditions_find(&arena, strbuf_str(&text), keys[i]), values[i]));
    }
    assert_false(run_conditions_next(&arena, &rest, &key, &value));
    arena_deinit(&arena);
    strbuf_deinit(&text);
}

// A run of a function benchmark with samples of 10 and 20 iterations.
static void add_function_run(Profile *p, const char *name, uint32_t round, bool against,
                             double each)
{
    const Str s = STR("s"), none = STR("");
    MetricId time = run_metric(p, STR(RUN_METRIC_TIME), s, METRIC_SUM, none);
    MetricId count = run_metric(p, STR(RUN_METRIC_SAMPLE_ITERATIONS), none, METRIC_SUM, none);
    MetricId took = run_metric(p, STR(RUN_METRIC_SAMPLE_TIME), s, METRIC_SUM, none);
    MetricId bytes = run_metric(p, STR(RUN_METRIC_BYTES), STR("bytes"), METRIC_SUM, none);
    RunRow row = RUN_NOT_KNOWN;
    row.name = profile_str(p, str_from_c(name));
    row.command = profile_str(p, STR("./benches"));
    row.conditions = profile_str(p, against ? STR("build=against") : none);
    row.round = round;
    RunId run = profile_add_run(p, &row);
    profile_add_run_value(p, run, time, each);
    for (int i = 1; i <= 2; i++) {
        profile_add_run_value(p, run, count, 10 * i);
        profile_add_run_value(p, run, took, each * 10 * i);
    }
    profile_add_run_value(p, run, bytes, 64);
}

static void functions_are_paired_by_process(void **state)
{
    (void)state;
    Profile p;
    FunctionSummaries f;
    Comparison c;
    profile_init(&p);
    profile_set_fact(&p, STR(FACT_COLLECTOR), STR(COLLECTOR_FUNCTIONS));
    Random random = random_seeded(5);
    for (uint32_t i = 0; i < 12; i++) {
        double machine = 1e-6 * exp(0.3 * random_normal(&random));
        add_function_run(&p, "parse", i, false, machine * 1.1);
        add_function_run(&p, "only/new", i, false, 2e-6);
        add_function_run(&p, "parse", i, true, machine);
    }
    assert_true(function_summaries_apply(&p));
    assert_ok(function_summaries_init(&f, &p, &err), &err);
    assert_int_equal(f.list.len, 2);
    assert_true(f.has_against && function_compares(&f));
    assert_int_equal(f.list.at[0].runs[0].len, 12);
    assert_int_equal(f.list.at[0].each.len, 24);
    assert_true(f.list.at[0].bytes == 64 && isnan(f.list.at[0].elements));
    assert_true(function_change(&f, &f.list.at[0], &c));
    assert_true(fabs(c.ratio.point - 1.1) < 1e-9 && c.verdict == VERDICT_SLOWER);
    assert_false(function_change(&f, &f.list.at[1], &c));
    assert_true(fabs(function_slope(&f, &f.list.at[1]).point - 2e-6) < 1e-15);
    assert_int_equal(function_gate(&f, 0.05), 3);
    function_summaries_deinit(&f);

    Bench b;
    functions_as_bench(&p, &b);
    assert_int_equal(b.commands.len, 2);
    assert_int_equal(b.set.groups[0].runs.len, 12);
    assert_true(b.set.groups[1].runs.at[3].time_s == 2e-6);
    bench_deinit(&b);

    p.run_values.value.at[1] = 0; // iterations
    assert_false(function_summaries_init(&f, &p, &err));
    assert_non_null(strstr(err.text, "a sample of 'parse'"));
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stored_bench_has_the_figures_that_were_printed),
        cmocka_unit_test(a_command_without_a_run_stays_a_command),
        cmocka_unit_test(rows_that_cannot_be_are_refused),
        cmocka_unit_test(conditions_keep_every_text),
        cmocka_unit_test(functions_are_paired_by_process),
    };
    return RUN_TESTS(tests);
}
