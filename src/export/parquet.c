// SPDX-License-Identifier: Apache-2.0
// A recording as a folder of Parquet tables, to be asked together with those of other hosts.
// Schema: docs/formats/parquet.md.

#include <stdarg.h>

#include "analyse/calls/call_summary.h"
#include "export/parquet_file.h"
#include "export/stack_sums_internal.h"
#include "model/facts.h"

// The first column of every table is the recording, so that tables of many recordings are one.
#define RECORDING                                                                                  \
    {                                                                                              \
        "recording", PARQUET_TEXT, false, false                                                    \
    }
#define TEXT(name)                                                                                 \
    {                                                                                              \
        name, PARQUET_TEXT, false, false                                                           \
    }
#define TEXT_OR_NULL(name)                                                                         \
    {                                                                                              \
        name, PARQUET_TEXT, false, true                                                            \
    }
#define NUMBER(name)                                                                               \
    {                                                                                              \
        name, PARQUET_I32, false, false                                                            \
    }
#define NUMBER_OR_NULL(name)                                                                       \
    {                                                                                              \
        name, PARQUET_I32, false, true                                                             \
    }
#define LONG(name)                                                                                 \
    {                                                                                              \
        name, PARQUET_I64, false, false                                                            \
    }
#define LONG_OR_NULL(name)                                                                         \
    {                                                                                              \
        name, PARQUET_I64, false, true                                                             \
    }
#define ID(name)                                                                                   \
    {                                                                                              \
        name, PARQUET_I32, true, false                                                             \
    }
#define ID_OR_NULL(name)                                                                           \
    {                                                                                              \
        name, PARQUET_I32, true, true                                                              \
    }
#define TIME_OR_NULL(name)                                                                         \
    {                                                                                              \
        name, PARQUET_I64, true, true                                                              \
    }
#define DOUBLE_OR_NULL(name)                                                                       \
    {                                                                                              \
        name, PARQUET_F64, false, true                                                             \
    }
#define FLAG(name)                                                                                 \
    {                                                                                              \
        name, PARQUET_BOOL, false, false                                                           \
    }

static const ParquetColumn recording_columns[] = {
    RECORDING,
    TEXT_OR_NULL("host"),
    LONG_OR_NULL("started_ns"),
    TEXT_OR_NULL("command"),
    TEXT("program"),
    TEXT("build_id"),
    TEXT_OR_NULL("event"),
    TEXT_OR_NULL("kernel"),
    TEXT("arch"),
    TEXT_OR_NULL("cpu"),
    LONG("samples"),
    TEXT("exported_by"),
    NUMBER("schema"),
};
static const ParquetColumn fact_columns[] = {RECORDING, TEXT("key"), TEXT("value")};
static const ParquetColumn note_columns[] = {RECORDING, TEXT("level"), TEXT("key"), TEXT("text")};
static const ParquetColumn metric_columns[] = {
    RECORDING,     NUMBER("metric"), TEXT("name"),  TEXT("unit"),
    TEXT("event"), TEXT("kind"),     LONG("total"),
};
static const ParquetColumn thread_columns[] = {
    RECORDING, NUMBER("thread"), NUMBER("pid"), NUMBER("tid"), TEXT("process"), TEXT("name"),
};
static const ParquetColumn frame_columns[] = {
    RECORDING,
    ID("frame"),
    TEXT("function"),
    TEXT("linkage_name"),
    TEXT_OR_NULL("file"),
    NUMBER_OR_NULL("line"),
    TEXT_OR_NULL("module"),
    TEXT_OR_NULL("build_id"),
    LONG_OR_NULL("address"),
    FLAG("kernel"),
    FLAG("inlined"),
    FLAG("cut"),
};
// With the place and the caller, so that questions need no other join: readers that know little of
// the tables may join three of them by `recording` alone first.
static const ParquetColumn stack_columns[] = {
    RECORDING,
    ID("stack"),
    ID_OR_NULL("parent"),
    NUMBER("frame"),
    NUMBER("depth"),
    FLAG("repeats"),
    FLAG("cut"),
    TEXT("function"),
    TEXT_OR_NULL("caller"),
    TEXT_OR_NULL("file"),
    NUMBER_OR_NULL("line"),
};
static const ParquetColumn stack_value_columns[] = {
    RECORDING, NUMBER("metric"), ID("stack"), LONG("self"), LONG("total"), NUMBER("samples"),
};
enum {
    SAMPLE_RECORDING,
    SAMPLE_METRIC,
    SAMPLE_THREAD,
    SAMPLE_TIME,
    SAMPLE_STACK,
    SAMPLE_CPU,
    SAMPLE_VALUE
};
static const ParquetColumn sample_columns[] = {
    [SAMPLE_RECORDING] = RECORDING,           [SAMPLE_METRIC] = NUMBER("metric"),
    [SAMPLE_THREAD] = NUMBER("thread"),       [SAMPLE_TIME] = TIME_OR_NULL("time_ns"),
    [SAMPLE_STACK] = NUMBER_OR_NULL("stack"), [SAMPLE_CPU] = NUMBER_OR_NULL("cpu"),
    [SAMPLE_VALUE] = LONG("value"),
};
// As samples, with a text instead of a number.
static const ParquetColumn text_columns[] = {
    [SAMPLE_RECORDING] = RECORDING,
    [SAMPLE_METRIC] = NUMBER("metric"),
    [SAMPLE_THREAD] = NUMBER("thread"),
    [SAMPLE_TIME] = TIME_OR_NULL("time_ns"),
    [SAMPLE_STACK] = NUMBER_OR_NULL("stack"),
    [SAMPLE_CPU] = NUMBER_OR_NULL("cpu"),
    [SAMPLE_VALUE] = TEXT("text"),
};
static const ParquetColumn line_columns[] = {
    RECORDING, TEXT("file"), NUMBER("line"), LONG_OR_NULL("executions"), TEXT_OR_NULL("text"),
};
static const ParquetColumn run_columns[] = {
    RECORDING,
    NUMBER("run"),
    TEXT("name"),
    TEXT("command"),
    TEXT_OR_NULL("revision"),
    TEXT_OR_NULL("conditions"),
    LONG_OR_NULL("start_ns"),
    LONG_OR_NULL("wall_ns"),
    LONG_OR_NULL("user_ns"),
    LONG_OR_NULL("system_ns"),
    LONG_OR_NULL("status"),
    NUMBER("round"),
    NUMBER("position"),
    FLAG("warmup"),
};
static const ParquetColumn run_value_columns[] = {
    RECORDING,
    NUMBER("run"),
    NUMBER("metric"),
    TEXT_OR_NULL("part"),
    DOUBLE_OR_NULL("value"),
    LONG("enabled_ns"),
    LONG("running_ns"),
};
static const ParquetColumn series_columns[] = {
    RECORDING,
    NUMBER("metric"),
    TIME_OR_NULL("time_ns"),
    TEXT_OR_NULL("part"),
    DOUBLE_OR_NULL("value"),
    LONG("enabled_ns"),
    LONG("running_ns"),
};

static const ParquetColumn call_columns[] = {
    RECORDING,
    NUMBER("call"),
    NUMBER("thread"),
    TEXT("function"),
    TIME_OR_NULL("begin_ns"),
    TIME_OR_NULL("end_ns"),
    LONG_OR_NULL("duration_ns"),
    NUMBER("depth"),
    FLAG("open"),
    FLAG("late"),
    FLAG("work"),
};
static const ParquetColumn call_value_columns[] = {
    RECORDING,
    NUMBER("call"),
    TEXT("name"),
    LONG("value"),
};
static const ParquetColumn wait_columns[] = {
    RECORDING,          NUMBER("thread"),       NUMBER_OR_NULL("stack"),
    TEXT("class"),      TEXT_OR_NULL("object"), LONG("count"),
    LONG("blocked_ns"), LONG("runnable_ns"),    LONG("longest_ns"),
};

typedef struct Writer {
    ExportSet set;
    const Profile *p;
    const ExportSink *sink;
    ParquetFile file;
    Str recording; // its number, 16 hex digits
    bool failed;
    Error err; // of the first failure
} Writer;

static bool write_bytes(void *ctx, Str bytes)
{
    const ExportSink *sink = ctx;
    return sink->write(sink->ctx, bytes);
}

static void begin_table(Writer *w, const char *name, const ParquetColumn *columns, size_t count)
{
    Arena scratch = {0};
    Str file = arena_printf(&scratch, "%s.parquet", name);
    w->failed = w->failed || !w->sink->begin_file(w->sink->ctx, file);
    parquet_open(&w->file, columns, count, write_bytes, (void *)(uintptr_t)w->sink);
    arena_deinit(&scratch);
}
#define BEGIN(w, name, columns) begin_table(w, name, columns, ARRAY_LEN(columns))

static void end_table(Writer *w)
{
    Error err;
    bool ok = parquet_close(&w->file, STR("assay"), &err);
    if (!ok && !w->failed)
        w->err = err;
    w->failed = w->failed || !ok;
}

// One row behind the recording's number: a letter for each column. i int64_t; n the same, negative
// is null (TIME_NONE too); d double, NaN is null; t Str; o Str, "" is null.
static void add_row(Writer *w, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    parquet_text(&w->file, 0, w->recording);
    for (size_t c = 1; types[c - 1]; c++) {
        char type = types[c - 1];
        if (type == 'i' || type == 'n') {
            int64_t value = va_arg(args, int64_t);
            if (type == 'n' && value < 0)
                parquet_null(&w->file, c);
            else
                parquet_number(&w->file, c, value);
        } else if (type == 'd') {
            double value = va_arg(args, double);
            if (value != value)
                parquet_null(&w->file, c);
            else
                parquet_double(&w->file, c, value);
        } else {
            Str text = va_arg(args, Str);
            if (type == 'o' && text.len == 0)
                parquet_null(&w->file, c);
            else
                parquet_text(&w->file, c, text);
        }
    }
    va_end(args);
    parquet_end_row(&w->file);
}

static Str fact(const Writer *w, const char *key)
{
    return profile_fact(w->p, str_from_c(key));
}

// The module of the program that was recorded: the one with the name of the command's first word.
// 0 when there is none.
static uint32_t main_module(const Writer *w)
{
    const Profile *p = w->p;
    Str rest = fact(w, FACT_COMMAND), first;
    if (!str_next_part(&rest, ' ', &first) || first.len == 0)
        return 0;
    for (uint32_t m = 1; m < p->modules.path.len; m++)
        if (str_equal(str_base_name(profile_text(p, p->modules.path.at[m])), str_base_name(first)))
            return m;
    return 0;
}

static void add_recording(Writer *w)
{
    const Profile *p = w->p;
    uint64_t started = 0;
    bool has_start = profile_fact_u64(p, STR(FACT_START_REALTIME), &started);
    uint32_t module = main_module(w);
    BEGIN(w, "recordings", recording_columns);
    add_row(w, "onottootoiti", fact(w, FACT_HOSTNAME), has_start ? (int64_t)started : (int64_t)-1,
            fact(w, FACT_COMMAND), profile_text(p, p->modules.path.at[module]),
            profile_text(p, p->modules.build_id.at[module]), fact(w, FACT_EVENT),
            fact(w, FACT_KERNEL), fact(w, FACT_ARCH), fact(w, FACT_CPU_MODEL),
            (int64_t)w->set.samples.len, w->set.request->tool_version, (int64_t)1);
    end_table(w);
    BEGIN(w, "facts", fact_columns);
    for (size_t i = 0; i < p->facts.key.len; i++)
        add_row(w, "tt", profile_text(p, p->facts.key.at[i]),
                profile_text(p, p->facts.value.at[i]));
    end_table(w);
    BEGIN(w, "notes", note_columns);
    for (size_t i = 0; i < p->notes.key.len; i++)
        add_row(w, "ttt", p->notes.level.at[i] == NOTE_WARNING ? STR("warning") : STR("info"),
                profile_text(p, p->notes.key.at[i]), profile_text(p, p->notes.text.at[i]));
    end_table(w);
}

static void add_threads(Writer *w)
{
    const Profile *p = w->p;
    BEGIN(w, "threads", thread_columns);
    for (size_t i = 0; i < w->set.threads.len; i++) {
        uint32_t t = w->set.threads.at[i], process = p->threads.process.at[t].v;
        add_row(w, "iiitt", (int64_t)i + 1, (int64_t)p->processes.pid.at[process],
                (int64_t)p->threads.tid.at[t], profile_text(p, p->processes.name.at[process]),
                profile_text(p, p->threads.name.at[t]));
    }
    end_table(w);
}

static int64_t line_or_null(uint32_t line)
{
    return line ? (int64_t)MIN(line, (uint32_t)INT32_MAX) : -1;
}

// Texts of a column whose empty ones are null.
static void text_or_null(Writer *w, size_t column, Str text)
{
    if (text.len)
        parquet_text(&w->file, column, text);
    else
        parquet_null(&w->file, column);
}

static void number_or_null(Writer *w, size_t column, int64_t number)
{
    if (number >= 0)
        parquet_number(&w->file, column, number);
    else
        parquet_null(&w->file, column);
}

// The names of functions, by key.
static Str *function_names(Arena *arena, const ExportSet *s)
{
    StrBuf name = {0};
    Str *names = arena_array(arena, Str, s->keys.first.len + 1);
    for (size_t i = 0; i < s->functions.len; i++) {
        uint32_t key = s->functions.at[i];
        strbuf_clear(&name);
        export_add_name(s, key, &name);
        names[key] = arena_str(arena, strbuf_str(&name));
    }
    strbuf_deinit(&name);
    return names;
}

static void add_frames(Writer *w, const Str *names)
{
    const Profile *p = w->p;
    BEGIN(w, "frames", frame_columns);
    for (size_t i = 0; i < w->set.frames.len; i++) {
        uint32_t f = w->set.frames.at[i], module = p->frames.module.at[f].v;
        uint8_t flags = p->frames.flags.at[f];
        bool is_cut = flags & FRAME_CUT, is_inlined = flags & FRAME_INLINED;
        parquet_text(&w->file, 0, w->recording);
        parquet_number(&w->file, 1, (int64_t)i + 1);
        parquet_text(&w->file, 2, names[w->set.keys.of_frame[f]]);
        Str linkage = profile_text(p, p->functions.linkage_name.at[p->frames.function.at[f].v]);
        parquet_text(&w->file, 3, linkage);
        text_or_null(w, 4, profile_text(p, p->frames.file.at[f]));
        number_or_null(w, 5, line_or_null(p->frames.line.at[f]));
        text_or_null(w, 6, profile_text(p, p->modules.path.at[module]));
        text_or_null(w, 7, profile_text(p, p->modules.build_id.at[module]));
        // Kernel addresses are over 2^63: negative numbers.
        if (is_cut)
            parquet_null(&w->file, 8);
        else
            parquet_number(&w->file, 8, (int64_t)p->frames.address.at[f]);
        parquet_number(&w->file, 9, (flags & FRAME_KERNEL) != 0);
        parquet_number(&w->file, 10, is_inlined || p->frames.inlined_in.at[f].v);
        parquet_number(&w->file, 11, is_cut);
        parquet_end_row(&w->file);
    }
    end_table(w);
}

static void add_stacks(Writer *w, const Str *names)
{
    const Profile *p = w->p;
    const ExportSet *set = &w->set;
    ExportShape shape = export_shape(set);
    BEGIN(w, "stacks", stack_columns);
    for (size_t i = 0; i < set->stacks.len; i++) {
        const ExportStack *s = &set->stacks.at[i];
        bool is_root = s->parent == EXPORT_NONE;
        Str caller = is_root ? STR("") : names[set->keys.of_frame[set->stacks.at[s->parent].frame]];
        add_row(w, "iniiiitoon", (int64_t)i + 1, is_root ? (int64_t)-1 : (int64_t)s->parent + 1,
                (int64_t)set->row_of_frame[s->frame] + 1, (int64_t)shape.depth[i],
                (int64_t)shape.repeats[i],
                (int64_t)((p->frames.flags.at[s->frame] & FRAME_CUT) != 0),
                names[set->keys.of_frame[s->frame]], caller,
                profile_text(p, p->frames.file.at[s->frame]),
                line_or_null(p->frames.line.at[s->frame]));
    }
    end_table(w);
    export_shape_deinit(&shape);
}

static void add_metrics(Writer *w)
{
    const Profile *p = w->p;
    size_t count = p->metrics.name.len;
    ExportTotals *rows = heap_alloc((w->set.stacks.len + 1) * sizeof(ExportTotals));
    uint64_t *sums = heap_alloc((count + 1) * sizeof(uint64_t));
    BEGIN(w, "stack_values", stack_value_columns);
    for (size_t m = 0; m < count; m++) {
        if (!export_wants_metric(&w->set, m))
            continue;
        if (metric_is_text(p, (MetricId){(uint32_t)m})) {
            sums[m] = export_count_texts(&w->set, m);
            continue;
        }
        sums[m] = export_add_up(&w->set, m, rows);
        for (size_t i = 0; i < w->set.stacks.len; i++)
            if (rows[i].total)
                add_row(w, "iiiii", (int64_t)m + 1, (int64_t)i + 1, (int64_t)rows[i].self,
                        (int64_t)rows[i].total, (int64_t)rows[i].samples);
    }
    end_table(w);
    BEGIN(w, "metrics", metric_columns);
    for (size_t m = 0; m < count; m++)
        if (export_wants_metric(&w->set, m))
            add_row(w, "itttti", (int64_t)m + 1, profile_text(p, p->metrics.name.at[m]),
                    profile_text(p, p->metrics.unit.at[m]), profile_text(p, p->metrics.event.at[m]),
                    export_metric_kind(p, m), (int64_t)sums[m]);
    end_table(w);
    heap_free(rows);
    heap_free(sums);
}

// The columns of a sample up to its value.
static void add_sample(Writer *w, size_t metric, uint32_t thread, uint32_t at)
{
    const Samples *s = &w->p->samples;
    ParquetFile *f = &w->file;
    int64_t stack = export_stack_number(&w->set, s->stack.at[at].v);
    parquet_text(f, SAMPLE_RECORDING, w->recording);
    parquet_number(f, SAMPLE_METRIC, (int64_t)metric + 1);
    parquet_number(f, SAMPLE_THREAD, (int64_t)thread + 1);
    if (s->time_ns.at[at] == TIME_NONE)
        parquet_null(f, SAMPLE_TIME);
    else
        parquet_number(f, SAMPLE_TIME, s->time_ns.at[at]);
    if (stack < 0)
        parquet_null(f, SAMPLE_STACK);
    else
        parquet_number(f, SAMPLE_STACK, stack);
    if (s->cpu.at[at] == SAMPLE_CPU_NONE)
        parquet_null(f, SAMPLE_CPU);
    else
        parquet_number(f, SAMPLE_CPU, s->cpu.at[at]);
}

// The texts of probes, in the order of the samples.
static void add_texts(Writer *w, const uint32_t *order, const size_t *starts)
{
    Str text;
    BEGIN(w, "texts", text_columns);
    for (size_t m = 0; m < w->p->metrics.name.len; m++)
        for (uint32_t t = 0; t < w->set.threads.len && export_wants_metric(&w->set, m); t++)
            for (size_t i = starts[t]; i < starts[t + 1]; i++)
                if (export_text_of(&w->set, m, order[i], &text)) {
                    add_sample(w, m, t, order[i]);
                    parquet_text(&w->file, SAMPLE_VALUE, text);
                    parquet_end_row(&w->file);
                }
    end_table(w);
}

// Samples of one thread with a value, which are written together.
enum { SAMPLE_BLOCK = 1024 };
typedef struct SampleBlock {
    size_t metric, count;
    uint32_t thread;
    uint32_t at[SAMPLE_BLOCK];
} SampleBlock;

static void end_block(Writer *w, SampleBlock *b)
{
    const Samples *s = &w->p->samples;
    const int64_t *values = s->values[b->metric].at;
    ParquetFile *f = &w->file;
    int64_t some[SAMPLE_BLOCK];
    while (b->count) {
        size_t n = MIN(b->count, parquet_room(f));
        parquet_texts(f, SAMPLE_RECORDING, w->recording, n);
        for (size_t i = 0; i < n; i++)
            some[i] = (int64_t)b->metric + 1;
        parquet_numbers(f, SAMPLE_METRIC, some, n, -1);
        for (size_t i = 0; i < n; i++)
            some[i] = (int64_t)b->thread + 1;
        parquet_numbers(f, SAMPLE_THREAD, some, n, -1);
        for (size_t i = 0; i < n; i++)
            some[i] = s->time_ns.at[b->at[i]];
        parquet_numbers(f, SAMPLE_TIME, some, n, TIME_NONE);
        for (size_t i = 0; i < n; i++)
            some[i] = export_stack_number(&w->set, s->stack.at[b->at[i]].v);
        parquet_numbers(f, SAMPLE_STACK, some, n, -1);
        for (size_t i = 0; i < n; i++)
            some[i] = s->cpu.at[b->at[i]] == SAMPLE_CPU_NONE ? -1 : (int64_t)s->cpu.at[b->at[i]];
        parquet_numbers(f, SAMPLE_CPU, some, n, -1);
        for (size_t i = 0; i < n; i++)
            some[i] = values[b->at[i]];
        parquet_numbers(f, SAMPLE_VALUE, some, n, -1);
        parquet_end_rows(f, n);
        b->count -= n;
        memmove(b->at, b->at + n, b->count * sizeof(b->at[0]));
    }
}

// Thread by thread, in the order of time: so neighbours are alike, which makes the file small, and
// readers skip what is of other threads and times.
static void add_samples(Writer *w)
{
    uint32_t *order;
    size_t *starts;
    export_samples_by_thread(&w->set, &order, &starts);
    BEGIN(w, "samples", sample_columns);
    for (size_t m = 0; m < w->p->metrics.name.len; m++) {
        const int64_t *values = w->p->samples.values ? w->p->samples.values[m].at : NULL;
        if (!export_wants_metric(&w->set, m) || !values ||
            metric_is_text(w->p, (MetricId){(uint32_t)m}))
            continue;
        for (uint32_t t = 0; t < w->set.threads.len; t++) {
            SampleBlock b;
            b.metric = m;
            b.thread = t;
            b.count = 0;
            for (size_t i = starts[t]; i < starts[t + 1]; i++) {
                if (values[order[i]] > 0)
                    b.at[b.count++] = order[i];
                if (b.count == SAMPLE_BLOCK)
                    end_block(w, &b);
            }
            end_block(w, &b);
        }
    }
    end_table(w);
    add_texts(w, order, starts);
    heap_free(order);
    heap_free(starts);
}

static int64_t capped(uint64_t count)
{
    return (int64_t)MIN(count, (uint64_t)INT64_MAX);
}

// The row of `source_lines` for a line of a file.
static uint32_t find_text(const Profile *p, const Table *texts, StrId file, uint32_t line)
{
    uint32_t row;
    uint64_t hash = hash_pair(file.v, line);
    for (TableProbe probe = table_probe(texts, hash); table_next(texts, &probe, &row);)
        if (p->source_lines.file.at[row].v == file.v && p->source_lines.line.at[row] == line)
            return row;
    return UINT32_MAX;
}

// Lines that were counted, then others of which the recording has the text.
static void add_lines(Writer *w)
{
    const Profile *p = w->p;
    Table texts = {0};
    U8Vec used = {0};
    (void)vec_extend(NULL, &used, p->source_lines.line.len + 1);
    for (uint32_t i = 0; i < p->source_lines.line.len; i++)
        if (find_text(p, &texts, p->source_lines.file.at[i], p->source_lines.line.at[i]) ==
            UINT32_MAX)
            table_insert(&texts,
                         hash_pair(p->source_lines.file.at[i].v, p->source_lines.line.at[i]), i);
    BEGIN(w, "lines", line_columns);
    for (size_t i = 0; i < p->line_counts.line.len; i++) {
        StrId file = p->line_counts.file.at[i];
        uint32_t text = find_text(p, &texts, file, p->line_counts.line.at[i]);
        if (text != UINT32_MAX)
            used.at[text] = 1;
        add_row(w, "tino", profile_text(p, file), line_or_null(p->line_counts.line.at[i]),
                capped(p->line_counts.count.at[i]),
                text == UINT32_MAX ? (Str){0} : profile_text(p, p->source_lines.text.at[text]));
    }
    for (uint32_t i = 0; i < p->source_lines.line.len; i++)
        if (!used.at[i] &&
            find_text(p, &texts, p->source_lines.file.at[i], p->source_lines.line.at[i]) == i)
            add_row(w, "tino", profile_text(p, p->source_lines.file.at[i]),
                    line_or_null(p->source_lines.line.at[i]), (int64_t)-1,
                    profile_text(p, p->source_lines.text.at[i]));
    end_table(w);
    table_deinit(&texts);
    vec_free(&used);
}

static void add_runs(Writer *w)
{
    const Profile *p = w->p;
    const RunValues *v = &p->run_values;
    BEGIN(w, "runs", run_columns);
    for (uint32_t i = 0; i < p->runs.name.len; i++) {
        RunRow run = profile_run(p, (RunId){i});
        add_row(w, "ittoonnnnniii", (int64_t)i + 1, profile_text(p, run.name),
                profile_text(p, run.command), profile_text(p, run.revision),
                profile_text(p, run.conditions), run.start_ns, run.wall_ns, run.user_ns,
                run.system_ns, run.status == RUN_STATUS_NONE ? (int64_t)-1 : (int64_t)run.status,
                (int64_t)run.round, (int64_t)run.position,
                (int64_t)((run.flags & RUN_NO_STATISTIC) != 0));
    }
    end_table(w);
    BEGIN(w, "run_values", run_value_columns);
    for (size_t i = 0; i < v->run.len; i++)
        if (export_wants_metric(&w->set, v->metric.at[i].v))
            add_row(w, "iiodii", (int64_t)v->run.at[i].v + 1, (int64_t)v->metric.at[i].v + 1,
                    profile_text(p, v->part.at[i]), v->value.at[i], capped(v->enabled_ns.at[i]),
                    capped(v->running_ns.at[i]));
    end_table(w);
}

static void add_series(Writer *w)
{
    const Profile *p = w->p;
    const Series *s = &p->series;
    BEGIN(w, "series", series_columns);
    for (size_t i = 0; i < s->metric.len; i++)
        if (export_wants_metric(&w->set, s->metric.at[i].v))
            add_row(w, "inodii", (int64_t)s->metric.at[i].v + 1, s->time_ns.at[i],
                    profile_text(p, s->part.at[i]), s->value.at[i], capped(s->enabled_ns.at[i]),
                    capped(s->running_ns.at[i]));
    end_table(w);
}

static void add_calls(Writer *w)
{
    const Profile *p = w->p;
    const Calls *c = &p->calls;
    Arena scratch = {0};
    BEGIN(w, "calls", call_columns);
    for (size_t i = 0; i < c->thread.len; i++) {
        if (!export_has_call(&w->set, i))
            continue;
        bool is_open = c->flags.at[i] & CALL_IS_OPEN;
        arena_clear(&scratch);
        add_row(w, "iitnnniiii", (int64_t)i + 1,
                (int64_t)w->set.row_of_thread[c->thread.at[i].v] + 1,
                export_call_name(&scratch, &w->set, i), c->begin_ns.at[i], c->end_ns.at[i],
                is_open ? (int64_t)-1 : call_duration_ns(p, (uint32_t)i), (int64_t)c->depth.at[i],
                (int64_t)is_open, (int64_t)((c->flags.at[i] & CALL_ENDS_LATE) != 0),
                (int64_t)((c->flags.at[i] & CALL_IS_WORK) != 0));
    }
    end_table(w);
    arena_deinit(&scratch);
    BEGIN(w, "call_values", call_value_columns);
    for (size_t i = 0; i < p->call_values.call.len; i++)
        if (export_has_call(&w->set, p->call_values.call.at[i]))
            add_row(w, "iti", (int64_t)p->call_values.call.at[i] + 1,
                    profile_text(p, p->call_values.name.at[i]), p->call_values.value.at[i]);
    end_table(w);
}

static void add_waits(Writer *w)
{
    const Profile *p = w->p;
    const Waits *t = &p->waits;
    BEGIN(w, "waits", wait_columns);
    for (size_t i = 0; i < t->thread.len; i++) {
        if (!export_has_wait(&w->set, i))
            continue;
        uint32_t stack = t->stack.at[i].v ? w->set.row_of_stack[t->stack.at[i].v] : EXPORT_NONE;
        add_row(w, "intoiiii", (int64_t)w->set.row_of_thread[t->thread.at[i].v] + 1,
                stack == EXPORT_NONE ? (int64_t)-1 : (int64_t)stack + 1,
                str_from_c(wait_class_name((WaitClass)t->state.at[i])),
                profile_text(p, t->object.at[i]), capped(t->count.at[i]),
                capped(t->blocked_ns.at[i]), capped(t->runnable_ns.at[i]),
                capped(t->longest_ns.at[i]));
    }
    end_table(w);
}

// A hash of the facts of the recording: two exports of one recording have one number.
static Str recording_number(Arena *arena, const Profile *p)
{
    uint64_t hash = hash_pair(p->samples.stack.len, p->line_counts.line.len);
    for (size_t i = 0; i < p->facts.key.len; i++) {
        hash = bytes_hash_seeded(bytes_from_str(profile_text(p, p->facts.key.at[i])), hash);
        hash = bytes_hash_seeded(bytes_from_str(profile_text(p, p->facts.value.at[i])), hash);
    }
    return arena_printf(arena, "%016llx", (unsigned long long)hash);
}

bool export_parquet(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                    Error *err)
{
    Arena arena = {0};
    Writer w = {.p = p, .sink = sink};
    if (!export_set_init(&w.set, p, request, request->all_metrics, err))
        return false;
    export_set_add_events(&w.set);
    w.recording = recording_number(&arena, p);
    add_recording(&w);
    add_threads(&w);
    const Str *names = function_names(&arena, &w.set);
    add_frames(&w, names);
    add_stacks(&w, names);
    add_samples(&w);
    add_metrics(&w);
    add_lines(&w);
    add_runs(&w);
    add_series(&w);
    add_calls(&w);
    add_waits(&w);
    export_set_deinit(&w.set);
    arena_deinit(&arena);
    if (w.failed)
        *err = w.err;
    return !w.failed;
}
