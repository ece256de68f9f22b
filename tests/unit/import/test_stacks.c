// SPDX-License-Identifier: Apache-2.0
// Stacks of named functions -> Profile: austin, bpftrace, DTrace, Instruments, Java
// Flight Recordings, Safari, sample, VTune. The
// files are those of the fuzzer's corpus.

#include "import_case.h"

#include "base/strbuf.h"

typedef struct Case {
    const char *file, *format;
    const char *want; // a line for each sample: the stack, outermost first, and the first metric
} Case;

static const Case cases[] = {
    {"sample.txt", "sample",
     "Thread_77308;start;main;std::vector<int>::push_back(int const&);malloc 100\n"
     "Thread_77308;start;main;std::vector<int>::push_back(int const&) 1400\n"
     "Thread_77308;start;main;helper 900\n"
     "Thread_77308;start;main 200\n"
     "Thread_77308;start;exit 69\n"
     "Thread_77400;??? 40\n"},
    {"dtrace.txt", "DTrace",
     "_start;main;copy(char const*, int);memcpy 12\n"
     "0xfffffd7fff1a2b3c;sys_syscall;gethrtime_unscaled 3\n"
     "_start;main 5\n"},
    {"bpftrace.txt", "bpftrace",
     "do_page_fault;up_read 2\n"
     "worker;42;main;0x55e4a1b2c3d4;std::map<int, int>::find(int);do_syscall_64;schedule 7\n"
     "readline;do_idle 3\n"
     "bash;write 5\n"
     "kworker/0:1 4\n"
     "malloc 0\n"},
    {"vtune.csv", "VTune CSV",
     "Total;_start;main 250000000\n"
     "Total;_start;main;std::map<int, int>::find 1500000000\n"
     "Total;_start;main;std::map<int, int>::find;malloc 500000000\n"
     "Total;_start;main;other 125000000\n"
     "Total;clone;worker 2000000000\n"},
    {"instruments.txt", "Instruments",
     "prog (1234);Main Thread  0x1;main 1000000000\n"
     "prog (1234);Main Thread  0x1;main;hot 2000000000\n"
     "prog (1234);Thread  0x2;worker 1000000000\n"},
    {"instruments-old.txt", "Instruments", "main 2000000\nmain;hot 5000000\n"},
    {"instruments-cycles.txt", "Instruments",
     "prog (4711);start;main 2000000000\n"
     "prog (4711);start;main;hot 7000000000\n"
     "prog (4711);start;main;cold 3000000\n"
     "prog (4711);start;main;rare 532\n"},
    {"instruments-allocations.txt", "Instruments",
     "start;main;grow;malloc 62914560\n"
     "start;main;grow 10485760\n"
     "start;main;keep;malloc 13631488\n"
     "start;main;malloc 7340032\n"},
    {"austin.txt", "austin",
     "<module>;run 300000\n"
     "<module>;run;hot 700000\n"
     "_bootstrap;GC 50000\n"},
    {"austin-full.txt", "austin", "f 100000\nf 50000\n"},
    {"flight.jfr", "Java Flight Recording",
     "shop.Main.main;shop.\xc3\x84rger.hot 1\n"
     "shop.Main.main;shop.\xc3\x84rger.hot 1\n"
     "shop.Main.main 1\n"
     "shop.Main.main;shop.\xc3\x84rger.hot 1\n"
     "shop.Main.main;shop.\xc3\x84rger.hot 1\n"
     "[stack cut: too deep];shop.Main.main 1\n"},
    {"safari.json", "Safari timelines", "(anonymous);hot 1000000\n(anonymous) 500000\n"},
};

static void add_stack(StrBuf *out, StackId s)
{
    StackId parent = p.stacks.parent.at[s.v];
    if (parent.v) {
        add_stack(out, parent);
        strbuf_add_char(out, ';');
    }
    if (p.frames.flags.at[p.stacks.frame.at[s.v].v] & FRAME_CUT) {
        strbuf_add(out, STR("[stack cut: too deep]"));
        return;
    }
    FunctionId f = p.frames.function.at[p.stacks.frame.at[s.v].v];
    strbuf_add(out, profile_text(&p, p.functions.name.at[f.v]));
}

static void each_file_gives_its_stacks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        StrBuf got = {0};
        assert_ok(import_as(load(cases[i].file), cases[i].format), &err);
        for (size_t row = 0; row < p.samples.stack.len; row++) {
            add_stack(&got, p.samples.stack.at[row]);
            strbuf_printf(&got, " %lld\n", (long long)p.samples.values[0].at[row]);
        }
        assert_str(strbuf_str(&got), cases[i].want);
        strbuf_deinit(&got);
    }
}

// The frame of the first sample's innermost entry.
static FrameId leaf(size_t row)
{
    return p.stacks.frame.at[p.samples.stack.at[row].v];
}

static void modules_files_and_lines_are_kept(void **state)
{
    (void)state;
    assert_ok(import_as(load("sample.txt"), "sample"), &err);
    FrameId f = leaf(1);
    assert_int_equal(p.frames.line.at[f.v], 7);
    assert_str(profile_text(&p, p.frames.file.at[f.v]), "vec.h");
    assert_str(profile_text(&p, p.modules.path.at[p.frames.module.at[f.v].v]), "prog");

    assert_ok(import_as(load("dtrace.txt"), "DTrace"), &err);
    assert_str(profile_text(&p, p.modules.path.at[p.frames.module.at[leaf(0).v].v]), "libc.so.1");
    assert_int_equal(p.frames.flags.at[leaf(1).v] & FRAME_KERNEL, FRAME_KERNEL);
    assert_int_equal(p.frames.flags.at[leaf(0).v] & FRAME_KERNEL, 0);

    // Each map is a metric; a histogram is no number.
    assert_ok(import_as(load("bpftrace.txt"), "bpftrace"), &err);
    assert_str(profile_text(&p, p.modules.path.at[p.frames.module.at[leaf(2).v].v]), "");
    FrameId caller = p.stacks.frame.at[p.stacks.parent.at[p.samples.stack.at[2].v].v];
    assert_str(profile_text(&p, p.modules.path.at[p.frames.module.at[caller.v].v]),
               "/usr/bin/bash");
    assert_int_equal(p.metrics.name.len, 2);
    assert_str(profile_text(&p, p.metrics.name.at[1]), "sizes");
    assert_int_equal(p.samples.values[1].at[5], 64);
    assert_int_equal(p.notes.key.len, 2);

    assert_ok(import_as(load("austin.txt"), "austin"), &err);
    f = leaf(1);
    assert_int_equal(p.frames.line.at[f.v], 5);
    assert_str(profile_text(&p, p.frames.file.at[f.v]), "/app/main.py");
    ThreadId thread = p.samples.thread.at[1];
    assert_int_equal(p.threads.tid.at[thread.v], 43);
    assert_int_equal(p.processes.pid.at[p.threads.process.at[thread.v].v], 42);
    assert_int_not_equal(p.samples.thread.at[2].v, thread.v);

    assert_ok(import_as(load("austin-full.txt"), "austin"), &err);
    static const int64_t cpu[] = {100000, 0}, bytes[] = {64, -32};
    for (size_t row = 0; row < 2; row++) {
        assert_int_equal(p.samples.values[1].at[row], cpu[row]);
        assert_int_equal(p.samples.values[2].at[row], bytes[row]);
    }
    assert_ok(import_as(load("safari.json"), "Safari timelines"), &err);
    assert_int_equal(p.samples.time_ns.at[1], 1000000);
}

static void chunks_of_a_flight_recording_share_threads_and_time(void **state)
{
    (void)state;
    assert_ok(import_as(load("flight.jfr"), "Java Flight Recording"), &err);
    // The clock has a million ticks a second and began at 1000.
    static const int64_t us[] = {100, 200, 300, 1000100, 1000200, 1000300};
    assert_int_equal(p.samples.stack.len, ARRAY_LEN(us));
    for (size_t i = 0; i < ARRAY_LEN(us); i++)
        assert_in_range(p.samples.time_ns.at[i], us[i] * 1000 - 200, us[i] * 1000 + 200);
    assert_int_equal(p.samples.thread.at[0].v, p.samples.thread.at[3].v);
    ThreadId thread = p.samples.thread.at[5];
    assert_int_equal(p.threads.tid.at[thread.v], 4712);
    assert_str(profile_text(&p, p.threads.name.at[thread.v]), "w\xc3\xa9");
    assert_int_equal(p.frames.line.at[leaf(0).v], 12);

    // A second chunk that is cut leaves the first one; what is no chunk is refused.
    Bytes whole = load("flight.jfr");
    assert_ok(import_as(bytes_slice(whole, 0, whole.len - 1), "Java Flight Recording"), &err);
    assert_int_equal(p.samples.stack.len, 3);
    uint8_t old[80] = {'F', 'L', 'R', 0, 0, 1};
    assert_error(import_as(bytes_over(old, sizeof(old)), "Java Flight Recording"), &err,
                 ERROR_UNSUPPORTED, "only version 2");
    assert_error(import_as(bytes_over(old, 60), "Java Flight Recording"), &err, ERROR_FORMAT,
                 "cut short");
}

// A part of a file is read, or refused with a reason.
static void a_file_may_be_cut_at_any_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Bytes whole = load(cases[i].file);
        for (size_t len = 0; len < whole.len; len++) {
            uint8_t *part = test_malloc(len + 1); // checked by the sanitizers
            memcpy(part, whole.ptr, len);
            const ImportFormat *format;
            profile_deinit(&p);
            err = (Error){0};
            if (import_bytes(bytes_over(part, len), NULL, &p, &format, &err)) {
                assert_ok(profile_check(&p, &err), &err);
            } else {
                assert_int_not_equal(err.text[0], 0);
                profile_init(&p);
            }
            test_free(part);
        }
    }
}

static void broken_files_are_refused(void **state)
{
    (void)state;
    static const char *const broken[][3] = {
        {"sample", "Analysis of sampling x\n", "no line 'Call graph:'"},
        {"sample", "Call graph:\n\nTotal number in stack\n", "the call graph is empty"},
        {"sample", "Call graph:\n    5 main  (in a)\n    + 6 b  (in a)\n", "more samples than 'b"},
        {"VTune CSV", "Function Stack,CPU Time:Total,Module\nmain,1.0,a\n", "no column"},
        {"VTune CSV", "Function Stack,CPU Time:Self,Module\nmain,-1,a\n", "'-1' is not a time"},
        {"Instruments", "Weight\tSelf Weight\t\tSymbol Name\n1 s 100%\tx\t\tmain\n", "no weight"},
        {"Instruments", "Weight\tSelf Weight\t\tSymbol Name\n1 s\n", "a row of 1 fields"},
        {"Instruments", "Weight\tSelf Weight\t\tSymbol Name\n1 s  1%\t1 Gc\t\tmain\n", "beside"},
        {"austin", "P1;T1;a:b:1 x\nP1;T1;a:b:1 5\n", "no number"},
        {"austin", "P1;T1;a:b:1 5\nnot a stack 7\nP1;T1;a:b:1 5\n", "no stack"},
        {"Safari timelines", "{\"recording\":{\"instrumentTypes\":[]}}", "no sampleStackTraces"},
        {"Safari timelines", "{\"recording\":{\"sampleStackTraces\":[{}],\"sampleDurations\":[]}}",
         "without a duration"},
    };
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        Bytes file = bytes_over(broken[i][1], strlen(broken[i][1]));
        assert_error(import_as(file, broken[i][0]), &err, i == 3 ? ERROR_UNSUPPORTED : ERROR_FORMAT,
                     broken[i][2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_file_gives_its_stacks, begin, end),
        cmocka_unit_test_setup_teardown(modules_files_and_lines_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(chunks_of_a_flight_recording_share_threads_and_time, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_file_may_be_cut_at_any_byte, begin, end),
        cmocka_unit_test_setup_teardown(broken_files_are_refused, begin, end),
    };
    return RUN_TESTS(tests);
}
