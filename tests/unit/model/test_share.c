// SPDX-License-Identifier: Apache-2.0
// What is left of a profile's texts when it is shared, and what is not.

#include "model/share.h"

#include "model/facts.h"
#include "model/schema.h"

#include "harness.h"

static Profile p;
static ThreadId thread;

static void begin(void)
{
    profile_init(&p);
    (void)profile_add_metric(&p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock"));
    ModuleId module = profile_module(&p, MODULE_FILE, STR("/home/secret/bin/prog"), STR("5ec3e7"));
    ModuleId kernel = profile_module(&p, MODULE_KERNEL, STR("[kernel]"), STR(""));
    FunctionId f = profile_function(&p, STR("secret::run<int>(char const*)"),
                                    STR("_ZN6secret3runIiEEvPKc"), STR("/home/secret/a.cc"), 3);
    FunctionId g = profile_function(&p, STR("secret::run<long>(char const*)"),
                                    STR("_ZN6secret3runIlEEvPKc"), STR("/home/secret/a.cc"), 3);
    StrId file = profile_str(&p, STR("/home/secret/a.cc"));
    ProcessId process = profile_add_process(&p, 7, 1, profile_str(&p, STR("secret")), 0);
    p.processes.command.at[0] = profile_str(&p, STR("/bin/secret --key 'a b'"));
    thread = profile_add_thread(&p, process, 7, profile_str(&p, STR("secret-worker")), 0);
    FrameId frames[] = {profile_named_frame(&p, module, 0x1000, f, file, 5, 0),
                        profile_named_frame(&p, module, 0x2000, g, file, 6, 0),
                        profile_named_frame(&p, kernel, 0x3000, f, file, 5, FRAME_KERNEL),
                        profile_cut_frame(&p, STACK_CUT_NO_TABLE)};
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        size_t row = profile_add_sample(&p, (int64_t)i, thread,
                                        profile_stack(&p, (StackId){0}, frames[i]), 0);
        profile_sample_set(&p, row, (MetricId){0}, 10);
    }
    profile_source_line(&p, file, 5, STR("char *secret;"));
    profile_note(&p, NOTE_WARNING, STR("stripped"), "'/home/secret/x' has no symbols");
    profile_set_fact(&p, STR(FACT_COMMAND), STR("'/bin/secret' --file=/tmp/secret"));
    profile_set_fact(&p, STR(FACT_HOSTNAME), STR("secret.example"));
    profile_set_fact(&p, STR(FACT_EVENT), STR("cpu-clock"));
    profile_add_interval(&p, thread, 1, 2, profile_str(&p, STR("secret step")),
                         profile_str(&p, STR("secret detail")));
    profile_add_interval(&p, thread, 2, 2, profile_str(&p, STR(INTERVAL_EXEC)),
                         profile_str(&p, STR("secret")));
}

static bool any_text_has(Str part)
{
    for (size_t i = 0; i < p.strings.texts.len; i++)
        if (str_find(p.strings.texts.at[i], part) != SIZE_MAX)
            return true;
    return false;
}

static Str function_of(size_t frame)
{
    return profile_text(&p, p.functions.name.at[p.frames.function.at[frame].v]);
}

static void check_and_end(void)
{
    Error err;
    assert_ok(profile_check(&p, &err), &err);
    profile_deinit(&p);
}

static void anonymised_profiles_hold_no_name(void **state)
{
    (void)state;
    begin();
    profile_share(&p, &(ShareOptions){.anonymise = true});
    assert_false(any_text_has(STR("secret")));
    // What assay itself calls a mark tells nothing about the program.
    assert_true(any_text_has(STR(INTERVAL_EXEC)));
    assert_false(any_text_has(STR("/")));
    assert_false(any_text_has(STR("5ec3e7")));
    assert_false(any_text_has(STR("_Z")));
    assert_int_equal(p.source_lines.line.len, 0);
    assert_int_equal(p.notes.key.len, 0);
    assert_str(profile_fact(&p, STR(FACT_COMMAND)), "");
    assert_str(profile_fact(&p, STR(FACT_EVENT)), "cpu-clock");
    check_and_end();
}

static void anonymised_profiles_keep_their_structure(void **state)
{
    (void)state;
    begin();
    size_t frames = p.frames.module.len, stacks = p.stacks.parent.len;
    profile_share(&p, &(ShareOptions){.anonymise = true});
    assert_int_equal(p.frames.module.len, frames);
    assert_int_equal(p.stacks.parent.len, stacks);
    assert_int_equal(p.samples.stack.len, 4);
    assert_int_equal(p.frames.line.at[1], 5);
    assert_false(str_equal(function_of(1), function_of(2)));
    assert_true(str_equal(function_of(1), function_of(3)));
    assert_str(profile_text(&p, p.modules.path.at[2]), "[kernel]");
    assert_int_equal(p.frames.address.at[4], STACK_CUT_NO_TABLE);
    assert_true(str_ends_with(profile_text(&p, p.frames.file.at[1]), STR(".cc")));
    check_and_end();
}

static void pseudonyms_are_the_same_each_time_and_others_with_another_key(void **state)
{
    (void)state;
    char names[3][64];
    const char *const keys[] = {"", "", "mine"};
    for (size_t i = 0; i < 3; i++) {
        begin();
        profile_share(&p, &(ShareOptions){.anonymise = true, .key = str_from_c(keys[i])});
        Str name = function_of(1);
        snprintf(names[i], sizeof(names[i]), "%" STR_FMT, STR_ARG(name));
        check_and_end();
    }
    assert_string_equal(names[0], names[1]);
    assert_string_not_equal(names[0], names[2]);
}

static void stripped_paths_leave_only_the_last_part(void **state)
{
    (void)state;
    begin();
    profile_share(&p, &(ShareOptions){.strip_paths = true});
    assert_false(any_text_has(STR("/home")));
    assert_false(any_text_has(STR("/tmp")));
    assert_str(profile_text(&p, p.modules.path.at[1]), "prog");
    assert_str(profile_text(&p, p.frames.file.at[1]), "a.cc");
    assert_str(profile_fact(&p, STR(FACT_COMMAND)), "'secret' secret");
    assert_str(profile_text(&p, p.notes.text.at[0]), "'x' has no symbols");
    assert_str(profile_text(&p, p.processes.command.at[0]), "secret --key 'a b'");
    assert_str(function_of(1), "secret::run<int>(char const*)");
    check_and_end();
}

static void short_names_are_not_undone_by_linkage_names(void **state)
{
    (void)state;
    begin();
    profile_share(&p, &(ShareOptions){.names = NAME_NO_TEMPLATES});
    assert_str(function_of(1), "secret::run");
    assert_false(any_text_has(STR("_Z")));
    assert_int_not_equal(p.frames.function.at[1].v, p.frames.function.at[2].v);
    check_and_end();
}

static void every_column_of_text_has_a_rule(void **state)
{
    (void)state;
    // A text in each column: with names in full and paths kept all of them stay.
    begin();
    size_t before = 0, after = 0;
    for (size_t i = 0; i < p.strings.texts.len; i++)
        before += p.strings.texts.at[i].len;
    profile_share(&p, &(ShareOptions){.names = NAME_NO_ARGUMENTS});
    for (size_t t = 0; t < profile_schema_count; t++)
        for (size_t c = 0; c < profile_schema[t].column_count; c++) {
            const Column *column = &profile_schema[t].columns[c];
            const RawVec *v = column_vec_const(&p, column);
            if (column->refers_to != TABLE_STRINGS)
                continue;
            for (size_t i = profile_schema[t].has_none_row; i < v->len; i++)
                after += ((const uint32_t *)v->at)[i] != 0;
        }
    assert_true(before > 0);
    // module 2 + 1 build-id, functions 2 × 3, frame files 3, process 2, thread 1, metric 3,
    // intervals 4, source 2, note 2, facts 6
    assert_int_equal(after, 32);
    check_and_end();
}

static void samples_that_were_picked_stay_in_order(void **state)
{
    (void)state;
    begin();
    const uint32_t rows[] = {1, 3};
    profile_keep_samples(&p, rows, 2);
    assert_int_equal(p.samples.stack.len, 2);
    assert_int_equal(p.samples.time_ns.at[0], 1);
    assert_int_equal(p.samples.time_ns.at[1], 3);
    assert_int_equal(p.samples.values[0].len, 2);
    check_and_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anonymised_profiles_hold_no_name),
        cmocka_unit_test(anonymised_profiles_keep_their_structure),
        cmocka_unit_test(pseudonyms_are_the_same_each_time_and_others_with_another_key),
        cmocka_unit_test(stripped_paths_leave_only_the_last_part),
        cmocka_unit_test(short_names_are_not_undone_by_linkage_names),
        cmocka_unit_test(every_column_of_text_has_a_rule),
        cmocka_unit_test(samples_that_were_picked_stay_in_order),
    };
    return RUN_TESTS(tests);
}
