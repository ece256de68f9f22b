// SPDX-License-Identifier: Apache-2.0
// Gecko profiles -> Profile: what Firefox's own profiler writes, before the Firefox Profiler has
// processed it; simpleperf's gecko_profile_generator writes the same. Also the older form, in
// which a sample holds its frames.
// Format: github.com/firefox-devtools/profiler, src/types/gecko-profile.ts,
// docs-developer/gecko-profile-format.md.

#include "import/firefox_internal.h"

#include "import/json_import_internal.h"
#include "import/places_internal.h"
#include "model/facts.h"

enum { PROCESS_DEPTH_MAX = 16 };

// A table {"schema": {name: column}, "data": [[…]]}. Rows may be shorter than the schema.
typedef struct GeckoTable {
    const JsonValue *schema;
    JsonColumn rows;
} GeckoTable;

typedef struct GeckoLib {
    double start, end, offset; // addresses in the process
    ModuleId module;
} GeckoLib;

// One process: the thread's tables refer to its libraries and categories.
typedef struct GeckoProcess {
    Vec(GeckoLib) libs;
    JsonColumn categories;
    double shift_ms; // from the process's start to that of the first process
    double interval_ms;
    double cpu_factor; // of threadCPUDelta to ns
    StrId name;        // "" when the file does not say
} GeckoProcess;

typedef struct Gecko {
    Arena *scratch;
    Profile *p;
    double start_ms; // of the first process
    bool has_start;
    Error *err;
} Gecko;

// ---- Tables ----------------------------------------------------------------

static GeckoTable table_of(Gecko *g, const JsonValue *owner, const char *name)
{
    const JsonValue *table = json_find(owner, name);
    return (GeckoTable){json_find(table, "schema"),
                        json_column(g->scratch, json_find(table, "data"))};
}

// The position of a field in the rows; SIZE_MAX when the table has none of the name.
static size_t field_of(const GeckoTable *t, const char *name)
{
    double at = json_number(json_find(t->schema, name), -1);
    size_t ret;
    return json_number_as_row(at, 1000, &ret) ? ret : SIZE_MAX;
}

// The value of a field in a row; NULL when the row is too short.
static const JsonValue *value_at(const GeckoTable *t, size_t row, size_t field)
{
    const JsonValue *v = t->rows.at[row]->child;
    if (t->rows.at[row]->kind != JSON_ARRAY || field == SIZE_MAX)
        return NULL;
    while (v && field--)
        v = v->next;
    return v;
}

// ---- Frames ----------------------------------------------------------------

// "f (url:12:3)" -> function, file and line, as JavaScript's frames are written. Native frames of
// simpleperf read "f (in lib.so)".
typedef struct Location {
    Str name, file, lib;
    uint32_t line;
} Location;

// Takes ":12" from the end of a text.
static bool take_number(Str *text, uint32_t *ret)
{
    size_t colon = str_find_last_char(*text, ':');
    uint64_t number;
    if (colon == SIZE_MAX || colon == 0 ||
        !str_parse_u64(str_slice(*text, colon + 1, text->len), 10, &number) || number > UINT32_MAX)
        return false;
    text->len = colon;
    *ret = (uint32_t)number;
    return true;
}

static Location location_of(Str text)
{
    Location l = {.name = text};
    size_t in = str_find(text, STR(" (in "));
    size_t open = str_find_last_char(text, '('), close = str_find_last_char(text, ')');
    uint32_t column;
    if (in != SIZE_MAX && close != SIZE_MAX && close > in) {
        l.name = str_slice(text, 0, in);
        l.lib = str_slice(text, in + 5, close);
    } else if (open != SIZE_MAX && close == text.len - 1) {
        Str place = str_slice(text, open + 1, close);
        if (!take_number(&place, &l.line))
            return (Location){.name = text};
        if (take_number(&place, &column)) // the first number was the column
            l.line = column;
        l.name = open ? str_trim(str_slice(text, 0, open)) : place;
        l.file = place;
    }
    return l;
}

static const GeckoLib *lib_at(const GeckoProcess *process, double address)
{
    for (size_t i = 0; i < process->libs.len; i++)
        if (address >= process->libs.at[i].start && address < process->libs.at[i].end)
            return &process->libs.at[i];
    return NULL;
}

static FrameId frame_of(Gecko *g, const GeckoProcess *process, Str text, uint32_t line,
                        uint8_t flags)
{
    uint64_t address;
    Profile *p = g->p;
    if (str_starts_with(text, STR("0x")) && str_parse_u64(text, 0, &address)) {
        const GeckoLib *lib = lib_at(process, (double)address);
        if (lib)
            address = address - (uint64_t)lib->start + (uint64_t)lib->offset;
        ModuleId module = lib ? lib->module : (ModuleId){0};
        return profile_frame(p, module, address, flags | import_kernel_flag(p, module));
    }
    Location l = location_of(text);
    ModuleId module = {0};
    if (l.lib.len)
        module = profile_module(p, import_module_kind(l.lib), l.lib, STR(""));
    FunctionId function = profile_function(p, l.name, l.name, l.file, l.line);
    return import_named_frame(p, module, 0, function, profile_str(p, l.file), line ? line : l.line,
                              flags);
}

static uint8_t flags_of(const GeckoProcess *process, double category)
{
    size_t row;
    bool known = json_number_as_row(category, process->categories.len, &row);
    Str name = known ? json_text(json_find(process->categories.at[row], "name")) : STR("");
    return str_equal(name, STR("Kernel")) ? FRAME_KERNEL : 0;
}

static void load_frames(Gecko *g, const GeckoProcess *process, const JsonValue *thread,
                        const JsonColumn *strings, FrameIdVec *ret)
{
    GeckoTable t = table_of(g, thread, "frameTable");
    size_t location = field_of(&t, "location"), line = field_of(&t, "line");
    size_t category = field_of(&t, "category");
    for (size_t row = 0; row < t.rows.len; row++) {
        size_t at;
        double number = json_number(value_at(&t, row, location), -1);
        Str text =
            json_number_as_row(number, strings->len, &at) ? json_text(strings->at[at]) : STR("");
        uint32_t number_of_line = json_number_as_u32(json_number(value_at(&t, row, line), 0));
        uint8_t flags = flags_of(process, json_number(value_at(&t, row, category), -1));
        vec_push(g->scratch, ret, frame_of(g, process, text, number_of_line, flags));
    }
}

// The first frame of each stack of Firefox is an artificial "(root)".
static bool is_root(const Gecko *g, FrameId frame)
{
    const Profile *p = g->p;
    return str_equal(profile_text(p, p->functions.name.at[p->frames.function.at[frame.v].v]),
                     STR("(root)"));
}

static bool load_stacks(Gecko *g, const JsonValue *thread, const FrameIdVec *frames,
                        StackIdVec *ret)
{
    GeckoTable t = table_of(g, thread, "stackTable");
    size_t prefix = field_of(&t, "prefix"), frame = field_of(&t, "frame");
    for (size_t row = 0; row < t.rows.len; row++) {
        size_t parent, own;
        double above = json_number(value_at(&t, row, prefix), -1);
        if (!json_number_as_row(json_number(value_at(&t, row, frame), -1), frames->len, &own))
            return error_set(g->err, ERROR_FORMAT, "Gecko profile: stack %zu has no frame", row);
        StackId stack = {0};
        if (json_number_as_row(above, row, &parent))
            stack = ret->at[parent];
        else if (above >= 0)
            return error_set(g->err, ERROR_FORMAT,
                             "Gecko profile: the parent of stack %zu does not come before it", row);
        bool is_artificial = stack.v == 0 && is_root(g, frames->at[own]);
        if (!is_artificial)
            stack = profile_stack(g->p, stack, frames->at[own]);
        vec_push(g->scratch, ret, stack);
    }
    return true;
}

// ---- Samples ---------------------------------------------------------------

static MetricId metric_of(Profile *p, Str name, Str unit)
{
    for (uint32_t i = 0; i < p->metrics.name.len; i++)
        if (str_equal(profile_text(p, p->metrics.name.at[i]), name))
            return (MetricId){i};
    return profile_add_metric(p, name, unit, METRIC_SUM, STR(""));
}

static size_t add_sample(Gecko *g, const GeckoProcess *process, ThreadId thread, StackId stack,
                         double time_ms)
{
    // NaN: the sample has no time
    int64_t time_ns =
        time_ms == time_ms ? json_number_as_i64((time_ms + process->shift_ms) * 1e6) : TIME_NONE;
    size_t sample = profile_add_sample(g->p, time_ns, thread, stack, SAMPLE_CPU_NONE);
    profile_sample_set(g->p, sample, metric_of(g->p, STR("samples"), STR("")), 1);
    return sample;
}

static bool load_samples(Gecko *g, const GeckoProcess *process, const JsonValue *thread,
                         const StackIdVec *stacks, ThreadId id)
{
    GeckoTable t = table_of(g, thread, "samples");
    size_t stack = field_of(&t, "stack"), time = field_of(&t, "time");
    size_t cpu = field_of(&t, "threadCPUDelta");
    for (size_t row = 0; row < t.rows.len; row++) {
        size_t at;
        double number = json_number(value_at(&t, row, stack), -1);
        StackId of = {0};
        if (json_number_as_row(number, stacks->len, &at))
            of = stacks->at[at];
        else if (number >= 0)
            return error_set(g->err, ERROR_FORMAT, "Gecko profile: sample %zu has no stack", row);
        size_t sample =
            add_sample(g, process, id, of, json_number(value_at(&t, row, time), __builtin_nan("")));
        double used = json_number(value_at(&t, row, cpu), 0);
        if (cpu != SIZE_MAX)
            profile_sample_set(g->p, sample, metric_of(g->p, STR("cpu time"), STR("ns")),
                               json_number_as_i64(used * process->cpu_factor));
    }
    return true;
}

// Before tables: [{"time": 1, "frames": [{"location": "f", "line": 2}, …]}, …], root first.
static void load_old_samples(Gecko *g, const GeckoProcess *process, const JsonValue *samples,
                             ThreadId id)
{
    for (const JsonValue *s = samples->child; s; s = s->next) {
        const JsonValue *frames = json_find(s, "frames");
        StackId stack = {0};
        for (const JsonValue *f = frames ? frames->child : NULL; f; f = f->next) {
            Str text = f->kind == JSON_STRING ? f->text : json_text(json_find(f, "location"));
            FrameId frame = frame_of(g, process, text,
                                     json_number_as_u32(json_number(json_find(f, "line"), 0)), 0);
            if (stack.v || !is_root(g, frame))
                stack = profile_stack(g->p, stack, frame);
        }
        add_sample(g, process, id, stack, json_number(json_find(s, "time"), __builtin_nan("")));
    }
}

// ---- Threads and processes -------------------------------------------------

static uint32_t id_of(const JsonValue *v)
{
    uint64_t id = 0;
    if (v && v->kind == JSON_STRING)
        return str_parse_u64(v->text, 10, &id) && id <= UINT32_MAX ? (uint32_t)id : 0;
    return json_number_as_u32(json_number(v, 0));
}

static ThreadId add_thread(Gecko *g, const GeckoProcess *process, const JsonValue *thread)
{
    Profile *p = g->p;
    StrId name = profile_str(p, json_text(json_find(thread, "processName")));
    uint32_t pid = id_of(json_find(thread, "pid"));
    ProcessId of = {(uint32_t)p->processes.pid.len - 1};
    if (p->processes.pid.len == 0 || p->processes.pid.at[of.v] != pid)
        of = profile_add_process(p, pid, 0, name.v ? name : process->name, TIME_NONE);
    return profile_add_thread(p, of, id_of(json_find(thread, "tid")),
                              profile_str(p, json_text(json_find(thread, "name"))), TIME_NONE);
}

static bool load_thread(Gecko *g, const GeckoProcess *process, const JsonValue *thread)
{
    const JsonValue *samples = json_find(thread, "samples");
    JsonColumn strings = json_column(g->scratch, json_find(thread, "stringTable"));
    FrameIdVec frames = {0};
    StackIdVec stacks = {0};
    ThreadId id = add_thread(g, process, thread);
    if (samples && samples->kind == JSON_ARRAY) {
        load_old_samples(g, process, samples, id);
        return true;
    }
    load_frames(g, process, thread, &strings, &frames);
    return load_stacks(g, thread, &frames, &stacks) &&
           load_samples(g, process, thread, &stacks, id);
}

static void load_libs(Gecko *g, const JsonValue *libs, GeckoProcess *process)
{
    for (const JsonValue *l = libs ? libs->child : NULL; l; l = l->next) {
        Str path = json_text(json_find(l, "path"));
        if (path.len == 0)
            path = json_text(json_find(l, "name"));
        GeckoLib lib = {.start = json_number(json_find(l, "start"), 0),
                        .end = json_number(json_find(l, "end"), 0),
                        .offset = json_number(json_find(l, "offset"), 0)};
        lib.module =
            profile_module(g->p, import_module_kind(path), path, json_text(json_find(l, "codeId")));
        vec_push(g->scratch, &process->libs, lib);
    }
}

static void load_meta(Gecko *g, const JsonValue *meta, GeckoProcess *process)
{
    double start = json_number(json_find(meta, "startTime"), 0);
    if (!g->has_start)
        g->start_ms = start;
    g->has_start = true;
    process->shift_ms = start != 0 && g->start_ms != 0 ? start - g->start_ms : 0;
    process->categories = json_column(g->scratch, json_find(meta, "categories"));
    Str unit = json_text(json_find(json_find(meta, "sampleUnits"), "threadCPUDelta"));
    process->cpu_factor = str_equal(unit, STR("ns")) ? 1 : 1e3;
    Str product = json_text(json_find(meta, "product"));
    if (product.len && profile_fact(g->p, STR(FACT_COMMAND)).len == 0)
        profile_set_fact(g->p, STR(FACT_COMMAND), product);
}

static bool load_process(Gecko *g, const JsonValue *root, unsigned depth)
{
    if (depth == PROCESS_DEPTH_MAX)
        return error_set(g->err, ERROR_LIMIT, "Gecko profile: processes nest more than %u deep",
                         depth);
    GeckoProcess process = {0};
    const JsonValue *threads = json_find(root, "threads"), *nested = json_find(root, "processes");
    load_meta(g, json_find(root, "meta"), &process);
    load_libs(g, json_find(root, "libs"), &process);
    for (const JsonValue *t = threads ? threads->child : NULL; t; t = t->next) {
        bool is_text = t->kind == JSON_STRING; // another process, as text, before version 4
        JsonValue *inner;
        bool ok = !is_text ? load_thread(g, &process, t)
                           : json_parse(g->scratch, t->text, &inner, g->err) &&
                                 load_process(g, inner, depth + 1);
        if (!ok)
            return false;
    }
    for (const JsonValue *n = nested ? nested->child : NULL; n; n = n->next)
        if (!load_process(g, n, depth + 1))
            return false;
    return true;
}

bool gecko_is(const JsonValue *root)
{
    const JsonValue *threads = json_find(root, "threads");
    if (json_find(json_find(root, "meta"), "preprocessedProfileVersion") || !threads ||
        threads->kind != JSON_ARRAY)
        return false;
    for (const JsonValue *t = threads->child; t; t = t->next) {
        const JsonValue *samples = json_find(t, "samples");
        if (t->kind == JSON_STRING || json_find(samples, "schema") ||
            (samples && samples->kind == JSON_ARRAY))
            return true;
    }
    const JsonValue *nested = json_find(root, "processes");
    return nested && nested->kind == JSON_ARRAY && nested->count;
}

bool gecko_load(Arena *scratch, Profile *p, const JsonValue *root, Error *err)
{
    Gecko g = {.scratch = scratch, .p = p, .err = err};
    return load_process(&g, root, 0);
}
