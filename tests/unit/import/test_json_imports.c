// SPDX-License-Identifier: Apache-2.0
// speedscope and Firefox Profiler files -> Profile. The files are those of the
// fuzzer's corpus.

#include "import_case.h"

#include <stdlib.h>

#include "import/chrome_trace_internal.h"
#include "import/stackprof_internal.h"

// Imports the file into `p`.
static void import(const char *name, const char *want)
{
    assert_ok(import_as(load(name), want), &err);
}

static Str function_of(StackId s)
{
    return profile_text(&p, p.functions.name.at[p.frames.function.at[p.stacks.frame.at[s.v].v].v]);
}

static void speedscope_sampled_and_evented(void **state)
{
    (void)state;
    import("speedscope.json", "speedscope");
    assert_int_equal(p.metrics.name.len, 2);
    assert_int_equal(p.samples.values[0].at[0], 2000000);
    assert_int_equal(p.samples.time_ns.at[1], 2000000);
    assert_str(function_of(p.samples.stack.at[0]), "hot");
    assert_str(function_of(p.samples.stack.at[1]), "main");
    // Evented: main alone 1..2, hot 2..6, main alone 6..9.
    assert_int_equal(p.samples.stack.len, 5);
    assert_int_equal(p.samples.values[1].at[2], 1);
    assert_int_equal(p.samples.values[1].at[3], 4);
    assert_str(function_of(p.samples.stack.at[3]), "hot");
    assert_int_equal(p.samples.values[1].at[4], 3);
}

static void cpuprofile_of_v8(void **state)
{
    (void)state;
    import("v8.cpuprofile", "cpuprofile");
    // Times 100, 300, 450, 400 (taken as 450), 650, 950 up to 1000 µs; the idle 300 are left out.
    static const int64_t at[] = {100000, 300000, 450000, 450000, 950000};
    static const int64_t ns[] = {200000, 150000, 0, 200000, 50000};
    assert_int_equal(p.samples.stack.len, ARRAY_LEN(at));
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        assert_int_equal(p.samples.time_ns.at[i], at[i]);
        assert_int_equal(p.samples.values[0].at[i], ns[i]);
    }
    StackId hot = p.samples.stack.at[3], outer = p.stacks.parent.at[hot.v];
    assert_str(function_of(hot), "hot");
    assert_str(function_of(outer), "hot");
    StackId main_of = p.stacks.parent.at[outer.v];
    assert_str(function_of(main_of), "(anonymous)");
    assert_int_equal(p.stacks.parent.at[main_of.v].v, 0);
    uint32_t frame = p.stacks.frame.at[hot.v].v, function = p.frames.function.at[frame].v;
    assert_str(profile_text(&p, p.frames.file.at[frame]), "/app/main.js");
    assert_int_equal(p.frames.line.at[frame], 12);
    assert_int_equal(p.functions.line.at[function], 10);
    assert_int_equal(p.frames.line.at[p.stacks.frame.at[outer.v].v], 0); // on two lines
    assert_str(function_of(p.samples.stack.at[4]), "(garbage collector)");
    assert_int_equal(p.notes.key.len, 1);

    import("v8-old.cpuprofile", "cpuprofile");
    assert_int_equal(p.samples.stack.len, 2);
    assert_int_equal(p.samples.values[0].at[1], 6);
    assert_str(function_of(p.samples.stack.at[1]), "leaf");
    assert_str(function_of(p.stacks.parent.at[p.samples.stack.at[1].v]), "run");
}

static void broken_cpuprofiles_are_refused(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"{\"nodes\":[{\"id\":1,\"callFrame\":{},\"children\":[2]},{\"id\":2,\"children\":[1]}],"
         "\"samples\":[1],\"timeDeltas\":[0]}",
         "children of each other"},
        {"{\"nodes\":[{\"id\":1,\"callFrame\":{}},{\"id\":1}]}", "two nodes with the id 1"},
        {"{\"nodes\":[{\"id\":1,\"children\":[7,2]},{\"id\":2},{\"id\":3,\"children\":[2]}]}",
         "'2' has two parents"},
        {"{\"nodes\":[{\"id\":1,\"callFrame\":{}}],\"samples\":[4],\"timeDeltas\":[0]}",
         "not there"},
        {"{\"nodes\":[{\"id\":1,\"callFrame\":{}}],\"samples\":[1,1],\"timeDeltas\":[0]}",
         "2 samples and 1 time"},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        Profile none;
        Bytes file = bytes_over(texts[i][0], strlen(texts[i][0]));
        assert_error(import_cpuprofile(file, &none, &err), &err, ERROR_FORMAT, texts[i][1]);
    }
}

static void chrome_trace_with_chunks_of_a_profile(void **state)
{
    (void)state;
    import("chrome-chunks.json", "Chrome trace");
    // Samples at 1100, 1300, 1600 (idle) and 2000 µs; the last one gets their mean, 300.
    static const int64_t at[] = {100000, 300000, 1000000};
    static const int64_t ns[] = {200000, 300000, 300000};
    assert_int_equal(p.samples.stack.len, ARRAY_LEN(at));
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        assert_int_equal(p.samples.time_ns.at[i], at[i]);
        assert_int_equal(p.samples.values[0].at[i], ns[i]);
    }
    StackId hot = p.samples.stack.at[1];
    assert_str(function_of(hot), "hot");
    assert_str(function_of(p.stacks.parent.at[hot.v]), "main");
    assert_int_equal(p.samples.stack.at[2].v, hot.v);
    ThreadId thread = p.samples.thread.at[0];
    assert_int_equal(p.threads.tid.at[thread.v], 8); // of "Profile", not of its chunks
    assert_str(profile_text(&p, p.threads.name.at[thread.v]), "Main");
    ProcessId process = p.threads.process.at[thread.v];
    assert_str(profile_text(&p, p.processes.name.at[process.v]), "Renderer");
    assert_int_equal(p.notes.key.len, 1); // idle
}

static void chrome_trace_with_global_samples(void **state)
{
    (void)state;
    import("chrome-samples.json", "Chrome trace");
    assert_int_equal(p.samples.stack.len, 2);
    StackId leaf = p.samples.stack.at[0];
    assert_str(function_of(leaf), "malloc");
    assert_int_equal(p.stacks.parent.at[leaf.v].v, p.samples.stack.at[1].v);
    assert_int_equal(p.samples.values[0].at[0], 2);
    assert_int_equal(p.samples.cpu.at[0], 1);
    assert_int_equal(p.samples.time_ns.at[0], 0);
    assert_int_equal(p.samples.time_ns.at[1], 500);
    assert_str(profile_text(&p, p.metrics.name.at[0]), "cycles:HG");
}

static void broken_chrome_traces_are_refused(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"Layout\"}]}", "without samples"},
        {"{\"traceEvents\":1}", "no events"},
        {"{\"traceEvents\":[],\"samples\":[{\"sf\":1}]}", "stack frame '1'"},
        {"{\"traceEvents\":[],\"samples\":[{\"sf\":1}],\"stackFrames\":{\"1\":{\"parent\":2},"
         "\"2\":{\"parent\":1}}}",
         "form a loop"},
        {"[{\"name\":\"ProfileChunk\",\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{\"id\":2,"
         "\"parent\":1}]}}}}]",
         "parent '1'"},
        {"[{\"name\":\"ProfileChunk\",\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{\"id\":2}],"
         "\"samples\":[2,2]},\"timeDeltas\":[1]}}}]",
         "2 samples and 1 time"},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        Profile none;
        Bytes file = bytes_over(texts[i][0], strlen(texts[i][0]));
        assert_error(import_chrome_trace(file, &none, &err), &err, ERROR_FORMAT, texts[i][1]);
    }
}

// The same profile as JSON and as Ruby's dump.
static void stackprof_has_stacks(const char *file)
{
    import(file, "stackprof");
    static const int64_t ns[] = {3000000, 2000000, 1000000};
    assert_int_equal(p.samples.stack.len, ARRAY_LEN(ns));
    for (size_t i = 0; i < ARRAY_LEN(ns); i++)
        assert_int_equal(p.samples.values[0].at[i], ns[i]);
    StackId hot = p.samples.stack.at[0];
    assert_str(function_of(hot), "Foo#hot");
    assert_int_equal(p.stacks.parent.at[hot.v].v, p.samples.stack.at[1].v);
    assert_str(function_of(p.samples.stack.at[1]), "Object#main");
    assert_str(profile_text(&p, p.metrics.name.at[0]), "cpu time");
    profile_deinit(&p);
}

static void stackprof_with_and_without_stacks(void **state)
{
    (void)state;
    stackprof_has_stacks("stackprof.dump");
    stackprof_has_stacks("stackprof.json");

    static const char counts[] = "{\"mode\":\"object\",\"interval\":1,\"missed_samples\":0,"
                                 "\"frames\":{\"1\":{\"name\":\"a\",\"samples\":7}}}";
    assert_ok(import_stackprof(bytes_over(counts, strlen(counts)), &p, &err), &err);
    assert_int_equal(p.samples.values[0].at[0], 7);
    assert_int_equal(p.notes.key.len, 1);

    static const char *const broken[][2] = {
        {"{\"frames\":{},\"raw\":[1,5,1]}", "frame '5'"},
        {"{\"frames\":{\"5\":{}},\"raw\":[1,5]}", "cut"},
        {"{\"frames\":{},\"raw\":[-1]}", "'-1' frames"},
        {"{\"mode\":\"cpu\"}", "no frames"},
    };
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        Profile none;
        Bytes file = bytes_over(broken[i][0], strlen(broken[i][0]));
        assert_error(import_stackprof(file, &none, &err), &err, ERROR_FORMAT, broken[i][1]);
    }
}

static void dumps_that_are_no_profiles_are_refused(void **state)
{
    (void)state;
    static const struct {
        Str dump;
        const char *text;
    } broken[] = {
        {STR("\x04\x08{\x06o:\x06X\x00i\x06"), "type that profiles do not have 0x6f"},
        {STR("\x04\x08{\x06:\x06xi\x04\x01"), "cut short"},
        {STR("\x04\x08{\x06:\x06x@\x00"), "holds itself"},
        {STR("\x04\x08{\x06:\x06x@\x0a"), "object that is not there"},
        {STR("\x04\x08{\x06;\x06xi\x06"), "symbol that is not there"},
        {STR("\x04\x08{\x06[\x00i\x06"), "neither text nor a number"},
        {STR("\x04\x08{\x02\xff\xff:\x06xi\x06"), "more items"},
        {STR("\x04\x08{\x06:\x06xl+\x0a\1\2\3\4\5\6\7\x08\x09\x0a"), "more than 64 bits"},
        {STR("\x04\x08{\x06:\x06xl*\x06\1\2"), "without a sign"},
        {STR("\x04\x08{\x06:\x06xf\x06x"), "cannot be read"},
        {STR("\x04\x08{\x00"), "no frames"},
    };
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        Profile none;
        assert_error(import_stackprof(bytes_from_str(broken[i].dump), &none, &err), &err,
                     ERROR_FORMAT, broken[i].text);
    }
    char deep[2 + 2 * 100] = "\x04\x08";
    for (size_t i = 2; i < sizeof(deep); i += 2)
        memcpy(deep + i, "[\x06", 2);
    Profile none;
    assert_error(import_stackprof(bytes_over(deep, sizeof(deep)), &none, &err), &err, ERROR_FORMAT,
                 "too deeply");
}

static void firefox_with_shared_tables(void **state)
{
    (void)state;
    import("firefox-shared.json", "Firefox profile");
    assert_int_equal(p.samples.stack.len, 3);
    assert_str(function_of(p.samples.stack.at[0]), "sys");
    StackId hot = p.stacks.parent.at[p.samples.stack.at[0].v];
    assert_str(function_of(hot), "hot");
    FrameId inlined = p.stacks.frame.at[hot.v];
    assert_int_equal(p.frames.flags.at[inlined.v], FRAME_INLINED);
    assert_int_equal(p.frames.line.at[inlined.v], 7);
    assert_int_equal(p.frames.flags.at[p.stacks.frame.at[p.samples.stack.at[0].v].v], FRAME_KERNEL);
    assert_int_equal(p.samples.stack.at[2].v, 0);
    assert_int_equal(p.samples.time_ns.at[2], 2000000);
    assert_int_equal(p.samples.values[1].at[1], 1000);
    assert_int_equal(p.processes.pid.at[0], 7);
}

static void firefox_with_strings_beside_tables_of_the_thread(void **state)
{
    (void)state;
    import("firefox-58.json", "Firefox profile");
    assert_int_equal(p.samples.stack.len, 8);
    assert_str(function_of(p.samples.stack.at[0]), "leaf");
    FrameId leaf = p.stacks.frame.at[p.samples.stack.at[0].v];
    assert_str(profile_text(&p, p.frames.file.at[leaf.v]), "a.c");
    assert_int_equal(p.frames.line.at[leaf.v], 7);
    assert_str(function_of(p.samples.stack.at[2]), "sys");
}

static void gecko_profiles_of_nested_processes(void **state)
{
    (void)state;
    import("gecko.json", "Firefox profile");
    assert_int_equal(p.samples.stack.len, 18);
    assert_int_equal(p.processes.pid.len, 2);
    assert_int_equal(p.threads.tid.len, 3);
    assert_str(function_of(p.samples.stack.at[0]), "leaf");
    assert_int_equal(p.samples.time_ns.at[0], 1000000);
    assert_int_equal(p.samples.time_ns.at[12], 51000000); // the second process began 50 ms later
    FrameId script = p.stacks.frame.at[p.samples.stack.at[1].v];
    assert_str(function_of(p.samples.stack.at[1]), "foo");
    assert_str(profile_text(&p, p.frames.file.at[script.v]), "https://x.org/a.js");
    assert_int_equal(p.frames.line.at[script.v], 12);
    FrameId address = p.stacks.frame.at[p.samples.stack.at[2].v];
    assert_int_equal(p.frames.address.at[address.v], 0x1010);
    assert_int_equal(p.frames.flags.at[p.stacks.frame.at[p.samples.stack.at[3].v].v], FRAME_KERNEL);
    StackId bottom = p.stacks.parent.at[p.samples.stack.at[0].v];
    assert_str(function_of(bottom), "main");
    assert_int_equal(p.stacks.parent.at[bottom.v].v, 0); // "(root)" is left out
}

static void gecko_profiles_with_frames_in_samples(void **state)
{
    (void)state;
    import("gecko-old.json", "Firefox profile");
    assert_int_equal(p.samples.stack.len, 3);
    assert_str(function_of(p.samples.stack.at[0]), "leaf");
}

static void firefox_profiles_saved_by_its_developer_tools(void **state)
{
    (void)state;
    import("firefox-devtools.json", "Firefox profile");
    assert_int_equal(p.samples.stack.len, 3);
    assert_str(function_of(p.samples.stack.at[0]), "leaf");
}

static void firefox_with_tables_in_the_thread(void **state)
{
    (void)state;
    import("firefox-old.json", "Firefox profile");
    assert_str(function_of(p.samples.stack.at[0]), "g");
    assert_int_equal(p.samples.values[0].at[1], 4);
    assert_int_equal(p.samples.time_ns.at[0], 500000);
}

static void cut_at_each_byte_it_is_an_error(void **state)
{
    (void)state;
    static const char *const files[] = {"speedscope.json", "firefox-shared.json",
                                        "v8.cpuprofile",   "chrome-samples.json",
                                        "stackprof.json",  "stackprof.dump"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        Bytes file = load(files[i]);
        for (size_t len = 0; len + 2 < file.len; len++) {
            char *copy = malloc(len ? len : 1); // its own size, for the sanitizer
            memcpy(copy, file.ptr, len);
            Profile none;
            const ImportFormat *format;
            err = (Error){0};
            assert_false(import_bytes(bytes_over(copy, len), NULL, &none, &format, &err));
            assert_true(err.text[0] != '\0');
            free(copy);
        }
    }
}

static void a_parent_that_does_not_come_before_is_refused(void **state)
{
    (void)state;
    char text[] = "{\"meta\":{},\"shared\":{\"stackTable\":{\"frame\":[0,0],\"prefix\":[1,null]},"
                  "\"frameTable\":{\"func\":[0]},\"funcTable\":{\"name\":[0]}},\"threads\":[]}";
    Profile none;
    assert_error(import_firefox(bytes_over(text, sizeof(text) - 1), &none, &err), &err,
                 ERROR_FORMAT, "does not come before");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(speedscope_sampled_and_evented),
        TEST(cpuprofile_of_v8),
        TEST(broken_cpuprofiles_are_refused),
        TEST(chrome_trace_with_chunks_of_a_profile),
        TEST(chrome_trace_with_global_samples),
        TEST(broken_chrome_traces_are_refused),
        TEST(stackprof_with_and_without_stacks),
        TEST(dumps_that_are_no_profiles_are_refused),
        TEST(firefox_with_shared_tables),
        TEST(firefox_with_strings_beside_tables_of_the_thread),
        TEST(gecko_profiles_of_nested_processes),
        TEST(gecko_profiles_with_frames_in_samples),
        TEST(firefox_profiles_saved_by_its_developer_tools),
        TEST(firefox_with_tables_in_the_thread),
        TEST(cut_at_each_byte_it_is_an_error),
        TEST(a_parent_that_does_not_come_before_is_refused),
    };
    return RUN_TESTS(tests);
}
