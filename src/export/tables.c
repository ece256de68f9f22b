// SPDX-License-Identifier: Apache-2.0
// For programs and spreadsheets: CSV with a row for each thread and stack, or for each run and
// event, and JSON with the whole recording as columns. Format: docs/formats/export.md.

#include <stdlib.h>

#include "base/json.h"
#include "export/export_internal.h"
#include "export/runs.h"
#include "export/stack_sums_internal.h"
#include "model/schema.h"

// ---- CSV ---------------------------------------------------------------------

static void add_stack_text(const ExportSet *s, uint32_t stack, StrBuf *out, U32Vec *path)
{
    path->len = 0;
    for (uint32_t row = stack ? s->row_of_stack[stack] : EXPORT_NONE; row != EXPORT_NONE;
         row = s->stacks.at[row].parent)
        vec_push(NULL, path, s->keys.of_frame[s->stacks.at[row].frame]);
    while (path->len > 0) {
        export_add_name(s, vec_pop(path), out);
        if (path->len)
            strbuf_add_char(out, '\n');
    }
}

static bool export_runs_csv(const Profile *p, const ExportSink *sink, Error *err)
{
    ExportOut out = {.sink = sink};
    runs_add_csv(&out.buf, p);
    return export_finish(&out, err);
}

// Texts of probes: rows for each thread, stack and combination of texts.
typedef struct TextRows {
    const ExportSet *set;
    U32Vec metrics; // of texts that belong to the exported metric
    U32Vec samples; // that have them, ordered by thread, stack and texts
} TextRows;

static int by_texts(const void *a, const void *b, void *ctx)
{
    const TextRows *t = ctx;
    const Samples *s = &t->set->p->samples;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (s->thread.at[x].v != s->thread.at[y].v)
        return s->thread.at[x].v < s->thread.at[y].v ? -1 : 1;
    if (s->stack.at[x].v != s->stack.at[y].v)
        return s->stack.at[x].v < s->stack.at[y].v ? -1 : 1;
    for (size_t i = 0; i < t->metrics.len; i++) {
        const int64_t *values = s->values[t->metrics.at[i]].at;
        if (values[x] != values[y])
            return values[x] < values[y] ? -1 : 1;
    }
    return 0;
}

static void text_rows_init(TextRows *t, const ExportSet *set, uint32_t metric)
{
    MetricId owner;
    *t = (TextRows){.set = set};
    for (uint32_t m = 0; m < set->p->metrics.name.len; m++)
        if (metric_is_text(set->p, (MetricId){m}) &&
            metric_is_argument(set->p, (MetricId){m}, &owner) && owner.v == metric)
            vec_push(NULL, &t->metrics, m);
    for (size_t i = 0; i < set->samples.len && t->metrics.len; i++)
        if (set->p->samples.values[metric].at[set->samples.at[i]] > 0)
            vec_push(NULL, &t->samples, set->samples.at[i]);
    if (t->samples.len)
        qsort_r(t->samples.at, t->samples.len, sizeof(t->samples.at[0]), by_texts, t);
}

// A row of the table; its end is left to the caller.
typedef struct CsvRow {
    uint32_t pid, tid;
    Str thread;
    uint64_t value;
    uint32_t samples;
    uint32_t stack;
} CsvRow;

typedef struct CsvWriter {
    const ExportSet *set;
    ExportOut out;
    StrBuf text;
    U32Vec path;
} CsvWriter;

static void add_csv_row(CsvWriter *w, const CsvRow *row)
{
    const Profile *p = w->set->p;
    StrBuf *out = &w->out.buf;
    uint32_t frame = p->stacks.frame.at[row->stack].v;
    strbuf_printf(out, "%u,%u,", row->pid, row->tid);
    strbuf_add_csv(out, row->thread);
    strbuf_printf(out, ",%llu,%u,", (unsigned long long)row->value, row->samples);
    strbuf_clear(&w->text);
    export_add_name(w->set, w->set->keys.of_frame[frame], &w->text);
    strbuf_add_csv(out, strbuf_str(&w->text));
    strbuf_add_char(out, ',');
    strbuf_add_csv(out, profile_text(p, p->frames.file.at[frame]));
    strbuf_printf(out, ",%u,", p->frames.line.at[frame]);
    strbuf_add_csv(out, profile_text(p, p->modules.path.at[p->frames.module.at[frame].v]));
    strbuf_add_char(out, ',');
    strbuf_clear(&w->text);
    add_stack_text(w->set, row->stack, &w->text, &w->path);
    strbuf_add_csv(out, strbuf_str(&w->text));
}

// The rows of samples that have texts: each has a column for each text.
static void add_text_rows(CsvWriter *w, TextRows *t, uint32_t metric)
{
    const Profile *p = w->set->p;
    for (size_t i = 0, to; i < t->samples.len; i = to) {
        uint32_t sample = t->samples.at[i], thread = p->samples.thread.at[sample].v;
        CsvRow row = {.pid = p->processes.pid.at[p->threads.process.at[thread].v],
                      .tid = p->threads.tid.at[thread],
                      .thread = export_thread_name(p, thread),
                      .stack = p->samples.stack.at[sample].v};
        for (to = i; to < t->samples.len && by_texts(&sample, &t->samples.at[to], t) == 0; to++) {
            row.value += (uint64_t)p->samples.values[metric].at[t->samples.at[to]];
            row.samples++;
        }
        add_csv_row(w, &row);
        for (size_t m = 0; m < t->metrics.len; m++) {
            Str text = STR("");
            (void)export_text_of(w->set, t->metrics.at[m], sample, &text);
            strbuf_add_char(&w->out.buf, ',');
            strbuf_add_csv(&w->out.buf, text);
        }
        strbuf_add(&w->out.buf, STR("\r\n"));
        if (!export_flush(&w->out, EXPORT_FLUSH))
            break;
    }
}

static void add_sum_rows(CsvWriter *w, const Weights *weights)
{
    for (size_t g = 0; g < weights->groups.len; g++) {
        const WeightGroup *group = &weights->groups.at[g];
        for (size_t r = 0; r < group->row_count; r++) {
            const WeightRow *sum = &weights->rows.at[group->first_row + r];
            add_csv_row(w, &(CsvRow){group->pid, group->tid, profile_text(w->set->p, group->name),
                                     sum->value, sum->samples, sum->stack.v});
            strbuf_add(&w->out.buf, STR("\r\n"));
            if (!export_flush(&w->out, EXPORT_FLUSH))
                return;
        }
    }
}

bool export_csv(const Profile *p, const ExportRequest *request, const ExportSink *sink, Error *err)
{
    if (p->runs.name.len && p->samples.stack.len == 0)
        return export_runs_csv(p, sink, err);
    Weights weights;
    ExportSet s;
    TextRows texts;
    if (!weights_init(&weights, p, &request->selection, GROUP_THREAD, err))
        return false;
    if (!export_set_init(&s, p, request, false, err)) {
        weights_deinit(&weights);
        return false;
    }
    CsvWriter w = {.set = &s, .out = {.sink = sink}};
    text_rows_init(&texts, &s, request->selection.metric.v);
    strbuf_add(&w.out.buf, STR("pid,tid,thread,value,samples,function,file,line,module,stack"));
    for (size_t i = 0; i < texts.metrics.len; i++) {
        strbuf_add_char(&w.out.buf, ',');
        strbuf_add_csv(&w.out.buf, profile_text(p, p->metrics.name.at[texts.metrics.at[i]]));
    }
    strbuf_add(&w.out.buf, STR("\r\n"));
    if (texts.metrics.len)
        add_text_rows(&w, &texts, request->selection.metric.v);
    else
        add_sum_rows(&w, &weights);
    strbuf_deinit(&w.text);
    vec_free(&w.path);
    vec_free(&texts.metrics);
    vec_free(&texts.samples);
    export_set_deinit(&s);
    weights_deinit(&weights);
    return export_finish(&w.out, err);
}

// ---- JSON --------------------------------------------------------------------

static void add_value(JsonWriter *w, const Column *c, const RawVec *v, size_t row)
{
    switch (c->type) {
    case COLUMN_U8:
        json_u64(w, NULL, ((const uint8_t *)v->at)[row]);
        break;
    case COLUMN_U32:
        json_u64(w, NULL, ((const uint32_t *)v->at)[row]);
        break;
    case COLUMN_U64:
        json_u64(w, NULL, ((const uint64_t *)v->at)[row]);
        break;
    case COLUMN_I64: {
        int64_t value = ((const int64_t *)v->at)[row];
        if (value == TIME_NONE)
            json_null(w, NULL);
        else
            json_i64(w, NULL, value);
        break;
    }
    case COLUMN_F64:
        json_double(w, NULL, ((const double *)v->at)[row]);
        break;
    }
}

static void add_column(JsonWriter *w, ExportOut *out, const Profile *p, const Column *c)
{
    const RawVec *v = column_vec_const(p, c);
    json_begin_array(w, c->name);
    for (size_t i = 0; i < v->len; i++) {
        add_value(w, c, v, i);
        if ((i & 0xfff) == 0)
            export_flush(out, EXPORT_FLUSH);
    }
    json_end(w);
}

static void add_sample_values(JsonWriter *w, ExportOut *out, const Profile *p)
{
    json_begin_array(w, "values");
    for (size_t m = 0; m < p->samples.value_columns; m++) {
        json_begin_array(w, NULL);
        for (size_t i = 0; i < p->samples.values[m].len; i++) {
            json_i64(w, NULL, p->samples.values[m].at[i]);
            if ((i & 0xfff) == 0)
                export_flush(out, EXPORT_FLUSH);
        }
        json_end(w);
    }
    json_end(w);
}

bool export_json(const Profile *p, const ExportRequest *request, const ExportSink *sink, Error *err)
{
    const Selection *s = &request->selection;
    if (selection_has_time(s) || s->pids || s->tids || s->comms || s->focus || s->ignore)
        return error_set(err, ERROR_USAGE,
                         "the json format holds the whole recording and takes no selection; use "
                         "firefox or csv");
    ExportOut out = {.sink = sink};
    JsonWriter w = json_writer(&out.buf, 0);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-profile"));
    json_u64(&w, "version", 1);
    json_str(&w, "tool", request->tool_version);
    json_begin_array(&w, "strings");
    for (size_t i = 0; i < p->strings.texts.len; i++) {
        json_str(&w, NULL, p->strings.texts.at[i]);
        export_flush(&out, EXPORT_FLUSH);
    }
    json_end(&w);
    for (size_t t = 0; t < profile_schema_count; t++) {
        const TableSchema *table = &profile_schema[t];
        json_begin_object(&w, table->name);
        for (size_t c = 0; c < table->column_count; c++)
            add_column(&w, &out, p, &table->columns[c]);
        if (table->id == TABLE_SAMPLES)
            add_sample_values(&w, &out, p);
        json_end(&w);
    }
    json_end(&w);
    strbuf_add_char(&out.buf, '\n');
    return export_finish(&out, err);
}
