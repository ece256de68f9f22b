// SPDX-License-Identifier: Apache-2.0
// Timelines of Safari's Web Inspector as JSON -> Profile.
// Reference: WebKit, Source/WebInspectorUI, TimelineRecording.js, "exportData": version 1, stacks
// in recording.sampleStackTraces, innermost entry first, and their durations in seconds.

#include "import/stacks/stacks.h"

#include "base/json.h"
#include "import/stacks/named.h"

bool safari_is(Bytes head)
{
    Str text = named_beginning(head);
    return str_starts_with(str_trim(text), STR("{")) &&
           str_find(text, STR("\"recording\"")) != SIZE_MAX &&
           (str_find(text, STR("\"sampleStackTraces\"")) != SIZE_MAX ||
            str_find(text, STR("\"instrumentTypes\"")) != SIZE_MAX);
}

static Str text_of(const JsonValue *v)
{
    return v && v->kind == JSON_STRING ? v->text : STR("");
}

static double number_of(const JsonValue *v, double absent)
{
    return v && v->kind == JSON_NUMBER ? v->number : absent;
}

static FrameId frame_of(const Named *n, const JsonValue *json)
{
    Str name = text_of(json_find(json, "name"));
    double line = number_of(json_find(json, "line"), 0);
    return named_frame(n, name.len ? name : STR("(anonymous)"), STR(""),
                       text_of(json_find(json, "url")),
                       line > 0 && line < (double)UINT32_MAX ? (uint32_t)line : 0);
}

static StackId stack_of(const Named *n, const JsonValue *frames, FrameIdVec *scratch)
{
    StackId stack = {0};
    scratch->len = 0;
    for (const JsonValue *f = frames ? frames->child : NULL; f; f = f->next)
        vec_push(NULL, scratch, frame_of(n, f));
    for (size_t i = scratch->len; i-- > 0;)
        stack = profile_stack(n->p, stack, scratch->at[i]);
    return stack;
}

static bool read_recording(Named *n, const JsonValue *recording, Error *err)
{
    const JsonValue *traces = json_find(recording, "sampleStackTraces");
    const JsonValue *durations = json_find(recording, "sampleDurations");
    FrameIdVec scratch = {0};
    bool ok = true;
    if (!traces || traces->kind != JSON_ARRAY || !durations || durations->kind != JSON_ARRAY)
        return error_set(err, ERROR_FORMAT,
                         "safari: no sampleStackTraces with sampleDurations: the timeline "
                         "'JavaScript & Events' was off");
    const JsonValue *duration = durations->child;
    double first = number_of(json_find(traces->child, "timestamp"), 0);
    for (const JsonValue *t = traces->child; t && ok; t = t->next) {
        double seconds = number_of(duration, -1);
        double at = (number_of(json_find(t, "timestamp"), first) - first) * 1e9;
        if (!(seconds >= 0 && seconds < 9e9))
            ok = error_set(err, ERROR_FORMAT, "safari: a stack without a duration");
        StackId stack = stack_of(n, json_find(t, "stackFrames"), &scratch);
        size_t row =
            profile_add_sample(n->p, at >= 0 && at < 9e18 ? (int64_t)(at + 0.5) : TIME_NONE,
                               n->thread, stack, SAMPLE_CPU_NONE);
        profile_sample_set(n->p, row, n->metric, ok ? (int64_t)(seconds * 1e9 + 0.5) : 0);
        duration = duration ? duration->next : NULL;
    }
    vec_free(&scratch);
    return ok;
}

bool import_safari(Bytes file, Profile *p, Error *err)
{
    Arena arena = {0};
    JsonValue *root;
    if (!json_parse(&arena, str_from_bytes(file), &root, err)) {
        arena_deinit(&arena);
        return error_context(err, "safari");
    }
    Named n = named_begin(p, "import safari", (NamedMetric){"cpu time", "ns"});
    bool ok = read_recording(&n, json_find(root, "recording"), err);
    arena_deinit(&arena);
    if (!ok)
        profile_deinit(p);
    return ok;
}
