// SPDX-License-Identifier: Apache-2.0
// The report of a recording of the heap as JSON (docs/formats/heap-json.md) and as CSV.

#include "cli/look/heap_screen.h"

#include "export/report_json.h"

#include <math.h>
#include <stdio.h>

enum { HEAP_JSON_VERSION = 1 };

// Keys of the values, in the order of HEAP_METRICS.
static const struct {
    enum HeapMetric metric;
    const char *key;
} keys[] = {
    {HEAP_BLOCKS, "blocks"},
    {HEAP_BYTES, "bytes"},
    {HEAP_PEAK_BYTES, "peak_bytes"},
    {HEAP_PEAK_BLOCKS, "peak_blocks"},
    {HEAP_END_BYTES, "end_bytes"},
    {HEAP_END_BLOCKS, "end_blocks"},
    {HEAP_FREED, "freed_blocks"},
    {HEAP_SHORT_LIVED, "short_lived_blocks"},
    {HEAP_LIFETIME, "lifetime_sum"},
    {HEAP_ELSEWHERE, "freed_elsewhere"},
    {HEAP_REALLOCS, "reallocs"},
    {HEAP_COPIED, "copied_bytes"},
    {HEAP_IN_FRAME, "freed_in_same_frame"},
    {HEAP_MALLOC_NS, "malloc_ns"},
    {HEAP_FREE_NS, "free_ns"},
    {HEAP_COPIES, "copies"},
    {HEAP_COPY_BYTES, "copies_bytes"},
};

static void add_values(JsonWriter *w, const HeapView *v, const uint64_t *value)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (v->has[keys[i].metric])
            json_u64(w, keys[i].key, value[keys[i].metric]);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        double half = heap_interval(v, value, keys[i].metric);
        char key[64];
        snprintf(key, sizeof(key), "%s_interval", keys[i].key);
        if (!isnan(half))
            json_double(w, key, half);
    }
}

static void add_frame(JsonWriter *w, const Profile *p, FrameId frame)
{
    StrBuf name = {0};
    frame_add_function_name(p, frame, &name);
    json_str(w, "function", strbuf_str(&name));
    StrId file = p->frames.file.at[frame.v];
    if (file.v) {
        json_str(w, "file", profile_text(p, file));
        json_u64(w, "line", p->frames.line.at[frame.v]);
    }
    strbuf_deinit(&name);
}

static void add_stack(JsonWriter *w, const Profile *p, StackId stack)
{
    json_begin_array(w, "stack");
    for (uint32_t s = stack.v; s; s = p->stacks.parent.at[s].v)
        for (uint32_t f = p->stacks.frame.at[s].v; f; f = p->frames.inlined_in.at[f].v) {
            json_begin_object(w, NULL);
            add_frame(w, p, (FrameId){f});
            if (p->frames.inlined_in.at[f].v || p->frames.flags.at[f] & FRAME_INLINED)
                json_bool(w, "inlined", true);
            json_end(w);
        }
    json_end(w);
}

static void add_places(JsonWriter *w, const HeapReport *h, size_t limit)
{
    const HeapView *v = &h->view;
    json_u64(w, "place_count", v->places.len);
    json_begin_array(w, "places");
    for (size_t i = 0; i < v->places.len && (limit == 0 || i < limit); i++) {
        const HeapRow *row = &v->places.at[i];
        json_begin_object(w, NULL);
        add_frame(w, v->p, row->place.frame);
        json_u64(w, "stacks", row->first);
        add_values(w, v, row->value);
        if (v->has[HEAP_MAX_BYTES])
            json_u64(w, "most_bytes_of_a_stack", row->value[HEAP_MAX_BYTES]);
        if (v->has[HEAP_SMALLEST])
            json_u64(w, "smallest_block", row->value[HEAP_SMALLEST]);
        if (v->has[HEAP_LARGEST])
            json_u64(w, "largest_block", row->value[HEAP_LARGEST]);
        json_double(w, "mean_lifetime", heap_mean_lifetime(v, row->value));
        add_stack(w, v->p, row->stack);
        json_end(w);
    }
    json_end(w);
}

static void add_advice(JsonWriter *w, const HeapReport *h)
{
    json_begin_array(w, "advice");
    for (size_t i = 0; i < h->advice.len; i++) {
        const HeapAdvice *a = &h->advice.at[i];
        json_begin_object(w, NULL);
        json_str(w, "kind", str_from_c(heap_advice_word(a->kind)));
        add_frame(w, h->view.p, a->frame);
        json_u64(w, "stacks", a->sites);
        json_u64(w, "blocks", a->blocks);
        json_u64(w, "bytes", a->bytes);
        if (a->turns)
            json_u64(w, "times", a->turns);
        if (a->reallocs)
            json_u64(w, "reallocs", a->reallocs);
        if (a->each)
            json_u64(w, "block_bytes", a->each);
        json_u64(w, "most_live_blocks", a->live);
        json_double(w, "mean_lifetime", a->lifetime);
        json_u64(w, "saved_allocations", a->saved_blocks);
        json_u64(w, "saved_bytes", a->saved_bytes);
        if (a->saved_ns)
            json_u64(w, "saved_ns", a->saved_ns);
        json_double(w, "weight", a->weight);
        json_end(w);
    }
    json_end(w);
}

// Blocks by powers of two of their size, as far as the recording has them.
static void add_sizes(JsonWriter *w, const HeapView *v)
{
    json_begin_array(w, "sizes");
    for (unsigned c = 0; c < HEAP_SIZE_CLASSES; c++) {
        if (v->sizes[c] == 0)
            continue;
        json_begin_object(w, NULL);
        json_u64(w, "from", c ? UINT64_C(1) << (c - 1) : 0);
        json_u64(w, "to", c ? (UINT64_C(1) << c) - 1 : 0);
        json_u64(w, "blocks", v->sizes[c]);
        json_end(w);
    }
    json_end(w);
}

static void add_timeline(JsonWriter *w, const Profile *p)
{
    json_begin_array(w, "timeline");
    for (size_t i = 0; i < p->series.metric.len; i++) {
        Str name = profile_text(p, p->metrics.name.at[p->series.metric.at[i].v]);
        bool is_whole = profile_text(p, p->series.part.at[i]).len == 0;
        if (!str_equal(name, STR(HEAP_LIVE_BYTES)) || !is_whole)
            continue;
        json_begin_object(w, NULL);
        json_i64(w, "time_ns", p->series.time_ns.at[i]);
        json_double(w, "live_bytes", p->series.value.at[i]);
        json_end(w);
    }
    json_end(w);
}

void heap_add_json(StrBuf *out, const HeapReport *h, size_t limit)
{
    const HeapView *v = &h->view;
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-heap-report"));
    json_u64(&w, "version", HEAP_JSON_VERSION);
    report_json_add_facts(&w, v->p);
    report_json_add_notes(&w, v->p);
    json_begin_object(&w, "totals");
    add_values(&w, v, v->total);
    if (v->sample_bytes)
        json_u64(&w, "sample_bytes", v->sample_bytes);
    json_u64(&w, "processes", v->processes);
    json_u64(&w, "largest_peak_bytes", v->peak_bytes);
    json_u64(&w, "largest_peak_pid", v->peak_pid);
    if (v->has[HEAP_BLOCKS] && v->wall_ns)
        json_double(&w, "allocations_per_second",
                    (double)v->total[HEAP_BLOCKS] * 1e9 / (double)v->wall_ns);
    json_double(&w, "mean_lifetime", heap_mean_lifetime(v, v->total));
    json_end(&w);
    add_places(&w, h, limit);
    add_advice(&w, h);
    add_sizes(&w, v);
    add_timeline(&w, v->p);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

void heap_add_csv(StrBuf *out, const HeapReport *h, size_t limit)
{
    const HeapView *v = &h->view;
    StrBuf name = {0};
    strbuf_add(out, STR("function,file,line,stacks"));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (v->has[keys[i].metric])
            strbuf_printf(out, ",%s", keys[i].key);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!isnan(heap_interval(v, v->total, keys[i].metric)))
            strbuf_printf(out, ",%s_interval", keys[i].key);
    strbuf_add(out, STR("\r\n"));
    for (size_t i = 0; i < v->places.len && (limit == 0 || i < limit); i++) {
        const HeapRow *row = &v->places.at[i];
        uint32_t frame = row->place.frame.v;
        strbuf_clear(&name);
        heap_row_add_name(v, row, &name);
        strbuf_add_csv(out, strbuf_str(&name));
        strbuf_add_char(out, ',');
        strbuf_add_csv(out, profile_text(v->p, v->p->frames.file.at[frame]));
        strbuf_printf(out, ",%u,%u", v->p->frames.line.at[frame], row->first);
        for (size_t m = 0; m < ARRAY_LEN(keys); m++)
            if (v->has[keys[m].metric])
                strbuf_printf(out, ",%llu", (unsigned long long)row->value[keys[m].metric]);
        for (size_t m = 0; m < ARRAY_LEN(keys); m++) {
            double half = heap_interval(v, row->value, keys[m].metric);
            if (!isnan(half))
                strbuf_printf(out, ",%.0f", half);
        }
        strbuf_add(out, STR("\r\n"));
    }
    strbuf_deinit(&name);
}
