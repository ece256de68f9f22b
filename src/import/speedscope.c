// SPDX-License-Identifier: Apache-2.0
// speedscope's JSON -> Profile: sampled and evented profiles, each one thread.
// Format: github.com/jlfwong/speedscope, src/lib/file-format-spec.ts.

#include "import/import.h"

#include "import/json_import_internal.h"
#include "import/places_internal.h"
#include "model/facts.h"

typedef struct Speedscope {
    Profile *p;
    Arena scratch;
    FrameIdVec frames; // by index of shared.frames
    ProcessId process;
    Error *err;
} Speedscope;

typedef struct UnitKind {
    Str name;
    Str metric;
    Str unit;
    double factor;
} UnitKind;

static UnitKind unit_of(Str name)
{
    static const UnitKind kinds[] = {
        {STR_INIT("none"), STR_INIT("samples"), STR_INIT(""), 1},
        {STR_INIT("nanoseconds"), STR_INIT("cpu time"), STR_INIT("ns"), 1},
        {STR_INIT("microseconds"), STR_INIT("cpu time"), STR_INIT("ns"), 1e3},
        {STR_INIT("milliseconds"), STR_INIT("cpu time"), STR_INIT("ns"), 1e6},
        {STR_INIT("seconds"), STR_INIT("cpu time"), STR_INIT("ns"), 1e9},
        {STR_INIT("bytes"), STR_INIT("bytes"), STR_INIT("bytes"), 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_equal(kinds[i].name, name))
            return kinds[i];
    return kinds[0];
}

static MetricId metric_of(Profile *p, const UnitKind *unit)
{
    for (uint32_t i = 0; i < p->metrics.name.len; i++)
        if (str_equal(profile_text(p, p->metrics.name.at[i]), unit->metric))
            return (MetricId){i};
    return profile_add_metric(p, unit->metric, unit->unit, METRIC_SUM, STR(""));
}

static void read_frames(Speedscope *s, const JsonValue *list)
{
    for (const JsonValue *f = list ? list->child : NULL; f; f = f->next) {
        Str name = json_text(json_find(f, "name"));
        Str file = json_text(json_find(f, "file"));
        uint32_t line = json_number_as_u32(json_number(json_find(f, "line"), 0));
        FunctionId function = profile_function(s->p, name, name, STR(""), 0);
        FrameId frame =
            import_named_frame(s->p, (ModuleId){0}, 0, function, profile_str(s->p, file), line, 0);
        vec_push(&s->scratch, &s->frames, frame);
    }
}

static bool frame_of(const Speedscope *s, const JsonValue *index, FrameId *ret)
{
    size_t row;
    if (!index || index->kind != JSON_NUMBER ||
        !json_number_as_row(index->number, s->frames.len, &row))
        return error_set(s->err, ERROR_FORMAT, "speedscope: a frame number past the %zu frames",
                         s->frames.len);
    *ret = s->frames.at[row];
    return true;
}

static void add_sample(Speedscope *s, ThreadId thread, StackId stack, int64_t time_ns,
                       MetricId metric, double weight)
{
    size_t row = profile_add_sample(s->p, time_ns, thread, stack, SAMPLE_CPU_NONE);
    profile_sample_set(s->p, row, metric, json_number_as_i64(weight));
}

static int64_t time_of(const UnitKind *unit, double at)
{
    return str_equal(unit->unit, STR("ns")) ? json_number_as_i64(at * unit->factor) : TIME_NONE;
}

static bool read_sampled(Speedscope *s, const JsonValue *profile, ThreadId thread,
                         const UnitKind *unit, MetricId metric)
{
    JsonColumn weights = json_column(&s->scratch, json_find(profile, "weights"));
    const JsonValue *samples = json_find(profile, "samples");
    double at = json_number(json_find(profile, "startValue"), 0);
    size_t row = 0;
    for (const JsonValue *v = samples ? samples->child : NULL; v; v = v->next, row++) {
        StackId stack = {0};
        for (const JsonValue *f = v->child; f; f = f->next) {
            FrameId frame;
            if (!frame_of(s, f, &frame))
                return false;
            stack = profile_stack(s->p, stack, frame);
        }
        double weight = json_column_number(&weights, row, 1);
        add_sample(s, thread, stack, time_of(unit, at), metric, weight * unit->factor);
        at += weight;
    }
    return true;
}

// Time between two events belongs to the stack that is open there.
static bool read_evented(Speedscope *s, const JsonValue *profile, ThreadId thread,
                         const UnitKind *unit, MetricId metric)
{
    const JsonValue *events = json_find(profile, "events");
    double before = json_number(json_find(profile, "startValue"), 0);
    StackId stack = {0};
    for (const JsonValue *e = events ? events->child : NULL; e; e = e->next) {
        double at = json_number(json_find(e, "at"), before);
        Str type = json_text(json_find(e, "type"));
        FrameId frame;
        if (!frame_of(s, json_find(e, "frame"), &frame))
            return false;
        if (at > before && stack.v)
            add_sample(s, thread, stack, time_of(unit, before), metric,
                       (at - before) * unit->factor);
        before = MAX(at, before);
        if (str_equal(type, STR("O")))
            stack = profile_stack(s->p, stack, frame);
        else if (stack.v)
            stack = s->p->stacks.parent.at[stack.v];
    }
    return true;
}

static bool read_profile(Speedscope *s, const JsonValue *profile)
{
    Profile *p = s->p;
    UnitKind unit = unit_of(json_text(json_find(profile, "unit")));
    MetricId metric = metric_of(p, &unit);
    StrId name = profile_str(p, json_text(json_find(profile, "name")));
    ThreadId thread =
        profile_add_thread(p, s->process, (uint32_t)p->threads.tid.len, name, TIME_NONE);
    if (str_equal(json_text(json_find(profile, "type")), STR("evented")))
        return read_evented(s, profile, thread, &unit, metric);
    return read_sampled(s, profile, thread, &unit, metric);
}

bool import_speedscope(Bytes file, Profile *p, Error *err)
{
    Speedscope s = {.p = p, .err = err};
    JsonValue *root;
    if (!json_parse(&s.scratch, str_from_bytes(file), &root, err)) {
        arena_deinit(&s.scratch);
        return error_context(err, "speedscope");
    }
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import speedscope"));
    StrId name = profile_str(p, json_text(json_find(root, "name")));
    s.process = profile_add_process(p, 0, 0, name, TIME_NONE);
    read_frames(&s, json_find(json_find(root, "shared"), "frames"));
    const JsonValue *profiles = json_find(root, "profiles");
    bool ok = profiles && profiles->kind == JSON_ARRAY;
    if (!ok)
        error_set(err, ERROR_FORMAT, "speedscope: no list of profiles");
    for (const JsonValue *v = ok ? profiles->child : NULL; ok && v; v = v->next)
        ok = read_profile(&s, v);
    arena_deinit(&s.scratch);
    if (!ok)
        profile_deinit(p);
    return ok;
}
