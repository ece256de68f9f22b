// SPDX-License-Identifier: Apache-2.0
// perf script text and folded stacks -> Profile.

#include "harness.h"

#include <stdlib.h>

#include "import/import.h"

static Str frame_name(const Profile *p, FrameId f)
{
    return profile_text(p, p->functions.name.at[p->frames.function.at[f.v].v]);
}

// "root;…;leaf" of a sample.
static void assert_stack(const Profile *p, size_t sample, const char *want)
{
    char text[512] = "";
    size_t at = sizeof(text) - 1;
    for (StackId s = p->samples.stack.at[sample]; s.v; s = p->stacks.parent.at[s.v]) {
        Str name = frame_name(p, p->stacks.frame.at[s.v]);
        assert_true(name.len + 1 < at);
        at -= name.len;
        memcpy(text + at, name.ptr, name.len);
        text[--at] = ';';
    }
    assert_string_equal(at < sizeof(text) - 1 ? text + at + 1 : "", want);
}

static const char script[] =
    "# cmdline : perf record\n"
    "my prog 42/43 [001]  12.000005:    1000 cpu-clock:u: \n"
    "\t     401234 leaf+0x4 (/bin/prog)\n"
    "\t     401300 operator new(unsigned long)+0x1 (/tmp/a (b)/lib.so (deleted))\n"
    "\t     401400 helper (inlined)\n"
    "\t     401400 main+0x40 (/bin/prog)\n"
    "\n"
    "my prog 42/43 [001]  12.500005:    1 page-faults: \n"
    "\tffffffff81b70da8 do_fault+0x38 ([kernel.kallsyms])\n"
    "\t    7f0c0c2f2ad7 [unknown] ([unknown])\n"
    "\n"
    "  7 sisters  9 13.000000: cycles: \n"
    "\t     401400 main+0x40 (/bin/prog)\n";

static void perf_script_gives_samples_stacks_threads_and_metrics(void **state)
{
    (void)state;
    Profile p;
    Error err = {0};
    assert_ok(import_perf_script(bytes_over(script, sizeof(script) - 1), &p, &err), &err);
    assert_int_equal(p.samples.stack.len, 3);
    assert_stack(&p, 0, "main;helper;operator new(unsigned long);leaf");
    assert_stack(&p, 1, ";do_fault");
    assert_stack(&p, 2, "main");
    assert_int_equal(p.samples.time_ns.at[0], 0);
    assert_int_equal(p.samples.time_ns.at[1], 500000000);
    assert_int_equal(p.samples.cpu.at[0], 1);
    assert_int_equal(p.samples.cpu.at[2], SAMPLE_CPU_NONE);
    assert_int_equal(p.metrics.name.len, 3);
    assert_str(profile_text(&p, p.metrics.name.at[0]), "cpu time");
    assert_int_equal(p.samples.values[0].at[0], 1000);
    assert_int_equal(p.samples.values[1].at[0], 0);
    assert_int_equal(p.samples.values[1].at[1], 1);
    assert_int_equal(p.threads.tid.len, 2);
    assert_int_equal(p.threads.tid.at[0], 43);
    assert_str(profile_text(&p, p.threads.name.at[0]), "my prog");
    assert_str(profile_text(&p, p.threads.name.at[1]), "7 sisters");
    assert_int_equal(p.notes.key.len, 0);
    assert_ok(profile_check(&p, &err), &err);
    profile_deinit(&p);
}

static void perf_script_knows_kernel_inlined_and_deleted(void **state)
{
    (void)state;
    Profile p;
    Error err = {0};
    assert_ok(import_perf_script(bytes_over(script, sizeof(script) - 1), &p, &err), &err);
    bool kernel = false, inlined = false, deleted = false;
    for (uint32_t f = 1; f < profile_frame_count(&p); f++) {
        Str name = frame_name(&p, (FrameId){f});
        Str module = profile_text(&p, p.modules.path.at[p.frames.module.at[f].v]);
        kernel |= str_equal(name, STR("do_fault")) && p.frames.flags.at[f] & FRAME_KERNEL;
        inlined |= str_equal(name, STR("helper")) && p.frames.flags.at[f] & FRAME_INLINED;
        deleted |= str_equal(module, STR("/tmp/a (b)/lib.so (deleted)"));
    }
    assert_true(kernel && inlined && deleted);
    profile_deinit(&p);
}

static void perf_script_counts_lines_that_are_none(void **state)
{
    (void)state;
    Profile p;
    Error err = {0};
    char text[] = "rubbish\n"
                  "a 1 1.000000: 5 cycles:\n"
                  "\tzz what\n"
                  "\t10 f (/a)\n";
    assert_ok(import_perf_script(bytes_over(text, sizeof(text) - 1), &p, &err), &err);
    assert_stack(&p, 0, "f");
    assert_int_equal(p.notes.key.len, 1);
    assert_str(profile_text(&p, p.notes.text.at[0]),
               "2 lines are not of perf script's form and were left out");
    profile_deinit(&p);
    assert_error(import_perf_script(bytes_over("\0\1\2\n", 4), &p, &err), &err, ERROR_FORMAT,
                 "no sample");
}

static void cut_at_each_byte_perf_script_gives_its_whole_part(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof(script) - 1; len++) {
        char *copy = malloc(len ? len : 1); // its own size, for the sanitizer
        memcpy(copy, script, len);
        Profile p;
        Error err = {0};
        if (import_perf_script(bytes_over(copy, len), &p, &err)) {
            assert_ok(profile_check(&p, &err), &err);
            profile_deinit(&p);
        } else {
            assert_true(err.text[0] != '\0');
        }
        free(copy);
    }
}

// "f" is a stack of its own, then comes "f.h" in the byte order, then "f" as caller.
static void folded_stacks_are_unique_in_any_order(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "r;f 1\nr;f g 2\nr;f.h 4\nr;f.h;x 1\nr;f;k 5\nr;f;k.l 6\nr;f;k;l 6\nr;g;f 1\n",
        "r;f 1\nr;f.h 1\nr;f;k 5\nr;f;k_[j] 5\nr;f;k_[j];x 5\nr;f;k;x 5\n", // two names, one frame
        "r;f 1\nr;f.h 4\nr;g;f 1\nr;f;k 5\nr;g;f;h 1\nr;f.h 1\n",
    };
    for (size_t t = 0; t < ARRAY_LEN(texts); t++) {
        Profile p;
        Error err = {0};
        assert_ok(import_folded(bytes_from_str(str_from_c(texts[t])), &p, &err), &err);
        for (size_t a = 1; a < p.stacks.parent.len; a++)
            for (size_t b = 1; b < a; b++)
                assert_false(p.stacks.parent.at[a].v == p.stacks.parent.at[b].v &&
                             p.stacks.frame.at[a].v == p.stacks.frame.at[b].v);
        // The index holds what was appended without it.
        size_t stacks = p.stacks.parent.len;
        for (uint32_t a = 1; a < stacks; a++)
            assert_int_equal(profile_stack(&p, p.stacks.parent.at[a], p.stacks.frame.at[a]).v, a);
        assert_int_equal(p.stacks.parent.len, stacks);
        profile_deinit(&p);
    }
}

static void folded_lines_become_stacks(void **state)
{
    (void)state;
    Profile p;
    Error err = {0};
    char text[] = "main;a b;c_[i];sys_[k] 12\r\n"
                  "\n"
                  "main 3.0\n"
                  "no count\n"
                  "x 99999999999999999999\n";
    assert_ok(import_folded(bytes_over(text, sizeof(text) - 1), &p, &err), &err);
    assert_int_equal(p.samples.stack.len, 2);
    assert_stack(&p, 0, "main;a b;c;sys");
    assert_int_equal(p.samples.values[0].at[0], 12);
    assert_int_equal(p.samples.values[0].at[1], 3);
    assert_int_equal(p.notes.key.len, 1);
    StackId leaf = p.samples.stack.at[0];
    assert_int_equal(p.frames.flags.at[p.stacks.frame.at[leaf.v].v], FRAME_KERNEL);
    profile_deinit(&p);
    assert_error(import_folded(bytes_over("", 0), &p, &err), &err, ERROR_FORMAT, "no folded");
}

static void escapes_of_our_own_export_are_undone(void **state)
{
    (void)state;
    Profile p;
    Error err = {0};
    Str text = STR("main;a%3Bb%0Ac;100%25;%41%zz% 3\n");
    assert_ok(import_folded(bytes_from_str(text), &p, &err), &err);
    const Stacks *s = &p.stacks;
    StackId leaf = p.samples.stack.at[0];
    assert_str(frame_name(&p, s->frame.at[leaf.v]), "%41%zz%");
    StackId above = s->parent.at[leaf.v];
    assert_str(frame_name(&p, s->frame.at[above.v]), "100%");
    above = s->parent.at[above.v];
    assert_str(frame_name(&p, s->frame.at[above.v]), "a;b\nc");
    profile_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_of_our_own_export_are_undone),
        cmocka_unit_test(perf_script_gives_samples_stacks_threads_and_metrics),
        cmocka_unit_test(perf_script_knows_kernel_inlined_and_deleted),
        cmocka_unit_test(perf_script_counts_lines_that_are_none),
        cmocka_unit_test(cut_at_each_byte_perf_script_gives_its_whole_part),
        cmocka_unit_test(folded_lines_become_stacks),
        cmocka_unit_test(folded_stacks_are_unique_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
