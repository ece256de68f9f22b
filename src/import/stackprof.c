// SPDX-License-Identifier: Apache-2.0
// Profiles of stackprof (Ruby: StackProf.run, stackprof --json) -> Profile. Ruby's dump and the
// JSON hold the same members. Format: github.com/tmm1/stackprof, README "all options" and "raw": of
// each sample the number of frames, their ids from the outermost on, and how often it came in a
// row.

#include "import/stackprof_internal.h"

#include "base/table.h"
#include "import/json_import_internal.h"
#include "import/places_internal.h"
#include "import/stacks/ruby_marshal.h"
#include "model/facts.h"

typedef struct Stackprof {
    Profile *p;
    Arena scratch;
    Table by_id;
    StrVec ids; // by row
    Vec(FrameId) frames;
    ThreadId thread;
    MetricId metric;
    int64_t period; // a sample adds it: ns, or 1
    Error *err;
} Stackprof;

static bool frame_find(const Stackprof *s, Str id, FrameId *ret)
{
    uint32_t row;
    for (TableProbe p = table_probe(&s->by_id, str_hash(id)); table_next(&s->by_id, &p, &row);)
        if (str_equal(s->ids.at[row], id)) {
            *ret = s->frames.at[row];
            return true;
        }
    return false;
}

static FrameId frame_of(Profile *p, const JsonValue *json)
{
    Str name = json_text(json_find(json, "name")), file = json_text(json_find(json, "file"));
    uint32_t line = json_number_as_u32(json_number(json_find(json, "line"), 0));
    FunctionId function = profile_function(p, name, name, file, line);
    return import_named_frame(p, (ModuleId){0}, 0, function, (StrId){0}, 0, 0);
}

static void read_frames(Stackprof *s, const JsonValue *frames)
{
    for (const JsonValue *v = frames->child; v; v = v->next) {
        table_insert(&s->by_id, str_hash(v->key), (uint32_t)s->ids.len);
        vec_push(&s->scratch, &s->ids, v->key);
        vec_push(&s->scratch, &s->frames, frame_of(s->p, v));
    }
}

static bool add_sample(Stackprof *s, StackId stack, double count)
{
    int64_t value;
    if (__builtin_mul_overflow(json_number_as_i64(count), s->period, &value))
        return error_set(s->err, ERROR_FORMAT, "stackprof: %.0f samples are too many", count);
    size_t row = profile_add_sample(s->p, TIME_NONE, s->thread, stack, SAMPLE_CPU_NONE);
    profile_sample_set(s->p, row, s->metric, value);
    return true;
}

static bool read_raw(Stackprof *s, const JsonValue *raw)
{
    const JsonValue *v = raw->child;
    size_t count;
    while (v) {
        StackId stack = {0};
        if (!json_number_as_row(json_number(v, -1), raw->count, &count))
            return error_set(s->err, ERROR_FORMAT, "stackprof: a stack of '%" STR_FMT "' frames",
                             STR_ARG(v->text));
        for (v = v->next; v && count; v = v->next, count--) {
            FrameId frame;
            if (!frame_find(s, v->text, &frame))
                return error_set(s->err, ERROR_FORMAT,
                                 "stackprof: the frame '%" STR_FMT "' is not there",
                                 STR_ARG(v->text));
            stack = profile_stack(s->p, stack, frame);
        }
        if (!v)
            return error_set(s->err, ERROR_FORMAT, "stackprof: the last stack is cut");
        if (!add_sample(s, stack, json_number(v, 0)))
            return false;
        v = v->next;
    }
    return true;
}

// Without `raw` only the counts of each function are there.
static bool read_counts(Stackprof *s, const JsonValue *frames)
{
    size_t row = 0;
    for (const JsonValue *v = frames->child; v; v = v->next, row++) {
        double count = json_number(json_find(v, "samples"), 0);
        StackId stack = profile_stack(s->p, (StackId){0}, s->frames.at[row]);
        if (count > 0 && !add_sample(s, stack, count))
            return false;
    }
    profile_note(s->p, NOTE_WARNING, STR("no-stacks"),
                 "the file has no stacks, only counts of functions: record with raw: true");
    return true;
}

static bool read_profile(Stackprof *s, const JsonValue *root)
{
    const JsonValue *frames = json_find(root, "frames"), *raw = json_find(root, "raw");
    Str mode = json_text(json_find(root, "mode"));
    bool is_cpu = str_equal(mode, STR("cpu")), is_wall = str_equal(mode, STR("wall"));
    double interval_us = json_number(json_find(root, "interval"), 0);
    if (!frames || frames->kind != JSON_OBJECT)
        return error_set(s->err, ERROR_FORMAT, "stackprof: no frames");
    bool has_time = (is_cpu || is_wall) && interval_us >= 1 && interval_us < 1e9;
    s->period = has_time ? json_number_as_i64(interval_us * 1e3) : 1;
    Str name = !has_time ? STR("samples") : is_cpu ? STR("cpu time") : STR("wall time");
    s->metric = profile_add_metric(s->p, name, has_time ? STR("ns") : STR(""), METRIC_SUM, mode);
    StrId ruby = profile_str(s->p, STR("ruby"));
    ProcessId process = profile_add_process(s->p, 0, 0, ruby, TIME_NONE);
    s->thread = profile_add_thread(s->p, process, 0, ruby, TIME_NONE);
    read_frames(s, frames);
    return raw && raw->kind == JSON_ARRAY ? read_raw(s, raw) : read_counts(s, frames);
}

bool import_stackprof(Bytes file, Profile *p, Error *err)
{
    Stackprof s = {.p = p, .err = err};
    JsonValue *root;
    bool parsed = ruby_marshal_is(file) ? ruby_marshal_parse(&s.scratch, file, &root, err)
                                        : json_parse(&s.scratch, str_from_bytes(file), &root, err);
    if (!parsed) {
        arena_deinit(&s.scratch);
        return error_context(err, "stackprof");
    }
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import stackprof"));
    bool ok = read_profile(&s, root);
    table_deinit(&s.by_id);
    arena_deinit(&s.scratch);
    if (!ok)
        profile_deinit(p);
    return ok;
}
