// SPDX-License-Identifier: Apache-2.0
// Execution samples of Java Flight Recordings -> Profile.
// Events: OpenJDK, jdk/jfr/metadata/metadata.xml, "ExecutionSample"; async-profiler writes the same
// with frames of native code, whose kind is "Native", "C++" or "Kernel".

#include "import/flight_recording_internal.h"

#include "base/strbuf.h"
#include "import/places_internal.h"
#include "jfr/jfr.h"
#include "model/facts.h"

#include <stdio.h>

// What a value of a pool became, by its place in the chunk.
typedef struct Known {
    Table by_place;
    Vec(size_t) places; // on the heap, as `rows`
    U32Vec rows;
} Known;

typedef struct Recording {
    Profile *p;
    MetricId metric;
    Known stacks, threads, frames; // of the present chunk
    ThreadId unknown;
    Table thread_rows; // hashes of name and number to threads
    uint64_t first_ns; // of the first chunk
    FrameIdVec path;   // of the stack that is being read, innermost first; on the heap
    size_t truncated;
} Recording;

static bool known_find(const Known *k, size_t place, uint32_t *ret)
{
    uint32_t row;
    for (TableProbe t = table_probe(&k->by_place, hash_u64(place));
         table_next(&k->by_place, &t, &row);)
        if (k->places.at[row] == place) {
            *ret = k->rows.at[row];
            return true;
        }
    return false;
}

static void known_add(Known *k, size_t place, uint32_t value)
{
    table_insert(&k->by_place, hash_u64(place), (uint32_t)k->rows.len);
    vec_push(NULL, &k->places, place);
    vec_push(NULL, &k->rows, value);
}

static void known_deinit(Known *k)
{
    table_deinit(&k->by_place);
    vec_free(&k->places);
    vec_free(&k->rows);
    *k = (Known){0};
}

// "java.lang.String.length": the class's name has slashes.
static void add_name(StrBuf *out, JfrValue method)
{
    Str class_name = jfr_text(jfr_field(method, "type"), "name");
    for (size_t i = 0; i < class_name.len; i++)
        strbuf_add_char(out, class_name.ptr[i] == '/' ? '.' : class_name.ptr[i]);
    if (class_name.len)
        strbuf_add_char(out, '.');
    Str name = jfr_text(method, "name");
    strbuf_add(out, name);
    if (out->len == 0)
        strbuf_add(out, STR("[unknown]"));
}

static uint8_t flags_of(JfrValue frame)
{
    Str kind = jfr_text(jfr_field(frame, "type"), "description");
    return str_equal(kind, STR("Kernel"))    ? FRAME_KERNEL
           : str_equal(kind, STR("Inlined")) ? FRAME_INLINED
                                             : 0;
}

static bool add_frame(void *ctx, JfrValue frame)
{
    Recording *r = ctx;
    uint32_t function;
    JfrValue method = jfr_field(frame, "method");
    // Frames that the JVM made for lambdas; the JDK's own reader leaves them out, too.
    if (jfr_number(method, "hidden"))
        return true;
    if (!method.of || !known_find(&r->frames, method.at, &function)) {
        StrBuf name = {0};
        add_name(&name, method);
        function = profile_function(r->p, strbuf_str(&name), strbuf_str(&name), STR(""), 0).v;
        strbuf_deinit(&name);
        if (method.of)
            known_add(&r->frames, method.at, function);
    }
    uint64_t line = jfr_number(frame, "lineNumber");
    FrameId f = import_named_frame(r->p, (ModuleId){0}, 0, (FunctionId){function}, (StrId){0},
                                   line < INT32_MAX ? (uint32_t)line : 0, flags_of(frame));
    vec_push(NULL, &r->path, f);
    return true;
}

static StackId stack_of(Recording *r, JfrValue trace)
{
    uint32_t known;
    StackId stack = {0};
    if (!trace.of)
        return stack;
    if (known_find(&r->stacks, trace.at, &known))
        return (StackId){known};
    r->path.len = 0;
    (void)!jfr_each(trace, "frames", add_frame, r);
    if (jfr_number(trace, "truncated")) {
        r->truncated++;
        stack = profile_stack(r->p, stack, profile_cut_frame(r->p, STACK_CUT_TOO_DEEP));
    }
    for (size_t i = r->path.len; i-- > 0;)
        stack = profile_stack(r->p, stack, r->path.at[i]);
    known_add(&r->stacks, trace.at, stack.v);
    return stack;
}

static ThreadId thread_of(Recording *r, JfrValue thread)
{
    Profile *p = r->p;
    uint32_t row;
    if (!thread.of)
        return r->unknown;
    if (known_find(&r->threads, thread.at, &row))
        return (ThreadId){row};
    Str name = jfr_text(thread, "javaName");
    if (name.len == 0)
        name = jfr_text(thread, "osName");
    uint32_t tid = (uint32_t)jfr_number(thread, "osThreadId");
    uint64_t hash = str_hash(name) ^ hash_u64(tid);
    ThreadId found = {UINT32_MAX};
    for (TableProbe t = table_probe(&r->thread_rows, hash); table_next(&r->thread_rows, &t, &row);)
        if (p->threads.tid.at[row] == tid &&
            str_equal(profile_text(p, p->threads.name.at[row]), name))
            found = (ThreadId){row};
    if (found.v == UINT32_MAX) {
        ProcessId process = p->threads.process.at[r->unknown.v];
        found = profile_add_thread(p, process, tid, profile_str(p, name), TIME_NONE);
        table_insert(&r->thread_rows, hash, found.v);
    }
    known_add(&r->threads, thread.at, found.v);
    return found;
}

// Ticks to nanoseconds since the first chunk began.
static int64_t time_of(const Recording *r, const JfrChunk *c, uint64_t ticks)
{
    double ns = ((double)ticks - (double)c->start_ticks) * 1e9 / (double)c->ticks_per_s +
                ((double)c->start_ns - (double)r->first_ns);
    return ns >= 0 && ns < 9e18 ? (int64_t)ns : TIME_NONE;
}

static void add_sample(Recording *r, JfrValue event)
{
    int64_t time = time_of(r, event.chunk, jfr_number(event, "startTime"));
    StackId stack = stack_of(r, jfr_field(event, "stackTrace"));
    ThreadId thread = thread_of(r, jfr_field(event, "sampledThread"));
    size_t row = profile_add_sample(r->p, time, thread, stack, SAMPLE_CPU_NONE);
    profile_sample_set(r->p, row, r->metric, 1);
}

static bool read_chunk(Recording *r, const JfrChunk *c, Error *err)
{
    size_t at = 0;
    JfrValue event;
    while (jfr_event_next(c, &at, &event, err)) {
        if (str_equal(event.of->name, STR("jdk.ExecutionSample")))
            add_sample(r, event);
        else if (str_equal(event.of->name, STR("jdk.JVMInformation")))
            profile_set_fact(r->p, STR(FACT_COMMAND), jfr_text(event, "javaArguments"));
    }
    known_deinit(&r->stacks);
    known_deinit(&r->threads);
    known_deinit(&r->frames);
    return err->kind == ERROR_NONE;
}

static bool read_chunks(Recording *r, Bytes file, Error *err)
{
    bool ok = true;
    for (size_t at = 0; ok && at < file.len;) {
        Arena arena = {0};
        JfrChunk chunk;
        size_t size;
        ok = jfr_chunk_open(&arena, bytes_slice(file, at, file.len), &chunk, &size, err);
        if (ok) {
            if (at == 0) {
                char start[24];
                r->first_ns = chunk.start_ns;
                snprintf(start, sizeof(start), "%llu", (unsigned long long)chunk.start_ns);
                profile_set_fact(r->p, STR(FACT_START_REALTIME), str_from_c(start));
            }
            ok = read_chunk(r, &chunk, err);
            jfr_chunk_close(&chunk);
        }
        arena_deinit(&arena);
        if (!ok && at > 0 && err->kind == ERROR_FORMAT) {
            profile_note(r->p, NOTE_WARNING, STR("cut"), "the text after byte %zu is left out: %s",
                         at, err->text);
            return true;
        }
        at += ok ? size : 0;
    }
    return ok;
}

bool import_flight_recording(Bytes file, Profile *p, Error *err)
{
    Recording r = {.p = p};
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import flight recording"));
    r.metric = profile_add_metric(p, STR("samples"), STR(""), METRIC_SUM, STR("ExecutionSample"));
    StrId java = profile_str(p, STR("java"));
    ProcessId process = profile_add_process(p, 0, 0, java, TIME_NONE);
    r.unknown = profile_add_thread(p, process, 0, java, TIME_NONE);
    bool ok = read_chunks(&r, file, err);
    if (ok && r.truncated)
        profile_note(
            p, NOTE_WARNING, STR("cut-stacks"),
            "%zu different stacks are cut: record with -XX:FlightRecorderOptions:stackdepth=1024",
            r.truncated);
    if (ok && p->samples.stack.len == 0)
        profile_note(p, NOTE_WARNING, STR("no-samples"),
                     "the recording has no event jdk.ExecutionSample");
    known_deinit(&r.stacks);
    known_deinit(&r.threads);
    known_deinit(&r.frames);
    table_deinit(&r.thread_rows);
    vec_free(&r.path);
    if (!ok)
        profile_deinit(p);
    return ok;
}
