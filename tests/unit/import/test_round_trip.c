// SPDX-License-Identifier: Apache-2.0
// An import of our own export gives the same report: each function's self and
// total, over generated profiles whose names try to break the formats.

#include "harness.h"

#include <stdlib.h>

#include "analyse/report.h"
#include "export/export.h"
#include "import/import.h"
#include "model/facts.h"

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
    random_state += 0x9e3779b97f4a7c15ull;
    return hash_u64(random_state) % n;
}

// ---- Profiles --------------------------------------------------------------------

static const char *const awkward[] = {
    "main",
    "semi;colon;",
    ";",
    "two  spaces ",
    " leading",
    "ends in a number 12",
    "line\nfeed",
    "\n",
    "carriage\r\nreturn\r",
    "tab\there\t",
    "%3B%0A%25",
    "100% (of it) [k]",
    "quote\"'`",
    "</script><b>&amp;",
    "back\\slash \\x0a \\x5c",
    "(12) looks compressed",
    "(12)",
    "fn=(3)",
    "calls=3 4",
    "# comment",
    "a+0x12",
    "f (inlined)",
    "operator()(int) const (/lib/x.so)",
    "_[k]",
    "name_[i]",
    "[unknown]",
    "inlined",
    "???",
    "caf\xc3\xa9 \xf0\x9f\x94\xa5",
    "\xe2\x80\xae right to left",
    "\x1b[31mred\x07",
    "{\"json\": [1, 2]}",
    "std::map<int, std::string>::operator[](int&&)",
    "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
    ":",
    "x:",
    "1",
    "-",
    "*",
};

// A name that no other function of the profile has.
static Str make_name(Profile *p, size_t i)
{
    if (i < ARRAY_LEN(awkward))
        return str_from_c(awkward[i]);
    char bytes[24];
    size_t len = 1 + random_below(sizeof(bytes) - 1);
    for (size_t k = 0; k < len; k++)
        bytes[k] = (char)random_below(256);
    return arena_printf(&p->arena, "%zu%" STR_FMT, i,
                        STR_ARG(str_over(bytes, strnlen(bytes, len))));
}

static Str with_nul(Profile *p)
{
    return arena_str(&p->arena, STR("nul\0inside"));
}

static Str huge(Profile *p)
{
    char *bytes = arena_alloc(&p->arena, 1 << 20, 1);
    memset(bytes, 'h', 1 << 20);
    return str_over(bytes, 1 << 20);
}

enum { FUNCTIONS = 60, SAMPLES = 150 };

static size_t module_of(FunctionId f)
{
    return hash_u64(f.v) % 3;
}

static FrameId make_frame(Profile *p, const ModuleId *modules, FunctionId f, uint32_t line)
{
    ModuleId module = modules[module_of(f)];
    uint8_t flags = p->modules.kind.at[module.v] == MODULE_KERNEL ? FRAME_KERNEL : 0;
    return profile_named_frame(p, module, 0x1000 + f.v * 64 + line, f, p->functions.file.at[f.v],
                               line, flags);
}

// `inner`, inlined into `outer` at another place of its own. Each function is of one
// module: text formats tell equal names in two modules apart by nothing else.
static FrameId make_inlined(Profile *p, const ModuleId *modules, FunctionId inner, FunctionId outer)
{
    static uint64_t address = 0x100000;
    FrameId frame = profile_frame(p, modules[module_of(inner)], address++, 0);
    profile_frame_resolve(p, frame, inner, p->functions.file.at[inner.v], 9);
    FrameId around = profile_frame_add_inliner(p, frame);
    profile_frame_resolve(p, around, outer, p->functions.file.at[outer.v], 8);
    return frame;
}

static void generate(Profile *p, uint64_t seed)
{
    random_state = seed;
    profile_init(p);
    MetricId time = profile_add_metric(p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock"));
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("sampling"));
    profile_set_fact(p, STR(FACT_COMMAND), STR("./prog 'an \"argument\"'\n"));
    profile_set_fact(p, STR(FACT_RATE_ASKED), STR("999"));
    ModuleId modules[] = {
        profile_module(p, MODULE_FILE, STR("/bin/p r(o)g\n"), STR("12ab")),
        profile_module(p, MODULE_FILE, STR("/lib/l;ib \"x\".so"), STR("")),
        profile_module(p, MODULE_KERNEL, STR("[kernel]"), STR("")),
    };
    FunctionId functions[FUNCTIONS];
    for (size_t i = 0; i < FUNCTIONS; i++) {
        Str name = i == FUNCTIONS - 1   ? huge(p)
                   : i == FUNCTIONS - 2 ? with_nul(p)
                                        : make_name(p, i);
        Str file = arena_printf(&p->arena, "/src/%" STR_FMT "%zu.c",
                                STR_ARG(str_from_c(awkward[i % ARRAY_LEN(awkward)])), i);
        functions[i] = profile_function(p, name, name, file, 3);
    }
    ProcessId process = profile_add_process(p, 7, 1, profile_str(p, STR("p")), 0);
    ThreadId threads[] = {
        profile_add_thread(p, process, 7, profile_str(p, STR("ma;in")), 0),
        profile_add_thread(p, process, 8, profile_str(p, STR("w \"o\" 3\n")), 0),
    };
    for (size_t i = 0; i < SAMPLES; i++) {
        StackId stack = {0};
        if (random_below(10) == 0)
            stack = profile_stack(p, stack, profile_cut_frame(p, STACK_CUT_DUMP_SHORT));
        size_t depth = 1 + random_below(6);
        FunctionId inner = functions[random_below(FUNCTIONS)];
        FunctionId outer = functions[random_below(FUNCTIONS)];
        if (module_of(inner) == module_of(outer))
            stack = profile_stack(p, stack, make_inlined(p, modules, inner, outer));
        if (random_below(5) == 0)
            stack = profile_stack(p, stack, profile_frame(p, modules[random_below(3)], 0x77, 0));
        for (size_t k = 0; k < depth; k++)
            stack = profile_stack(p, stack,
                                  make_frame(p, modules, functions[random_below(FUNCTIONS)],
                                             (uint32_t)random_below(3) + 1));
        size_t row =
            profile_add_sample(p, (int64_t)i * 1000000, threads[random_below(2)], stack, 0);
        profile_sample_set(p, row, time, (int64_t)(1 + random_below(3)) * 1000000);
    }
}

// ---- Reports ---------------------------------------------------------------------

typedef struct Line {
    Str name;
    uint64_t self, total;
} Line;
typedef Vec(Line) LineVec;

static int by_name(const void *a, const void *b)
{
    return str_compare(((const Line *)a)->name, ((const Line *)b)->name);
}

// Bytes that are not UTF-8 as the formats that hold UTF-8 alone have them.
static Str utf8(Arena *arena, Str s)
{
    StrBuf out = {0};
    for (size_t at = 0; at < s.len;) {
        size_t from = at;
        strbuf_add(&out,
                   utf8_next(s, &at) == 0xfffd ? STR("\xef\xbf\xbd") : str_slice(s, from, at));
    }
    Str copy = arena_str(arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return copy;
}

// Sorted; equal names are one row.
static LineVec lines_of(Arena *arena, const Profile *p, bool as_utf8)
{
    Report r;
    Error err;
    ReportRequest request = {.by = BY_FUNCTION};
    selection_init(&request.selection);
    assert_ok(report_init(&r, p, &request, &err), &err);
    LineVec lines = {0}, merged = {0};
    StrBuf name = {0};
    for (size_t i = 0; i < r.rows.len; i++) {
        strbuf_clear(&name);
        report_add_row_name(&r, &r.rows.at[i], &name);
        Str text = as_utf8 ? utf8(arena, strbuf_str(&name)) : arena_str(arena, strbuf_str(&name));
        vec_push(arena, &lines, (Line){text, r.rows.at[i].self, r.rows.at[i].total});
    }
    qsort(lines.at, lines.len, sizeof(Line), by_name);
    for (size_t i = 0; i < lines.len; i++) {
        if (merged.len && str_equal(vec_last(&merged).name, lines.at[i].name)) {
            vec_last(&merged).self += lines.at[i].self;
            vec_last(&merged).total += lines.at[i].total;
        } else {
            vec_push(arena, &merged, lines.at[i]);
        }
    }
    strbuf_deinit(&name);
    report_deinit(&r);
    return merged;
}

static bool gather(void *ctx, Str text)
{
    strbuf_add(ctx, text);
    return true;
}

typedef struct Format {
    const char *name;
    bool utf8_alone; // holds no other bytes
    bool has_threads_as_frames;
    bool microseconds;
    bool keeps_metric;  // by its name
    bool totals_differ; // a call graph shares out totals, exact only without merging
} Format;

static void print_name(Str name)
{
    StrBuf shown = {0};
    strbuf_add_terminal(&shown, str_slice(name, 0, 60));
    print_error("%" STR_FMT, STR_ARG(strbuf_str(&shown)));
    strbuf_deinit(&shown);
}

static bool is_thread_name(Str name)
{
    return str_equal(name, STR("ma;in")) || str_equal(name, STR("w \"o\" 3\n"));
}

static void compare(const Format *f, const LineVec *want, const LineVec *got)
{
    size_t at = 0, failures = 0;
    for (size_t i = 0; i < got->len; i++) {
        const Line *line = &got->at[i];
        if (f->has_threads_as_frames && is_thread_name(line->name))
            continue;
        const Line *other = at < want->len ? &want->at[at++] : NULL;
        bool ok = other && str_equal(other->name, line->name) && other->self == line->self &&
                  (f->totals_differ || other->total == line->total);
        if (ok)
            continue;
        failures++;
        print_error("%s: got '", f->name);
        print_name(line->name);
        print_error("' %llu %llu, want '", (unsigned long long)line->self,
                    (unsigned long long)line->total);
        print_name(other ? other->name : STR("nothing"));
        print_error("' %llu %llu\n", other ? (unsigned long long)other->self : 0,
                    other ? (unsigned long long)other->total : 0);
        if (failures > 4)
            break;
    }
    assert_int_equal(failures, 0);
    assert_int_equal(at, want->len);
}

static const ExportFormat *format_of(const char *name)
{
    size_t i = 0;
    while (i + 1 < export_format_count && strcmp(export_formats[i].name, name) != 0)
        i++;
    assert_string_equal(export_formats[i].name, name);
    return &export_formats[i];
}

static void check_format(const Format *f)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        Arena arena = {0};
        Profile p, again;
        Error err = {0};
        StrBuf file = {0};
        generate(&p, seed);
        ExportRequest request = {.all_metrics = true, .tool_version = STR("1")};
        selection_init(&request.selection);
        ExportSink sink = {.write = gather, .ctx = &file};
        assert_ok(format_of(f->name)->write(&p, &request, &sink, &err), &err);
        const ImportFormat *format;
        assert_ok(import_bytes(bytes_from_str(strbuf_str(&file)), NULL, &again, &format, &err),
                  &err);
        LineVec want = lines_of(&arena, &p, f->utf8_alone);
        LineVec got = lines_of(&arena, &again, false);
        compare(f, &want, &got);
        if (f->keeps_metric)
            assert_true(str_equal(profile_text(&p, p.metrics.name.at[0]),
                                  profile_text(&again, again.metrics.name.at[0])));
        strbuf_deinit(&file);
        profile_deinit(&again);
        profile_deinit(&p);
        arena_deinit(&arena);
    }
}

static void folded_stacks_come_back(void **state)
{
    (void)state;
    check_format(&(Format){.name = "folded", .has_threads_as_frames = true});
}

static void perf_script_text_comes_back(void **state)
{
    (void)state;
    check_format(&(Format){.name = "perf-script"});
}

static void pprof_comes_back(void **state)
{
    (void)state;
    check_format(&(Format){.name = "pprof", .utf8_alone = true});
}

static void firefox_profiles_come_back(void **state)
{
    (void)state;
    check_format(&(Format){.name = "firefox", .utf8_alone = true, .keeps_metric = true});
}

static void speedscope_files_come_back(void **state)
{
    (void)state;
    check_format(&(Format){.name = "speedscope", .utf8_alone = true});
}

static void callgrind_costs_come_back(void **state)
{
    (void)state;
    check_format(&(Format){.name = "callgrind", .totals_differ = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_stacks_come_back),    cmocka_unit_test(perf_script_text_comes_back),
        cmocka_unit_test(pprof_comes_back),           cmocka_unit_test(firefox_profiles_come_back),
        cmocka_unit_test(speedscope_files_come_back), cmocka_unit_test(callgrind_costs_come_back),
    };
    return RUN_TESTS(tests);
}
