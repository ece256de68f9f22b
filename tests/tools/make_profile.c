// SPDX-License-Identifier: Apache-2.0
// Writes recordings with known content, byte for byte the same each time:
//   make_profile KIND FILE
// for the golden tests of what reads recordings, and for bench/report.sh.

#include "model/facts.h"
#include "model/profile.h"
#include "model/run_names.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

// splitmix64: the same numbers on every machine.
static uint64_t random_state = 1;

static uint64_t random_u64(void)
{
    random_state += 0x9e3779b97f4a7c15ull;
    return hash_u64(random_state);
}

typedef struct Maker {
    Profile p;
    MetricId time;
    ModuleId program, libc, kernel;
    ProcessId process;
    ThreadId thread;
    int64_t now_ns;
} Maker;

static void begin(Maker *m, const char *command)
{
    profile_init(&m->p);
    Profile *p = &m->p;
    m->time = profile_add_metric(p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock:u"));
    m->program = profile_module(p, MODULE_FILE, STR("/home/u/shop/prog"), STR("8a53f0"));
    m->libc =
        profile_module(p, MODULE_FILE, STR("/usr/lib/x86_64-linux-gnu/libc.so.6"), STR("77aa"));
    m->kernel = profile_module(p, MODULE_KERNEL, STR("[kernel]"), STR(""));
    m->process = profile_add_process(p, 4711, 1, profile_str(p, STR("prog")), 0);
    m->thread = profile_add_thread(p, m->process, 4711, profile_str(p, STR("prog")), 0);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("sampling"));
    profile_set_fact(p, STR(FACT_COMMAND), str_from_c(command));
    profile_set_fact(p, STR(FACT_EVENT), STR("cpu-clock:u"));
    profile_set_fact(p, STR(FACT_RATE_ASKED), STR("999"));
}

static void set_number(Maker *m, const char *key, uint64_t value)
{
    profile_set_fact(&m->p, str_from_c(key),
                     arena_printf(&m->p.arena, "%llu", (unsigned long long)value));
}

static FrameId place(Maker *m, ModuleId module, const char *name, const char *file, uint32_t decl,
                     uint32_t line, uint8_t flags)
{
    Profile *p = &m->p;
    Str file_name = str_from_c(file);
    FunctionId f = profile_function(p, str_from_c(name), str_from_c(name), file_name, decl);
    uint64_t address = hash_u64(str_hash(str_from_c(name)) + line) & 0xffffff;
    return profile_named_frame(p, module, address, f, profile_str(p, file_name), line, flags);
}

// `inner` as a call that was inlined at `outer`.
static FrameId inlined(Maker *m, FrameId outer, const char *name, const char *file, uint32_t decl,
                       uint32_t line)
{
    Profile *p = &m->p;
    FrameId inner = place(m, p->frames.module.at[outer.v], name, file, decl, line, 0);
    FrameId at = profile_frame_add_inliner(p, inner);
    profile_frame_resolve(p, at, p->frames.function.at[outer.v], p->frames.file.at[outer.v],
                          p->frames.line.at[outer.v]);
    return inner;
}

static StackId stack_of(Maker *m, const FrameId *frames, size_t count)
{
    StackId s = {0};
    for (size_t i = 0; i < count; i++)
        s = profile_stack(&m->p, s, frames[i]);
    return s;
}

static void samples(Maker *m, ThreadId thread, StackId stack, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        m->now_ns += 1001001;
        size_t at = profile_add_sample(&m->p, m->now_ns, thread, stack, 0);
        profile_sample_set(&m->p, at, m->time, 1001001);
    }
}

#define STACK(m, ...)                                                                              \
    stack_of((m), (const FrameId[]){__VA_ARGS__},                                                  \
             sizeof((const FrameId[]){__VA_ARGS__}) / sizeof(FrameId))

static void end(Maker *m)
{
    set_number(m, FACT_WALL_NS, (uint64_t)m->now_ns + 5000000);
    set_number(m, FACT_USER_NS, (uint64_t)m->now_ns);
    set_number(m, FACT_SYSTEM_NS, 4000000);
    if (profile_fact(&m->p, STR(FACT_SAMPLES_LOST)).len == 0)
        set_number(m, FACT_SAMPLES_LOST, 0);
    set_number(m, FACT_THROTTLED, 0);
}

// An ordinary C++ program: inlining, recursion, two threads, some cut stacks.
static void make_plain(Maker *m)
{
    begin(m, "./prog --rows 35000 'data file.csv'");
    Profile *p = &m->p;
    const char *csv = "/home/u/shop/csv.cc";
    FrameId start = place(m, m->libc, "__libc_start_main", "", 0, 0, 0);
    FrameId main_f = place(m, m->program, "main", csv, 200, 210, 0);
    FrameId read =
        place(m, m->program, "csv::Reader<csv::Row>::read_all(std::istream&)", csv, 90, 101, 0);
    FrameId parse =
        place(m, m->program, "csv::parse_row(char const*, char const*)", csv, 40, 52, 0);
    FrameId field =
        inlined(m, parse, "csv::Field::assign(char const*)", "/home/u/shop/field.h", 12, 15);
    FrameId find_at =
        place(m, m->program, "csv::parse_row(char const*, char const*)", csv, 40, 60, 0);
    FrameId hash = inlined(
        m, find_at,
        "std::_Hashtable<std::string, std::pair<std::string const, int>, "
        "std::allocator<std::pair<std::string const, int> > >::find(std::string const&) const",
        "/usr/include/c++/12/bits/hashtable.h", 1600, 1612);
    FrameId malloc_f = place(m, m->libc, "malloc", "", 0, 0, 0);
    FrameId no_symbol = profile_frame(p, m->libc, 0x9a100, 0);
    FrameId sort =
        place(m, m->program, "void quick_sort<int>(int*, int*)", "/home/u/shop/sort.h", 8, 20, 0);
    FrameId less = place(m, m->program, "less(int, int)", "/home/u/shop/sort.h", 3, 4, 0);
    FrameId cut = profile_cut_frame(p, STACK_CUT_DUMP_SHORT);
    FrameId no_table = profile_cut_frame(p, STACK_CUT_NO_TABLE);
    FrameId run = place(m, m->program, "worker_run(void*)", "/home/u/shop/worker.cc", 5, 9, 0);
    profile_source_line(p, profile_str(p, str_from_c(csv)), 52,
                        STR("    while (*at && *at != ',')"));
    profile_source_line(p, profile_str(p, STR("/home/u/shop/field.h")), 15,
                        STR("\tdata.assign(from, to - from);\t// copies"));
    profile_source_line(p, profile_str(p, STR("/usr/include/c++/12/bits/hashtable.h")), 1612,
                        STR("      std::size_t __bkt = _M_bucket_index(__code);"));
    ThreadId worker =
        profile_add_thread(p, m->process, 4712, profile_str(p, STR("worker")), 3000000);

    samples(m, m->thread, STACK(m, start, main_f, read, hash), 420);
    samples(m, m->thread, STACK(m, start, main_f, read, field), 210);
    samples(m, m->thread, STACK(m, start, main_f, read, field, malloc_f), 180);
    samples(m, m->thread, STACK(m, start, main_f, read, parse), 77);
    samples(m, m->thread, STACK(m, start, main_f, read, parse, no_symbol), 30);
    samples(m, worker, STACK(m, run, sort, sort, sort, less), 44);
    samples(m, worker, STACK(m, run, sort, sort), 61);
    samples(m, m->thread, STACK(m, cut, parse), 3);
    samples(m, worker, STACK(m, no_table, less), 1);
    samples(m, m->thread, STACK(m, start, main_f), 2);
    set_number(m, FACT_SAMPLES_LOST, 2);
    profile_set_fact(p, STR(FACT_RATE_OBTAINED), STR("991.4"));
    profile_set_fact(p, STR(FACT_EVENT_FALLBACK), STR("no hardware counters here: cpu-clock"));
    profile_note(p, NOTE_INFO, STR("clock"), "times are CLOCK_MONOTONIC");
    profile_note(p, NOTE_WARNING, STR("kernel-hidden"),
                 "kernel samples left out: perf_event_paranoid is 2");
    end(m);
}

// Names that try to break out of whatever they are shown in.
static void make_hostile(Maker *m)
{
    begin(m, "./\x1b[2Jprog \"</script>\" $'\\n'\n\xff\xfe");
    Profile *p = &m->p;
    char *huge = arena_alloc(&p->arena, (1 << 20) + 1, 1);
    memset(huge, 'A', 1 << 20);
    const char *const names[] = {
        "\x1b]0;owned\x07\x1b[31mred",
        "</text></svg><script>alert(1)</script>",
        "\"onload=\"alert(1)\" & 'x' <b>",
        "]]><![CDATA[ --> <!--",
        "semi;colon 7 back\\slash",
        "line\nfeed\r\ttab",
        "\xff\xfe\x80 bad utf-8 \xc3",
        "\xe2\x80\xae"
        "evil bidi",
        "=cmd|' /C calc'!A0",
        "javascript:alert(1)",
        "",
        huge,
    };
    FrameId main_f = place(m, m->program, "main", "/src/</title>;a\x1b[1m.c", 1, 2, 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        FrameId f =
            place(m, m->program, names[i], "/src/\n\"><img src=x>.c", 3, (uint32_t)i + 4, 0);
        FrameId leaf = place(m, m->kernel, "ksys;<read>", "", 0, 0, FRAME_KERNEL);
        profile_source_line(p, profile_str(p, STR("/src/\n\"><img src=x>.c")), (uint32_t)i + 4,
                            STR("\x1b[5m<b onmouseover=alert(1)>;\xff"));
        samples(m, m->thread, STACK(m, main_f, f), 20 - i);
        samples(m, m->thread, STACK(m, main_f, f, leaf), 1);
    }
    ThreadId odd =
        profile_add_thread(p, m->process, 4712, profile_str(p, STR("w;o\x1b[7mrk <er>\n")), 0);
    samples(m, odd, STACK(m, main_f), 5);
    profile_note(p, NOTE_WARNING, STR("odd"), "a note with \x1b[31mcolour\nand lines");
    profile_note(p, NOTE_WARNING, STR("more"), "a second warning");
    end(m);
}

static void make_empty(Maker *m)
{
    begin(m, "/bin/true");
    end(m);
}

// What is longer than a line: where the program and a library lie, and a warning.
static void make_long_paths(Maker *m)
{
    begin(m, "/opt/vendor/releases/2026-11/build/x86_64/bin/shopd --rows 35000 'data file.csv'");
    FrameId main_f = place(m, m->program, "main", "/home/u/shop/csv.cc", 200, 210, 0);
    samples(m, m->thread, STACK(m, main_f), 500);
    profile_note(
        &m->p, NOTE_WARNING, STR("stripped"),
        "'/opt/vendor/releases/2026-11/build/x86_64/lib/libshop.so.6.0.30' (400 of 500 "
        "samples): stripped: only exported functions have names (install its -dbg package)");
    end(m);
}

// Samples, but no names at all: stripped code, kernel addresses.
static void make_nameless(Maker *m)
{
    begin(m, "./stripped");
    Profile *p = &m->p;
    ModuleId gone = profile_module(p, MODULE_FILE, STR("/opt/stripped"), STR(""));
    FrameId a = profile_frame(p, gone, 0x1000, 0);
    FrameId b = profile_frame(p, gone, 0x2000, 0);
    FrameId k = profile_frame(p, m->kernel, 0xffffffff81000000ull, FRAME_KERNEL);
    FrameId cut = profile_cut_frame(p, STACK_CUT_NO_USER);
    samples(m, m->thread, STACK(m, a, b), 30);
    samples(m, m->thread, STACK(m, cut, k), 12);
    samples(m, m->thread, (StackId){0}, 3);
    end(m);
}

// Two metrics, each with samples of its own.
static void make_two_metrics(Maker *m)
{
    begin(m, "./prog");
    Profile *p = &m->p;
    MetricId faults =
        profile_add_metric(p, STR("page-faults"), STR(""), METRIC_SUM, STR("page-faults:u"));
    FrameId main_f = place(m, m->program, "main", "/src/a.c", 1, 2, 0);
    FrameId touch = place(m, m->program, "touch", "/src/a.c", 10, 12, 0);
    FrameId spin = place(m, m->program, "spin", "/src/a.c", 20, 22, 0);
    samples(m, m->thread, STACK(m, main_f, spin), 200);
    for (size_t i = 0; i < 40; i++) {
        size_t at =
            profile_add_sample(p, (int64_t)i * 1000000, m->thread, STACK(m, main_f, touch), 0);
        profile_sample_set(p, at, faults, 1);
    }
    end(m);
}

// How a large recording is made.
typedef struct Size {
    uint32_t samples, stacks;
    bool is_uneven; // some stacks come often, and samples are not exactly on time
} Size;

static void add_large_samples(Maker *m, const Size *size, const ThreadId *threads,
                              uint32_t thread_count, const StackId *leaves)
{
    for (uint32_t i = 0; i < size->samples; i++) {
        uint64_t stack = i < size->stacks ? i : random_u64() % size->stacks;
        int64_t late = 0;
        if (size->is_uneven) {
            stack = (random_u64() % size->stacks) * (random_u64() % size->stacks) / size->stacks;
            late = (int64_t)(random_u64() % 4000);
        }
        m->now_ns += 125000;
        size_t at = profile_add_sample(&m->p, m->now_ns + late, threads[i % thread_count],
                                       leaves[stack], size->is_uneven ? i % 8 : 0);
        profile_sample_set(&m->p, at, m->time, 1001001);
    }
}

// Stacks that differ in their last four frames on average: 6 000 functions, 8 threads, a long tail
// of leaves.
static void make_of_size(Maker *m, const char *command, const Size *size)
{
    begin(m, command);
    Profile *p = &m->p;
    enum { FUNCTIONS = 6000, PLACES = 4, THREADS = 8, STACKS_MAX = 500000 };
    uint32_t stacks = size->stacks;
    static FrameId frames[FUNCTIONS * PLACES];
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        char name[160], file[64];
        snprintf(name, sizeof(name),
                 "app::module_%u::Handler<app::Key%u, std::allocator<app::Key%u> >::step_%u(int)",
                 f % 97, f % 31, f % 31, f);
        snprintf(file, sizeof(file), "/src/app/module_%u.cc", f % 97);
        for (uint32_t k = 0; k < PLACES; k++)
            frames[f * PLACES + k] =
                place(m, m->program, name, file, f % 900 + 1, f % 900 + 2 + k, 0);
    }
    ThreadId threads[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        char name[16];
        snprintf(name, sizeof(name), "worker-%u", t);
        threads[t] =
            profile_add_thread(p, m->process, 5000 + t, profile_str(p, str_from_c(name)), 0);
    }
    // A stock of inner nodes to branch from keeps the mean depth near 30.
    static StackId stock[1 << 16];
    static uint8_t depth[1 << 16];
    size_t stocked = 0;
    static StackId leaves[STACKS_MAX];
    for (size_t i = 0; i < stacks; i++) {
        size_t from = stocked ? random_u64() % stocked : 0;
        StackId s = stocked ? stock[from] : (StackId){0};
        unsigned d = stocked ? depth[from] : 0;
        size_t more = 1 + random_u64() % 7;
        if (d > 45) {
            s = (StackId){0};
            d = 0;
        }
        for (size_t k = 0; k < more; k++, d++) {
            // Zipf-like: the product of two uniform numbers favours small ones.
            uint64_t f = (random_u64() % FUNCTIONS) * (random_u64() % FUNCTIONS) / FUNCTIONS;
            s = profile_stack(p, s, frames[f * PLACES + random_u64() % PLACES]);
            if (stocked < ARRAY_LEN(stock)) {
                stock[stocked] = s;
                depth[stocked++] = (uint8_t)(d + 1);
            }
        }
        leaves[i] = s;
    }
    add_large_samples(m, size, threads, THREADS, leaves);
    end(m);
}

// A million samples, half a million distinct stacks.
static void make_large(Maker *m)
{
    make_of_size(m, "./large", &(Size){.samples = 1000000, .stacks = 500000});
}

// Ten million samples of 50 000 distinct stacks.
static void make_huge(Maker *m)
{
    make_of_size(m, "./huge", &(Size){.samples = 10000000, .stacks = 50000, .is_uneven = true});
}

// As large as needed for a page with a preview: 200 000 samples of 6 000 stacks in 25 seconds.
static void make_busy(Maker *m)
{
    make_of_size(m, "./busy", &(Size){.samples = 200000, .stacks = 6000, .is_uneven = true});
}

enum { LINE_FILES = 100, FILE_LINES = 1000 };

// A frame of a line of one of the 100 files, of a function of 40 lines.
static FrameId line_frame(Maker *m, uint32_t file, uint32_t line)
{
    char path[40], name[40];
    snprintf(path, sizeof(path), "/lines/f%u.c", file);
    snprintf(name, sizeof(name), "f%u_%u", file, line / 40);
    return place(m, m->program, name, path, line / 40 * 40 + 1, line, 0);
}

// CPU time on every third of 100 000 lines.
static void make_lines(Maker *m)
{
    begin(m, "./lines");
    FrameId main_f = line_frame(m, 0, 1);
    for (uint32_t i = 0; i < LINE_FILES * FILE_LINES; i += 3)
        samples(m, m->thread, STACK(m, main_f, line_frame(m, i / FILE_LINES, i % FILE_LINES + 1)),
                1 + random_u64() % 4);
    end(m);
}

// The same lines in a recording of the heap: every tenth allocates.
static void make_lines_heap(Maker *m)
{
    begin(m, "./lines");
    Profile *p = &m->p;
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("heap"));
    const char *const names[] = {"blocks allocated", "bytes allocated", "bytes at peak"};
    MetricId metrics[ARRAY_LEN(names)];
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        metrics[i] =
            profile_add_metric(p, str_from_c(names[i]), STR("bytes"), METRIC_SUM, STR("malloc"));
    FrameId main_f = line_frame(m, 0, 1);
    for (uint32_t i = 0; i < LINE_FILES * FILE_LINES; i += 10) {
        StackId s = STACK(m, main_f, line_frame(m, i / FILE_LINES, i % FILE_LINES + 1));
        size_t at = profile_add_sample(p, TIME_NONE, m->thread, s, 0);
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            profile_sample_set(p, at, metrics[k], (int64_t)(random_u64() % 5000));
    }
    end(m);
}

static void add_value(Profile *p, RunId run, const char *name, const char *unit, double value)
{
    MetricId m = run_metric(p, str_from_c(name), str_from_c(unit), METRIC_SUM, STR(""));
    profile_add_run_value(p, run, m, value);
}

// A number around 0 with a spread of about 1, the same on every machine.
static double spread(void)
{
    return ((double)(random_u64() % 2001) - 1000 + (double)(random_u64() % 2001) - 1000) / 1000;
}

static void bench_facts(Profile *p, const char *collector, const char *command)
{
    static const char *const facts[][2] = {{FACT_TOOL_VERSION, "1"},
                                           {FACT_HOSTNAME, "box"},
                                           {FACT_KERNEL, "Linux 6.1"},
                                           {FACT_CPU_MODEL, "CPU"},
                                           {FACT_CPU_COUNT, "4"},
                                           {FACT_ORDER, "interleaved"},
                                           {FACT_SEED, "1"},
                                           {FACT_LEVEL, "0.94999999999999996"},
                                           {FACT_MARGIN, "0.01"},
                                           {FACT_START_MONOTONIC, "1000"},
                                           {FACT_SHELL_TIME, "0.000750"},
                                           {FACT_SHELL_ERROR, "0.000012"}};
    profile_set_fact(p, STR(FACT_COLLECTOR), str_from_c(collector));
    profile_set_fact(p, STR(FACT_COMMAND), str_from_c(command));
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        profile_set_fact(p, str_from_c(facts[i][0]), str_from_c(facts[i][1]));
}

// A measured run of 10 ms and more.
static void bench_run(Profile *p, RunRow *row, MetricId cycles, double seconds)
{
    row->wall_ns = (int64_t)(seconds * 1e9);
    row->user_ns = row->wall_ns / 2;
    row->system_ns = row->wall_ns / 4;
    row->status = 0;
    RunId run = profile_add_run(p, row);
    add_value(p, run, RUN_METRIC_PEAK_MEMORY, "bytes", 5000000 + (double)row->round * 4096);
    add_value(p, run, RUN_METRIC_MINOR_FAULTS, "", 200 + row->round % 3);
    add_value(p, run, RUN_METRIC_MAJOR_FAULTS, "", row->round == 9);
    add_value(p, run, RUN_METRIC_VOLUNTARY_SWITCHES, "", 2);
    add_value(p, run, RUN_METRIC_INVOLUNTARY_SWITCHES, "", 1);
    add_value(p, run, RUN_METRIC_RUN_DELAY, "ns", 40000);
    profile_add_run_value(p, run, cycles, (double)row->wall_ns * 2.5);
}

// Three commands in 30 rounds: the second is slower, the third, by a shell, about as fast.
static void make_bench(Maker *m)
{
    static const char *const names[] = {"./old", "./new", "cat x | ./old"};
    static const double factor[] = {1, 1.05, 1.001};
    Profile *p = &m->p;
    profile_init(p);
    bench_facts(p, COLLECTOR_BENCH, "assay bench ./old ./new 'cat x | ./old'");
    profile_set_fact(p, STR(FACT_CLOCK), STR("kernel"));
    MetricId cycles = profile_add_metric(p, STR("cycles:u"), STR(""), METRIC_SUM, STR("cycles:u"));
    double machine[30];
    for (size_t i = 0; i < ARRAY_LEN(machine); i++)
        machine[i] = 0.010 + 0.0002 * spread();
    for (uint32_t c = 0; c < 3; c++) {
        RunRow row = RUN_NOT_KNOWN;
        row.name = row.command = profile_str(p, str_from_c(names[c]));
        row.revision = profile_str(p, STR("0123456789012345678901234567890123456789"));
        row.conditions = profile_str(p, c == 2 ? STR("shell=yes") : STR(""));
        for (uint32_t round = 0; round < ARRAY_LEN(machine); round++) {
            row.round = round;
            row.position = (c + round) % 3;
            row.start_ns = (int64_t)(round * 3 + row.position) * 20000000;
            double seconds = machine[round] * factor[c] + 0.00002 * spread();
            bench_run(p, &row, cycles, round == 9 && c == 0 ? 0.02 : seconds);
        }
        row.flags = RUN_WARMUP;
        row.round = 0;
        bench_run(p, &row, cycles, 0.5);
    }
    profile_note(p, NOTE_INFO, STR(NOTE_CLOCK), "the kernel's, from exec to exit");
    profile_note(p, NOTE_INFO, STR(NOTE_ORDER), "random Latin squares");
    profile_note(p, NOTE_WARNING, STR(NOTE_NOT_COUNTED), "instructions:u; no \x1b[31mPMU");
    profile_note(p, NOTE_WARNING, STR("load"), "the machine is loaded");
}

// Two function benchmarks of two builds in eight processes each.
static void make_functions(Maker *m)
{
    Profile *p = &m->p;
    profile_init(p);
    bench_facts(p, COLLECTOR_FUNCTIONS, "assay bench ./benches --against ./old");
    profile_set_fact(p, STR(FACT_CLOCK), STR("in process"));
    for (uint32_t process = 0; process < 8; process++)
        for (uint32_t build = 0; build < 2; build++)
            for (uint32_t f = 0; f < 2; f++) {
                RunRow row = RUN_NOT_KNOWN;
                row.name = profile_str(p, f ? STR("hash/64") : STR("parse"));
                row.command = profile_str(p, build ? STR("./old") : STR("./benches"));
                row.conditions = profile_str(p, build ? STR("build=against") : STR(""));
                row.round = process;
                RunId run = profile_add_run(p, &row);
                for (uint32_t k = 1; k <= 10; k++) {
                    double each = (f ? 40e-9 : 3e-6) * (build && !f ? 1.2 : 1);
                    add_value(p, run, RUN_METRIC_SAMPLE_ITERATIONS, "", 1000 * k);
                    add_value(p, run, RUN_METRIC_SAMPLE_TIME, "s",
                              each * (1 + 0.004 * spread()) * 1000 * k);
                }
                if (f)
                    add_value(p, run, RUN_METRIC_BYTES, "bytes", 64);
            }
}

// The time line of two threads, and of one without samples.
static void make_intervals(Maker *m)
{
    begin(m, "sh -c './prog; ./other'");
    Profile *p = &m->p;
    FrameId main_f = place(m, m->program, "main", "/src/a.c", 1, 2, 0);
    ThreadId worker =
        profile_add_thread(p, m->process, 4712, profile_str(p, STR("worker")), 2000000);
    ThreadId idle = profile_add_thread(p, m->process, 4713, profile_str(p, STR("idle")), 2500000);
    StrId life = profile_str(p, STR(INTERVAL_THREAD)), none = {0};
    samples(m, m->thread, STACK(m, main_f), 4);
    samples(m, worker, STACK(m, main_f), 4);
    profile_add_interval(p, m->thread, 500000, 500000, profile_str(p, STR(INTERVAL_EXEC)),
                         profile_str(p, STR("prog \"<\x1b[31m")));
    profile_add_interval(p, worker, 2000000, 7000000, life, none);
    profile_add_interval(p, idle, 2500000, 6000000, life, none);
    profile_add_interval(p, m->thread, 3000000, 3000000, profile_str(p, STR(INTERVAL_FORK)),
                         profile_str(p, STR("4800")));
    profile_add_interval(p, m->thread, 0, 9000000, life, none);
    end(m);
}

// Calls with a value, one that had not ended and work that overlaps another call, and waits; one
// thread has calls and waits and no samples.
static void make_events(Maker *m)
{
    begin(m, "./server");
    Profile *p = &m->p;
    FrameId main_f = place(m, m->program, "main", "/src/a.c", 1, 2, 0);
    FrameId handle = place(m, m->program, "handle;all", "/src/a.c", 10, 11, 0);
    FrameId part = place(m, m->program, "part", "/src/a.c", 20, 21, 0);
    ThreadId quiet = profile_add_thread(p, m->process, 4712, profile_str(p, STR("quiet")), 2000000);
    StackId stack = STACK(m, main_f, handle);
    StrId lock = profile_str(p, STR("0x7f00 \"l\x1b")), id = profile_str(p, STR("id"));
    samples(m, m->thread, stack, 4);
    CallRow rows[] = {
        {part, m->thread, 2000000, 3000000, 1, 0},
        {handle, m->thread, 1000000, 4000000, 0, 0},
        {handle, quiet, 2000000, 6000000, 0, CALL_ENDS_LATE},
        {part, m->thread, 3500000, 8000000, 0, CALL_IS_WORK},
        {handle, m->thread, 5000000, 9000000, 0, CALL_IS_OPEN},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t call = profile_add_call(p, &rows[i]);
        if (i == 1 || i == 2)
            profile_add_call_value(p, call, id, (int64_t)i * 7);
    }
    WaitRow sum = {quiet, stack, WAIT_LOCK, lock, 2, 3000000, 40000, 2500000};
    profile_add_wait_time(p, profile_add_wait(p, &sum), 3, 2);
    StateRow one = {quiet, 3000000, 5400000, 5500000, WAIT_LOCK, lock, stack, 1, stack};
    profile_add_state(p, &one);
    end(m);
}

static void begin_counts(Maker *m, const char *name)
{
    profile_init(&m->p);
    profile_set_fact(&m->p, STR(FACT_COLLECTOR), STR(COLLECTOR_COUNTERS));
    profile_set_fact(&m->p, STR(FACT_TOOL_VERSION), STR("0.1.0"));
    profile_set_fact(&m->p, STR(FACT_COMMAND), str_from_c(name));
    profile_set_fact(&m->p, STR(FACT_CLOCK), STR("wait"));
}

static RunId counted_run(Maker *m, const char *name, const char *command, uint32_t round,
                         int64_t wall_ns)
{
    RunRow run = RUN_NOT_KNOWN;
    run.name = profile_str(&m->p, str_from_c(name));
    run.command = profile_str(&m->p, str_from_c(command));
    run.round = round;
    run.start_ns = (int64_t)round * 100000000;
    run.wall_ns = wall_ns;
    run.user_ns = wall_ns / 2;
    run.system_ns = wall_ns / 4;
    run.status = 0;
    return profile_add_run(&m->p, &run);
}

// `assay stat -r 3`: a clock, an event that shared its counter, one that never ran, and a
// ratio; the names try to break out of what they are shown in.
static void make_counts(Maker *m)
{
    const char *name = "./pr\x1b[2Jog <a>, \"b\"", *command = "$'./pr\\e[2Jog' '<a>, \"b\"'";
    begin_counts(m, command);
    Profile *p = &m->p;
    MetricId clock =
        profile_add_metric(p, STR("task-clock"), STR("ns"), METRIC_SUM, STR("task-clock"));
    MetricId cycles =
        profile_add_metric(p, STR("cpu-cycles:u"), STR(""), METRIC_SUM, STR("cycles:u"));
    MetricId instructions =
        profile_add_metric(p, STR("instructions:u"), STR(""), METRIC_SUM, STR("instructions:u"));
    MetricId never = profile_add_metric(p, STR("r1a8"), STR(""), METRIC_SUM, STR("r1a8"));
    static const int64_t walls[] = {52000000, 50000000, 54000000};
    for (uint32_t i = 0; i < ARRAY_LEN(walls); i++) {
        RunId run = counted_run(m, name, command, i, walls[i]);
        uint64_t ns = (uint64_t)walls[i] * 3 / 4;
        profile_add_run_count(p, run, clock, (double)ns, ns, ns, (StrId){0});
        profile_add_run_count(p, run, cycles, (double)ns * 3, ns, ns / 2, (StrId){0});
        profile_add_run_count(p, run, instructions, (double)ns * 6, ns, ns / 2, (StrId){0});
        profile_add_run_count(p, run, never, __builtin_nan(""), ns, 0, (StrId){0});
    }
    profile_note(p, NOTE_WARNING, STR("events-not-available"),
                 "Not available here: LLC-loads; the machine has no such counter");
    profile_note(p, NOTE_INFO, STR("event-not-available"), "event 'LLC-loads' does not exist here");
}

// `assay stat -a -A -I 500`: two CPUs over three intervals.
static void make_counts_over_time(Maker *m)
{
    begin_counts(m, "sleep 1.2");
    Profile *p = &m->p;
    set_number(m, FACT_COUNTED_CPUS, 2);
    MetricId clock =
        profile_add_metric(p, STR("cpu-clock"), STR("ns"), METRIC_SUM, STR("cpu-clock"));
    MetricId switches =
        profile_add_metric(p, STR("cs"), STR(""), METRIC_SUM, STR("context-switches"));
    const StrId parts[] = {profile_str(p, STR("CPU0")), profile_str(p, STR("CPU1"))};
    static const int64_t ends[] = {500000000, 1000000000, 1200000000};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        for (size_t c = 0; c < ARRAY_LEN(parts); c++) {
            uint64_t ns = (uint64_t)(ends[i] - (i ? ends[i - 1] : 0));
            profile_add_point(p, clock, ends[i], (double)ns, ns, ns, parts[c]);
            profile_add_point(p, switches, ends[i], c ? __builtin_nan("") : 40.0 + (double)i, ns,
                              c ? 0 : ns, parts[c]);
        }
    RunId run = counted_run(m, "sleep 1.2", "sleep 1.2", 0, 1200000000);
    for (size_t c = 0; c < ARRAY_LEN(parts); c++) {
        profile_add_run_count(p, run, clock, 1200000000, 1200000000, 1200000000, parts[c]);
        profile_add_run_count(p, run, switches, c ? __builtin_nan("") : 123, 1200000000,
                              c ? 0 : 1200000000, parts[c]);
    }
}

typedef struct Kind {
    const char *name;
    void (*make)(Maker *m);
} Kind;

static const Kind kinds[] = {
    {"plain", make_plain},
    {"hostile", make_hostile},
    {"empty", make_empty},
    {"nameless", make_nameless},
    {"two-metrics", make_two_metrics},
    {"large", make_large},
    {"huge", make_huge},
    {"busy", make_busy},
    {"lines", make_lines},
    {"lines-heap", make_lines_heap},
    {"long-paths", make_long_paths},
    {"bench", make_bench},
    {"functions", make_functions},
    {"intervals", make_intervals},
    {"events", make_events},
    {"counts", make_counts},
    {"counts-over-time", make_counts_over_time},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < ARRAY_LEN(kinds); i++) {
        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        static Maker m;
        kinds[i].make(&m);
        Error err;
        StoreOptions options = {.force = true};
        if (!store_write(str_from_c(argv[2]), &options, &m.p, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        profile_deinit(&m.p);
        return 0;
    }
    fprintf(stderr, "usage: make_profile KIND FILE\n");
    return 2;
}
