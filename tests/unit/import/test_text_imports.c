// SPDX-License-Identifier: Apache-2.0
// perf script text and folded stacks -> Profile.

#include "harness.h"

#include <stdlib.h>

#include "base/strbuf.h"
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
               "lines that are not of perf script's form and were left out: 2");
    profile_deinit(&p);
    assert_error(import_perf_script(bytes_over("\0\1\2\n", 4), &p, &err), &err, ERROR_FORMAT,
                 "no sample");
}

// One text of each choice of fields that perf here cannot make, or that other versions write.
static void perf_script_reads_each_field_by_its_shape(void **state)
{
    (void)state;
    static const struct {
        const char *text, *thread, *stack, *metric;
        uint32_t tid;
        int64_t value;
    } cases[] = {
        // -F +misc, and the other kinds of numbers before the time
        {"prog 19627 U      3420.870000:     250000 cpu-clock:u: \n\t  401 f (/p)\n", "prog", "f",
         "cpu time", 19627, 250000},
        {"    prog    77   1     3.870000:      25 cycles: \n\t  401 f (/p)\n", "prog", "f",
         "cycles", 77, 25}, // --latency
        {"p 7 2026-11-23 12:00:01.000123     3.87:      25 cycles: \n\t  401 f (/p)\n", "p", "f",
         "cycles", 7, 25},
        // without the period samples are counted, not nanoseconds
        {"p 7 3.87: cpu-clock: \n\t  401 f (/p)\n", "p", "f", "cpu-clock samples", 7, 1},
        {"p 7 3.87: sched:sched_switch: prev_comm=a prev_pid=1 ==> next\n\t 401 f (/p)\n", "p", "f",
         "sched:sched_switch", 7, 1},
        // -G, with addr, flags, trace and what may stand behind
        {"p 7 3.87:         25 cycles:     7ffff9d56489 [unknown] ([stack]) ffffffff81752b6a "
         "a b+0x2 (/x (y))\n",
         "p", "a b", "cycles", 7, 25},
        {"p 7 3.87:         25 cycles:   jmp                       ffffffff81752b6a g (/x) insn: "
         "90\n",
         "p", "g", "cycles", 7, 25},
        {"p 7 3.87: a:b: x=1 y=2  ffffffff81752b6a g (/x)          12ab00\n", "p", "g", "a:b", 7,
         1},
        {"p 7 3.87:         25 cycles:  ffffffff81752b6a f(int)\n  a.c:12\n", "p", "f(int)",
         "cycles", 7, 25},
        // frames without an object, with registers, branches and source text between
        {"p 7 3.87:         25 cycles: \n\t 401 f(int) (.cold)\n\t 402 main\n ABI:2    AX:0x1\n"
         " 0x1/0x2/P/-/-/0 \n|4    int x;\n\n",
         "p", "main;f(int) (.cold)", "cycles", 7, 25},
        // frames that are not indented, and Windows' line ends
        {"java 19983 cycles:\r\nffffffff8103d0ca native_write ([kernel.kallsyms])\r\n"
         "7f724309ebdf JavaMain (/a/libjli.so)\r\n\r\n",
         "java", "JavaMain;native_write", "cycles samples", 19983, 1},
        // -F ip,sym and -F comm,ip
        {"\n\t             401 f\n\t             402 main\n\n", "", "main;f", "samples", 0, 1},
        {"my prog \n\t             401\n\n", "my prog", "", "samples", 0, 1},
        {"p 7/7 3.87: PERF_RECORD_COMM: p:7/7\np 7/7 3.88:         25 cycles: \n", "p", "",
         "cycles", 7, 25},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Profile p;
        Error err = {0};
        Bytes text = bytes_from_str(str_from_c(cases[i].text));
        const ImportFormat *format;
        assert_ok(import_bytes(text, NULL, &p, &format, &err), &err);
        assert_string_equal(format->name, "perf script");
        assert_int_equal(p.samples.stack.len, 1);
        assert_stack(&p, 0, cases[i].stack);
        assert_str(profile_text(&p, p.threads.name.at[0]), cases[i].thread);
        assert_int_equal(p.threads.tid.at[0], cases[i].tid);
        assert_str(profile_text(&p, p.metrics.name.at[0]), cases[i].metric);
        assert_int_equal(p.samples.values[0].at[0], cases[i].value);
        assert_int_equal(p.notes.key.len, 0);
        profile_deinit(&p);
    }
}

static void files_of_the_kernel_are_the_kernels(void **state)
{
    (void)state;
    static const struct {
        const char *object;
        bool is_kernel;
    } cases[] = {
        {"/usr/lib/debug/boot/vmlinux-6.1.0-13-amd64", true},
        {"vmlinux", true},
        {"/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko", true},
        {"/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz", true},
        {"[ext4]", true},
        {"/home/u/vmlinux_reader", false},
        {"/opt/x.ko.d/prog", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Profile p;
        Error err = {0};
        char text[256];
        snprintf(text, sizeof(text), "a 1 1.000000: 5 cycles:\n\t10 f (%s)\n", cases[i].object);
        assert_ok(import_perf_script(bytes_from_str(str_from_c(text)), &p, &err), &err);
        FrameId frame = p.stacks.frame.at[p.samples.stack.at[0].v];
        assert_int_equal((p.frames.flags.at[frame.v] & FRAME_KERNEL) != 0, cases[i].is_kernel);
        profile_deinit(&p);
    }
}

static void perf_script_names_a_field_that_it_does_not_read(void **state)
{
    (void)state;
    Profile p;
    const ImportFormat *format;
    Error err = {0};
    Str text = STR("p 7 3.87:         25 cycles: <<what 12>>\n"
                   "p 7 3.88:         25 cycles: <<what 13>>\n");
    assert_error(import_bytes(bytes_from_str(text), NULL, &p, &format, &err), &err, ERROR_FORMAT,
                 "the line 'p 7 3.87:         25 cycles: <<what 12>>' has a field");
    assert_non_null(strstr(err.hint, "perf script -F"));
    text = STR("p 7 3.87:         25 cycles:    401 f <-    402 main\n\tmain+12:\n"
               "\t0000000000401000\tinsn: 48 89 e5  # PRED\n");
    assert_error(import_bytes(bytes_from_str(text), NULL, &p, &format, &err), &err, ERROR_FORMAT,
                 "'brstackinsn' is not read");
    static const struct {
        Str text;
        const char *field;
    } cases[] = {
        {STR("\n insn: 81 fe bb 00 00 00\n\n\n"), "'insn' is not read without"},
        {STR(" ilen: 3 insn: 48 89 e7\n ilen: 7 insn: 80 25 52 86 01 00 df\n"),
         "'insn' is not read without"},
        {STR("20324 NR 12 (0, 7ffdfd97162c, 0, 37f)\n20324 \n20324 NR 9 (0, 2000, 3, 22)\n"),
         "'trace' is not read without 'event'"},
        {STR(" 2128.8: NR 12 (0, 7ffdfd97162c, 0, 37f)\n 2128.9: \n"),
         "'trace' is not read without 'event'"},
        {STR("K     NR 12 (0, 7ffdfd97162c, 0, 37f)\nU     \n"),
         "'trace' is not read without 'event'"},
        {STR("NR 12 (0, 7ffdfd97162c, 0, 37f)\n insn: 81 fe bb\n"),
         "'trace' is not read without 'event'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        err = (Error){0};
        assert_error(import_bytes(bytes_from_str(cases[i].text), NULL, &p, &format, &err), &err,
                     ERROR_FORMAT, cases[i].field);
        assert_non_null(strstr(err.hint, "perf script -F"));
    }
}

// The bytes of instructions, and the column of flags, which perf fills up with spaces.
static void perf_script_passes_over_instructions_and_flags(void **state)
{
    (void)state;
    static const Str texts[] = {
        STR(" 6334  insn: 48 89 e7\n 6334  insn: 80 25 52 86 01 00 df\n"),
        STR("           named  ilen: 3 insn: 48 89 e7\n           named  ilen: 7 insn: 80 25\n"),
        STR(" 2051.392591:  insn: 48 89 e7\n 2051.392604:  insn: 80 25 52 86 01 00 df\n"),
        STR("named page-faults:u:  insn: 48 89 e7\nnamed page-faults:u:  insn: 80 25\n"),
        STR("                                       0\n                                7f12a0b0\n"),
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        Profile p;
        Error err = {0};
        assert_ok(import_perf_script(bytes_from_str(texts[i]), &p, &err), &err);
        assert_int_equal(p.samples.stack.len, 2);
        assert_int_equal(p.notes.key.len, 0);
        profile_deinit(&p);
    }
}

static void perf_script_keeps_the_lines_of_srcline(void **state)
{
    (void)state;
    Profile p;
    Error err = {0};
    Str text =
        STR("p 7 3.87:         25 cycles: \n\t  401 f+0x1 (/p)\n  a b.c:12\n"
            "\tffffffff81752b6a g ([kernel.kallsyms])\n  [kernel.kallsyms][ffffffff81752b6a]\n");
    assert_ok(import_perf_script(bytes_from_str(text), &p, &err), &err);
    StackId leaf = p.samples.stack.at[0];
    FrameId frame = p.stacks.frame.at[leaf.v];
    assert_str(profile_text(&p, p.frames.file.at[frame.v]), "a b.c");
    assert_int_equal(p.frames.line.at[frame.v], 12);
    assert_stack(&p, 0, "g;f");
    assert_int_equal(p.notes.key.len, 0);
    profile_deinit(&p);
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

static void folded_counts_may_have_fractions(void **state)
{
    (void)state;
    Profile p;
    Error err = {0};
    Str text =
        STR("# duration: 3.5\n// remark 12\nmain;a 1.50\nmain;b 0.125\nmain 3\nmain;c 2e1\n");
    assert_ok(import_folded(bytes_from_str(text), &p, &err), &err);
    assert_int_equal(p.samples.stack.len, 4);
    const int64_t want[] = {1500, 125, 3000, 20000};
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_int_equal(p.samples.values[0].at[i], want[i]);
    assert_str(profile_text(&p, p.metrics.unit.at[0]), "1/1000");
    assert_int_equal(p.notes.key.len, 1);
    profile_deinit(&p);
}

static void only_text_whose_lines_end_in_counts_is_folded(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_folded;
    } cases[] = {
        {"main;a 3\nmain;b 4\n", true},
        {"# duration: 3\n\n// x\nmain;a b 3.5\n", true},
        {"main;a 3\nmain;b", true}, // the end may be cut
        {"main;a 3", true},
        {"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel name\t: AMD\n", false},
        {"threadcreate profile: total 5\n1 @ 0x43 0x44\n#\t0x43\tmain\n", false},
        {"12\n13\n", false},
        {"", false},
        {"# only a comment 3\n", false},
        {"a b 3\nsome prose\n", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(folded_is(bytes_from_str(str_from_c(cases[i].text))), cases[i].is_folded);
}

// A first line longer than what other formats are told by.
static void a_folded_line_may_be_long(void **state)
{
    (void)state;
    StrBuf text = {0};
    Profile p;
    Error err = {0};
    const ImportFormat *format;
    for (unsigned i = 0; i < 20000; i++)
        strbuf_printf(&text, "f%u;", i);
    strbuf_add(&text, STR("leaf 7\nmain 1\n"));
    assert_ok(import_bytes(bytes_from_str(strbuf_str(&text)), NULL, &p, &format, &err), &err);
    assert_string_equal(format->name, "folded stacks");
    assert_int_equal(p.samples.stack.len, 2);
    assert_int_equal(p.samples.values[0].at[0], 7);
    profile_deinit(&p);
    strbuf_deinit(&text);
}

static void known_formats_that_are_not_read_are_named(void **state)
{
    (void)state;
    static const struct {
        Str begin;
        const char *name, *hint;
    } cases[] = {
        {STR("goroutine 1 [running]:\nmain.main()\n\t/src/main.go:12 +0x25\n"), "goroutines",
         "debug=1"},
        {STR("\x7f"
             "ELF\2\1\1"),
         "a program", "assay record"},
        {STR("TN:\nSF:a.c\n"), "lcov", "assay cover"},
        {STR("SF:a.c\nDA:1,2\nend_of_record\n"), "lcov", "assay cover"},
        {STR("mode: set\na/b.go:3.2,4.5 1 1\n"), "Go's counts of lines", "assay cover"},
        {STR("adcg*22B1234"), "gcc's counts", "assay cover"},
        {STR("oncg*22B1234"), "gcc's notes", "assay cover"},
        {STR("go 1.22 trace\0\0\0\1"), "execution trace of Go", "go tool trace -pprof"},
        {STR("Nettrace\x14\0\0\0!FastSerialization.1"), ".NET", "dotnet-trace convert"},
        {STR("--- threadz 1 ---\n\n--- Thread 7f79 (name: main/1) stack: ---\n  PC:  0xbc8f1c: "
             "f\n"),
         "gperftools' threads", "pprof -proto"},
        {STR("--- heapz 1 ---\nformat = java\nresolution = bytes\n 7048 1 @ 0x3 0x4\n"),
         "heap profile of Java", "pprof -proto"},
        {STR("SIMPLEPERF\1\0"), "simpleperf's report", "perf.data"},
        {STR("\xff\xfem\0a\0i\0n\0 \0001\0"), "UTF-16", "iconv"},
        {STR("# tracer: nop\n#\n  sh-1 [0] d... 1.0: f: 1\n"), "kernel's tracer",
         "assay record -e"},
        {STR("# To display the perf.data header info, please use --header/--header-only options.\n"
             "#\n    45.32%  csv  csv  [.] main\n"),
         "perf report", "perf.data"},
        {STR("\tSun Nov 29 2026 Time and Allocation Profiling Report  (Final)\n\n"
             "MAIN MAIN 116 0 0.0 0.0 100.0 100.0\n"),
         "GHC's profile", "inferno-collapse-ghcprof"},
        {STR("{\n  \"code\": [\n  {\n    \"name\": \"/usr/bin/node\",\n    \"type\": "
             "\"SHARED_LIB\"\n"),
         "V8's log as JSON", "--cpu-prof"},
        {STR("{\"head\":{\"callFrame\":{},\"selfSize\":0,\"children\":[]},\"samples\":[]}"),
         "heap profile of V8", "DevTools"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Profile p;
        const ImportFormat *format;
        Error err = {0};
        assert_error(import_bytes(bytes_from_str(cases[i].begin), NULL, &p, &format, &err), &err,
                     ERROR_UNSUPPORTED, cases[i].name);
        assert_non_null(strstr(err.hint, cases[i].hint));
    }
}

// `perf script -F trace`: a value at the end of a line is no number of samples, and what stands
// before an address is no name of a thread.
static void fields_of_tracepoints_alone_are_no_stacks(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "NR 0 = 832\nNR 12 = 94332952883200\n",
        "              sh NR 59 = 0\n              ls NR 12 = 94332952883200\n",
        "17950 NR 59 = 0\n17950 NR 21 = -2\n",
        "dev 8,1 ino 12 len 4 ret 4\ndev 8,1 ino 13 len 5 ret 5\n",
        "NR 12 (0, 7ffd69dfeb6c, 0, 37f, 0, 0)\n",
        "prev_comm=sh prev_pid=1 prev_state=D ==> next_comm=p next_pid=2\n",
        "fd: 0x00000003, buf: 0x7ffe97da2bb8, count: 0x00000340\n",
        "[001] 0x340\n[000] 0x0\n",
        "(401136) n=5\n",
        "NR 59 = 0 ffffffff81415e9c syscall_exit_work\n",
        " 1768.788655: NR 59 = 0\n 1768.788734: NR 12 = 0\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        Profile p;
        const ImportFormat *format;
        Error err = {0};
        assert_false(import_bytes(bytes_from_str(str_from_c(texts[i])), NULL, &p, &format, &err));
        assert_non_null(strstr(err.text, "perf script's field 'trace'"));
        assert_non_null(strstr(err.hint, "event"));
    }
}

static void fields_of_tracepoints_behind_their_event_are_passed_over(void **state)
{
    (void)state;
    Profile p;
    Error err = {0};
    Str text = STR("              sh  1768.788655: raw_syscalls:sys_exit: NR 59 = 0\n\t401 f\n\n");
    assert_ok(import_perf_script(bytes_from_str(text), &p, &err), &err);
    assert_int_equal(p.samples.stack.len, 1);
    assert_str(profile_text(&p, p.threads.name.at[0]), "sh");
    profile_deinit(&p);
}

// What only resembles them is read as before.
static void stacks_that_resemble_fields_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "NR 0 = 5\nmain;f 2\n", "NR 5\n",        "dev 8\n", "pid=5;main 3\n",
        "std::operator== 3\n",  "key=value 3\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        Profile p;
        const ImportFormat *format;
        Error err = {0};
        assert_ok(import_bytes(bytes_from_str(str_from_c(texts[i])), NULL, &p, &format, &err),
                  &err);
        assert_string_equal(format->name, "folded stacks");
        profile_deinit(&p);
    }
}

// The sum of a metric; -1: there is none of the name.
static int64_t metric_sum(const Profile *p, const char *name)
{
    for (size_t m = 0; m < p->metrics.name.len; m++) {
        int64_t sum = 0;
        if (!str_equal(profile_text(p, p->metrics.name.at[m]), str_from_c(name)))
            continue;
        for (size_t i = 0; i < p->samples.stack.len; i++)
            sum += p->samples.values[m].at[i];
        return sum;
    }
    return -1;
}

static void texts_of_pprof_are_scaled_to_what_their_samples_stand_for(void **state)
{
    (void)state;
    static const struct {
        const char *text, *metric;
        int64_t sum;
    } cases[] = {
        {"heap profile: 3: 30 [ 9: 900] @ heapprofile\n 3: 30 [ 9: 900] @ 0x10 0x20\n",
         "bytes at end", 30},
        {"heap profile: 3: 30 [ 9: 900] @ heapprofile\n 3: 30 [ 9: 900] @ 0x10 0x20\n",
         "blocks allocated", 9},
        // A block of 1000 bytes is noted with probability 1 - exp(-1000 / 1000) = 0.632.
        {"heap profile: 1: 2 [1: 2] @ heap_v2/1000\n2: 2000 [4: 4000] @ 0x10\n", "bytes at end",
         3163},
        {"heap profile: 1: 2 [1: 2] @ heap/2000\n2: 2000 [4: 4000] @ 0x10\n", "blocks allocated",
         6},
        {"heap profile: 1: 2 [1: 2] @ heapz_v2/1000\n2: 2000 [4: 4000] @ 0x10\n", "bytes at end",
         3163},
        {"growth profile: 1: 5 [1: 5] @ growthz\n1: 5 [1: 5] @ 0x10\n", "bytes grown", 5},
        {"--- contentionz 1 ---\ncycles/second = 2000000000\nsampling period = 100\n"
         "discarded samples = 0\n 40 2 @ 0x10 0x20\n",
         "delay", 2000},
        {"--- mutex:\ncycles/second=1000000000\nsampling period=10\n40 2 @ 0x10 0x20\n",
         "contentions", 20},
        {"goroutine profile: total 5\n3 @ 0x43 0x44\n# labels: {\"a\":\"b\"}\n2 @ 0x45\n",
         "goroutines", 5},
        {"threadcreate profile: total 7\n7 @ \n#\t0x0\n", "threads", 7},
        {"threadcreate profile: total 7\n6 @ 0x1\n1 @ 0x", "threads", 6}, // cut
        {"goroutine profile: total 0\n", "goroutines", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Profile p;
        const ImportFormat *format;
        Error err = {0};
        Bytes text = bytes_from_str(str_from_c(cases[i].text));
        assert_ok(import_bytes(text, NULL, &p, &format, &err), &err);
        assert_string_equal(format->name, "pprof's text");
        assert_ok(profile_check(&p, &err), &err);
        assert_int_equal(metric_sum(&p, cases[i].metric), cases[i].sum);
        profile_deinit(&p);
    }
}

static void goroutines_have_the_names_of_their_lines(void **state)
{
    (void)state;
    Profile p;
    Error err = {0};
    const ImportFormat *format;
    Str text = STR(
        "goroutine profile: total 2\n2 @ 0x43 0x47 0x4b\n"
        "#\t0x42\tmain.(*T).leaf+0x25\t\t/src/a b.go:12\n#\t0x46\tmain.main+0x1\t/src/m.go:3\n\n");
    assert_ok(import_bytes(bytes_from_str(text), NULL, &p, &format, &err), &err);
    StackId leaf = p.samples.stack.at[0];
    assert_str(frame_name(&p, p.stacks.frame.at[leaf.v]), "main.(*T).leaf");
    assert_str(profile_text(&p, p.frames.file.at[p.stacks.frame.at[leaf.v].v]), "/src/a b.go");
    assert_int_equal(p.frames.line.at[p.stacks.frame.at[leaf.v].v], 12);
    StackId above = p.stacks.parent.at[leaf.v];
    assert_str(frame_name(&p, p.stacks.frame.at[above.v]), "main.main");
    assert_int_equal(p.stacks.parent.at[above.v].v, 0);
    profile_deinit(&p);
}

static void broken_texts_of_pprof_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"heap profile: 1: 2 [1: 2 @ heap_v2/1\n", "line 1"},
        {"heap profile: 1: 2 [1: 2] @ heap_v2/x\n", "line 1"},
        {"heap profile: 1: 2 [1: 2] @ heapprofile\n1: 2 [1: 2] @ 0x1\nsome prose\n1: 2 [1: 2] @\n",
         "line 3"},
        {"goroutine profile: total 1\n99999999999999999999 @ 0x1\n1 @ 0x1\n", "line 2"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Profile p;
        const ImportFormat *format;
        Error err = {0};
        assert_error(
            import_bytes(bytes_from_str(str_from_c(cases[i].text)), NULL, &p, &format, &err), &err,
            ERROR_FORMAT, cases[i].why);
    }
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
        cmocka_unit_test(perf_script_reads_each_field_by_its_shape),
        cmocka_unit_test(perf_script_names_a_field_that_it_does_not_read),
        cmocka_unit_test(perf_script_passes_over_instructions_and_flags),
        cmocka_unit_test(files_of_the_kernel_are_the_kernels),
        cmocka_unit_test(perf_script_keeps_the_lines_of_srcline),
        cmocka_unit_test(cut_at_each_byte_perf_script_gives_its_whole_part),
        cmocka_unit_test(folded_lines_become_stacks),
        cmocka_unit_test(known_formats_that_are_not_read_are_named),
        cmocka_unit_test(fields_of_tracepoints_alone_are_no_stacks),
        cmocka_unit_test(fields_of_tracepoints_behind_their_event_are_passed_over),
        cmocka_unit_test(stacks_that_resemble_fields_are_read),
        cmocka_unit_test(texts_of_pprof_are_scaled_to_what_their_samples_stand_for),
        cmocka_unit_test(goroutines_have_the_names_of_their_lines),
        cmocka_unit_test(broken_texts_of_pprof_are_refused_with_their_line),
        cmocka_unit_test(folded_counts_may_have_fractions),
        cmocka_unit_test(only_text_whose_lines_end_in_counts_is_folded),
        cmocka_unit_test(a_folded_line_may_be_long),
        cmocka_unit_test(folded_stacks_are_unique_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
