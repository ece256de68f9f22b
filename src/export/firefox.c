// SPDX-License-Identifier: Apache-2.0
// The Firefox Profiler's processed profile, version 62, which later versions of
// the Profiler upgrade on load. Format: github.com/firefox-devtools/profiler,
// src/types/profile.ts and docs-developer/CHANGELOG-formats.md.

#include "base/json.h"
#include "export/export_internal.h"
#include "model/facts.h"

enum { FIREFOX_VERSION = 62, CATEGORY_OTHER = 0, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT };

typedef struct Firefox {
    const ExportSet *s;
    ExportOut out;
    JsonWriter w;
    Arena arena;
    Intern strings;
    U32Vec libs;         // used modules
    uint32_t *lib_of;    // [module]: its place in `libs`, or EXPORT_NONE
    U32Vec sources;      // used files, as strings of the profile
    uint32_t *source_of; // [string]: its place in `sources`, or EXPORT_NONE
    ExportIntervals intervals;
} Firefox;

// The schema that our markers name.
#define MARKER_TYPE "assay"

// A column of a table, from a function of the row. INT64_MIN is null.
typedef int64_t ColumnValue(Firefox *f, size_t row);

static void add_column(Firefox *f, const char *name, size_t rows, ColumnValue *value)
{
    StrBuf *out = &f->out.buf;
    json_begin_array(&f->w, name);
    for (size_t i = 0; i < rows; i++) {
        int64_t v = value(f, i);
        if (i)
            strbuf_add_char(out, ',');
        if (v == INT64_MIN) {
            strbuf_add(out, STR("null"));
        } else if (v < 0) {
            strbuf_add_char(out, '-');
            strbuf_add_u64(out, 0 - (uint64_t)v);
        } else {
            strbuf_add_u64(out, (uint64_t)v);
        }
        export_flush(&f->out, EXPORT_FLUSH);
    }
    json_end(&f->w);
}

static void add_bools(Firefox *f, const char *name, size_t rows)
{
    json_begin_array(&f->w, name);
    for (size_t i = 0; i < rows; i++)
        json_bool(&f->w, NULL, false);
    json_end(&f->w);
}

static int64_t null_value(Firefox *f, size_t row)
{
    (void)f, (void)row;
    return INT64_MIN;
}

static int64_t zero_value(Firefox *f, size_t row)
{
    (void)f, (void)row;
    return 0;
}

// ---- Frames, functions, stacks -----------------------------------------------------

static uint32_t profile_frame_of(Firefox *f, size_t row)
{
    return f->s->frames.at[row];
}

static int64_t frame_address(Firefox *f, size_t row)
{
    const Profile *p = f->s->p;
    uint32_t frame = profile_frame_of(f, row);
    uint64_t address = p->frames.address.at[frame];
    bool has_lib = f->lib_of[p->frames.module.at[frame].v] != EXPORT_NONE;
    // -1: none. JavaScript's numbers are exact up to 2^53.
    return has_lib && address < 1ull << 53 ? (int64_t)address : -1;
}

static int64_t frame_category(Firefox *f, size_t row)
{
    const Profile *p = f->s->p;
    uint32_t frame = profile_frame_of(f, row);
    uint8_t flags = p->frames.flags.at[frame];
    if (flags & FRAME_CUT)
        return CATEGORY_OTHER;
    if (flags & FRAME_KERNEL)
        return CATEGORY_KERNEL;
    return p->modules.kind.at[p->frames.module.at[frame].v] == MODULE_JIT ? CATEGORY_JIT
                                                                          : CATEGORY_USER;
}

static int64_t frame_function(Firefox *f, size_t row)
{
    return f->s->row_of_key[f->s->keys.of_frame[profile_frame_of(f, row)]];
}

static int64_t frame_line(Firefox *f, size_t row)
{
    uint32_t line = f->s->p->frames.line.at[profile_frame_of(f, row)];
    return line ? (int64_t)line : INT64_MIN;
}

static int64_t frame_inline_depth(Firefox *f, size_t row)
{
    const FrameId *inlined_in = f->s->p->frames.inlined_in.at;
    int64_t depth = 0;
    for (uint32_t at = profile_frame_of(f, row); inlined_in[at].v; at = inlined_in[at].v)
        depth++;
    return depth;
}

static uint32_t function_frame(Firefox *f, size_t row)
{
    return f->s->keys.first.at[f->s->functions.at[row]].v;
}

static int64_t function_name(Firefox *f, size_t row)
{
    StrBuf name = {0};
    export_add_name(f->s, f->s->functions.at[row], &name);
    uint32_t id = intern_add(&f->strings, strbuf_str(&name));
    strbuf_deinit(&name);
    return id;
}

static int64_t function_resource(Firefox *f, size_t row)
{
    uint32_t lib = f->lib_of[f->s->p->frames.module.at[function_frame(f, row)].v];
    return lib == EXPORT_NONE ? -1 : (int64_t)lib;
}

static StrId function_file(Firefox *f, size_t row)
{
    const Profile *p = f->s->p;
    uint32_t frame = function_frame(f, row);
    StrId file = p->frames.file.at[frame];
    return file.v ? file : p->functions.file.at[p->frames.function.at[frame].v];
}

static int64_t function_source(Firefox *f, size_t row)
{
    StrId file = function_file(f, row);
    return file.v ? (int64_t)f->source_of[file.v] : INT64_MIN;
}

static int64_t function_line(Firefox *f, size_t row)
{
    const Profile *p = f->s->p;
    uint32_t line = p->functions.line.at[p->frames.function.at[function_frame(f, row)].v];
    return line ? (int64_t)line : INT64_MIN;
}

static int64_t stack_frame(Firefox *f, size_t row)
{
    return f->s->row_of_frame[f->s->stacks.at[row].frame];
}

static int64_t stack_prefix(Firefox *f, size_t row)
{
    uint32_t parent = f->s->stacks.at[row].parent;
    return parent == EXPORT_NONE ? INT64_MIN : (int64_t)parent;
}

static int64_t own_row(Firefox *f, size_t row)
{
    (void)f;
    return (int64_t)row;
}

static int64_t resource_name(Firefox *f, size_t row)
{
    const Profile *p = f->s->p;
    Str path = profile_text(p, p->modules.path.at[f->libs.at[row]]);
    return intern_add(&f->strings, str_base_name(path));
}

static int64_t resource_type(Firefox *f, size_t row)
{
    (void)f, (void)row;
    return 1; // a library
}

static int64_t source_name(Firefox *f, size_t row)
{
    Str file = profile_text(f->s->p, (StrId){f->sources.at[row]});
    return intern_add(&f->strings, file);
}

static void find_libs_and_sources(Firefox *f)
{
    const Profile *p = f->s->p;
    size_t modules = p->modules.path.len, strings = p->strings.texts.len;
    f->lib_of = heap_alloc((modules + 1) * sizeof(uint32_t));
    memset(f->lib_of, 0xff, (modules + 1) * sizeof(uint32_t));
    f->source_of = heap_alloc((strings + 1) * sizeof(uint32_t));
    memset(f->source_of, 0xff, (strings + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < f->s->frames.len; i++) {
        uint32_t module = p->frames.module.at[f->s->frames.at[i]].v;
        if (module == 0 || f->lib_of[module] != EXPORT_NONE)
            continue;
        f->lib_of[module] = (uint32_t)f->libs.len;
        vec_push(NULL, &f->libs, module);
    }
    for (size_t i = 0; i < f->s->functions.len; i++) {
        StrId file = function_file(f, i);
        if (file.v == 0 || f->source_of[file.v] != EXPORT_NONE)
            continue;
        f->source_of[file.v] = (uint32_t)f->sources.len;
        vec_push(NULL, &f->sources, file.v);
    }
}

// Takes the markers' names into the table of strings before that is written.
static void find_markers(Firefox *f)
{
    f->intervals = export_intervals(f->s, true);
    for (size_t i = 0; i < f->intervals.starts[f->s->threads.len]; i++)
        (void)intern_add(&f->strings, f->intervals.at[i].name);
}

static void add_shared(Firefox *f)
{
    JsonWriter *w = &f->w;
    size_t frames = f->s->frames.len, functions = f->s->functions.len;
    size_t stacks = f->s->stacks.len, libs = f->libs.len, sources = f->sources.len;
    json_begin_object(w, "shared");
    json_begin_object(w, "frameTable");
    json_u64(w, "length", frames);
    add_column(f, "address", frames, frame_address);
    add_column(f, "inlineDepth", frames, frame_inline_depth);
    add_column(f, "category", frames, frame_category);
    add_column(f, "subcategory", frames, zero_value);
    add_column(f, "func", frames, frame_function);
    add_column(f, "nativeSymbol", frames, null_value);
    add_column(f, "innerWindowID", frames, zero_value);
    add_column(f, "line", frames, frame_line);
    add_column(f, "column", frames, null_value);
    json_end(w);
    json_begin_object(w, "funcTable");
    json_u64(w, "length", functions);
    add_column(f, "name", functions, function_name);
    add_bools(f, "isJS", functions);
    add_bools(f, "relevantForJS", functions);
    add_column(f, "resource", functions, function_resource);
    add_column(f, "source", functions, function_source);
    add_column(f, "lineNumber", functions, function_line);
    add_column(f, "columnNumber", functions, null_value);
    json_end(w);
    json_begin_object(w, "stackTable");
    json_u64(w, "length", stacks);
    add_column(f, "frame", stacks, stack_frame);
    add_column(f, "prefix", stacks, stack_prefix);
    json_end(w);
    json_begin_object(w, "resourceTable");
    json_u64(w, "length", libs);
    add_column(f, "lib", libs, own_row);
    add_column(f, "name", libs, resource_name);
    add_column(f, "host", libs, null_value);
    add_column(f, "type", libs, resource_type);
    json_end(w);
    json_begin_object(w, "nativeSymbols");
    json_u64(w, "length", 0);
    add_column(f, "libIndex", 0, zero_value);
    add_column(f, "address", 0, zero_value);
    add_column(f, "name", 0, zero_value);
    add_column(f, "functionSize", 0, zero_value);
    json_end(w);
    json_begin_object(w, "sources");
    json_u64(w, "length", sources);
    add_column(f, "id", sources, null_value);
    add_column(f, "filename", sources, source_name);
    add_column(f, "startLine", sources, resource_type);
    add_column(f, "startColumn", sources, resource_type);
    add_column(f, "sourceMapURL", sources, null_value);
    json_end(w);
    json_begin_array(w, "stringArray");
    for (size_t i = 0; i < f->strings.texts.len; i++)
        json_str(w, NULL, f->strings.texts.at[i]);
    json_end(w);
    json_end(w);
}

// ---- Meta ------------------------------------------------------------------------

static void add_category(JsonWriter *w, const char *name, const char *colour)
{
    json_begin_object(w, NULL);
    json_str(w, "name", str_from_c(name));
    json_str(w, "color", str_from_c(colour));
    json_begin_array(w, "subcategories");
    json_str(w, NULL, STR("Other"));
    json_end(w);
    json_end(w);
}

static double fact_number(const Profile *p, Str key, double otherwise)
{
    double value;
    return str_parse_double(profile_fact(p, key), &value) && value > 0 ? value : otherwise;
}

// Data that a profile's own writer adds: sections that the profiler shows as they are.
static void add_extra(JsonWriter *w, Str metric)
{
    json_begin_array(w, "extra");
    json_begin_object(w, NULL);
    json_str(w, "label", STR("assay"));
    json_begin_array(w, "entries");
    json_begin_object(w, NULL);
    json_str(w, "label", STR("metric"));
    json_str(w, "format", STR("string"));
    json_str(w, "value", metric);
    json_end(w);
    json_end(w);
    json_end(w);
    json_end(w);
}

// How the profiler shows our intervals: their detail behind their name.
static void add_marker_schema(JsonWriter *w)
{
    json_begin_array(w, "markerSchema");
    json_begin_object(w, NULL);
    json_str(w, "name", STR(MARKER_TYPE));
    json_str(w, "tableLabel", STR("{marker.name} {marker.data.detail}"));
    json_str(w, "chartLabel", STR("{marker.name} {marker.data.detail}"));
    json_begin_array(w, "display");
    json_str(w, NULL, STR("marker-chart"));
    json_str(w, NULL, STR("marker-table"));
    json_end(w);
    json_begin_array(w, "fields");
    json_begin_object(w, NULL);
    json_str(w, "key", STR("detail"));
    json_str(w, "label", STR("Detail"));
    json_str(w, "format", STR("string"));
    json_end(w);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void add_meta(Firefox *f)
{
    JsonWriter *w = &f->w;
    const Profile *p = f->s->p;
    json_begin_object(w, "meta");
    json_double(w, "interval", 1000 / fact_number(p, STR(FACT_RATE_ASKED), 1000));
    json_double(w, "startTime", fact_number(p, STR(FACT_START_REALTIME), 0) / 1e6);
    json_u64(w, "processType", 0);
    json_u64(w, "version", 24);
    json_u64(w, "preprocessedProfileVersion", FIREFOX_VERSION);
    Str command = profile_fact(p, STR(FACT_COMMAND));
    json_str(w, "product", command.len ? command : STR("recording"));
    json_str(w, "importedFrom", STR("assay"));
    json_str(w, "oscpu", profile_fact(p, STR(FACT_KERNEL)));
    json_str(w, "CPUName", profile_fact(p, STR(FACT_CPU_MODEL)));
    json_bool(w, "debug", false);
    json_bool(w, "symbolicated", true);
    json_bool(w, "sourceCodeIsNotOnSearchfox", true);
    json_bool(w, "usesOnlyOneStackType", true);
    json_begin_array(w, "categories");
    add_category(w, "Other", "grey");
    add_category(w, "User", "yellow");
    add_category(w, "Kernel", "orange");
    add_category(w, "JIT", "green");
    json_end(w);
    json_begin_object(w, "extensions");
    json_u64(w, "length", 0);
    json_begin_array(w, "id");
    json_end(w);
    json_begin_array(w, "name");
    json_end(w);
    json_begin_array(w, "baseURL");
    json_end(w);
    json_end(w);
    add_marker_schema(w);
    json_begin_object(w, "sampleUnits");
    json_str(w, "time", STR("ms"));
    json_str(w, "eventDelay", STR("ms"));
    json_str(w, "threadCPUDelta", STR("ns"));
    json_end(w);
    add_extra(w, profile_text(p, p->metrics.name.at[f->s->request->selection.metric.v]));
    json_end(w);
}

static void add_libs(Firefox *f)
{
    const Profile *p = f->s->p;
    JsonWriter *w = &f->w;
    json_begin_array(w, "libs");
    for (size_t i = 0; i < f->libs.len; i++) {
        uint32_t module = f->libs.at[i];
        Str path = profile_text(p, p->modules.path.at[module]);
        Str name = str_base_name(path);
        json_begin_object(w, NULL);
        json_str(w, "arch", profile_fact(p, STR(FACT_ARCH)));
        json_str(w, "name", name);
        json_str(w, "path", path);
        json_str(w, "debugName", name);
        json_str(w, "debugPath", path);
        json_str(w, "breakpadId", STR(""));
        json_str(w, "codeId", profile_text(p, p->modules.build_id.at[module]));
        json_end(w);
    }
    json_end(w);
}

// ---- Threads -----------------------------------------------------------------------

static void add_ms(StrBuf *out, int64_t ns)
{
    if (ns < 0) {
        strbuf_add_char(out, '-');
        ns = ns == INT64_MIN ? INT64_MAX : -ns;
    }
    strbuf_printf(out, "%lld.%06lld", (long long)(ns / 1000000), (long long)(ns % 1000000));
}

typedef struct ThreadSamples {
    const uint32_t *at;
    size_t count;
} ThreadSamples;

typedef struct ThreadMarkers {
    const ExportInterval *at;
    size_t count;
} ThreadMarkers;

// A column of numbers, one for each marker.
static void add_marker_column(Firefox *f, const char *name, ThreadMarkers markers,
                              void (*add)(Firefox *f, const ExportInterval *in))
{
    json_begin_array(&f->w, name);
    for (size_t i = 0; i < markers.count; i++) {
        if (i)
            strbuf_add_char(&f->out.buf, ',');
        add(f, &markers.at[i]);
    }
    json_end(&f->w);
}

static bool is_span(const ExportInterval *in)
{
    return in->end_ns != in->start_ns;
}

static void add_marker_category(Firefox *f, const ExportInterval *in)
{
    (void)in;
    strbuf_add_char(&f->out.buf, '0'); // "Other"
}

static void add_marker_end(Firefox *f, const ExportInterval *in)
{
    if (is_span(in))
        add_ms(&f->out.buf, in->end_ns);
    else
        strbuf_add(&f->out.buf, STR("null"));
}

static void add_marker_name(Firefox *f, const ExportInterval *in)
{
    // Its string is in the table already, which is written before the threads.
    strbuf_add_u64(&f->out.buf, intern_add(&f->strings, in->name));
}

static void add_marker_phase(Firefox *f, const ExportInterval *in)
{
    strbuf_add_char(&f->out.buf, is_span(in) ? '1' : '0'); // an interval, an instant
}

static void add_marker_start(Firefox *f, const ExportInterval *in)
{
    add_ms(&f->out.buf, in->start_ns);
}

static void add_markers(Firefox *f, ThreadMarkers markers)
{
    JsonWriter *w = &f->w;
    json_begin_object(w, "markers");
    json_u64(w, "length", markers.count);
    add_marker_column(f, "category", markers, add_marker_category);
    json_begin_array(w, "data");
    for (size_t i = 0; i < markers.count; i++) {
        json_begin_object(w, NULL);
        json_str(w, "type", STR(MARKER_TYPE));
        json_str(w, "detail", markers.at[i].detail);
        json_end(w);
    }
    json_end(w);
    add_marker_column(f, "endTime", markers, add_marker_end);
    add_marker_column(f, "name", markers, add_marker_name);
    add_marker_column(f, "phase", markers, add_marker_phase);
    add_marker_column(f, "startTime", markers, add_marker_start);
    json_end(w);
}

static void add_sample_columns(Firefox *f, ThreadSamples samples)
{
    const Profile *p = f->s->p;
    JsonWriter *w = &f->w;
    StrBuf *out = &f->out.buf;
    uint32_t metric = f->s->request->selection.metric.v;
    bool is_time = str_equal(profile_text(p, p->metrics.unit.at[metric]), STR("ns"));
    bool is_bytes = str_equal(profile_text(p, p->metrics.unit.at[metric]), STR("bytes"));
    json_begin_object(w, "samples");
    json_u64(w, "length", samples.count);
    json_begin_array(w, "stack");
    for (size_t i = 0; i < samples.count; i++) {
        uint32_t stack = p->samples.stack.at[samples.at[i]].v;
        if (i)
            strbuf_add_char(out, ',');
        if (stack)
            strbuf_add_u64(out, f->s->row_of_stack[stack]);
        else
            strbuf_add(out, STR("null"));
    }
    json_end(w);
    json_begin_array(w, "time");
    for (size_t i = 0; i < samples.count; i++) {
        int64_t time = p->samples.time_ns.at[samples.at[i]];
        if (i)
            strbuf_add_char(out, ',');
        add_ms(out, time == TIME_NONE ? 0 : time);
    }
    json_end(w);
    json_str(w, "weightType",
             is_time    ? STR("tracing-ms")
             : is_bytes ? STR("bytes")
                        : STR("samples"));
    json_begin_array(w, "weight");
    for (size_t i = 0; i < samples.count; i++) {
        int64_t value = MAX(p->samples.values[metric].at[samples.at[i]], (int64_t)0);
        if (i)
            strbuf_add_char(out, ',');
        if (is_time)
            add_ms(out, value);
        else
            strbuf_add_u64(out, (uint64_t)value);
    }
    json_end(w);
    json_end(w);
    export_flush(&f->out, EXPORT_FLUSH);
}

static void add_time_or_null(Firefox *f, const char *key, int64_t ns)
{
    if (ns == TIME_NONE)
        json_null(&f->w, key);
    else
        json_double(&f->w, key, (double)ns / 1e6);
}

static void add_decimal(JsonWriter *w, const char *key, uint32_t number)
{
    StrBuf text = {0};
    strbuf_add_u64(&text, number);
    json_str(w, key, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void add_thread(Firefox *f, uint32_t thread, ThreadSamples samples, ThreadMarkers markers)
{
    const Profile *p = f->s->p;
    JsonWriter *w = &f->w;
    uint32_t process = p->threads.process.at[thread].v;
    uint32_t pid = p->processes.pid.at[process], tid = p->threads.tid.at[thread];
    int64_t start = p->threads.start_ns.at[thread];
    json_begin_object(w, NULL);
    json_str(w, "processType", STR("default"));
    json_double(w, "processStartupTime", 0);
    add_time_or_null(f, "processShutdownTime", p->processes.end_ns.at[process]);
    json_double(w, "registerTime", start == TIME_NONE ? 0 : (double)start / 1e6);
    add_time_or_null(f, "unregisterTime", p->threads.end_ns.at[thread]);
    json_begin_array(w, "pausedRanges");
    json_end(w);
    json_str(w, "name", export_thread_name(p, thread));
    json_str(w, "processName", profile_text(p, p->processes.name.at[process]));
    json_bool(w, "isMainThread", pid == tid);
    json_bool(w, "showMarkersInTimeline", false);
    add_decimal(w, "pid", pid);
    add_decimal(w, "tid", tid);
    add_sample_columns(f, samples);
    add_markers(f, markers);
    json_end(w);
}

static void add_threads(Firefox *f)
{
    uint32_t *order;
    size_t *starts;
    export_samples_by_thread(f->s, &order, &starts);
    json_begin_array(&f->w, "threads");
    for (size_t t = 0; t < f->s->threads.len; t++)
        add_thread(f, f->s->threads.at[t],
                   (ThreadSamples){order + starts[t], starts[t + 1] - starts[t]},
                   (ThreadMarkers){f->intervals.at + f->intervals.starts[t],
                                   f->intervals.starts[t + 1] - f->intervals.starts[t]});
    json_end(&f->w);
    heap_free(order);
    heap_free(starts);
}

bool export_firefox(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                    Error *err)
{
    ExportSet s;
    if (!export_set_init(&s, p, request, false, err))
        return false;
    export_set_add_events(&s);
    Firefox f = {.s = &s, .out.sink = sink};
    intern_init(&f.strings, &f.arena);
    f.w = json_writer(&f.out.buf, 0);
    find_libs_and_sources(&f);
    find_markers(&f);
    json_begin_object(&f.w, NULL);
    add_meta(&f);
    add_libs(&f);
    json_begin_array(&f.w, "pages");
    json_end(&f.w);
    json_begin_array(&f.w, "profilerOverhead");
    json_end(&f.w);
    json_begin_array(&f.w, "counters");
    json_end(&f.w);
    add_shared(&f);
    add_threads(&f);
    json_end(&f.w);
    strbuf_add_char(&f.out.buf, '\n');
    vec_free(&f.libs);
    vec_free(&f.sources);
    heap_free(f.lib_of);
    heap_free(f.source_of);
    export_intervals_deinit(&f.intervals);
    intern_deinit(&f.strings);
    arena_deinit(&f.arena);
    export_set_deinit(&s);
    return export_finish(&f.out, err);
}
