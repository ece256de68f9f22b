// SPDX-License-Identifier: Apache-2.0
// For programs and spreadsheets: CSV with a row for each thread and stack, or for each run and
// event, and JSON with the whole recording as columns. Format: docs/formats/export.md.

#include "base/json.h"
#include "export/export_internal.h"
#include "export/runs.h"
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

bool export_csv(const Profile *p, const ExportRequest *request, const ExportSink *sink, Error *err)
{
    if (p->runs.name.len && p->samples.stack.len == 0)
        return export_runs_csv(p, sink, err);
    Weights w;
    ExportSet s;
    if (!weights_init(&w, p, &request->selection, GROUP_THREAD, err))
        return false;
    if (!export_set_init(&s, p, request, false, err)) {
        weights_deinit(&w);
        return false;
    }
    ExportOut out = {.sink = sink};
    StrBuf text = {0};
    U32Vec path = {0};
    strbuf_add(&out.buf, STR("pid,tid,thread,value,samples,function,file,line,module,stack\r\n"));
    for (size_t g = 0; g < w.groups.len; g++) {
        const WeightGroup *group = &w.groups.at[g];
        for (size_t r = 0; r < group->row_count; r++) {
            const WeightRow *row = &w.rows.at[group->first_row + r];
            uint32_t frame = p->stacks.frame.at[row->stack.v].v;
            strbuf_printf(&out.buf, "%u,%u,", group->pid, group->tid);
            strbuf_add_csv(&out.buf, profile_text(p, group->name));
            strbuf_printf(&out.buf, ",%llu,%u,", (unsigned long long)row->value, row->samples);
            strbuf_clear(&text);
            export_add_name(&s, s.keys.of_frame[frame], &text);
            strbuf_add_csv(&out.buf, strbuf_str(&text));
            strbuf_add_char(&out.buf, ',');
            strbuf_add_csv(&out.buf, profile_text(p, p->frames.file.at[frame]));
            strbuf_printf(&out.buf, ",%u,", p->frames.line.at[frame]);
            Str module = profile_text(p, p->modules.path.at[p->frames.module.at[frame].v]);
            strbuf_add_csv(&out.buf, module);
            strbuf_add_char(&out.buf, ',');
            strbuf_clear(&text);
            add_stack_text(&s, row->stack.v, &text, &path);
            strbuf_add_csv(&out.buf, strbuf_str(&text));
            strbuf_add(&out.buf, STR("\r\n"));
            if (!export_flush(&out, EXPORT_FLUSH))
                break;
        }
    }
    strbuf_deinit(&text);
    vec_free(&path);
    export_set_deinit(&s);
    weights_deinit(&w);
    return export_finish(&out, err);
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
