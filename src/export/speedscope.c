// SPDX-License-Identifier: Apache-2.0
// speedscope's own file format: a "sampled" profile for each thread.
// Format: github.com/jlfwong/speedscope, src/lib/file-format-spec.ts.

#include <stdio.h>

#include "base/json.h"
#include "export/export_internal.h"
#include "model/facts.h"

static void add_frames(JsonWriter *w, const ExportSet *s)
{
    const Profile *p = s->p;
    StrBuf name = {0};
    json_begin_object(w, "shared");
    json_begin_array(w, "frames");
    for (size_t i = 0; i < s->functions.len; i++) {
        uint32_t key = s->functions.at[i];
        strbuf_clear(&name);
        export_add_name(s, key, &name);
        json_begin_object(w, NULL);
        json_str(w, "name", strbuf_str(&name));
        StrId file;
        uint32_t line;
        if (keys_place(&s->keys, key, &file, &line)) {
            json_str(w, "file", profile_text(p, file));
            if (line)
                json_u64(w, "line", line);
        }
        json_end(w);
    }
    json_end(w);
    json_end(w);
    strbuf_deinit(&name);
}

static const char *unit_of(const Profile *p, uint32_t metric)
{
    Str unit = profile_text(p, p->metrics.unit.at[metric]);
    return str_equal(unit, STR("ns"))      ? "nanoseconds"
           : str_equal(unit, STR("bytes")) ? "bytes"
                                           : "none";
}

// A function's number with the comma behind it, in one copy's size.
typedef struct NumberText {
    char text[15];
    uint8_t len;
} NumberText;

// Half of the file are numbers of functions, thirty for each sample: what is
// needed of a stack's row lies side by side, its text is made once.
typedef struct StackTexts {
    struct StackStep {
        uint32_t parent, function;
    } * steps;           // [row of the set's stacks]
    NumberText *numbers; // [function]
    char *path;          // of the stack under way, written from its end
    size_t path_cap;
} StackTexts;

static void texts_init(StackTexts *t, const ExportSet *s)
{
    *t = (StackTexts){
        .steps = heap_alloc((s->stacks.len + 1) * sizeof(t->steps[0])),
        .numbers = heap_alloc((s->functions.len + 1) * sizeof(NumberText)),
        .path_cap = 4096,
    };
    t->path = heap_alloc(t->path_cap);
    for (size_t i = 0; i < s->stacks.len; i++) {
        t->steps[i].parent = s->stacks.at[i].parent;
        t->steps[i].function = s->row_of_key[s->keys.of_frame[s->stacks.at[i].frame]];
    }
    for (size_t i = 0; i < s->functions.len; i++)
        t->numbers[i].len =
            (uint8_t)snprintf(t->numbers[i].text, sizeof(t->numbers[i].text), "%zu,", i);
}

static void texts_deinit(StackTexts *t)
{
    heap_free(t->steps);
    heap_free(t->numbers);
    heap_free(t->path);
}

// Makes room in front of the text written so far.
static size_t path_grow(StackTexts *t, size_t from)
{
    size_t len = t->path_cap - from, cap = t->path_cap * 2;
    t->path = heap_grow(t->path, cap);
    memmove(t->path + cap - len, t->path + from, len);
    t->path_cap = cap;
    return cap - len;
}

// "[0,4,2]", root first: the way up is written from the end.
static void add_stack(StrBuf *out, StackTexts *t, uint32_t row)
{
    size_t from = t->path_cap, end = from;
    for (; row != EXPORT_NONE; row = t->steps[row].parent) {
        const NumberText *n = &t->numbers[t->steps[row].function];
        if (from < sizeof(NumberText)) {
            size_t len = end - from;
            from = path_grow(t, from);
            end = from + len;
        }
        from -= n->len;
        memcpy(t->path + from, n->text, n->len);
    }
    strbuf_add_char(out, '[');
    if (end > from)
        strbuf_add(out, str_over(t->path + from, end - from - 1)); // without the last comma
    strbuf_add_char(out, ']');
}

static void add_profile(JsonWriter *w, ExportOut *out, const ExportSet *s, StackTexts *texts,
                        uint32_t thread, const uint32_t *samples, size_t count)
{
    const Profile *p = s->p;
    uint32_t metric = s->request->selection.metric.v;
    const int64_t *values = p->samples.values[metric].at;
    const StackId *stacks = p->samples.stack.at;
    StrBuf name = {0};
    strbuf_add(&name, export_thread_name(p, thread));
    strbuf_printf(&name, " %u", p->threads.tid.at[thread]);
    json_begin_object(w, NULL);
    json_str(w, "type", STR("sampled"));
    json_str(w, "name", strbuf_str(&name));
    json_str(w, "unit", str_from_c(unit_of(p, metric)));
    uint64_t total = 0;
    U64Vec weights = {0};
    json_u64(w, "startValue", 0);
    json_begin_array(w, "samples");
    // Neighbours with the same stack become one: the writer's own commas are
    // too slow for these lists.
    for (size_t i = 0; i < count;) {
        uint32_t stack = stacks[samples[i]].v;
        uint64_t weight = 0;
        if (i)
            strbuf_add_char(&out->buf, ',');
        add_stack(&out->buf, texts, stack ? s->row_of_stack[stack] : EXPORT_NONE);
        for (; i < count && stacks[samples[i]].v == stack; i++)
            weight += (uint64_t)MAX(values[samples[i]], (int64_t)0) & INT64_MAX;
        vec_push(NULL, &weights, weight);
        total += weight;
        if (!export_flush(out, EXPORT_FLUSH))
            break;
    }
    json_end(w);
    json_begin_array(w, "weights");
    for (size_t i = 0; i < weights.len; i++) {
        if (i)
            strbuf_add_char(&out->buf, ',');
        strbuf_add_u64(&out->buf, weights.at[i]);
    }
    json_end(w);
    json_u64(w, "endValue", total);
    json_end(w);
    strbuf_deinit(&name);
    vec_free(&weights);
}

bool export_speedscope(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                       Error *err)
{
    ExportSet s;
    if (!export_set_init(&s, p, request, false, err))
        return false;
    ExportOut out = {.sink = sink};
    JsonWriter w = json_writer(&out.buf, 0);
    json_begin_object(&w, NULL);
    json_str(&w, "$schema", STR("https://www.speedscope.app/file-format-schema.json"));
    StrBuf text = {0};
    strbuf_add(&text, STR("assay "));
    strbuf_add(&text, request->tool_version);
    json_str(&w, "exporter", strbuf_str(&text));
    strbuf_deinit(&text);
    Str command = profile_fact(p, STR(FACT_COMMAND));
    json_str(&w, "name", command.len ? command : STR("recording"));
    json_u64(&w, "activeProfileIndex", 0);
    add_frames(&w, &s);
    json_begin_array(&w, "profiles");
    uint32_t *order;
    size_t *starts;
    StackTexts texts;
    texts_init(&texts, &s);
    export_samples_by_thread(&s, &order, &starts);
    for (size_t t = 0; t < s.threads.len; t++)
        add_profile(&w, &out, &s, &texts, s.threads.at[t], order + starts[t],
                    starts[t + 1] - starts[t]);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(&out.buf, '\n');
    texts_deinit(&texts);
    heap_free(order);
    heap_free(starts);
    export_set_deinit(&s);
    return export_finish(&out, err);
}
