// SPDX-License-Identifier: Apache-2.0
// Chrome's Trace Event format: thread names, intervals, a profile of each thread. Format: "Trace
// Event Format", sections "JSON Object Format", "Complete Events", "Instant Events", "Flow Events"
// and "Global Samples". Samples are written twice: chrome://tracing reads the global ones;
// Perfetto's trace processor, DevTools and the Firefox Profiler read the events "Profile" and
// "ProfileChunk" of V8.

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

static void add_detail(JsonWriter *w, const ExportInterval *in)
{
    if (in->detail.len == 0)
        return;
    json_begin_object(w, "args");
    json_str(w, "detail", in->detail);
    json_end(w);
}

// A span is a complete event of its thread, a mark an instant one.
static void add_interval(JsonWriter *w, const ExportSet *s, const ExportInterval *in)
{
    const Profile *p = s->p;
    uint32_t thread = s->threads.at[in->thread];
    bool is_mark = in->end_ns == in->start_ns && in->kind == EXPORT_SPAN;
    json_begin_object(w, NULL);
    json_str(w, "ph", is_mark ? STR("i") : STR("X"));
    json_str(w, "name", in->name);
    json_str(w, "cat", STR("assay"));
    json_u64(w, "pid", pid_of(p, thread));
    json_u64(w, "tid", p->threads.tid.at[thread]);
    json_double(w, "ts", (double)in->start_ns / 1e3);
    if (is_mark)
        json_str(w, "s", STR("t"));
    else
        json_double(w, "dur", (double)(in->end_ns - in->start_ns) / 1e3);
    add_detail(w, in);
    json_end(w);
}

// Work may overlap what else its thread does, which complete events may not: a begin and an end
// that a number joins.
static void add_work(JsonWriter *w, const ExportSet *s, const ExportInterval *in)
{
    const Profile *p = s->p;
    uint32_t thread = s->threads.at[in->thread];
    for (int end = 0; end < 2; end++) {
        json_begin_object(w, NULL);
        json_str(w, "ph", end ? STR("e") : STR("b"));
        json_str(w, "name", in->name);
        json_str(w, "cat", STR("assay"));
        json_u64(w, "id", in->row + 1);
        json_u64(w, "pid", pid_of(p, thread));
        json_u64(w, "tid", p->threads.tid.at[thread]);
        json_double(w, "ts", (double)(end ? in->end_ns : in->start_ns) / 1e3);
        if (!end)
            add_detail(w, in);
        json_end(w);
    }
}

static void add_intervals(JsonWriter *w, ExportOut *out, const ExportSet *s)
{
    ExportIntervals all = export_intervals(s, true, false);
    for (size_t i = 0; i < all.starts[s->threads.len]; i++) {
        if (all.at[i].kind == EXPORT_WORK)
            add_work(w, s, &all.at[i]);
        else
            add_interval(w, s, &all.at[i]);
        if (!export_flush(out, EXPORT_FLUSH))
            break;
    }
    export_intervals_deinit(&all);
}

// ---- States of threads ---------------------------------------------------------

static void begin_event(JsonWriter *w, const Profile *p, Str phase, Str name, ThreadId thread,
                        int64_t time_ns)
{
    json_begin_object(w, NULL);
    json_str(w, "ph", phase);
    json_str(w, "name", name);
    json_str(w, "cat", STR("state"));
    json_u64(w, "pid", pid_of(p, thread.v));
    json_u64(w, "tid", p->threads.tid.at[thread.v]);
    json_double(w, "ts", (double)time_ns / 1e3);
}

static void add_place(JsonWriter *w, const Profile *p, const char *key, StackId stack)
{
    StrBuf text = {0};
    WaitPlace place = wait_own_place(p, stack);
    if (place.frame.v) {
        wait_place_add(p, place, &text);
        json_str(w, key, strbuf_str(&text));
    }
    strbuf_deinit(&text);
}

// A slice of the thread. Its details name the place of the wait, and who ended it.
static void add_span(JsonWriter *w, const ExportSet *s, const WaitSpan *span)
{
    const Profile *p = s->p;
    StrBuf name = {0};
    wait_span_add_name(p, span, &name);
    begin_event(w, p, STR("X"), strbuf_str(&name), span->thread, span->start_ns);
    json_double(w, "dur", (double)(span->end_ns - span->start_ns) / 1e3);
    json_begin_object(w, "args");
    json_str(w, "class", str_from_c(wait_class_name(span->state)));
    add_place(w, p, "at", span->stack);
    if (span->waker) {
        json_str(w, "woken by", export_thread_name(p, span->waker - 1));
        json_u64(w, "waker tid", p->threads.tid.at[span->waker - 1]);
        add_place(w, p, "waker at", span->waker_stack);
    }
    json_end(w);
    json_end(w);
    strbuf_deinit(&name);
}

// The two ends of an arrow have one number. Each is bound to the slice that encloses it.
static void add_arrow(JsonWriter *w, const Profile *p, const WaitArrow *arrow, size_t number)
{
    begin_event(w, p, STR("s"), STR("wakes"), arrow->from, arrow->time_ns);
    json_u64(w, "id", number);
    json_end(w);
    begin_event(w, p, STR("f"), STR("wakes"), arrow->to, arrow->time_ns);
    json_u64(w, "id", number);
    json_str(w, "bp", STR("e"));
    json_end(w);
}

static void add_states(JsonWriter *w, ExportOut *out, const ExportSet *s, const WaitSpans *states)
{
    bool ok = true;
    for (size_t i = 0; i < states->spans.len && ok; i++) {
        // A stretch of running may begin in a call and end behind it: slices must lie in each
        // other.
        if (states->spans.at[i].state == WAIT_RUNNING && s->p->calls.thread.len)
            continue;
        add_span(w, s, &states->spans.at[i]);
        ok = export_flush(out, EXPORT_FLUSH);
    }
    for (size_t i = 0; i < states->arrows.len && ok; i++) {
        add_arrow(w, s->p, &states->arrows.at[i], i + 1);
        ok = export_flush(out, EXPORT_FLUSH);
    }
}

// ---- Profiles of V8 ----------------------------------------------------------

enum { CHUNK_SAMPLES = 4096 };

typedef struct ChromeProfile {
    JsonWriter *w;
    const ExportSet *s;
    uint32_t *node_of_row; // [row of stacks]: its node in the profile at hand, 0: none yet
    U32Vec rows;           // that have a node
    // Of the whole file: the Firefox Profiler keeps the frames of all profiles in one table.
    uint32_t nodes;
    U32Vec path; // scratch
} ChromeProfile;

static uint32_t row_of_sample(const ExportSet *s, uint32_t sample)
{
    uint32_t stack = s->p->samples.stack.at[sample].v;
    return stack ? s->row_of_stack[stack] : EXPORT_NONE;
}

static void begin_profile_event(JsonWriter *w, const Profile *p, uint32_t thread, const char *name)
{
    StrBuf id = {0};
    strbuf_printf(&id, "0x%x", thread + 1);
    json_begin_object(w, NULL);
    json_str(w, "ph", STR("P"));
    json_str(w, "name", str_from_c(name));
    json_str(w, "id", strbuf_str(&id));
    json_str(w, "cat", STR("disabled-by-default-v8.cpu_profiler"));
    json_u64(w, "pid", pid_of(p, thread));
    json_u64(w, "tid", p->threads.tid.at[thread]);
    json_u64(w, "ts", 0);
    json_begin_object(w, "args");
    json_begin_object(w, "data");
    strbuf_deinit(&id);
}

static void end_profile_event(JsonWriter *w)
{
    json_end(w);
    json_end(w);
    json_end(w);
}

static void add_node(ChromeProfile *c, uint32_t row, uint32_t parent)
{
    JsonWriter *w = c->w;
    StrBuf name = {0};
    if (row == EXPORT_NONE)
        strbuf_add(&name, STR("[no stack]"));
    else
        export_add_name(c->s, c->s->keys.of_frame[c->s->stacks.at[row].frame], &name);
    json_begin_object(w, NULL);
    json_u64(w, "id", ++c->nodes);
    if (parent)
        json_u64(w, "parent", parent);
    json_begin_object(w, "callFrame");
    json_str(w, "functionName", strbuf_str(&name));
    json_str(w, "scriptId", STR("0"));
    json_str(w, "url", STR(""));
    json_i64(w, "lineNumber", -1);
    json_i64(w, "columnNumber", -1);
    json_end(w);
    json_end(w);
    strbuf_deinit(&name);
}

// The node of a row; it and those above it are written when they are not there yet. A parent
// stands before its children. The last slot is that of samples without a stack.
static uint32_t need_node(ChromeProfile *c, uint32_t row)
{
    uint32_t none = (uint32_t)c->s->stacks.len;
    c->path.len = 0;
    for (uint32_t r = row; r != EXPORT_NONE && !c->node_of_row[r]; r = c->s->stacks.at[r].parent)
        vec_push(NULL, &c->path, r);
    if (row == EXPORT_NONE && !c->node_of_row[none]) {
        add_node(c, EXPORT_NONE, 0);
        c->node_of_row[none] = c->nodes;
        vec_push(NULL, &c->rows, none);
    }
    while (c->path.len) {
        uint32_t r = vec_pop(&c->path), parent = c->s->stacks.at[r].parent;
        add_node(c, r, parent == EXPORT_NONE ? 0 : c->node_of_row[parent]);
        c->node_of_row[r] = c->nodes;
        vec_push(NULL, &c->rows, r);
    }
    return c->node_of_row[row == EXPORT_NONE ? none : row];
}

// The time of a sample. Sums have none: each then lasts as long as it weighs, 1 ms for each one
// that has no unit of time.
typedef struct ChromeClock {
    int64_t now_ns, last_ns;
    bool is_timed, is_ns;
} ChromeClock;

static int64_t time_ns(ChromeClock *clock, const ExportSet *s, uint32_t sample)
{
    const Samples *all = &s->p->samples;
    if (clock->is_timed)
        return all->time_ns.at[sample];
    int64_t at = clock->now_ns, value = all->values[s->request->selection.metric.v].at[sample];
    if (__builtin_mul_overflow(value, clock->is_ns ? 1 : 1000000, &value) ||
        __builtin_add_overflow(at, value, &clock->now_ns))
        clock->now_ns = INT64_MAX;
    return at;
}

static void add_chunk(ChromeProfile *c, uint32_t thread, const uint32_t *samples, size_t count,
                      ChromeClock *clock)
{
    JsonWriter *w = c->w;
    begin_profile_event(w, c->s->p, thread, "ProfileChunk");
    json_begin_object(w, "cpuProfile");
    json_begin_array(w, "nodes");
    for (size_t i = 0; i < count; i++)
        need_node(c, row_of_sample(c->s, samples[i]));
    json_end(w);
    json_begin_array(w, "samples");
    for (size_t i = 0; i < count; i++)
        json_u64(w, NULL, need_node(c, row_of_sample(c->s, samples[i])));
    json_end(w);
    json_end(w);
    json_begin_array(w, "timeDeltas");
    for (size_t i = 0; i < count; i++) {
        int64_t now = time_ns(clock, c->s, samples[i]), delta;
        if (__builtin_sub_overflow(now, clock->last_ns, &delta))
            delta = 0;
        json_double(w, NULL, (double)delta / 1e3);
        clock->last_ns = now;
    }
    json_end(w);
    end_profile_event(w);
}

static bool add_profile(ChromeProfile *c, ExportOut *out, uint32_t thread, const uint32_t *samples,
                        size_t count)
{
    const Profile *p = c->s->p;
    uint32_t metric = c->s->request->selection.metric.v;
    ChromeClock clock = {
        .is_timed = count && p->samples.time_ns.at[samples[0]] != TIME_NONE,
        .is_ns = str_equal(profile_text(p, p->metrics.unit.at[metric]), STR("ns")),
    };
    begin_profile_event(c->w, p, thread, "Profile");
    json_u64(c->w, "startTime", 0);
    end_profile_event(c->w);
    for (size_t at = 0; at < count; at += CHUNK_SAMPLES) {
        add_chunk(c, thread, samples + at, MIN(count - at, (size_t)CHUNK_SAMPLES), &clock);
        if (!export_flush(out, EXPORT_FLUSH))
            return false;
    }
    for (size_t i = 0; i < c->rows.len; i++)
        c->node_of_row[c->rows.at[i]] = 0;
    c->rows.len = 0;
    return true;
}

static void add_profiles(JsonWriter *w, ExportOut *out, const ExportSet *s)
{
    uint32_t *order;
    size_t *starts;
    ChromeProfile c = {.w = w, .s = s};
    c.node_of_row = heap_alloc((s->stacks.len + 1) * sizeof(uint32_t));
    export_samples_by_thread(s, &order, &starts);
    for (size_t t = 0; t < s->threads.len; t++)
        if (starts[t + 1] > starts[t] &&
            !add_profile(&c, out, s->threads.at[t], order + starts[t], starts[t + 1] - starts[t]))
            break;
    heap_free(order);
    heap_free(starts);
    heap_free(c.node_of_row);
    vec_free(&c.rows);
    vec_free(&c.path);
}

static void add_events(JsonWriter *w, ExportOut *out, const ExportSet *s, const WaitSpans *states)
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
    add_states(w, out, s, states);
    add_profiles(w, out, s);
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
    export_set_add_events(&s);
    WaitSpans states;
    wait_spans_init(&states, p, &request->selection);
    export_set_use_spans(&s, &states);
    ExportOut out = {.sink = sink};
    JsonWriter w = json_writer(&out.buf, 0);
    json_begin_object(&w, NULL);
    json_str(&w, "displayTimeUnit", STR("ms"));
    json_begin_object(&w, "otherData");
    json_str(&w, "exporter", STR("assay"));
    json_str(&w, "command", profile_fact(p, STR(FACT_COMMAND)));
    StrId unit = p->metrics.unit.at[request->selection.metric.v];
    json_str(&w, "unit", profile_text(p, unit));
    json_end(&w);
    add_events(&w, &out, &s, &states);
    add_frames(&w, &out, &s);
    add_samples(&w, &out, &s);
    json_end(&w);
    strbuf_add_char(&out.buf, '\n');
    wait_spans_deinit(&states);
    export_set_deinit(&s);
    return export_finish(&out, err);
}
