// SPDX-License-Identifier: Apache-2.0
// The list of events: what is gathered from a machine in a folder, and what a
// try says where the event cannot be.

#include "os/event_list.h"

#include "event_folder.h"

static int make_machine(void **state)
{
    (void)state;
    if (!make_event_folder())
        return -1;
    put("cpu/type", "4\n");
    put("cpu/format/event", "config:0-7\n");
    put("cpu/format/umask", "config:8-15\n");
    put("cpu/events/mem-loads", "event=0xcd,umask=0x1\n");
    put("power/type", "9\n");
    put("power/format/event", "config:0-7\n");
    put("power/events/energy-ram", "event=0x3\n");
    put("power/events/energy-ram.unit", "Joules\n");
    put("power/events/energy-ram.scale", "1e-6\n");
    put("software/type", "1\n");
    put("tracing/events/enable", "0\n");
    put("tracing/events/sched/enable", "0\n");
    put("tracing/events/sched/sched_switch/id", "316\n");
    put("tracing/events/sched/sched_wakeup/id", "317\n");
    return 0;
}

static ListedEventVec list(Error *no_tracepoints)
{
    ListedEventVec events = {0};
    event_list(&arena, &sources, &events, no_tracepoints);
    return events;
}

static const ListedEvent *find(const ListedEventVec *events, const char *name)
{
    for (size_t i = 0; i < events->len; i++)
        if (str_equal(events->at[i].name, str_from_c(name)))
            return &events->at[i];
    return NULL;
}

static void gathers_every_group_in_order(void **state)
{
    (void)state;
    Error none = {0};
    ListedEventVec events = list(&none);
    bool seen[EVENT_GROUP_COUNT] = {false};
    for (size_t i = 0; i < events.len; i++) {
        seen[events.at[i].group] = true;
        assert_true(i == 0 || events.at[i - 1].group <= events.at[i].group);
    }
    for (size_t g = 0; g < EVENT_GROUP_COUNT; g++)
        assert_true(seen[g]);
    assert_int_equal(none.kind, ERROR_NONE);
    assert_str(find(&events, "cycles")->alias, "cpu-cycles");
    assert_non_null(find(&events, "L1-dcache-load-misses"));
    assert_null(find(&events, "iTLB-stores"));
    assert_non_null(find(&events, "rNNNN"));
}

static void names_what_the_pmus_describe(void **state)
{
    (void)state;
    Error none = {0};
    ListedEventVec events = list(&none);
    assert_int_equal(find(&events, "cpu/mem-loads/")->group, EVENT_GROUP_PMU);
    assert_str(find(&events, "cpu/FIELD=VALUE,…/")->about, "fields: event, umask");
    assert_non_null(find(&events, "power/energy-ram/"));
    assert_null(find(&events, "power/energy-ram.unit/"));
    assert_null(find(&events, "software/FIELD=VALUE,…/"));
}

static void every_listed_name_that_is_tried_parses(void **state)
{
    (void)state;
    Error none = {0};
    ListedEventVec events = list(&none);
    for (size_t i = 0; i < events.len; i++) {
        if (events.at[i].group == EVENT_GROUP_BREAKPOINT || events.at[i].try.len == 0)
            continue;
        EventSpecVec specs = {0};
        assert_ok(events_parse(&arena, &sources, events.at[i].try, &specs, &err), &err);
        assert_int_equal(specs.len, 1);
    }
}

static void lists_tracepoints_without_the_files_beside_them(void **state)
{
    (void)state;
    Error none = {0};
    ListedEventVec events = list(&none);
    assert_str(find(&events, "sched:sched_switch")->pmu, "sched");
    assert_non_null(find(&events, "sched:sched_wakeup"));
    assert_null(find(&events, "sched:enable"));
}

static void says_why_there_are_no_tracepoints(void **state)
{
    (void)state;
    Str mounted = sources.tracefs;
    sources.tracefs = STR("");
    Error none = {0};
    ListedEventVec events = list(&none);
    assert_null(find(&events, "sched:sched_switch"));
    assert_int_equal(none.kind, ERROR_NOT_FOUND);
    assert_non_null(strstr(none.hint, "mount"));
    sources.tracefs = STR("/nowhere");
    (void)list(&none);
    assert_non_null(strstr(none.text, "/nowhere/events"));
    sources.tracefs = mounted;
}

static void a_try_of_what_cannot_be_has_a_reason(void **state)
{
    (void)state;
    PerfLimits limits = perf_limits();
    ListedEvent e = {.group = EVENT_GROUP_TRACEPOINT,
                     .name = STR("sched:no_such"),
                     .try = STR("sched:no_such"),
                     .pmu = STR("sched")};
    EventTry t = event_try(&arena, &sources, &limits, &e);
    assert_int_equal(t.access, EVENT_CLOSED);
    assert_non_null(strstr(t.err.text, "no tracepoint"));
    // A PMU of a type that no kernel gives out.
    put("odd/type", "4000000000\n");
    e = (ListedEvent){.group = EVENT_GROUP_PMU,
                      .name = STR("odd/config=0/"),
                      .try = STR("odd/config=0/"),
                      .pmu = STR("odd")};
    t = event_try(&arena, &sources, &limits, &e);
    assert_int_equal(t.access, EVENT_CLOSED);
    assert_true(t.err.text[0] != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gathers_every_group_in_order),
        cmocka_unit_test(names_what_the_pmus_describe),
        cmocka_unit_test(every_listed_name_that_is_tried_parses),
        cmocka_unit_test(lists_tracepoints_without_the_files_beside_them),
        cmocka_unit_test(says_why_there_are_no_tracepoints),
        cmocka_unit_test(a_try_of_what_cannot_be_has_a_reason),
    };
    return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
