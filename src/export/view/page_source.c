// SPDX-License-Identifier: Apache-2.0
// Source text, counts of lines, series and intervals of a page.

#include "export/view/view_internal.h"

#include <stdlib.h>

// ---- Files that are touched ----------------------------------------------------------

typedef struct TouchedFile {
    uint64_t value;
    uint32_t file;
} TouchedFile;

static int by_value(const void *a, const void *b)
{
    const TouchedFile *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return x->file < y->file ? -1 : x->file > y->file;
}

StrIdVec view_touched_files(const Report *report, size_t max)
{
    const Profile *p = report->profile;
    size_t strings = p->strings.texts.len;
    uint64_t *value = heap_alloc((strings + 1) * sizeof(uint64_t));
    for (size_t i = 0; i < report->lines.len; i++)
        value[report->lines.at[i].file.v] += report->lines.at[i].self;
    // Frames on the way to a sample have no self value, and count as touched.
    for (size_t i = 0; i < p->frames.file.len; i++)
        if (p->frames.line.at[i] && value[p->frames.file.at[i].v] == 0)
            value[p->frames.file.at[i].v] = 1;
    for (size_t i = 0; i < p->line_counts.file.len; i++)
        if (value[p->line_counts.file.at[i].v] == 0)
            value[p->line_counts.file.at[i].v] = 1;
    Vec(TouchedFile) files = {0};
    for (uint32_t i = 1; i < strings; i++)
        if (value[i])
            vec_push(NULL, &files, (TouchedFile){value[i], i});
    heap_free(value);
    if (files.len)
        qsort(files.at, files.len, sizeof(TouchedFile), by_value);
    StrIdVec ret = {0};
    for (size_t i = 0; i < files.len && i < max; i++)
        vec_push(NULL, &ret, (StrId){files.at[i].file});
    vec_free(&files);
    return ret;
}

// ---- Text ----------------------------------------------------------------------------

// Whether a recording before had the same text of the same path: the page takes it from there.
static bool is_written(ViewPage *page, Str path, const ViewText *text)
{
    ViewWritten w = {.path = str_hash(path),
                     .content = str_hash(text->text) +
                                (text->trouble ? str_hash(str_from_c(text->trouble)) * 31 : 0)};
    uint32_t row;
    for (TableProbe p = table_probe(&page->written_index, w.path);
         table_next(&page->written_index, &p, &row);)
        if (page->written.at[row].path == w.path)
            return page->written.at[row].content == w.content;
    table_insert(&page->written_index, w.path, (uint32_t)page->written.len);
    vec_push(NULL, &page->written, w);
    return false;
}

// One block of files: [from, to) of the texts.
static bool add_texts(ViewPage *page, const Profile *p, const ViewTextVec *texts, size_t from,
                      size_t to, Error *err)
{
    enum { LEVEL = 6 };
    ViewBlock b = {0};
    StrBuf about = {0};
    JsonWriter json;
    view_about_begin(&json, &about, page->recordings, "text");
    json_begin_array(&json, "files");
    for (size_t i = from; i < to; i++) {
        json_begin_object(&json, NULL);
        json_str(&json, "path", profile_text(p, texts->at[i].file));
        if (texts->at[i].trouble)
            json_str(&json, "trouble", str_from_c(texts->at[i].trouble));
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    view_column_begin(&b);
    for (size_t i = from; i < to; i++)
        view_add_u64(&b, texts->at[i].text.len);
    view_column_end(&b, "text.len", VIEW_U32);
    view_column_begin(&b);
    for (size_t i = from; i < to; i++)
        view_add_text(&b, texts->at[i].text);
    view_column_end(&b, "text", VIEW_BYTES);
    bool ok = view_block_add(&b, strbuf_str(&about), LEVEL, &page->bulk, err);
    view_block_deinit(&b);
    strbuf_deinit(&about);
    return ok;
}

// Lines that the recording keeps, where the file is not at hand.
static bool add_kept(ViewPage *page, const Profile *p, Error *err)
{
    enum { LEVEL = 6 };
    const SourceLines *kept = &p->source_lines;
    ViewBlock b = {0};
    StrBuf about = {0};
    JsonWriter json;
    view_about_begin(&json, &about, page->recordings, "kept");
    json_begin_array(&json, "files"); // [path, number of lines]: neighbours of one file
    for (size_t i = 0; i < kept->file.len;) {
        size_t end = i;
        while (end < kept->file.len && kept->file.at[end].v == kept->file.at[i].v)
            end++;
        json_begin_array(&json, NULL);
        json_str(&json, NULL, profile_text(p, kept->file.at[i]));
        json_u64(&json, NULL, end - i);
        json_end(&json);
        i = end;
    }
    json_end(&json);
    json_end(&json);
    view_column_begin(&b);
    for (size_t i = 0; i < kept->line.len; i++)
        view_add_delta(&b, kept->line.at[i]);
    view_column_end(&b, "line", VIEW_DELTA);
    view_column_begin(&b);
    for (size_t i = 0; i < kept->text.len; i++)
        view_add_u64(&b, profile_text(p, kept->text.at[i]).len);
    view_column_end(&b, "text.len", VIEW_U32);
    view_column_begin(&b);
    for (size_t i = 0; i < kept->text.len; i++)
        view_add_text(&b, profile_text(p, kept->text.at[i]));
    view_column_end(&b, "text", VIEW_BYTES);
    bool ok = view_block_add(&b, strbuf_str(&about), LEVEL, &page->bulk, err);
    view_block_deinit(&b);
    strbuf_deinit(&about);
    return ok;
}

static bool add_all_texts(ViewPage *page, const Profile *p, const ViewTextVec *texts, Error *err)
{
    enum { BLOCK_BYTES = 6 << 20 };
    ViewTextVec new_ones = {0};
    for (size_t i = 0; i < texts->len; i++)
        if (!is_written(page, profile_text(p, texts->at[i].file), &texts->at[i]))
            vec_push(NULL, &new_ones, texts->at[i]);
    bool ok = true;
    for (size_t from = 0; from < new_ones.len && ok;) {
        size_t bytes = 0, to = from;
        for (; to < new_ones.len && (to == from || bytes < BLOCK_BYTES); to++)
            bytes += new_ones.at[to].text.len;
        ok = add_texts(page, p, &new_ones, from, to, err);
        from = to;
    }
    vec_free(&new_ones);
    return ok;
}

// ---- Counts of lines, instructions ---------------------------------------------------

static bool add_counts(ViewPage *page, const Profile *p, ViewStrings *strings, Error *err)
{
    enum { LEVEL = 6 };
    const LineCounts *c = &p->line_counts;
    ViewBlock b = {0};
    StrBuf about = {0};
    JsonWriter json;
    view_about_begin(&json, &about, page->recordings, "counts");
    json_end(&json);
    // Texts of this block are after those of the first one: they stand here again.
    view_column_begin(&b);
    for (size_t i = 0; i < c->file.len; i++)
        view_add_u64(&b, view_string(strings, profile_text(p, c->file.at[i])));
    view_column_end(&b, "file", VIEW_U32);
    view_column_begin(&b);
    for (size_t i = 0; i < c->line.len; i++)
        view_add_delta(&b, c->line.at[i]);
    view_column_end(&b, "line", VIEW_DELTA);
    view_column_begin(&b);
    for (size_t i = 0; i < c->count.len; i++)
        view_add_u64(&b, c->count.at[i]);
    view_column_end(&b, "count", VIEW_U64);
    bool ok = view_block_add(&b, strbuf_str(&about), LEVEL, &page->bulk, err);
    view_block_deinit(&b);
    strbuf_deinit(&about);
    return ok;
}

static bool add_instructions(ViewPage *page, const ViewInstructionVec *code, Error *err)
{
    enum { LEVEL = 6 };
    ViewBlock b = {0};
    StrBuf about = {0};
    Arena arena = {0};
    Intern texts;
    intern_init(&texts, &arena);
    view_column_begin(&b);
    for (size_t i = 0; i < code->len; i++)
        view_add_u64(&b, intern_add(&texts, code->at[i].file));
    view_column_end(&b, "file", VIEW_U32);
    view_column_begin(&b);
    for (size_t i = 0; i < code->len; i++)
        view_add_u64(&b, code->at[i].line);
    view_column_end(&b, "line", VIEW_U32);
    view_column_begin(&b);
    for (size_t i = 0; i < code->len; i++)
        view_add_delta(&b, (int64_t)code->at[i].address);
    view_column_end(&b, "address", VIEW_DELTA);
    view_column_begin(&b);
    for (size_t i = 0; i < code->len; i++)
        view_add_u64(&b, code->at[i].self);
    view_column_end(&b, "self", VIEW_U64);
    const char *const names[] = {"text", "inlined", "function"};
    for (size_t c = 0; c < ARRAY_LEN(names); c++) {
        view_column_begin(&b);
        for (size_t i = 0; i < code->len; i++) {
            const ViewInstruction *at = &code->at[i];
            view_add_u64(&b, intern_add(&texts, c == 0   ? at->text
                                                : c == 1 ? at->inlined
                                                         : at->function));
        }
        view_column_end(&b, names[c], VIEW_U32);
    }
    JsonWriter json;
    view_about_begin(&json, &about, page->recordings, "code");
    json_begin_array(&json, "strings");
    for (size_t i = 0; i < texts.texts.len; i++)
        json_str(&json, NULL, texts.texts.at[i]);
    json_end(&json);
    json_end(&json);
    bool ok = view_block_add(&b, strbuf_str(&about), LEVEL, &page->bulk, err);
    view_block_deinit(&b);
    strbuf_deinit(&about);
    intern_deinit(&texts);
    arena_deinit(&arena);
    return ok;
}

bool view_add_source(ViewPage *page, const Profile *p, const ViewOptions *o, ViewStrings *strings,
                     Error *err)
{
    if (p->line_counts.file.len && !add_counts(page, p, strings, err))
        return false;
    if (o->no_source)
        return true;
    if (o->texts && !add_all_texts(page, p, o->texts, err))
        return false;
    if (p->source_lines.file.len && !add_kept(page, p, err))
        return false;
    return !o->instructions || o->instructions->len == 0 ||
           add_instructions(page, o->instructions, err);
}

// ---- Tracks --------------------------------------------------------------------------

// A row of the columns of spans.
typedef struct SpanRow {
    uint32_t thread;
    int64_t start_ns, end_ns;
    Str name, detail;
} SpanRow;
typedef Vec(SpanRow) SpanRowVec;

static void add_span_columns(ViewBlock *b, const SpanRowVec *rows, ViewStrings *strings)
{
    view_column_begin(b);
    for (size_t i = 0; i < rows->len; i++)
        view_add_u64(b, rows->at[i].thread);
    view_column_end(b, "span.thread", VIEW_U32);
    view_column_begin(b);
    for (size_t i = 0; i < rows->len; i++)
        view_add_delta(b, rows->at[i].start_ns);
    view_column_end(b, "span.start", VIEW_DELTA);
    view_column_begin(b);
    for (size_t i = 0; i < rows->len; i++)
        view_add_delta(b, rows->at[i].end_ns);
    view_column_end(b, "span.end", VIEW_DELTA);
    view_column_begin(b);
    for (size_t i = 0; i < rows->len; i++)
        view_add_u64(b, view_string(strings, rows->at[i].name));
    view_column_end(b, "span.name", VIEW_U32);
    view_column_begin(b);
    for (size_t i = 0; i < rows->len; i++)
        view_add_u64(b, view_string(strings, rows->at[i].detail));
    view_column_end(b, "span.detail", VIEW_U32);
}

static void add_arrow_columns(ViewBlock *b, const WaitSpans *states)
{
    size_t count = MIN(states->arrows.len, (size_t)VIEW_ARROWS_MAX);
    view_column_begin(b);
    for (size_t i = 0; i < count; i++)
        view_add_u64(b, states->arrows.at[i].from.v);
    view_column_end(b, "wake.from", VIEW_U32);
    view_column_begin(b);
    for (size_t i = 0; i < count; i++)
        view_add_u64(b, states->arrows.at[i].to.v);
    view_column_end(b, "wake.to", VIEW_U32);
    view_column_begin(b);
    for (size_t i = 0; i < count; i++)
        view_add_delta(b, states->arrows.at[i].time_ns);
    view_column_end(b, "wake.time", VIEW_DELTA);
}

static void add_spans(ViewBlock *b, const Profile *p, ViewStrings *strings)
{
    const Intervals *v = &p->intervals;
    SpanRowVec rows = {0};
    WaitSpans states;
    view_states_init(&states, p);
    for (size_t i = 0; i < v->thread.len; i++)
        vec_push(NULL, &rows,
                 (SpanRow){v->thread.at[i].v, v->start_ns.at[i], v->end_ns.at[i],
                           profile_text(p, v->name.at[i]), profile_text(p, v->detail.at[i])});
    // Neighbours in the table of texts have different colours.
    for (int c = WAIT_RUNNABLE; c < WAIT_CLASS_COUNT && states.spans.len; c++)
        (void)view_string(strings, str_from_c(wait_class_name((WaitClass)c)));
    for (size_t i = 0; i < states.spans.len; i++) {
        const WaitSpan *s = &states.spans.at[i];
        vec_push(NULL, &rows,
                 (SpanRow){s->thread.v, s->start_ns, s->end_ns,
                           str_from_c(wait_class_name(s->state)), profile_text(p, s->object)});
    }
    add_span_columns(b, &rows, strings);
    add_arrow_columns(b, &states);
    vec_free(&rows);
    wait_spans_deinit(&states);
}

void view_add_tracks(ViewBlock *b, const Profile *p, ViewStrings *strings)
{
    const Series *s = &p->series;
    view_column_begin(b);
    for (size_t i = 0; i < s->metric.len; i++)
        view_add_u64(b, s->metric.at[i].v);
    view_column_end(b, "series.metric", VIEW_U32);
    view_column_begin(b);
    for (size_t i = 0; i < s->metric.len; i++)
        view_add_u64(b, view_string(strings, profile_text(p, s->part.at[i])));
    view_column_end(b, "series.part", VIEW_U32);
    view_column_begin(b);
    for (size_t i = 0; i < s->metric.len; i++)
        view_add_delta(b, s->time_ns.at[i]);
    view_column_end(b, "series.time", VIEW_DELTA);
    view_column_begin(b);
    for (size_t i = 0; i < s->metric.len; i++)
        view_add_double(b, s->value.at[i]);
    view_column_end(b, "series.value", VIEW_DOUBLE);
    add_spans(b, p, strings);
}
