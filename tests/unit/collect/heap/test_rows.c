// SPDX-License-Identifier: Apache-2.0
// From sites to rows, also of sites that a program has filled with nonsense.

#include "harness.h"

#include "collect/heap/rows.h"

static Profile profile;

// A profile with the rows of one site.
static void fill(WireSite *site, const HeapTimeline *timeline)
{
    profile_init(&profile);
    MetricId metric = profile_add_metric(&profile, STR("site"), STR(""), METRIC_SUM, STR("heap"));
    ProcessId process = profile_add_process(&profile, 7, 1, profile_str(&profile, STR("p")), 0);
    ThreadId thread = profile_add_thread(&profile, process, 7, profile_str(&profile, STR("p")), 0);
    FrameId frame = profile_frame(&profile, (ModuleId){0}, 0x100, FRAME_EXACT);
    size_t row =
        profile_add_sample(&profile, 10, thread, profile_stack(&profile, (StackId){0}, frame), 0);
    profile_sample_set(&profile, row, metric, 1);
    AgentHeaps heaps = {0};
    vec_push(NULL, &heaps.at,
             ((AgentHeap){.pid = 7, .sums = {.timer_ns = 1}, .sites = site, .site_count = 1}));
    heap_fill_rows(&profile, metric, &heaps, timeline, 0, &(HeapRowOptions){0});
    vec_free(&heaps.at);
}

static void no_value_is_negative(void **state)
{
    (void)state;
    WireSite site;
    Error err;
    memset(&site, 0xff, sizeof(site));
    site.kind = WIRE_SITE_BLOCKS;
    fill(&site, &(HeapTimeline){0});
    assert_ok(profile_check(&profile, &err), &err);
    for (size_t m = 0; m < profile.metrics.name.len; m++)
        assert_true(profile.samples.values[m].at[0] >= 0);
    profile_deinit(&profile);
}

static void sums_that_fall_have_no_rise(void **state)
{
    (void)state;
    WireSite site = {.kind = WIRE_SITE_BLOCKS};
    HeapTimeline t = {.slice_ns = 10};
    vec_push(NULL, &t.slices, ((HeapSlice){.time_ns = 5, .sums = {.bytes = 900, .blocks = 9}}));
    vec_push(NULL, &t.slices, ((HeapSlice){.time_ns = 15, .sums = {.bytes = 100, .blocks = 1}}));
    fill(&site, &t);
    double most = 0;
    for (size_t i = 0; i < profile.series.value.len; i++)
        most = profile.series.value.at[i] > most ? profile.series.value.at[i] : most;
    assert_true(most == 900);
    heap_timeline_deinit(&t);
    profile_deinit(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_value_is_negative),
        cmocka_unit_test(sums_that_fall_have_no_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
