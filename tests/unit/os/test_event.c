// SPDX-License-Identifier: Apache-2.0
// Event names, sysfs formats, tracepoint formats.

#include "os/event.h"

#include "event_folder.h"

#include <linux/hw_breakpoint.h>
#include <unistd.h>

// A machine with a core PMU, an uncore one and two tracepoints, in a folder.
static int make_machine(void **state)
{
    (void)state;
    if (!make_event_folder())
        return -1;
    put("cpu/type", "4\n");
    put("cpu/format/event", "config:0-7,32-35\n");
    put("cpu/format/umask", "config:8-15\n");
    put("cpu/format/ldlat", "config1:0-15\n");
    put("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    put("uncore_imc/type", "17\n");
    put("uncore_imc/format/event", "config:0-7\n");
    put("tracing/events/sched/sched_switch/id", "316\n");
    put("tracing/events/sched/sched_switch/format",
        "name: sched_switch\nID: 316\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
        "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
        "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
        "\tfield:__data_loc char[] text;\toffset:28;\tsize:4;\tsigned:0;\n"
        "\tfield:unsigned long flags;\toffset:32;\tsize:8;\tsigned:0;\n"
        "\tfield:odd;\toffset:40;\tsize:3;\tsigned:0;\n"
        "\tfield:int broken;\toffset:x;\tsize:4;\tsigned:1;\n\n"
        "print fmt: \"%d\", REC->prev_pid\n");
    return 0;
}

static EventSpec parse_one(const char *text)
{
    EventSpecVec v = {0};
    assert_ok(events_parse(&arena, &sources, str_from_c(text), &v, &err), &err);
    assert_int_equal(v.len, 1);
    return v.at[0];
}

static void names_of_the_kernel_are_known_with_their_aliases(void **state)
{
    (void)state;
    EventSpec e = parse_one("cpu-clock");
    assert_int_equal(e.type, PERF_TYPE_SOFTWARE);
    assert_int_equal(e.config, PERF_COUNT_SW_CPU_CLOCK);
    assert_str(e.unit, "ns");
    assert_false(e.exclude_kernel || e.exclude_user);
    assert_int_equal(parse_one("faults").config, PERF_COUNT_SW_PAGE_FAULTS);
    assert_int_equal(parse_one("cpu-cycles").type, PERF_TYPE_HARDWARE);
    e = parse_one("L1-dcache-load-misses");
    assert_int_equal(e.type, PERF_TYPE_HW_CACHE);
    assert_int_equal(e.config, 0x10000);
    assert_int_equal(parse_one("r1c2").config, 0x1c2);
    assert_int_equal(parse_one("r1c2").type, PERF_TYPE_RAW);
}

static void modifiers_limit_where_it_counts(void **state)
{
    (void)state;
    EventSpec e = parse_one("cycles:u");
    assert_true(e.exclude_kernel && e.exclude_hv && !e.exclude_user);
    assert_str(e.name, "cycles:u");
    e = parse_one("cycles:kpp");
    assert_true(e.exclude_user && !e.exclude_kernel);
    assert_int_equal(e.precise, 2);
    assert_true(parse_one("cycles:P").precise_most);
    EventSpecVec v = {0};
    assert_false(events_parse(&arena, &sources, STR("cycles:pppp"), &v, &err));
    assert_error(events_parse(&arena, &sources, STR("cycles:x"), &v, &err), &err, ERROR_USAGE,
                 "not modifiers");
}

static void fields_of_a_pmu_go_to_their_bits(void **state)
{
    (void)state;
    EventSpec e = parse_one("cpu/event=0x1ab,umask=0x2,ldlat=100,period=77/u");
    assert_int_equal(e.type, 4);
    assert_int_equal(e.config, 0x1000002ab);
    assert_int_equal(e.config1, 100);
    assert_int_equal(e.period, 77);
    assert_true(e.exclude_kernel);
    e = parse_one("cpu/mem-loads/");
    assert_int_equal(e.config, 0x1cd);
    assert_int_equal(e.config1, 3);
    assert_int_equal(parse_one("mem-loads").config, 0x1cd);
    assert_int_equal(parse_one("uncore_imc/event=5/").type, 17);
    assert_int_equal(parse_one("cpu-clock/freq=99/").freq, 99);
    EventSpecVec v = {0};
    assert_error(events_parse(&arena, &sources, STR("cpu/event=0x100000/"), &v, &err), &err,
                 ERROR_USAGE, "too large");
    assert_error(events_parse(&arena, &sources, STR("cpu/evnt=1/"), &v, &err), &err, ERROR_USAGE,
                 "evnt");
    assert_error(events_parse(&arena, &sources, STR("nopmu/event=1/"), &v, &err), &err, ERROR_USAGE,
                 "nopmu");
    assert_false(events_parse(&arena, &sources, STR("../cpu/event=1/"), &v, &err));
    assert_false(events_parse(&arena, &sources, STR("cpu/../x/"), &v, &err));
}

static void tracepoints_have_their_number_and_count_each_time(void **state)
{
    (void)state;
    EventSpec e = parse_one("sched:sched_switch");
    assert_int_equal(e.type, PERF_TYPE_TRACEPOINT);
    assert_int_equal(e.config, 316);
    assert_true(e.counts_each);
    EventSpecVec v = {0};
    assert_error(events_parse(&arena, &sources, STR("sched:nope"), &v, &err), &err, ERROR_USAGE,
                 "nope");
    EventSources none = {.sysfs = sources.sysfs};
    assert_error(events_parse(&arena, &none, STR("sched:sched_switch"), &v, &err), &err,
                 ERROR_NOT_FOUND, "not mounted");
    assert_non_null(strstr(err.hint, "mount -t tracefs"));
}

static void fields_of_a_tracepoint_are_its_numbers(void **state)
{
    (void)state;
    EventSpec e = parse_one("sched:sched_switch");
    assert_int_equal(e.arg_count, 2);
    assert_str(e.args[0].name, "prev_pid");
    assert_int_equal(e.args[0].kind, EVENT_ARG_RAW);
    assert_int_equal(e.args[0].offset, 24);
    assert_int_equal(e.args[0].size, 4);
    assert_true(e.args[0].is_signed);
    assert_str(e.args[1].name, "flags");
    assert_false(e.args[1].is_signed);
    e = parse_one("sched:sched_switch:k  flags ");
    assert_true(e.exclude_user);
    assert_str(e.name, "sched:sched_switch:k");
    assert_int_equal(e.arg_count, 1);
    assert_str(e.args[0].name, "flags");
    EventSpecVec v = {0};
    assert_error(events_parse(&arena, &sources, STR("sched:sched_switch prev_comm"), &v, &err),
                 &err, ERROR_USAGE, "no field 'prev_comm' that is a number");
    assert_non_null(strstr(err.hint, "prev_pid, flags"));
    assert_error(events_parse(&arena, &sources, STR("cpu-clock pid"), &v, &err), &err, ERROR_USAGE,
                 "is not a tracepoint");
}

static void breakpoints_have_address_length_and_kind(void **state)
{
    (void)state;
    EventSpec e = parse_one("mem:0x1000/8:w");
    assert_int_equal(e.type, PERF_TYPE_BREAKPOINT);
    assert_int_equal(e.bp_addr, 0x1000);
    assert_int_equal(e.bp_len, 8);
    assert_int_equal(e.bp_type, HW_BREAKPOINT_W);
    EventSpecVec v = {0};
    assert_false(events_parse(&arena, &sources, STR("mem:0x1000:q"), &v, &err));
    assert_false(events_parse(&arena, &sources, STR("mem:"), &v, &err));
}

static void lists_and_groups_keep_their_order(void **state)
{
    (void)state;
    EventSpecVec v = {0};
    assert_ok(events_parse(&arena, &sources,
                           STR("cs, {cpu-clock,cpu/event=1,umask=2/,page-faults:u}:S,cycles"), &v,
                           &err),
              &err);
    assert_int_equal(v.len, 5);
    assert_int_equal(v.at[0].group, EVENT_NO_GROUP);
    for (size_t i = 1; i <= 3; i++) {
        assert_int_equal(v.at[i].group, 1);
        assert_true(v.at[i].group_read);
    }
    assert_str(v.at[2].name, "cpu/event=1,umask=2/");
    assert_true(v.at[3].exclude_kernel);
    assert_int_equal(v.at[4].group, EVENT_NO_GROUP);
    const char *const bad[] = {"",    ",",      "cs,,cs",  "{cs",      "{}",
                               "{{}", "{cs}:z", "{a{b}c}", "cpu/event"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        EventSpecVec none = {0};
        assert_false(events_parse(&arena, &sources, str_from_c(bad[i]), &none, &err));
        assert_true(err.text[0] != 0);
    }
}

static void a_format_of_bits_is_read(void **state)
{
    (void)state;
    PmuField f;
    uint64_t config[3] = {0};
    assert_true(pmu_field_parse(STR("config:0-63\n"), &f));
    assert_true(pmu_field_put(&f, UINT64_MAX, config));
    assert_int_equal(config[0], UINT64_MAX);
    assert_true(pmu_field_parse(STR("config2:21"), &f));
    assert_false(pmu_field_put(&f, 2, config));
    assert_true(pmu_field_put(&f, 1, config));
    assert_int_equal(config[2], 1u << 21);
    const char *const bad[] = {"",
                               "config",
                               "config:",
                               "config:64",
                               "config:5-3",
                               "config9:1",
                               "config:0,1,2,3,4,5,6,7,8",
                               "config:a"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(pmu_field_parse(str_from_c(bad[i]), &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_the_kernel_are_known_with_their_aliases),
        cmocka_unit_test(modifiers_limit_where_it_counts),
        cmocka_unit_test(fields_of_a_pmu_go_to_their_bits),
        cmocka_unit_test(tracepoints_have_their_number_and_count_each_time),
        cmocka_unit_test(fields_of_a_tracepoint_are_its_numbers),
        cmocka_unit_test(breakpoints_have_address_length_and_kind),
        cmocka_unit_test(lists_and_groups_keep_their_order),
        cmocka_unit_test(a_format_of_bits_is_read),
    };
    return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
