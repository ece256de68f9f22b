// SPDX-License-Identifier: Apache-2.0
// Joins recordings, table by table.

#include "model/merge_profiles.h"

#include "base/strbuf.h"
#include "model/facts.h"
#include "model/schema.h"

enum { TABLES_MAX = 64 };
#define JOINT "; " // between values of a fact that differ

typedef struct Merging {
    Profile *into;
    const Profile *from;
    int64_t shift;           // of the times of `from`
    U32Vec rows[TABLES_MAX]; // [table][row of `from`] its row of `into`; heap
    Table frames;            // of `into`, by content
    bool joins;              // `from` goes on where `into` ends: of the same processes
    bool adds_heaps;         // accounts of the heap are added
} Merging;

static uint32_t mapped(const Merging *m, TableId table, uint32_t row)
{
    return m->rows[table].at[row];
}

// ---- Tables whose equal rows are one -----------------------------------------------------

static void map_strings(Merging *m)
{
    for (uint32_t i = 0; i < m->from->strings.texts.len; i++)
        vec_push(NULL, &m->rows[TABLE_STRINGS],
                 profile_str(m->into, profile_text(m->from, (StrId){i})).v);
}

static Str text_of(const Merging *m, StrId id)
{
    return profile_text(m->from, id);
}

static StrId string_of(const Merging *m, StrId id)
{
    return (StrId){mapped(m, TABLE_STRINGS, id.v)};
}

static void map_names(Merging *m)
{
    const Modules *mo = &m->from->modules;
    const Functions *f = &m->from->functions;
    for (size_t i = 0; i < mo->path.len; i++) {
        ModuleId id = {0};
        if (i)
            id = profile_module(m->into, (ModuleKind)mo->kind.at[i], text_of(m, mo->path.at[i]),
                                text_of(m, mo->build_id.at[i]));
        vec_push(NULL, &m->rows[TABLE_MODULES], id.v);
    }
    for (size_t i = 0; i < f->name.len; i++) {
        FunctionId id = {0};
        if (i)
            id = profile_function_of(m->into, string_of(m, f->name.at[i]),
                                     string_of(m, f->linkage_name.at[i]),
                                     string_of(m, f->file.at[i]), f->line.at[i]);
        vec_push(NULL, &m->rows[TABLE_FUNCTIONS], id.v);
    }
}

// ---- Frames ------------------------------------------------------------------------------
// A frame with the calls that were inlined around it is one thing.

// A frame of `from`, in rows of `into`.
typedef struct FrameRow {
    uint32_t module, function, file, line;
    uint64_t address;
    uint8_t flags;
} FrameRow;

static FrameRow frame_of(const Profile *p, uint32_t row)
{
    const Frames *f = &p->frames;
    return (FrameRow){f->module.at[row].v, f->function.at[row].v, f->file.at[row].v,
                      f->line.at[row],     f->address.at[row],    f->flags.at[row]};
}

static FrameRow mapped_frame(const Merging *m, uint32_t row)
{
    FrameRow f = frame_of(m->from, row);
    f.module = mapped(m, TABLE_MODULES, f.module);
    f.function = mapped(m, TABLE_FUNCTIONS, f.function);
    f.file = mapped(m, TABLE_STRINGS, f.file);
    return f;
}

static uint64_t hash_frame(const FrameRow *f)
{
    return hash_pair(hash_pair((uint64_t)f->module << 32 | f->function, f->address),
                     (uint64_t)f->file << 32 | f->line << 8 | f->flags);
}

static bool same_frame(const FrameRow *a, const FrameRow *b)
{
    return a->module == b->module && a->function == b->function && a->file == b->file &&
           a->line == b->line && a->address == b->address && a->flags == b->flags;
}

static bool same_chain(const Merging *m, uint32_t own, uint32_t other)
{
    for (;;) {
        FrameRow a = frame_of(m->into, own), b = mapped_frame(m, other);
        if (!same_frame(&a, &b))
            return false;
        own = m->into->frames.inlined_in.at[own].v;
        other = m->from->frames.inlined_in.at[other].v;
        if (own == 0 || other == 0)
            return own == other;
    }
}

static void append_frame(Merging *m, const FrameRow *f, bool goes_on)
{
    Profile *p = m->into;
    vec_push(&p->arena, &p->frames.module, (ModuleId){f->module});
    vec_push(&p->arena, &p->frames.address, f->address);
    vec_push(&p->arena, &p->frames.function, (FunctionId){f->function});
    vec_push(&p->arena, &p->frames.file, (StrId){f->file});
    vec_push(&p->arena, &p->frames.line, f->line);
    vec_push(&p->arena, &p->frames.flags, f->flags);
    // `module` has the new row already: its length is the number of the next one.
    vec_push(&p->arena, &p->frames.inlined_in, (FrameId){goes_on ? profile_frame_count(p) : 0});
}

static uint32_t need_frame(Merging *m, uint32_t other)
{
    FrameRow f = mapped_frame(m, other);
    uint64_t hash = hash_frame(&f);
    uint32_t row;
    for (TableProbe t = table_probe(&m->frames, hash); table_next(&m->frames, &t, &row);)
        if (same_chain(m, row, other))
            return row;
    uint32_t first = profile_frame_count(m->into);
    table_insert(&m->frames, hash, first);
    for (uint32_t at = other; at; at = m->from->frames.inlined_in.at[at].v) {
        f = mapped_frame(m, at);
        append_frame(m, &f, m->from->frames.inlined_in.at[at].v != 0);
    }
    return first;
}

static void index_frames(Merging *m)
{
    uint32_t count = profile_frame_count(m->into);
    uint8_t *is_outer = heap_alloc(count + 1);
    for (uint32_t i = 0; i < count; i++)
        is_outer[m->into->frames.inlined_in.at[i].v] = 1;
    for (uint32_t i = 1; i < count; i++) {
        FrameRow f = frame_of(m->into, i);
        if (!is_outer[i])
            table_insert(&m->frames, hash_frame(&f), i);
    }
    heap_free(is_outer);
}

static void map_frames(Merging *m)
{
    uint32_t count = profile_frame_count(m->from);
    uint8_t *is_outer = heap_alloc(count + 1);
    for (uint32_t i = 0; i < count; i++)
        is_outer[m->from->frames.inlined_in.at[i].v] = 1;
    index_frames(m);
    vec_push(NULL, &m->rows[TABLE_FRAMES], 0);
    // Nothing refers to the outer frames but the frames inside of them.
    for (uint32_t i = 1; i < count; i++)
        vec_push(NULL, &m->rows[TABLE_FRAMES], is_outer[i] ? 0 : need_frame(m, i));
    heap_free(is_outer);
}

static void map_stacks(Merging *m)
{
    const Stacks *s = &m->from->stacks;
    for (uint32_t i = 0; i < s->parent.len; i++) {
        StackId id = {0};
        if (i)
            id = profile_stack(m->into, (StackId){mapped(m, TABLE_STACKS, s->parent.at[i].v)},
                               (FrameId){mapped(m, TABLE_FRAMES, s->frame.at[i].v)});
        vec_push(NULL, &m->rows[TABLE_STACKS], id.v);
    }
}

static uint32_t need_metric(Merging *m, uint32_t row)
{
    const Metrics *own = &m->into->metrics, *other = &m->from->metrics;
    StrId name = string_of(m, other->name.at[row]), unit = string_of(m, other->unit.at[row]);
    StrId event = string_of(m, other->event.at[row]);
    for (uint32_t i = 0; i < own->name.len; i++)
        if (own->name.at[i].v == name.v && own->unit.at[i].v == unit.v &&
            own->event.at[i].v == event.v && own->kind.at[i] == other->kind.at[row])
            return i;
    return profile_add_metric(m->into, text_of(m, other->name.at[row]),
                              text_of(m, other->unit.at[row]), (MetricKind)other->kind.at[row],
                              text_of(m, other->event.at[row]))
        .v;
}

static void map_metrics(Merging *m)
{
    for (uint32_t i = 0; i < m->from->metrics.name.len; i++)
        vec_push(NULL, &m->rows[TABLE_METRICS], need_metric(m, i));
}

// ---- Tables whose rows are appended ------------------------------------------------------

static bool is_time(const Column *c)
{
    static const char *const names[] = {"time_ns", "start_ns", "end_ns", "begin_ns", "woken_ns"};
    for (size_t i = 0; c->type == COLUMN_I64 && i < ARRAY_LEN(names); i++)
        if (strcmp(c->name, names[i]) == 0)
            return true;
    return false;
}

// A time on another clock. Times that a file claims beyond all years end at the last one.
static int64_t shifted(int64_t time, int64_t by)
{
    int64_t ret;
    if (time == TIME_NONE)
        return time;
    if (__builtin_add_overflow(time, by, &ret))
        ret = by > 0 ? INT64_MAX : INT64_MIN + 1;
    return ret;
}

static void shift_times(Profile *p, int64_t by)
{
    for (size_t t = 0; by && t < profile_schema_count; t++)
        for (size_t c = 0; c < profile_schema[t].column_count; c++) {
            RawVec *v = column_vec(p, &profile_schema[t].columns[c]);
            if (!is_time(&profile_schema[t].columns[c]))
                continue;
            for (size_t i = 0; i < v->len; i++)
                ((int64_t *)v->at)[i] = shifted(((int64_t *)v->at)[i], by);
        }
}

static void append_column(Merging *m, const TableSchema *t, const Column *c, size_t before)
{
    const RawVec *other = column_vec_const(m->from, c);
    RawVec *own = column_vec(m->into, c);
    size_t size = column_type_size(c->type);
    column_resize(m->into, own, c->type, before + other->len);
    if (other->len == 0)
        return;
    memcpy((char *)own->at + before * size, other->at, other->len * size);
    uint32_t *rows = (uint32_t *)own->at + before;
    for (size_t i = 0; c->refers_to != TABLE_NONE && i < other->len; i++)
        rows[i] = mapped(m, c->refers_to, rows[i]);
    bool is_waker = t->id == TABLE_STATES && strcmp(c->name, "waker") == 0;
    for (size_t i = 0; is_waker && i < other->len; i++)
        rows[i] = rows[i] && rows[i] <= m->rows[TABLE_THREADS].len
                      ? mapped(m, TABLE_THREADS, rows[i] - 1) + 1
                      : 0;
    for (size_t i = 0; is_time(c) && i < other->len; i++) {
        int64_t *time = (int64_t *)own->at + before + i;
        *time = shifted(*time, m->shift);
    }
}

static void append_table(Merging *m, const TableSchema *t)
{
    size_t before = profile_table_rows(m->into, t), count = profile_table_rows(m->from, t);
    for (size_t i = 0; i < count; i++)
        vec_push(NULL, &m->rows[t->id], (uint32_t)(before + i));
    for (size_t c = 0; c < t->column_count; c++)
        append_column(m, t, &t->columns[c], before);
}

// ---- Processes and threads that go on ------------------------------------------------------

// Whether a row of `from`, with the same number, is the one of `into`.
static bool goes_on(const Merging *m, const I64Vec *start, const I64Vec *end, uint32_t own,
                    int64_t other_start)
{
    if (other_start == TIME_NONE)
        return end->at[own] == TIME_NONE;
    return start->at[own] == other_start + m->shift;
}

static void join_processes(Merging *m)
{
    Processes *own = &m->into->processes;
    const Processes *other = &m->from->processes;
    Table by_pid = {0};
    for (uint32_t i = 0; i < own->pid.len; i++)
        table_insert(&by_pid, hash_u64(own->pid.at[i]), i);
    for (uint32_t i = 0; i < other->pid.len; i++) {
        uint32_t row = 0, known = UINT32_MAX;
        for (TableProbe t = table_probe(&by_pid, hash_u64(other->pid.at[i]));
             table_next(&by_pid, &t, &row);)
            if (own->pid.at[row] == other->pid.at[i] &&
                goes_on(m, &own->start_ns, &own->end_ns, row, other->start_ns.at[i]))
                known = row;
        int64_t start = other->start_ns.at[i], end = other->end_ns.at[i];
        if (known == UINT32_MAX)
            known = profile_add_process(m->into, other->pid.at[i], other->parent_pid.at[i],
                                        (StrId){0}, start == TIME_NONE ? start : start + m->shift)
                        .v;
        own->name.at[known] = string_of(m, other->name.at[i]);
        own->end_ns.at[known] = end == TIME_NONE ? end : end + m->shift;
        if (other->command.at[i].v)
            own->command.at[known] = string_of(m, other->command.at[i]);
        vec_push(NULL, &m->rows[TABLE_PROCESSES], known);
    }
    table_deinit(&by_pid);
}

static void join_threads(Merging *m)
{
    Threads *own = &m->into->threads;
    const Threads *other = &m->from->threads;
    Table by_tid = {0};
    for (uint32_t i = 0; i < own->tid.len; i++)
        table_insert(&by_tid, hash_u64(own->tid.at[i]), i);
    for (uint32_t i = 0; i < other->tid.len; i++) {
        uint32_t row = 0, known = UINT32_MAX;
        ProcessId process = {mapped(m, TABLE_PROCESSES, other->process.at[i].v)};
        for (TableProbe t = table_probe(&by_tid, hash_u64(other->tid.at[i]));
             table_next(&by_tid, &t, &row);)
            if (own->tid.at[row] == other->tid.at[i] && own->process.at[row].v == process.v &&
                goes_on(m, &own->start_ns, &own->end_ns, row, other->start_ns.at[i]))
                known = row;
        int64_t start = other->start_ns.at[i], end = other->end_ns.at[i];
        if (known == UINT32_MAX)
            known = profile_add_thread(m->into, process, other->tid.at[i], (StrId){0},
                                       start == TIME_NONE ? start : start + m->shift)
                        .v;
        own->name.at[known] = string_of(m, other->name.at[i]);
        own->end_ns.at[known] = end == TIME_NONE ? end : end + m->shift;
        vec_push(NULL, &m->rows[TABLE_THREADS], known);
    }
    table_deinit(&by_tid);
}

static void append_samples(Merging *m)
{
    const Samples *s = &m->from->samples;
    for (size_t i = 0; i < s->stack.len; i++) {
        int64_t time = s->time_ns.at[i];
        size_t row =
            profile_add_sample(m->into, shifted(time, m->shift),
                               (ThreadId){mapped(m, TABLE_THREADS, s->thread.at[i].v)},
                               (StackId){mapped(m, TABLE_STACKS, s->stack.at[i].v)}, s->cpu.at[i]);
        for (uint32_t k = 0; k < s->value_columns; k++) {
            int64_t v = s->values[k].at[i];
            bool is_text = metric_is_text(m->from, (MetricId){k});
            if (is_text && v > 0 && (uint64_t)v < m->rows[TABLE_STRINGS].len)
                v = mapped(m, TABLE_STRINGS, (uint32_t)v);
            profile_sample_set(m->into, row, (MetricId){mapped(m, TABLE_METRICS, k)}, v);
        }
    }
}

static void append_lines(Merging *m)
{
    const SourceLines *s = &m->from->source_lines;
    for (size_t i = 0; i < s->file.len; i++)
        profile_source_line(m->into, string_of(m, s->file.at[i]), s->line.at[i],
                            text_of(m, s->text.at[i]));
}

static void append_notes(Merging *m)
{
    const Notes *n = &m->from->notes, *own = &m->into->notes;
    for (size_t i = 0; i < n->key.len; i++) {
        StrId key = string_of(m, n->key.at[i]), text = string_of(m, n->text.at[i]);
        bool known = false;
        for (size_t k = 0; k < own->key.len && !known; k++)
            known = own->key.at[k].v == key.v && own->text.at[k].v == text.v;
        if (!known)
            profile_note(m->into, (NoteLevel)n->level.at[i], text_of(m, n->key.at[i]), "%" STR_FMT,
                         STR_ARG(text_of(m, n->text.at[i])));
    }
}

static void append_tables(Merging *m)
{
    for (size_t i = 0; i < profile_schema_count; i++) {
        const TableSchema *t = &profile_schema[i];
        switch (t->id) {
        case TABLE_MODULES:
        case TABLE_FUNCTIONS:
        case TABLE_FRAMES:
        case TABLE_FRAME_PLACES:
        case TABLE_STACKS:
        case TABLE_METRICS:
        case TABLE_FACTS:
            break;
        case TABLE_SAMPLES:
            append_samples(m);
            break;
        case TABLE_SOURCE_LINES:
            append_lines(m);
            break;
        case TABLE_NOTES:
            append_notes(m);
            break;
        case TABLE_PROCESSES:
        case TABLE_THREADS:
            if (m->joins) {
                if (t->id == TABLE_PROCESSES)
                    join_processes(m);
                else
                    join_threads(m);
                break;
            }
            append_table(m, t);
            break;
        default:
            append_table(m, t);
        }
    }
}

// ---- Facts -------------------------------------------------------------------------------

static bool has_part(Str joined, Str part)
{
    while (joined.len) {
        size_t at = str_find(joined, STR(JOINT));
        Str one = at == SIZE_MAX ? joined : str_slice(joined, 0, at);
        if (str_equal(one, part))
            return true;
        joined = at == SIZE_MAX ? STR("") : str_slice(joined, at + strlen(JOINT), joined.len);
    }
    return false;
}

static void join_fact(Profile *into, Str key, Str more)
{
    StrBuf b = {0};
    strbuf_add(&b, profile_fact(into, key));
    while (more.len) {
        size_t at = str_find(more, STR(JOINT));
        Str one = at == SIZE_MAX ? more : str_slice(more, 0, at);
        if (!has_part(strbuf_str(&b), one))
            strbuf_printf(&b, "%s%" STR_FMT, b.len ? JOINT : "", STR_ARG(one));
        more = at == SIZE_MAX ? STR("") : str_slice(more, at + strlen(JOINT), more.len);
    }
    profile_set_fact(into, key, strbuf_str(&b));
    strbuf_deinit(&b);
}

static void set_number(Profile *p, const char *key, uint64_t v)
{
    StrBuf b = {0};
    strbuf_printf(&b, "%llu", (unsigned long long)v);
    profile_set_fact(p, str_from_c(key), strbuf_str(&b));
    strbuf_deinit(&b);
}

static bool is_sum(Str key)
{
    static const char *const sums[] = {FACT_USER_NS,   FACT_SYSTEM_NS,  FACT_SAMPLES_LOST,
                                       FACT_THROTTLED, FACT_WAITS_LOST, FACT_CALLS_LOST};
    for (size_t i = 0; i < ARRAY_LEN(sums); i++)
        if (str_equal(key, str_from_c(sums[i])))
            return true;
    return false;
}

static void join_facts(Merging *m)
{
    const Facts *f = &m->from->facts;
    for (size_t i = 0; i < f->key.len; i++) {
        Str key = text_of(m, f->key.at[i]), value = text_of(m, f->value.at[i]);
        uint64_t own, other;
        if (str_equal(key, STR(FACT_START_REALTIME)) || str_equal(key, STR(FACT_WALL_NS)) ||
            str_equal(key, STR(FACT_START_MONOTONIC)))
            continue;
        if (profile_fact_u64(m->into, key, &own) && str_parse_u64(value, 10, &other) && is_sum(key))
            set_number(m->into, arena_c_str(&m->into->arena, key), own + other);
        else if (profile_fact_u64(m->into, key, &own) && str_parse_u64(value, 10, &other) &&
                 str_equal(key, STR(FACT_MAX_RSS_BYTES)))
            set_number(m->into, FACT_MAX_RSS_BYTES, MAX(own, other));
        else if (m->joins)
            profile_set_fact(m->into, key, value);
        else
            join_fact(m->into, key, value);
    }
}

// The later one of two recordings moves to its place; `into` as a whole begins with the earlier.
static void align_times(Merging *m)
{
    uint64_t own = 0, other = 0, own_wall = 0, other_wall = 0;
    bool is_first = m->into->facts.key.len == 0; // nothing was added before
    bool known = profile_fact_u64(m->from, STR(FACT_START_REALTIME), &other) &&
                 (profile_fact_u64(m->into, STR(FACT_START_REALTIME), &own) || is_first);
    (void)profile_fact_u64(m->into, STR(FACT_WALL_NS), &own_wall);
    (void)profile_fact_u64(m->from, STR(FACT_WALL_NS), &other_wall);
    if (is_first)
        own = other;
    else if (!known)
        own = other = 0;
    uint64_t start = MIN(own, other);
    uint64_t end = MAX(own + own_wall, other + other_wall);
    shift_times(m->into, (int64_t)(own - start));
    m->shift = (int64_t)(other - start);
    if (other < own || is_first)
        profile_set_fact(m->into, STR(FACT_START_MONOTONIC),
                         profile_fact(m->from, STR(FACT_START_MONOTONIC)));
    if (start)
        set_number(m->into, FACT_START_REALTIME, start);
    if (own_wall || other_wall)
        set_number(m->into, FACT_WALL_NS, end - start);
}

// ---- Machines ----------------------------------------------------------------------------

static void name_host(Profile *p, size_t from, size_t to, Str host)
{
    for (size_t i = from; i < to; i++) {
        StrBuf b = {0};
        strbuf_printf(&b, "%" STR_FMT "@%" STR_FMT,
                      STR_ARG(profile_text(p, p->processes.name.at[i])), STR_ARG(host));
        p->processes.name.at[i] = profile_str(p, strbuf_str(&b));
        strbuf_deinit(&b);
    }
}

static bool is_of_one(Str hosts)
{
    return hosts.len && str_find(hosts, STR(JOINT)) == SIZE_MAX;
}

// A recording of several machines has the names of its processes marked already.
static void mark_hosts(Merging *m, Str own, size_t own_processes)
{
    Str other = profile_fact(m->from, STR(FACT_HOSTNAME));
    if (own_processes == 0 || str_equal(own, other))
        return;
    if (is_of_one(own))
        name_host(m->into, 0, own_processes, own);
    if (is_of_one(other))
        name_host(m->into, own_processes, m->into->processes.pid.len, other);
}

// ---- All ---------------------------------------------------------------------------------

static bool can_merge(const Profile *p, bool adds_heaps, Error *err)
{
    Str collector = profile_fact(p, STR(FACT_COLLECTOR));
    if (p->line_counts.line.len || p->cover_totals.count.len || p->region_counts.count.len) {
        (void)error_set(err, ERROR_UNSUPPORTED, "a recording of coverage is not joined like this");
        return error_hint(err, "use assay cover merge");
    }
    if (str_equal(collector, STR(COLLECTOR_HEAP)) && !adds_heaps)
        return error_set(err, ERROR_UNSUPPORTED, "accounts of the heap cannot be joined");
    return true;
}

static bool merge(Merging *merging, Error *err)
{
    Merging m = *merging;
    Profile *into = m.into;
    const Profile *from = m.from;
    if (!can_merge(into, m.adds_heaps, err) || !can_merge(from, m.adds_heaps, err))
        return false;
    Str own_host = arena_str(&into->arena, profile_fact(into, STR(FACT_HOSTNAME)));
    size_t own_processes = into->processes.pid.len;
    align_times(&m);
    map_strings(&m);
    map_names(&m);
    map_frames(&m);
    map_stacks(&m);
    map_metrics(&m);
    append_tables(&m);
    join_facts(&m);
    mark_hosts(&m, own_host, own_processes);
    for (size_t i = 0; i < TABLES_MAX; i++)
        vec_free(&m.rows[i]);
    table_deinit(&m.frames);
    return true;
}

bool profile_merge(Profile *into, const Profile *from, Error *err)
{
    return merge(&(Merging){.into = into, .from = from}, err);
}

bool profile_join(Profile *into, const Profile *from, Error *err)
{
    return merge(&(Merging){.into = into, .from = from, .joins = true}, err);
}

bool profile_merge_runs(Profile *into, const Profile *from, Error *err)
{
    return merge(&(Merging){.into = into, .from = from, .adds_heaps = true}, err);
}
