// SPDX-License-Identifier: Apache-2.0
// The profile's tables described as data.

#include "model/schema.h"

#define COL(id, name, type, field, refers, delta)                                                  \
    {                                                                                              \
        name, id, type, offsetof(Profile, field), refers, delta                                    \
    }
#define PLAIN(id, name, type, field) COL(id, name, type, field, TABLE_NONE, false)
#define DELTA(id, name, type, field) COL(id, name, type, field, TABLE_NONE, true)
#define STRING(id, name, field)      COL(id, name, COLUMN_U32, field, TABLE_STRINGS, true)
#define REF(id, name, field, table)  COL(id, name, COLUMN_U32, field, table, true)

static const Column module_columns[] = {
    STRING(1, "path", modules.path),
    STRING(2, "build_id", modules.build_id),
    PLAIN(3, "kind", COLUMN_U8, modules.kind),
};
static const Column function_columns[] = {
    STRING(1, "name", functions.name),
    STRING(2, "linkage_name", functions.linkage_name),
    STRING(3, "file", functions.file),
    DELTA(4, "line", COLUMN_U32, functions.line),
};
static const Column frame_columns[] = {
    REF(1, "module", frames.module, TABLE_MODULES),
    DELTA(2, "address", COLUMN_U64, frames.address),
    PLAIN(3, "flags", COLUMN_U8, frames.flags),
};
static const Column frame_place_columns[] = {
    REF(1, "function", frames.function, TABLE_FUNCTIONS),
    STRING(2, "file", frames.file),
    DELTA(3, "line", COLUMN_U32, frames.line),
    REF(4, "inlined_in", frames.inlined_in, TABLE_FRAMES),
};
static const Column stack_columns[] = {
    REF(1, "parent", stacks.parent, TABLE_STACKS),
    REF(2, "frame", stacks.frame, TABLE_FRAMES),
};
static const Column process_columns[] = {
    DELTA(1, "pid", COLUMN_U32, processes.pid),
    DELTA(2, "parent_pid", COLUMN_U32, processes.parent_pid),
    STRING(3, "name", processes.name),
    STRING(4, "command", processes.command),
    DELTA(5, "start_ns", COLUMN_I64, processes.start_ns),
    DELTA(6, "end_ns", COLUMN_I64, processes.end_ns),
};
static const Column thread_columns[] = {
    REF(1, "process", threads.process, TABLE_PROCESSES),
    DELTA(2, "tid", COLUMN_U32, threads.tid),
    STRING(3, "name", threads.name),
    DELTA(4, "start_ns", COLUMN_I64, threads.start_ns),
    DELTA(5, "end_ns", COLUMN_I64, threads.end_ns),
};
static const Column metric_columns[] = {
    STRING(1, "name", metrics.name),
    STRING(2, "unit", metrics.unit),
    PLAIN(3, "kind", COLUMN_U8, metrics.kind),
    STRING(4, "event", metrics.event),
};
// The values follow as columns 64 + metric.
static const Column sample_columns[] = {
    REF(1, "stack", samples.stack, TABLE_STACKS),
    DELTA(2, "time_ns", COLUMN_I64, samples.time_ns),
    REF(3, "thread", samples.thread, TABLE_THREADS),
    DELTA(4, "cpu", COLUMN_U32, samples.cpu),
};
static const Column series_columns[] = {
    REF(1, "metric", series.metric, TABLE_METRICS),
    DELTA(2, "time_ns", COLUMN_I64, series.time_ns),
    PLAIN(3, "value", COLUMN_F64, series.value),
    STRING(4, "part", series.part),
    DELTA(5, "enabled_ns", COLUMN_U64, series.enabled_ns),
    DELTA(6, "running_ns", COLUMN_U64, series.running_ns),
};
static const Column run_columns[] = {
    STRING(1, "name", runs.name),
    STRING(2, "command", runs.command),
    STRING(3, "revision", runs.revision),
    STRING(4, "conditions", runs.conditions),
    DELTA(5, "start_ns", COLUMN_I64, runs.start_ns),
    DELTA(6, "wall_ns", COLUMN_I64, runs.wall_ns),
    DELTA(7, "user_ns", COLUMN_I64, runs.user_ns),
    DELTA(8, "system_ns", COLUMN_I64, runs.system_ns),
    DELTA(9, "status", COLUMN_U32, runs.status),
    DELTA(10, "round", COLUMN_U32, runs.round),
    DELTA(11, "position", COLUMN_U32, runs.position),
    PLAIN(12, "flags", COLUMN_U8, runs.flags),
};
static const Column run_value_columns[] = {
    REF(1, "run", run_values.run, TABLE_RUNS),
    REF(2, "metric", run_values.metric, TABLE_METRICS),
    PLAIN(3, "value", COLUMN_F64, run_values.value),
    DELTA(4, "enabled_ns", COLUMN_U64, run_values.enabled_ns),
    DELTA(5, "running_ns", COLUMN_U64, run_values.running_ns),
    STRING(6, "part", run_values.part),
};
static const Column interval_columns[] = {
    REF(1, "thread", intervals.thread, TABLE_THREADS),
    DELTA(2, "start_ns", COLUMN_I64, intervals.start_ns),
    DELTA(3, "end_ns", COLUMN_I64, intervals.end_ns),
    STRING(4, "name", intervals.name),
    STRING(5, "detail", intervals.detail),
};
static const Column wait_columns[] = {
    REF(1, "thread", waits.thread, TABLE_THREADS),
    REF(2, "stack", waits.stack, TABLE_STACKS),
    PLAIN(3, "state", COLUMN_U8, waits.state),
    STRING(4, "object", waits.object),
    DELTA(5, "count", COLUMN_U64, waits.count),
    DELTA(6, "blocked_ns", COLUMN_U64, waits.blocked_ns),
    DELTA(7, "runnable_ns", COLUMN_U64, waits.runnable_ns),
    DELTA(8, "longest_ns", COLUMN_U64, waits.longest_ns),
};
static const Column wait_time_columns[] = {
    REF(1, "wait", wait_times.wait, TABLE_WAITS),
    DELTA(2, "bucket", COLUMN_U32, wait_times.bucket),
    DELTA(3, "count", COLUMN_U64, wait_times.count),
};
static const Column state_columns[] = {
    REF(1, "thread", states.thread, TABLE_THREADS),
    DELTA(2, "start_ns", COLUMN_I64, states.start_ns),
    DELTA(3, "woken_ns", COLUMN_I64, states.woken_ns),
    DELTA(4, "end_ns", COLUMN_I64, states.end_ns),
    PLAIN(5, "state", COLUMN_U8, states.state),
    STRING(6, "object", states.object),
    REF(7, "stack", states.stack, TABLE_STACKS),
    DELTA(8, "waker", COLUMN_U32, states.waker),
    REF(9, "waker_stack", states.waker_stack, TABLE_STACKS),
};
static const Column call_columns[] = {
    REF(1, "frame", calls.frame, TABLE_FRAMES),       REF(2, "thread", calls.thread, TABLE_THREADS),
    DELTA(3, "begin_ns", COLUMN_I64, calls.begin_ns), DELTA(4, "end_ns", COLUMN_I64, calls.end_ns),
    DELTA(5, "depth", COLUMN_U32, calls.depth),       PLAIN(6, "flags", COLUMN_U8, calls.flags),
};
static const Column call_value_columns[] = {
    REF(1, "call", call_values.call, TABLE_CALLS),
    STRING(2, "name", call_values.name),
    DELTA(3, "value", COLUMN_I64, call_values.value),
};
static const Column line_count_columns[] = {
    STRING(1, "file", line_counts.file),
    DELTA(2, "line", COLUMN_U32, line_counts.line),
    DELTA(3, "count", COLUMN_U64, line_counts.count),
};
static const Column function_count_columns[] = {
    REF(1, "function", function_counts.function, TABLE_FUNCTIONS),
    DELTA(2, "count", COLUMN_U64, function_counts.count),
    PLAIN(3, "hash", COLUMN_U64, function_counts.hash),
    DELTA(4, "column", COLUMN_U32, function_counts.column),
};
static const Column branch_count_columns[] = {
    STRING(1, "file", branch_counts.file),
    DELTA(2, "line", COLUMN_U32, branch_counts.line),
    DELTA(3, "column", COLUMN_U32, branch_counts.column),
    DELTA(4, "block", COLUMN_U32, branch_counts.block),
    DELTA(5, "branch", COLUMN_U32, branch_counts.branch),
    DELTA(6, "count", COLUMN_U64, branch_counts.count),
};
static const Column region_count_columns[] = {
    REF(1, "function", region_counts.function, TABLE_FUNCTIONS),
    STRING(2, "file", region_counts.file),
    DELTA(3, "line", COLUMN_U32, region_counts.line),
    DELTA(4, "column", COLUMN_U32, region_counts.column),
    DELTA(5, "end_line", COLUMN_U32, region_counts.end_line),
    DELTA(6, "end_column", COLUMN_U32, region_counts.end_column),
    PLAIN(7, "kind", COLUMN_U8, region_counts.kind),
    DELTA(8, "count", COLUMN_U64, region_counts.count),
};
static const Column condition_count_columns[] = {
    STRING(1, "file", condition_counts.file),
    DELTA(2, "line", COLUMN_U32, condition_counts.line),
    DELTA(3, "group", COLUMN_U32, condition_counts.group),
    DELTA(4, "index", COLUMN_U32, condition_counts.index),
    PLAIN(5, "sense", COLUMN_U8, condition_counts.sense),
    STRING(6, "expression", condition_counts.expression),
    DELTA(7, "count", COLUMN_U64, condition_counts.count),
};
static const Column cover_total_columns[] = {
    STRING(1, "file", cover_totals.file),
    REF(2, "function", cover_totals.function, TABLE_FUNCTIONS),
    PLAIN(3, "criterion", COLUMN_U8, cover_totals.criterion),
    DELTA(4, "covered", COLUMN_U64, cover_totals.covered),
    DELTA(5, "count", COLUMN_U64, cover_totals.count),
};
static const Column branch_site_columns[] = {
    STRING(1, "file", branch_sites.file),
    DELTA(2, "listed_line", COLUMN_U32, branch_sites.listed_line),
    DELTA(3, "line", COLUMN_U32, branch_sites.line),
    DELTA(4, "column", COLUMN_U32, branch_sites.column),
    DELTA(5, "true_count", COLUMN_U64, branch_sites.true_count),
    DELTA(6, "false_count", COLUMN_U64, branch_sites.false_count),
    PLAIN(7, "is_folded", COLUMN_U8, branch_sites.is_folded),
};
static const Column segment_columns[] = {
    STRING(1, "file", segments.file),
    DELTA(2, "line", COLUMN_U32, segments.line),
    DELTA(3, "column", COLUMN_U32, segments.column),
    DELTA(4, "count", COLUMN_U64, segments.count),
    PLAIN(5, "flags", COLUMN_U8, segments.flags),
};
static const Column excerpt_columns[] = {
    STRING(1, "file", excerpts.file),
    DELTA(2, "line", COLUMN_U32, excerpts.line),
    PLAIN(3, "kind", COLUMN_U8, excerpts.kind),
    REF(4, "function", excerpts.function, TABLE_FUNCTIONS),
    DELTA(5, "count", COLUMN_U64, excerpts.count),
    STRING(6, "text", excerpts.text),
};
static const Column excerpt_line_columns[] = {
    REF(1, "excerpt", excerpt_lines.excerpt, TABLE_EXCERPTS),
    DELTA(2, "line", COLUMN_U32, excerpt_lines.line),
    DELTA(3, "count", COLUMN_U64, excerpt_lines.count),
};
static const Column decision_columns[] = {
    STRING(1, "file", decisions.file),
    DELTA(2, "line", COLUMN_U32, decisions.line),
    DELTA(3, "column", COLUMN_U32, decisions.column),
    DELTA(4, "end_line", COLUMN_U32, decisions.end_line),
    DELTA(5, "end_column", COLUMN_U32, decisions.end_column),
    REF(6, "function", decisions.function, TABLE_FUNCTIONS),
    PLAIN(7, "flags", COLUMN_U8, decisions.flags),
    STRING(8, "vectors", decisions.vectors),
};
static const Column decision_condition_columns[] = {
    REF(1, "decision", decision_conditions.decision, TABLE_DECISIONS),
    DELTA(2, "line", COLUMN_U32, decision_conditions.line),
    DELTA(3, "column", COLUMN_U32, decision_conditions.column),
    DELTA(4, "end_line", COLUMN_U32, decision_conditions.end_line),
    DELTA(5, "end_column", COLUMN_U32, decision_conditions.end_column),
    PLAIN(6, "flags", COLUMN_U8, decision_conditions.flags),
    DELTA(7, "pair_first", COLUMN_U32, decision_conditions.pair_first),
    DELTA(8, "pair_second", COLUMN_U32, decision_conditions.pair_second),
};
static const Column source_line_columns[] = {
    STRING(1, "file", source_lines.file),
    DELTA(2, "line", COLUMN_U32, source_lines.line),
    STRING(3, "text", source_lines.text),
};
static const Column note_columns[] = {
    PLAIN(1, "level", COLUMN_U8, notes.level),
    STRING(2, "key", notes.key),
    STRING(3, "text", notes.text),
};
static const Column fact_columns[] = {
    STRING(1, "key", facts.key),
    STRING(2, "value", facts.value),
};

#define SCHEMA(name, id, columns, is_mutable, none_row, same)                                      \
    {                                                                                              \
        name, id, columns, ARRAY_LEN(columns), is_mutable, none_row, same                          \
    }

const TableSchema profile_schema[] = {
    SCHEMA("modules", TABLE_MODULES, module_columns, false, true, TABLE_NONE),
    SCHEMA("functions", TABLE_FUNCTIONS, function_columns, false, true, TABLE_NONE),
    SCHEMA("frames", TABLE_FRAMES, frame_columns, false, true, TABLE_NONE),
    SCHEMA("frame places", TABLE_FRAME_PLACES, frame_place_columns, true, true, TABLE_FRAMES),
    SCHEMA("stacks", TABLE_STACKS, stack_columns, false, true, TABLE_NONE),
    SCHEMA("processes", TABLE_PROCESSES, process_columns, true, false, TABLE_NONE),
    SCHEMA("threads", TABLE_THREADS, thread_columns, true, false, TABLE_NONE),
    SCHEMA("metrics", TABLE_METRICS, metric_columns, true, false, TABLE_NONE),
    SCHEMA("samples", TABLE_SAMPLES, sample_columns, false, false, TABLE_NONE),
    SCHEMA("series", TABLE_SERIES, series_columns, false, false, TABLE_NONE),
    SCHEMA("intervals", TABLE_INTERVALS, interval_columns, false, false, TABLE_NONE),
    SCHEMA("waits", TABLE_WAITS, wait_columns, false, false, TABLE_NONE),
    SCHEMA("wait times", TABLE_WAIT_TIMES, wait_time_columns, false, false, TABLE_NONE),
    SCHEMA("states", TABLE_STATES, state_columns, false, false, TABLE_NONE),
    SCHEMA("calls", TABLE_CALLS, call_columns, false, false, TABLE_NONE),
    SCHEMA("call values", TABLE_CALL_VALUES, call_value_columns, false, false, TABLE_NONE),
    SCHEMA("line counts", TABLE_LINE_COUNTS, line_count_columns, true, false, TABLE_NONE),
    SCHEMA("function counts", TABLE_FUNCTION_COUNTS, function_count_columns, true, false,
           TABLE_NONE),
    SCHEMA("branch counts", TABLE_BRANCH_COUNTS, branch_count_columns, true, false, TABLE_NONE),
    SCHEMA("region counts", TABLE_REGION_COUNTS, region_count_columns, true, false, TABLE_NONE),
    SCHEMA("source lines", TABLE_SOURCE_LINES, source_line_columns, false, false, TABLE_NONE),
    SCHEMA("notes", TABLE_NOTES, note_columns, true, false, TABLE_NONE),
    SCHEMA("facts", TABLE_FACTS, fact_columns, true, false, TABLE_NONE),
    SCHEMA("condition counts", TABLE_CONDITION_COUNTS, condition_count_columns, true, false,
           TABLE_NONE),
    SCHEMA("runs", TABLE_RUNS, run_columns, false, false, TABLE_NONE),
    SCHEMA("run values", TABLE_RUN_VALUES, run_value_columns, false, false, TABLE_NONE),
    SCHEMA("cover totals", TABLE_COVER_TOTALS, cover_total_columns, true, false, TABLE_NONE),
    SCHEMA("branch sites", TABLE_BRANCH_SITES, branch_site_columns, true, false, TABLE_NONE),
    SCHEMA("segments", TABLE_SEGMENTS, segment_columns, true, false, TABLE_NONE),
    SCHEMA("excerpts", TABLE_EXCERPTS, excerpt_columns, true, false, TABLE_NONE),
    SCHEMA("excerpt lines", TABLE_EXCERPT_LINES, excerpt_line_columns, true, false, TABLE_NONE),
    SCHEMA("decisions", TABLE_DECISIONS, decision_columns, true, false, TABLE_NONE),
    SCHEMA("decision conditions", TABLE_DECISION_CONDITIONS, decision_condition_columns, true,
           false, TABLE_NONE),
};
const size_t profile_schema_count = ARRAY_LEN(profile_schema);

const TableSchema *profile_schema_find(uint32_t table_id)
{
    for (size_t i = 0; i < profile_schema_count; i++)
        if (profile_schema[i].id == table_id)
            return &profile_schema[i];
    return NULL;
}

size_t column_type_size(ColumnType type)
{
    switch (type) {
    case COLUMN_U8:
        return 1;
    case COLUMN_U32:
        return 4;
    case COLUMN_U64:
    case COLUMN_I64:
    case COLUMN_F64:
        return 8;
    }
    return 0;
}

size_t profile_table_rows(const Profile *p, const TableSchema *t)
{
    return column_vec_const(p, &t->columns[0])->len;
}

void column_resize(Profile *p, RawVec *v, ColumnType type, size_t rows)
{
    assert(rows >= v->len);
    size_t size = column_type_size(type);
    if (rows > v->cap)
        v->at = vec_make_room(&p->arena, v->at, v->len, &v->cap, rows - v->len, size, size);
    if (rows > v->len)
        memset((char *)v->at + v->len * size, 0, (rows - v->len) * size);
    v->len = rows;
}

static size_t referable_rows(const Profile *p, TableId table)
{
    if (table == TABLE_STRINGS)
        return p->strings.texts.len;
    return profile_table_rows(p, profile_schema_find(table));
}

static bool check_column(const Profile *p, const TableSchema *t, const Column *c, Error *err)
{
    const RawVec *v = column_vec_const(p, c);
    if (v->len != profile_table_rows(p, t))
        return error_set(err, ERROR_FORMAT, "table '%s': column '%s' has %zu rows, not %zu",
                         t->name, c->name, v->len, profile_table_rows(p, t));
    if (c->refers_to == TABLE_NONE)
        return true;
    size_t limit = referable_rows(p, c->refers_to);
    const uint32_t *rows = v->at;
    for (size_t i = 0; i < v->len; i++)
        if (rows[i] >= limit)
            return error_set(err, ERROR_FORMAT,
                             "table '%s': row %zu: '%s' is %u, but there are only %zu rows",
                             t->name, i, c->name, rows[i], limit);
    return true;
}

// Parents come before their children and inliners after what they inlined, so
// that walking either way ends.
static bool check_order(const Profile *p, Error *err)
{
    for (size_t i = 1; i < p->stacks.parent.len; i++)
        if (p->stacks.parent.at[i].v >= i)
            return error_set(err, ERROR_FORMAT, "table 'stacks': row %zu: parent %u comes after it",
                             i, p->stacks.parent.at[i].v);
    for (size_t i = 0; i < p->frames.inlined_in.len; i++) {
        uint32_t outer = p->frames.inlined_in.at[i].v;
        if (outer != 0 && outer <= i)
            return error_set(err, ERROR_FORMAT,
                             "table 'frames': row %zu: inlined in %u, which comes before it", i,
                             outer);
    }
    return true;
}

static bool check_values(const Profile *p, Error *err)
{
    const Samples *s = &p->samples;
    if (s->value_columns != p->metrics.name.len)
        return error_set(err, ERROR_FORMAT, "samples have %zu metrics, not %zu", s->value_columns,
                         p->metrics.name.len);
    for (size_t m = 0; m < s->value_columns; m++)
        if (s->values[m].len != s->stack.len)
            return error_set(err, ERROR_FORMAT, "table 'samples': metric %zu has %zu rows, not %zu",
                             m, s->values[m].len, s->stack.len);
    return true;
}

bool profile_check(const Profile *p, Error *err)
{
    for (size_t i = 0; i < profile_schema_count; i++) {
        const TableSchema *t = &profile_schema[i];
        for (size_t c = 0; c < t->column_count; c++)
            if (!check_column(p, t, &t->columns[c], err))
                return false;
    }
    if (p->frames.function.len != p->frames.module.len)
        return error_set(err, ERROR_FORMAT, "table 'frame places' has %zu rows, not %zu",
                         p->frames.function.len, p->frames.module.len);
    return check_order(p, err) && check_values(p, err);
}

static void keep_rows(RawVec *v, size_t size, const U32Vec *kept)
{
    uint8_t *at = v->at;
    if (kept->len == v->len)
        return;
    for (size_t i = 0; i < kept->len; i++)
        if (kept->at[i] != i)
            memcpy(at + i * size, at + kept->at[i] * size, size);
    v->len = kept->len;
}

void profile_keep_rows(Profile *p, TableId table, const U32Vec *kept)
{
    const TableSchema *t = profile_schema_find(table);
    assert(t && table != TABLE_SAMPLES); // its values are not columns of the schema
    for (size_t i = 0; i < t->column_count; i++)
        keep_rows(column_vec(p, &t->columns[i]), column_type_size(t->columns[i].type), kept);
}
