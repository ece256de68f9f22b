// SPDX-License-Identifier: Apache-2.0
// Chrome's Trace Event format: thread names, intervals, stack frames, samples. Format: "Trace
// Event Format", sections "JSON Object Format", "Complete Events", "Instant Events" and
// "Global Samples".

#include "base/json.h"
#include "export/export_internal.h"
#include "model/facts.h"

static void add_name_event(JsonWriter *w, const char *what, uint32_t pid, uint32_t tid, Str name)
{
    json_begin_object(w, NULL);
    json_str(w, "ph", STR("M"));
    json_str(w, "name", str_from_c(what));
    json_u64(w, "pid", pid);
    json_u64(w, "tid", tid);
    json_begin_object(w, "args");
    json_str(w, "name", name);
    json_end(w);
    json_end(w);
}

static uint32_t pid_of(const Profile *p, uint32_t thread)
{
    return p->processes.pid.at[p->threads.process.at[thread].v];
}

// A span is a complete event of its thread, a mark an instant one.
static void add_interval(JsonWriter *w, const ExportSet *s, const ExportInterval *in)
{
    const Profile *p = s->p;
    uint32_t thread = s->threads.at[in->thread];
    bool is_mark = in->end_ns == in->start_ns;
    json_begin_object(w, NULL);
    json_str(w, "ph", is_mark ? STR("i") : STR("X"));
    json_str(w, "name", profile_text(p, in->name));
    json_str(w, "cat", STR("assay"));
    json_u64(w, "pid", pid_of(p, thread));
    json_u64(w, "tid", p->threads.tid.at[thread]);
    json_double(w, "ts", (double)in->start_ns / 1e3);
    if (is_mark)
        json_str(w, "s", STR("t"));
    else
        json_double(w, "dur", (double)(in->end_ns - in->start_ns) / 1e3);
    if (in->detail.v) {
        json_begin_object(w, "args");
        json_str(w, "detail", profile_text(p, in->detail));
        json_end(w);
    }
    json_end(w);
}

static void add_intervals(JsonWriter *w, ExportOut *out, const ExportSet *s)
{
    ExportIntervals all = export_intervals(s);
    for (size_t i = 0; i < all.starts[s->threads.len]; i++) {
        add_interval(w, s, &all.at[i]);
        if (!export_flush(out, EXPORT_FLUSH))
            break;
    }
    export_intervals_deinit(&all);
}

static void add_events(JsonWriter *w, ExportOut *out, const ExportSet *s)
{
    const Profile *p = s->p;
    json_begin_array(w, "traceEvents");
    for (size_t t = 0; t < s->threads.len; t++) {
        uint32_t thread = s->threads.at[t];
        uint32_t process = p->threads.process.at[thread].v;
        uint32_t pid = pid_of(p, thread), tid = p->threads.tid.at[thread];
        add_name_event(w, "process_name", pid, tid, profile_text(p, p->processes.name.at[process]));
        add_name_event(w, "thread_name", pid, tid, export_thread_name(p, thread));
    }
    add_intervals(w, out, s);
    json_end(w);
}

static void add_frames(JsonWriter *w, ExportOut *out, const ExportSet *s)
{
    const Profile *p = s->p;
    StrBuf text = {0};
    json_begin_object(w, "stackFrames");
    for (size_t i = 0; i < s->stacks.len; i++) {
        const ExportStack *row = &s->stacks.at[i];
        strbuf_clear(&text);
        strbuf_add_u64(&text, i);
        json_key(w, strbuf_str(&text));
        json_begin_object(w, NULL);
        strbuf_clear(&text);
        export_add_name(s, s->keys.of_frame[row->frame], &text);
        json_str(w, "name", strbuf_str(&text));
        Str path = profile_text(p, p->modules.path.at[p->frames.module.at[row->frame].v]);
        json_str(w, "category", str_base_name(path));
        if (row->parent != EXPORT_NONE) {
            strbuf_clear(&text);
            strbuf_add_u64(&text, row->parent);
            json_str(w, "parent", strbuf_str(&text));
        }
        json_end(w);
        if (!export_flush(out, EXPORT_FLUSH))
            break;
    }
    json_end(w);
    strbuf_deinit(&text);
}

static void add_samples(JsonWriter *w, ExportOut *out, const ExportSet *s)
{
    const Profile *p = s->p;
    uint32_t metric = s->request->selection.metric.v;
    StrBuf row_text = {0};
    json_begin_array(w, "samples");
    for (size_t i = 0; i < s->samples.len; i++) {
        uint32_t sample = s->samples.at[i];
        uint32_t thread = p->samples.thread.at[sample].v;
        uint32_t stack = p->samples.stack.at[sample].v;
        int64_t time = p->samples.time_ns.at[sample];
        json_begin_object(w, NULL);
        if (p->samples.cpu.at[sample] != SAMPLE_CPU_NONE)
            json_u64(w, "cpu", p->samples.cpu.at[sample]);
        json_u64(w, "pid", pid_of(p, thread));
        json_u64(w, "tid", p->threads.tid.at[thread]);
        json_double(w, "ts", time == TIME_NONE ? 0 : (double)time / 1e3);
        json_str(w, "name", profile_text(p, p->metrics.name.at[metric]));
        if (stack) {
            strbuf_clear(&row_text);
            strbuf_add_u64(&row_text, s->row_of_stack[stack]);
            json_str(w, "sf", strbuf_str(&row_text));
        }
        json_i64(w, "weight", p->samples.values[metric].at[sample]);
        json_end(w);
        if (!export_flush(out, EXPORT_FLUSH))
            break;
    }
    json_end(w);
    strbuf_deinit(&row_text);
}

bool export_chrome(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                   Error *err)
{
    ExportSet s;
    if (!export_set_init(&s, p, request, false, err))
        return false;
    ExportOut out = {.sink = sink};
    JsonWriter w = json_writer(&out.buf, 0);
    json_begin_object(&w, NULL);
    json_str(&w, "displayTimeUnit", STR("ms"));
    json_begin_object(&w, "otherData");
    json_str(&w, "exporter", STR("assay"));
    json_str(&w, "command", profile_fact(p, STR(FACT_COMMAND)));
    json_end(&w);
    add_events(&w, &out, &s);
    add_frames(&w, &out, &s);
    add_samples(&w, &out, &s);
    json_end(&w);
    strbuf_add_char(&out.buf, '\n');
    export_set_deinit(&s);
    return export_finish(&out, err);
}
