// SPDX-License-Identifier: Apache-2.0
// The Firefox Profiler's processed profile -> Profile. Versions before 60 keep the tables in each
// thread, later ones in `shared`; strings and sources are in `shared` since version 56. A table is
// taken from where it is.
// Format: github.com/firefox-devtools/profiler, src/types/profile.ts and
// docs-developer/CHANGELOG-formats.md.

#include "import/import.h"

#include "import/firefox_internal.h"
#include "import/json_import_internal.h"
#include "import/places_internal.h"
#include "model/facts.h"

// The tables that stacks refer to, of the whole profile or of one thread.
typedef struct Tables {
    JsonColumn strings;
    JsonColumn stack_frame, stack_prefix;
    bool prefix_is_offset; // distance to the parent, 0 for a root
    JsonColumn frame_func, frame_line, frame_address, frame_depth, frame_lib, frame_category;
    JsonColumn func_name, func_resource, func_file, func_line, func_source;
    JsonColumn resource_lib;
    JsonColumn source_file;
    FrameIdVec frames; // of the profile, by frame row
    StackIdVec stacks; // by stack row
} Tables;

typedef struct Firefox {
    Profile *p;
    Arena scratch;
    ModuleIdVec libs;
    JsonColumn categories;
    double interval_ns;
    Str metric;                     // what our own export says the weights are; "": by their type
    double cpu_factor;              // of threadCPUDelta to ns
    const JsonValue *shared_tables; // may be NULL
    Tables shared;
    Error *err;
} Firefox;

// A table of the thread, or one that all threads share.
static const JsonValue *table_of(const Firefox *f, const JsonValue *owner, const char *name)
{
    const JsonValue *own = json_find(owner, name);
    return own ? own : json_find(f->shared_tables, name);
}

static JsonColumn column(Firefox *f, const JsonValue *table, const char *name)
{
    return json_column(&f->scratch, json_find(table, name));
}

static Str string_at(const Tables *t, double index)
{
    size_t row;
    return json_number_as_row(index, t->strings.len, &row) ? json_text(t->strings.at[row])
                                                           : STR("");
}

static void load_columns(Firefox *f, const JsonValue *owner, Tables *t)
{
    const JsonValue *stack = table_of(f, owner, "stackTable");
    const JsonValue *frame = table_of(f, owner, "frameTable");
    const JsonValue *func = table_of(f, owner, "funcTable");
    t->strings = json_column(&f->scratch, table_of(f, owner, "stringArray"));
    if (!t->strings.at)
        t->strings = json_column(&f->scratch, table_of(f, owner, "stringTable"));
    t->stack_frame = column(f, stack, "frame");
    t->prefix_is_offset = json_find(stack, "prefixOffset") != NULL;
    t->stack_prefix = column(f, stack, t->prefix_is_offset ? "prefixOffset" : "prefix");
    t->frame_func = column(f, frame, "func");
    t->frame_line = column(f, frame, "line");
    t->frame_address = column(f, frame, "address");
    t->frame_depth = column(f, frame, "inlineDepth");
    t->frame_lib = column(f, frame, "lib");
    t->frame_category = column(f, frame, "category");
    t->func_name = column(f, func, "name");
    t->func_resource = column(f, func, "resource");
    t->func_file = column(f, func, "fileName");
    t->func_source = column(f, func, "source");
    t->func_line = column(f, func, "lineNumber");
    t->resource_lib = column(f, table_of(f, owner, "resourceTable"), "lib");
    t->source_file = column(f, table_of(f, owner, "sources"), "filename");
}

static Str file_of(const Tables *t, size_t func)
{
    size_t source;
    if (json_number_as_row(json_column_number(&t->func_source, func, -1), t->source_file.len,
                           &source))
        return string_at(t, json_column_number(&t->source_file, source, -1));
    return string_at(t, json_column_number(&t->func_file, func, -1));
}

static ModuleId module_of(const Firefox *f, const Tables *t, size_t frame, size_t func)
{
    size_t lib, resource;
    double index = json_column_number(&t->frame_lib, frame, -1);
    if (index < 0 && json_number_as_row(json_column_number(&t->func_resource, func, -1),
                                        t->resource_lib.len, &resource))
        index = json_column_number(&t->resource_lib, resource, -1);
    return json_number_as_row(index, f->libs.len, &lib) ? f->libs.at[lib] : (ModuleId){0};
}

static bool is_kernel_category(const Firefox *f, const Tables *t, size_t frame)
{
    size_t category;
    return json_number_as_row(json_column_number(&t->frame_category, frame, -1), f->categories.len,
                              &category) &&
           str_equal(json_text(json_find(f->categories.at[category], "name")), STR("Kernel"));
}

static void load_frames(Firefox *f, Tables *t)
{
    Profile *p = f->p;
    for (size_t row = 0; row < t->frame_func.len; row++) {
        double func_number = json_column_number(&t->frame_func, row, -1);
        size_t func = SIZE_MAX;
        Str name = {0};
        Str file = {0};
        uint32_t decl_line = 0;
        if (json_number_as_row(func_number, t->func_name.len, &func)) {
            name = string_at(t, json_column_number(&t->func_name, func, -1));
            file = file_of(t, func);
            decl_line = json_number_as_u32(json_column_number(&t->func_line, func, 0));
        }
        uint8_t flags = json_column_number(&t->frame_depth, row, 0) > 0 ? FRAME_INLINED : 0;
        if (is_kernel_category(f, t, row))
            flags |= FRAME_KERNEL;
        double address = json_column_number(&t->frame_address, row, 0);
        FrameId frame = import_named_frame(
            p, module_of(f, t, row, func), address > 0 ? (uint64_t)json_number_as_i64(address) : 0,
            profile_function(p, name, name, file, decl_line), profile_str(p, file),
            json_number_as_u32(json_column_number(&t->frame_line, row, 0)), flags);
        vec_push(&f->scratch, &t->frames, frame);
    }
}

// A stack's parent stands before it; that makes one pass enough.
static bool load_stacks(Firefox *f, Tables *t)
{
    for (size_t row = 0; row < t->stack_frame.len; row++) {
        size_t frame, parent_row;
        if (!json_number_as_row(json_column_number(&t->stack_frame, row, -1), t->frames.len,
                                &frame))
            return error_set(f->err, ERROR_FORMAT, "Firefox profile: stack %zu has no frame", row);
        double prefix = json_column_number(&t->stack_prefix, row, -1);
        if (t->prefix_is_offset)
            prefix = prefix > 0 ? (double)row - prefix : -1;
        StackId parent = {0};
        if (json_number_as_row(prefix, row, &parent_row))
            parent = t->stacks.at[parent_row];
        else if (prefix >= 0)
            return error_set(f->err, ERROR_FORMAT,
                             "Firefox profile: the parent of stack %zu does not come before it",
                             row);
        vec_push(&f->scratch, &t->stacks, profile_stack(f->p, parent, t->frames.at[frame]));
    }
    return true;
}

static bool load_tables(Firefox *f, const JsonValue *owner, Tables *t)
{
    load_columns(f, owner, t);
    load_frames(f, t);
    return load_stacks(f, t);
}

static MetricId metric_of(Profile *p, Str name, Str unit)
{
    for (uint32_t i = 0; i < p->metrics.name.len; i++)
        if (str_equal(profile_text(p, p->metrics.name.at[i]), name))
            return (MetricId){i};
    return profile_add_metric(p, name, unit, METRIC_SUM, STR(""));
}

typedef struct Weights {
    MetricId metric;
    double factor;
    double absent; // weight of a sample that has none
} Weights;

static Weights weights_of(Firefox *f, const JsonValue *samples)
{
    Str type = json_text(json_find(samples, "weightType")), own = f->metric;
    if (str_equal(type, STR("tracing-ms")))
        return (Weights){metric_of(f->p, own.len ? own : STR("wall time"), STR("ns")), 1e6,
                         f->interval_ns / 1e6};
    if (str_equal(type, STR("bytes")))
        return (Weights){metric_of(f->p, own.len ? own : STR("bytes"), STR("bytes")), 1, 0};
    return (Weights){metric_of(f->p, own.len ? own : STR("samples"), STR("")), 1, 1};
}

static bool load_samples(Firefox *f, const JsonValue *samples, const Tables *t, ThreadId thread)
{
    JsonColumn stacks = column(f, samples, "stack");
    JsonColumn times = column(f, samples, "time");
    JsonColumn deltas = column(f, samples, "timeDeltas");
    JsonColumn weights = column(f, samples, "weight");
    JsonColumn cpu = column(f, samples, "threadCPUDelta");
    Weights w = weights_of(f, samples);
    MetricId cpu_time = {0};
    if (cpu.len)
        cpu_time = metric_of(f->p, STR("cpu time"), STR("ns"));
    double now_ms = 0;
    for (size_t row = 0; row < stacks.len; row++) {
        now_ms += json_column_number(&deltas, row, 0);
        double at_ms = json_column_number(&times, row, now_ms);
        bool timed = times.len || deltas.len;
        size_t stack_row;
        StackId stack = {0};
        double number = json_column_number(&stacks, row, -1);
        if (json_number_as_row(number, t->stacks.len, &stack_row))
            stack = t->stacks.at[stack_row];
        else if (number >= 0)
            return error_set(f->err, ERROR_FORMAT, "Firefox profile: sample %zu has no stack", row);
        size_t sample =
            profile_add_sample(f->p, timed ? json_number_as_i64(at_ms * 1e6) : TIME_NONE, thread,
                               stack, SAMPLE_CPU_NONE);
        double weight = json_column_number(&weights, row, w.absent);
        profile_sample_set(f->p, sample, w.metric, json_number_as_i64(weight * w.factor));
        if (cpu.len)
            profile_sample_set(
                f->p, sample, cpu_time,
                json_number_as_i64(json_column_number(&cpu, row, 0) * f->cpu_factor));
    }
    return true;
}

// pid and tid are text or number, by version.
static uint32_t id_of(const JsonValue *v)
{
    uint64_t id = 0;
    if (v && v->kind == JSON_STRING)
        return str_parse_u64(v->text, 10, &id) && id <= UINT32_MAX ? (uint32_t)id : 0;
    return json_number_as_u32(json_number(v, 0));
}

static bool load_thread(Firefox *f, const JsonValue *thread)
{
    Profile *p = f->p;
    Tables own = {0};
    const Tables *t = &f->shared;
    if (json_find(thread, "stackTable")) {
        if (!load_tables(f, thread, &own))
            return false;
        t = &own;
    }
    StrId process_name = profile_str(p, json_text(json_find(thread, "processName")));
    uint32_t pid = id_of(json_find(thread, "pid"));
    ProcessId process = {(uint32_t)p->processes.pid.len - 1};
    if (p->processes.pid.len == 0 || p->processes.pid.at[process.v] != pid)
        process = profile_add_process(p, pid, 0, process_name, TIME_NONE);
    StrId name = profile_str(p, json_text(json_find(thread, "name")));
    ThreadId id = profile_add_thread(p, process, id_of(json_find(thread, "tid")), name, TIME_NONE);
    return load_samples(f, json_find(thread, "samples"), t, id);
}

static void load_libs(Firefox *f, const JsonValue *libs)
{
    for (const JsonValue *lib = libs ? libs->child : NULL; lib; lib = lib->next) {
        Str path = json_text(json_find(lib, "path"));
        if (path.len == 0)
            path = json_text(json_find(lib, "name"));
        vec_push(&f->scratch, &f->libs,
                 profile_module(f->p, import_module_kind(path), path,
                                json_text(json_find(lib, "codeId"))));
    }
}

// meta.extra: sections {label, entries: {label, value}}.
static void load_extra(Firefox *f, const JsonValue *sections)
{
    for (const JsonValue *s = sections ? sections->child : NULL; s; s = s->next) {
        if (!str_equal(json_text(json_find(s, "label")), STR("assay")))
            continue;
        const JsonValue *entries = json_find(s, "entries");
        for (const JsonValue *e = entries ? entries->child : NULL; e; e = e->next)
            if (str_equal(json_text(json_find(e, "label")), STR("metric")))
                f->metric = json_text(json_find(e, "value"));
    }
}

static void load_meta(Firefox *f, const JsonValue *meta)
{
    load_extra(f, json_find(meta, "extra"));
    f->interval_ns = json_number(json_find(meta, "interval"), 1) * 1e6;
    f->categories = column(f, meta, "categories");
    Str unit = json_text(json_find(json_find(meta, "sampleUnits"), "threadCPUDelta"));
    f->cpu_factor = str_equal(unit, STR("ns")) ? 1 : 1e3;
    Str product = json_text(json_find(meta, "product"));
    if (product.len)
        profile_set_fact(f->p, STR(FACT_COMMAND), product);
}

static bool load(Firefox *f, const JsonValue *root)
{
    const JsonValue *threads = json_find(root, "threads");
    if (!threads || threads->kind != JSON_ARRAY || !json_find(root, "meta"))
        return error_set(f->err, ERROR_FORMAT, "Firefox profile: no meta or no threads");
    load_meta(f, json_find(root, "meta"));
    load_libs(f, json_find(root, "libs"));
    f->shared_tables = json_find(root, "shared");
    if (json_find(f->shared_tables, "stackTable") && !load_tables(f, f->shared_tables, &f->shared))
        return false;
    for (const JsonValue *thread = threads->child; thread; thread = thread->next)
        if (!load_thread(f, thread))
            return false;
    return true;
}

// A file that the developer tools of Firefox saved (59, for one) holds the profile beside lists of
// their own.
static const JsonValue *without_wrapper(const JsonValue *root)
{
    const JsonValue *inner = json_find(root, "profile");
    return !json_find(root, "threads") && inner && inner->kind == JSON_OBJECT ? inner : root;
}

bool import_firefox(Bytes file, Profile *p, Error *err)
{
    Firefox f = {.p = p, .err = err};
    JsonValue *parsed;
    if (!json_parse(&f.scratch, str_from_bytes(file), &parsed, err)) {
        arena_deinit(&f.scratch);
        return error_context(err, "Firefox profile");
    }
    const JsonValue *root = without_wrapper(parsed);
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import firefox"));
    bool ok = gecko_is(root) ? gecko_load(&f.scratch, p, root, err) : load(&f, root);
    arena_deinit(&f.scratch);
    if (!ok)
        profile_deinit(p);
    return ok;
}
