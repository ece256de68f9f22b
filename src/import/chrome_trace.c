// SPDX-License-Identifier: Apache-2.0
// Traces of Chrome with samples -> Profile: its DevTools, chrome://tracing, our export.
// Format: "Trace Event Format", sections "JSON Array Format", "JSON Object Format", "Metadata
// Events" and "Global Samples"; V8's events "Profile", "ProfileChunk" and "CpuProfile", whose
// arguments are those of the Chrome DevTools Protocol, domain Profiler.

#include "import/chrome_trace_internal.h"

#include "import/cpuprofile_internal.h"
#include "import/json_import_internal.h"
#include "import/places_internal.h"
#include "model/facts.h"

typedef struct TraceThread {
    uint32_t pid, tid;
    Str name;
    ThreadId id; // when it is made: when a sample needs it
    bool is_made;
} TraceThread;

// A profile of V8: its events have the same process and id.
typedef struct TraceProfile {
    uint32_t pid;
    Str id;
    CpuProfile cpu;
    size_t thread; // row of Trace.threads
    double start_us, end_us;
    Vec(const JsonValue *) samples; // ids of nodes
    Vec(double) deltas_us;
} TraceProfile;

typedef struct StackFrame {
    const JsonValue *json;
    StackId stack;
    bool is_placed;
} StackFrame;

typedef struct Trace {
    Profile *p;
    Arena scratch;
    const JsonValue *root, *events;
    bool is_ours;
    Vec(TraceThread) threads;
    Table thread_rows;
    Vec(TraceProfile *) profiles;
    Table profile_rows;
    Vec(StackFrame) frames; // row 0 is none
    Table frame_rows;
    uint64_t idle_ns;
    Error *err;
} Trace;

static uint32_t number_u32(const JsonValue *object, const char *key)
{
    return json_number_as_u32(json_number(json_find(object, key), 0));
}

// ---- Threads -----------------------------------------------------------------

static size_t thread_row(Trace *t, uint32_t pid, uint32_t tid)
{
    uint64_t hash = hash_u64((uint64_t)pid << 32 | tid);
    uint32_t row;
    for (TableProbe p = table_probe(&t->thread_rows, hash); table_next(&t->thread_rows, &p, &row);)
        if (t->threads.at[row].pid == pid && t->threads.at[row].tid == tid)
            return row;
    table_insert(&t->thread_rows, hash, (uint32_t)t->threads.len);
    vec_push(&t->scratch, &t->threads, ((TraceThread){.pid = pid, .tid = tid}));
    return t->threads.len - 1;
}

// The name of a process is that of its row with the thread id UINT32_MAX.
static void read_name(Trace *t, const JsonValue *event)
{
    Str what = json_text(json_find(event, "name"));
    Str name = json_text(json_find(json_find(event, "args"), "name"));
    uint32_t pid = number_u32(event, "pid");
    bool is_process = str_equal(what, STR("process_name"));
    if (!is_process && !str_equal(what, STR("thread_name")))
        return;
    size_t row = thread_row(t, pid, is_process ? UINT32_MAX : number_u32(event, "tid"));
    t->threads.at[row].name = name;
}

static ProcessId process_of(Trace *t, uint32_t pid)
{
    size_t row = thread_row(t, pid, UINT32_MAX);
    TraceThread *r = &t->threads.at[row];
    if (!r->is_made) {
        // Kept where threads keep theirs: the number of a row.
        r->id.v = profile_add_process(t->p, pid, 0, profile_str(t->p, r->name), TIME_NONE).v;
        r->is_made = true;
    }
    return (ProcessId){r->id.v};
}

static ThreadId thread_of(Trace *t, size_t row)
{
    if (!t->threads.at[row].is_made) {
        ProcessId process = process_of(t, t->threads.at[row].pid);
        TraceThread *r = &t->threads.at[row];
        r->id = profile_add_thread(t->p, process, r->tid, profile_str(t->p, r->name), TIME_NONE);
        r->is_made = true;
    }
    return t->threads.at[row].id;
}

// ---- Global samples ------------------------------------------------------------

static uint32_t frame_row(const Trace *t, Str id)
{
    uint32_t row;
    for (TableProbe p = table_probe(&t->frame_rows, str_hash(id));
         table_next(&t->frame_rows, &p, &row);)
        if (str_equal(t->frames.at[row].json->key, id))
            return row;
    return 0;
}

// Ids are texts, also where they are written as numbers.
static Str id_text(const JsonValue *id)
{
    return id && (id->kind == JSON_STRING || id->kind == JSON_NUMBER) ? id->text : STR("");
}

static bool read_frames(Trace *t)
{
    const JsonValue *frames = json_find(t->root, "stackFrames");
    vec_push(&t->scratch, &t->frames, (StackFrame){.is_placed = true});
    for (const JsonValue *v = frames ? frames->child : NULL; v; v = v->next) {
        if (frame_row(t, v->key))
            return error_set(t->err, ERROR_FORMAT, "Chrome trace: two stack frames '%" STR_FMT "'",
                             STR_ARG(v->key));
        table_insert(&t->frame_rows, str_hash(v->key), (uint32_t)t->frames.len);
        vec_push(&t->scratch, &t->frames, (StackFrame){.json = v});
    }
    return true;
}

// The category of others is any text; ours is the name of the module.
static FrameId frame_of(Trace *t, const JsonValue *json)
{
    Str name = json_text(json_find(json, "name"));
    Str path = t->is_ours ? json_text(json_find(json, "category")) : STR("");
    ModuleId module = {0};
    if (path.len)
        module = profile_module(t->p, import_module_kind(path), path, STR(""));
    FunctionId function = profile_function(t->p, name, name, STR(""), 0);
    return import_named_frame(t->p, module, 0, function, (StrId){0}, 0, 0);
}

// The stack of a frame with all above it. False when one is missing, or they form a circle.
static bool place_frame(Trace *t, Str id, StackId *ret)
{
    U32Vec path = {0};
    uint32_t row = frame_row(t, id);
    bool ok = row != 0;
    while (ok && !t->frames.at[row].is_placed && path.len <= t->frames.len) {
        Str parent = id_text(json_find(t->frames.at[row].json, "parent"));
        vec_push(NULL, &path, row);
        row = parent.len ? frame_row(t, parent) : 0;
        ok = row || !parent.len;
    }
    ok = ok && path.len <= t->frames.len;
    StackId stack = ok ? t->frames.at[row].stack : (StackId){0};
    while (ok && path.len) {
        StackFrame *f = &t->frames.at[vec_pop(&path)];
        stack = f->stack = profile_stack(t->p, stack, frame_of(t, f->json));
        f->is_placed = true;
    }
    vec_free(&path);
    if (!ok)
        return error_set(t->err, ERROR_FORMAT,
                         "Chrome trace: the stack frame '%" STR_FMT
                         "' or a parent of it is missing, or the parents form a loop",
                         STR_ARG(id));
    *ret = stack;
    return true;
}

static MetricId metric_of(Trace *t, Str name)
{
    for (uint32_t m = 0; m < t->p->metrics.name.len; m++)
        if (str_equal(profile_text(t->p, t->p->metrics.name.at[m]), name))
            return (MetricId){m};
    Str unit = t->is_ours ? json_text(json_find(json_find(t->root, "otherData"), "unit")) : STR("");
    return profile_add_metric(t->p, name, unit, METRIC_SUM, STR(""));
}

// Where no sample has a time, they are sums.
static bool have_times(const JsonValue *samples)
{
    for (const JsonValue *v = samples->child; v; v = v->next)
        if (json_number(json_find(v, "ts"), 0) != 0)
            return true;
    return false;
}

static bool read_global_samples(Trace *t, const JsonValue *samples)
{
    enum { METRICS_MAX = 64 };
    bool has_times = have_times(samples);
    double first = has_times && !t->is_ours ? json_number(json_find(samples->child, "ts"), 0) : 0;
    for (const JsonValue *v = samples->child; v; v = v->next) {
        Str frame = id_text(json_find(v, "sf"));
        StackId stack = {0};
        if (frame.len && !place_frame(t, frame, &stack))
            return false;
        MetricId metric = metric_of(t, json_text(json_find(v, "name")));
        if (metric.v >= METRICS_MAX)
            return error_set(t->err, ERROR_FORMAT, "Chrome trace: samples of more than %d events",
                             METRICS_MAX);
        double at = json_number(json_find(v, "ts"), 0) - first;
        ThreadId thread = thread_of(t, thread_row(t, number_u32(v, "pid"), number_u32(v, "tid")));
        const JsonValue *cpu = json_find(v, "cpu");
        size_t row =
            profile_add_sample(t->p, has_times ? json_number_as_i64(at * 1e3) : TIME_NONE, thread,
                               stack, cpu ? number_u32(v, "cpu") : SAMPLE_CPU_NONE);
        profile_sample_set(t->p, row, metric,
                           json_number_as_i64(json_number(json_find(v, "weight"), 1)));
    }
    return true;
}

// ---- Profiles of V8 --------------------------------------------------------------

static TraceProfile *profile_of(Trace *t, const JsonValue *event)
{
    uint32_t pid = number_u32(event, "pid"), row;
    Str id = id_text(json_find(event, "id"));
    uint64_t hash = hash_pair(pid, str_hash(id));
    for (TableProbe p = table_probe(&t->profile_rows, hash);
         table_next(&t->profile_rows, &p, &row);)
        if (t->profiles.at[row]->pid == pid && str_equal(t->profiles.at[row]->id, id))
            return t->profiles.at[row];
    TraceProfile *made = arena_array(&t->scratch, TraceProfile, 1);
    *made = (TraceProfile){.pid = pid, .id = id, .end_us = -1};
    made->thread = thread_row(t, pid, number_u32(event, "tid"));
    made->cpu = (CpuProfile){.p = t->p, .err = t->err};
    cpuprofile_begin(&made->cpu);
    table_insert(&t->profile_rows, hash, (uint32_t)t->profiles.len);
    vec_push(&t->scratch, &t->profiles, made);
    return made;
}

static void add_columns(Trace *t, TraceProfile *f, const JsonValue *samples,
                        const JsonValue *deltas)
{
    for (const JsonValue *v = samples ? samples->child : NULL; v; v = v->next)
        vec_push(&t->scratch, &f->samples, v);
    for (const JsonValue *v = deltas ? deltas->child : NULL; v; v = v->next)
        vec_push(&t->scratch, &f->deltas_us, json_number(v, 0));
}

// The whole profile in one event, as DevTools wrote it until 2017, or a chunk of it.
static bool read_chunk(Trace *t, const JsonValue *event, bool is_whole)
{
    const JsonValue *data = json_find(json_find(event, "args"), "data");
    const JsonValue *cpu = json_find(data, "cpuProfile");
    const JsonValue *deltas = json_find(data, "timeDeltas");
    if (!cpu)
        return true; // a chunk that only ends the profile
    TraceProfile *f = profile_of(t, event);
    if (is_whole) {
        f->start_us = json_number(json_find(cpu, "startTime"), 0);
        if (!cpuprofile_add_tree(&f->cpu, cpu))
            return false;
    } else if (!cpuprofile_add_chunk(&f->cpu, json_find(cpu, "nodes"))) {
        return false;
    }
    const JsonValue *end = json_find(is_whole ? cpu : data, "endTime");
    f->end_us = json_number(end, f->end_us);
    add_columns(t, f, json_find(cpu, "samples"), deltas ? deltas : json_find(cpu, "timeDeltas"));
    return true;
}

static bool read_event(Trace *t, const JsonValue *event)
{
    Str name = json_text(json_find(event, "name"));
    if (str_equal(name, STR("ProfileChunk")) || str_equal(name, STR("CpuProfile")))
        return read_chunk(t, event, str_equal(name, STR("CpuProfile")));
    if (str_equal(name, STR("Profile"))) {
        TraceProfile *f = profile_of(t, event);
        const JsonValue *data = json_find(json_find(event, "args"), "data");
        f->start_us = json_number(json_find(data, "startTime"), 0);
        // Chunks come from the thread that takes the samples.
        f->thread = thread_row(t, f->pid, number_u32(event, "tid"));
    }
    return true;
}

// A sample stands for the time up to the next one. Without the profile's end the last one gets
// the mean of the others, as in DevTools.
static bool add_samples(Trace *t, TraceProfile *f, double first_us)
{
    size_t count = f->samples.len;
    if (f->deltas_us.len != count)
        return error_set(t->err, ERROR_FORMAT,
                         "Chrome trace: a profile with %zu samples and %zu time differences", count,
                         f->deltas_us.len);
    double at = f->start_us - first_us + (count ? f->deltas_us.at[0] : 0);
    double begin = at, latest = MAX(at, 0.0);
    f->cpu.thread = thread_of(t, f->thread);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count)
            at += f->deltas_us.at[i + 1];
        else if (f->end_us >= 0)
            at = f->end_us - first_us;
        else if (count > 1)
            at += (at - begin) / (double)(count - 1);
        double until = MAX(at, latest);
        int64_t from_ns = json_number_as_i64(latest * 1e3);
        if (!cpuprofile_add_sample(&f->cpu, f->samples.at[i], from_ns,
                                   json_number_as_i64(until * 1e3) - from_ns))
            return false;
        latest = until;
    }
    t->idle_ns += f->cpu.idle_ns;
    return true;
}

static bool read_profiles(Trace *t)
{
    for (const JsonValue *v = t->events->child; v; v = v->next)
        if (!read_event(t, v))
            return false;
    size_t samples = 0;
    double first_us = t->profiles.len ? t->profiles.at[0]->start_us : 0;
    for (size_t i = 0; i < t->profiles.len; i++) {
        samples += t->profiles.at[i]->samples.len;
        first_us = MIN(first_us, t->profiles.at[i]->start_us);
    }
    if (samples == 0) {
        (void)error_set(t->err, ERROR_FORMAT, "a Chrome trace without samples");
        return error_hint(t->err, "record it with the category "
                                  "disabled-by-default-v8.cpu_profiler");
    }
    MetricId metric = profile_add_metric(t->p, STR("cpu time"), STR("ns"), METRIC_SUM, STR(""));
    for (size_t i = 0; i < t->profiles.len; i++) {
        t->profiles.at[i]->cpu.metric = metric;
        if (!add_samples(t, t->profiles.at[i], first_us))
            return false;
    }
    cpuprofile_note_idle(t->p, t->idle_ns);
    return true;
}

// ---- The file ------------------------------------------------------------------

static bool read_trace(Trace *t)
{
    const JsonValue *samples = json_find(t->root, "samples");
    const JsonValue *other = json_find(t->root, "otherData");
    t->events = t->root->kind == JSON_ARRAY ? t->root : json_find(t->root, "traceEvents");
    if (!t->events || t->events->kind != JSON_ARRAY)
        return error_set(t->err, ERROR_FORMAT, "Chrome trace: no events");
    t->is_ours = str_equal(json_text(json_find(other, "exporter")), STR("assay"));
    if (t->is_ours)
        profile_set_fact(t->p, STR(FACT_COMMAND), json_text(json_find(other, "command")));
    for (const JsonValue *v = t->events->child; v; v = v->next)
        if (str_equal(json_text(json_find(v, "ph")), STR("M")))
            read_name(t, v);
    if (samples && samples->kind == JSON_ARRAY && samples->child)
        return read_frames(t) && read_global_samples(t, samples);
    return read_profiles(t);
}

bool import_chrome_trace(Bytes file, Profile *p, Error *err)
{
    Trace t = {.p = p, .err = err};
    JsonValue *root;
    if (!json_parse(&t.scratch, str_from_bytes(file), &root, err)) {
        arena_deinit(&t.scratch);
        return error_context(err, "Chrome trace");
    }
    t.root = root;
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import chrome"));
    bool ok = read_trace(&t);
    for (size_t i = 0; i < t.profiles.len; i++)
        cpuprofile_deinit(&t.profiles.at[i]->cpu);
    table_deinit(&t.thread_rows);
    table_deinit(&t.profile_rows);
    table_deinit(&t.frame_rows);
    arena_deinit(&t.scratch);
    if (!ok)
        profile_deinit(p);
    return ok;
}
