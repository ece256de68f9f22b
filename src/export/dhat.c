// SPDX-License-Identifier: Apache-2.0
// DHAT's JSON, dhatFileVersion 2, as dh_view.html reads it.
// Format: valgrind, dhat/dh_main.c, the comment above the writer.

#include "export/export_internal.h"

#include "analyse/heap/heap_view.h"
#include "base/json.h"
#include "base/table.h"
#include "model/facts.h"

// What the file is about: as DHAT's --mode.
typedef struct Mode {
    const char *name, *verb;
    enum HeapMetric blocks, bytes;
    bool counts_units; // of the program's own events, instead of bytes and blocks
} Mode;

static const Mode modes[] = {
    {"heap", "Allocated", HEAP_BLOCKS, HEAP_BYTES, false},
    {"copy", "Copied", HEAP_COPIES, HEAP_COPY_BYTES, false},
    {"ad-hoc", "Occurred", HEAP_MARKS, HEAP_MARK_WEIGHT, true},
};

typedef struct Point {
    U32Vec frames; // numbers in the table of frames, innermost first
    uint64_t value[HEAP_METRIC_COUNT];
} Point;

typedef struct Writer {
    HeapView v;
    const Mode *mode;
    StrBuf out;
    Arena arena;
    Intern frames; // 0 stands for "[root]"
    Vec(Point) points;
    Table index;         // of points, by their frames
    uint32_t *number_of; // [frame of the profile]: its number + 1
    StrBuf text;
} Writer;

// "0x401136: main (prog.c:12)", as valgrind writes it.
static uint32_t frame_number(Writer *w, uint32_t frame)
{
    const Profile *p = w->v.p;
    if (w->number_of[frame])
        return w->number_of[frame] - 1;
    StrBuf *b = &w->text;
    strbuf_clear(b);
    strbuf_printf(b, "0x%llX: ", (unsigned long long)p->frames.address.at[frame]);
    frame_add_function_name(p, (FrameId){frame}, b);
    StrId file = p->frames.file.at[frame];
    Str module = profile_text(p, p->modules.path.at[p->frames.module.at[frame].v]);
    if (file.v) {
        strbuf_add(b, STR(" ("));
        strbuf_add(b, profile_text(p, file));
        if (p->frames.line.at[frame])
            strbuf_printf(b, ":%u", p->frames.line.at[frame]);
        strbuf_add_char(b, ')');
    } else if (module.len) {
        strbuf_printf(b, " (in %" STR_FMT ")", STR_ARG(module));
    }
    uint32_t number = intern_add(&w->frames, strbuf_str(b));
    w->number_of[frame] = number + 1;
    return number;
}

static void add_frames(Writer *w, StackId stack, U32Vec *frames)
{
    const Profile *p = w->v.p;
    for (uint32_t s = stack.v; s; s = p->stacks.parent.at[s].v)
        for (uint32_t f = p->stacks.frame.at[s].v; f; f = p->frames.inlined_in.at[f].v)
            if (!(p->frames.flags.at[f] & FRAME_CUT))
                vec_push(&w->arena, frames, frame_number(w, f));
}

// dh_view refuses two points with the same frames.
static Point *point_of(Writer *w, const U32Vec *frames)
{
    uint64_t hash = bytes_hash(bytes_over(frames->at, frames->len * sizeof(*frames->at)));
    uint32_t row;
    for (TableProbe t = table_probe(&w->index, hash); table_next(&w->index, &t, &row);) {
        const U32Vec *other = &w->points.at[row].frames;
        if (other->len == frames->len &&
            (frames->len == 0 ||
             memcmp(other->at, frames->at, frames->len * sizeof(*frames->at)) == 0))
            return &w->points.at[row];
    }
    table_insert(&w->index, hash, (uint32_t)w->points.len);
    vec_push(&w->arena, &w->points, (Point){.frames = *frames});
    return &vec_last(&w->points);
}

// Stacks of the other modes, and of mappings, are left out.
static bool is_of_mode(const Writer *w, const uint64_t *value)
{
    bool is_live = value[HEAP_PEAK_BLOCKS] || value[HEAP_END_BLOCKS];
    return value[w->mode->blocks] || value[w->mode->bytes] || (w->mode == modes && is_live);
}

static void add_points(Writer *w)
{
    for (size_t i = 0; i < w->v.stacks.len; i++) {
        const HeapRow *row = &w->v.stacks.at[i];
        U32Vec frames = {0};
        if (!is_of_mode(w, row->value))
            continue;
        add_frames(w, row->stack, &frames);
        Point *p = point_of(w, &frames);
        for (size_t m = 0; m < HEAP_METRIC_COUNT; m++) {
            bool level = m == HEAP_MAX_BYTES || m == HEAP_MAX_BLOCKS;
            p->value[m] = level ? MAX(p->value[m], row->value[m]) : p->value[m] + row->value[m];
        }
    }
}

static void write_point(JsonWriter *j, const Mode *mode, const Point *p, bool lifetimes)
{
    const uint64_t *x = p->value;
    json_begin_object(j, NULL);
    json_u64(j, "tb", x[mode->bytes]);
    json_u64(j, "tbk", x[mode->blocks]);
    if (lifetimes) {
        json_u64(j, "tl", x[HEAP_LIFETIME]);
        // Of stacks that became one, the maxima need not have been at one time: never less than
        // what was live together.
        uint64_t bytes = MAX(x[HEAP_PEAK_BYTES], x[HEAP_END_BYTES]);
        uint64_t blocks = MAX(x[HEAP_PEAK_BLOCKS], x[HEAP_END_BLOCKS]);
        json_u64(j, "mb", MAX(bytes, x[HEAP_MAX_BYTES]));
        json_u64(j, "mbk", MAX(blocks, x[HEAP_MAX_BLOCKS]));
        json_u64(j, "gb", x[HEAP_PEAK_BYTES]);
        json_u64(j, "gbk", x[HEAP_PEAK_BLOCKS]);
        json_u64(j, "eb", x[HEAP_END_BYTES]);
        json_u64(j, "ebk", x[HEAP_END_BLOCKS]);
    }
    json_begin_array(j, "fs");
    for (size_t i = 0; i < p->frames.len; i++)
        json_u64(j, NULL, p->frames.at[i]);
    json_end(j);
    json_end(j);
}

static void write_head(Writer *w, JsonWriter *j, bool lifetimes)
{
    const Profile *p = w->v.p;
    uint64_t threshold = 0, end = w->v.total[HEAP_BLOCKS];
    Str command = profile_fact(p, STR(FACT_COMMAND));
    json_u64(j, "dhatFileVersion", 2);
    json_str(j, "mode", str_from_c(w->mode->name));
    json_str(j, "verb", str_from_c(w->mode->verb));
    json_bool(j, "bklt", lifetimes);
    json_bool(j, "bkacc", false);
    if (w->mode->counts_units) {
        json_str(j, "bu", STR("unit"));
        json_str(j, "bsu", STR("units"));
        json_str(j, "bksu", STR("events"));
    }
    json_str(j, "tu", STR("allocations"));
    json_str(j, "Mtu", STR("M allocations"));
    if (lifetimes) {
        (void)profile_fact_u64(p, STR(FACT_HEAP_SHORT_LIVED), &threshold);
        json_u64(j, "tuth", threshold);
    }
    json_str(j, "cmd", command.len ? command : STR("(not known)"));
    json_u64(j, "pid", w->v.peak_pid);
    json_u64(j, "te", end);
    if (lifetimes)
        json_u64(j, "tg", end); // when the peak was is known in ns, not in allocations
}

static void write_all(Writer *w)
{
    bool lifetimes = w->mode == modes && w->v.has[HEAP_LIFETIME] && w->v.has[HEAP_PEAK_BYTES] &&
                     w->v.has[HEAP_END_BYTES] && w->v.has[HEAP_MAX_BYTES];
    JsonWriter j = json_writer(&w->out, 0);
    json_begin_object(&j, NULL);
    write_head(w, &j, lifetimes);
    json_begin_array(&j, "pps");
    for (size_t i = 0; i < w->points.len; i++)
        write_point(&j, w->mode, &w->points.at[i], lifetimes);
    json_end(&j);
    json_begin_array(&j, "ftbl");
    json_str(&j, NULL, STR("[root]")); // text 0 of the table is empty
    for (size_t i = 1; i < w->frames.texts.len; i++)
        json_str(&j, NULL, w->frames.texts.at[i]);
    json_end(&j);
    json_end(&j);
    strbuf_add_char(&w->out, '\n');
}

// The metric that was chosen names the mode.
static const Mode *mode_of(const Profile *p, MetricId chosen)
{
    MetricId m;
    for (size_t i = 1; i < ARRAY_LEN(modes); i++)
        if ((heap_metric_find(p, modes[i].blocks, &m) && m.v == chosen.v) ||
            (heap_metric_find(p, modes[i].bytes, &m) && m.v == chosen.v))
            return &modes[i];
    for (size_t i = 1; i < ARRAY_LEN(modes) && !heap_metric_find(p, HEAP_BLOCKS, &m); i++)
        if (heap_metric_find(p, modes[i].blocks, &m))
            return &modes[i];
    return &modes[0];
}

bool export_dhat(const Profile *p, const ExportRequest *request, const ExportSink *sink, Error *err)
{
    Writer w = {0};
    if (!heap_view_init(&w.v, p, &request->selection, err))
        return false;
    w.mode = mode_of(p, request->selection.metric);
    if (!w.v.has[w.mode->blocks] || !w.v.has[w.mode->bytes]) {
        heap_view_deinit(&w.v);
        error_set(err, ERROR_UNSUPPORTED,
                  "DHAT's format holds recordings of the heap, with blocks "
                  "and bytes allocated");
        return error_hint(err, "record one: assay heap -- ./prog");
    }
    intern_init(&w.frames, &w.arena);
    w.number_of = heap_alloc((p->frames.module.len + 1) * sizeof(*w.number_of));
    add_points(&w);
    write_all(&w);
    ExportOut out = {.buf = w.out, .sink = sink};
    bool ok = export_finish(&out, err);
    strbuf_deinit(&w.text);
    heap_free(w.number_of);
    table_deinit(&w.index);
    intern_deinit(&w.frames);
    arena_deinit(&w.arena);
    heap_view_deinit(&w.v);
    return ok;
}
