// SPDX-License-Identifier: Apache-2.0
// The Firefox Profiler's processed profile, version 62, which later versions of
// the Profiler upgrade on load. Format: github.com/firefox-devtools/profiler,
// src/types/profile.ts and docs-developer/CHANGELOG-formats.md.

#include "base/json.h"
#include "export/export_internal.h"
#include "model/facts.h"

enum {
    FIREFOX_VERSION = 62,
    CATEGORY_OTHER = 0,
    CATEGORY_USER,
    CATEGORY_KERNEL,
    CATEGORY_JIT,
    CATEGORY_STATE, // and one for each further WaitClass
};

// A marker: an interval, or the state of the thread.
typedef struct Marker {
    uint32_t name; // in the table of strings
    int64_t start_ns, end_ns;
    const ExportInterval *interval; // NULL: a state
    const WaitSpan *span;
} Marker;

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
    WaitSpans states;
    // Those of threads[t] of the set are markers[marker_starts[t]] up to the next one's start.
    Vec(Marker) markers;
    size_t *marker_starts;
} Firefox;

// The schemas that our markers name.
#define MARKER_TYPE "assay"
#define STATE_TYPE  "assay-state"

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

static uint32_t marker_string(Firefox *f, const WaitSpan *span)
{
    StrBuf name = {0};
    wait_span_add_name(f->s->p, span, &name);
    uint32_t id = intern_add(&f->strings, strbuf_str(&name));
    strbuf_deinit(&name);
    return id;
}

// Lists the markers of each thread, and takes their names into the table of strings, before that is
// written.
static void find_markers(Firefox *f)
{
    size_t threads = f->s->threads.len;
    f->intervals = export_intervals(f->s, true, false);
    f->marker_starts = heap_alloc((threads + 1) * sizeof(size_t));
    uint32_t *first_span = heap_alloc((threads + 1) * sizeof(uint32_t));
    for (size_t i = f->states.spans.len; i-- > 0;)
        first_span[f->s->row_of_thread[f->states.spans.at[i].thread.v]] = (uint32_t)i;
    for (size_t t = 0; t < threads; t++) {
        for (size_t i = f->intervals.starts[t]; i < f->intervals.starts[t + 1]; i++) {
            const ExportInterval *in = &f->intervals.at[i];
            uint32_t name = intern_add(&f->strings, in->name);
            vec_push(NULL, &f->markers, (Marker){name, in->start_ns, in->end_ns, in, NULL});
        }
        for (size_t i = first_span[t]; i < f->states.spans.len; i++) {
            const WaitSpan *span = &f->states.spans.at[i];
            if (span->thread.v != f->s->threads.at[t])
                break;
            vec_push(NULL, &f->markers,
                     (Marker){marker_string(f, span), span->start_ns, span->end_ns, NULL, span});
        }
        f->marker_starts[t + 1] = f->markers.len;
    }
    heap_free(first_span);
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

// By WaitClass, in the profiler's words for colours.
static const char *const state_colours[WAIT_CLASS_COUNT] = {
    "green",     "yellow",   "red",      "brown", "blue",
    "lightblue", "lightred", "darkgrey", "grey",  "purple"};

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

static void add_field(JsonWriter *w, const char *key, const char *label)
{
    json_begin_object(w, NULL);
    json_str(w, "key", str_from_c(key));
    json_str(w, "label", str_from_c(label));
    json_str(w, "format", STR("string"));
    json_end(w);
}

static void begin_schema(JsonWriter *w, Str name, Str label)
{
    json_begin_object(w, NULL);
    json_str(w, "name", name);
    json_str(w, "tableLabel", label);
    json_str(w, "chartLabel", label);
    json_begin_array(w, "display");
    json_str(w, NULL, STR("marker-chart"));
    json_str(w, NULL, STR("marker-table"));
    json_end(w);
    json_begin_array(w, "fields");
}

// How the profiler shows our intervals, with their detail behind their name, and our states.
static void add_marker_schema(const Firefox *f, JsonWriter *w)
{
    json_begin_array(w, "markerSchema");
    begin_schema(w, STR(MARKER_TYPE), STR("{marker.name} {marker.data.detail}"));
    add_field(w, "detail", "Detail");
    json_end(w);
    json_end(w);
    if (f->states.spans.len) {
        begin_schema(w, STR(STATE_TYPE), STR("{marker.name}"));
        add_field(w, "class", "State");
        add_field(w, "object", "Waits for");
        add_field(w, "at", "Waits at");
        add_field(w, "waker", "Woken by");
        json_end(w);
        json_end(w);
    }
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
    for (int i = 0; i < WAIT_CLASS_COUNT && f->states.spans.len; i++)
        add_category(w, wait_class_name((WaitClass)i), state_colours[i]);
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
    add_marker_schema(f, w);
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
    const Marker *at;
    size_t count;
} ThreadMarkers;

// A column of numbers, one for each marker.
static void add_marker_column(Firefox *f, const char *name, ThreadMarkers markers,
                              void (*add)(StrBuf *out, const Marker *m))
{
    json_begin_array(&f->w, name);
    for (size_t i = 0; i < markers.count; i++) {
        if (i)
            strbuf_add_char(&f->out.buf, ',');
        add(&f->out.buf, &markers.at[i]);
    }
    json_end(&f->w);
}

static void add_marker_category(StrBuf *out, const Marker *m)
{
    strbuf_add_u64(out, m->span ? CATEGORY_STATE + m->span->state : CATEGORY_OTHER);
}

static void add_marker_end(StrBuf *out, const Marker *m)
{
    if (m->end_ns != m->start_ns)
        add_ms(out, m->end_ns);
    else
        strbuf_add(out, STR("null"));
}

static void add_marker_name(StrBuf *out, const Marker *m)
{
    strbuf_add_u64(out, m->name);
}

static void add_marker_phase(StrBuf *out, const Marker *m)
{
    strbuf_add_char(out, m->end_ns != m->start_ns ? '1' : '0'); // an interval, an instant
}

static void add_marker_start(StrBuf *out, const Marker *m)
{
    add_ms(out, m->start_ns);
}

// The stack of a wait, which the profiler shows with the marker.
static void add_cause(Firefox *f, const WaitSpan *span)
{
    json_begin_object(&f->w, "cause");
    json_double(&f->w, "time", (double)span->start_ns / 1e6);
    json_u64(&f->w, "stack", f->s->row_of_stack[span->stack.v]);
    json_end(&f->w);
}

static void add_state_data(Firefox *f, const WaitSpan *span)
{
    const Profile *p = f->s->p;
    JsonWriter *w = &f->w;
    StrBuf text = {0};
    WaitPlace place = wait_own_place(p, span->stack);
    json_str(w, "type", STR(STATE_TYPE));
    json_str(w, "class", str_from_c(wait_class_name(span->state)));
    if (span->object.v)
        json_str(w, "object", profile_text(p, span->object));
    if (place.frame.v) {
        wait_place_add(p, place, &text);
        json_str(w, "at", strbuf_str(&text));
    }
    if (span->waker) {
        uint32_t waker = span->waker - 1;
        strbuf_clear(&text);
        strbuf_add(&text, export_thread_name(p, waker));
        strbuf_printf(&text, " %u", p->threads.tid.at[waker]);
        if (span->waker_stack.v) {
            strbuf_add(&text, STR(": "));
            wait_place_add(p, wait_own_place(p, span->waker_stack), &text);
        }
        json_str(w, "waker", strbuf_str(&text));
    }
    if (span->stack.v)
        add_cause(f, span);
    strbuf_deinit(&text);
}

static void add_markers(Firefox *f, ThreadMarkers markers)
{
    JsonWriter *w = &f->w;
    json_begin_object(w, "markers");
    json_u64(w, "length", markers.count);
    add_marker_column(f, "category", markers, add_marker_category);
    json_begin_array(w, "data");
    for (size_t i = 0; i < markers.count; i++) {
        const Marker *m = &markers.at[i];
        json_begin_object(w, NULL);
        if (m->span) {
            add_state_data(f, m->span);
        } else {
            json_str(w, "type", STR(MARKER_TYPE));
            json_str(w, "detail", m->interval->detail);
        }
        json_end(w);
        export_flush(&f->out, EXPORT_FLUSH);
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
    for (size_t t = 0; t < f->s->threads.len; t++) {
        ThreadMarkers markers = {.count = f->marker_starts[t + 1] - f->marker_starts[t]};
        if (markers.count)
            markers.at = &f->markers.at[f->marker_starts[t]];
        add_thread(f, f->s->threads.at[t],
                   (ThreadSamples){order + starts[t], starts[t + 1] - starts[t]}, markers);
    }
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
    wait_spans_init(&f.states, p, &request->selection);
    export_set_use_spans(&s, &f.states);
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
    wait_spans_deinit(&f.states);
    vec_free(&f.markers);
    heap_free(f.marker_starts);
    intern_deinit(&f.strings);
    arena_deinit(&f.arena);
    export_set_deinit(&s);
    return export_finish(&f.out, err);
}
