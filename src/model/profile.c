// SPDX-License-Identifier: Apache-2.0
// The one data model: adding rows.

#include "model/profile.h"

#include <stdarg.h>
#include <stdio.h>

static void add_none_rows(Profile *p)
{
    profile_module(p, MODULE_NONE, STR(""), STR(""));
    profile_function(p, STR(""), STR(""), STR(""), 0);
    profile_frame(p, (ModuleId){0}, 0, 0);
    vec_push(&p->arena, &p->stacks.parent, (StackId){0});
    vec_push(&p->arena, &p->stacks.frame, (FrameId){0});
}

void profile_init(Profile *p)
{
    *p = (Profile){0};
    intern_init(&p->strings, &p->arena);
    add_none_rows(p);
}

void profile_deinit(Profile *p)
{
    intern_deinit(&p->strings);
    table_deinit(&p->module_index);
    table_deinit(&p->function_index);
    table_deinit(&p->frame_index);
    table_deinit(&p->stack_index);
    table_deinit(&p->source_index);
    arena_deinit(&p->arena);
    *p = (Profile){0};
}

void profile_move(Profile *to, Profile *from)
{
    *to = *from;
    to->strings.arena = &to->arena; // the only pointer of a profile into itself
    *from = (Profile){0};
}

const char *stack_cut_name(StackCut cut)
{
    static const char *const names[STACK_CUT_COUNT] = {
        [STACK_CUT_NONE] = "complete",
        [STACK_CUT_DUMP_SHORT] = "dump too short",
        [STACK_CUT_NO_TABLE] = "no unwind table",
        [STACK_CUT_JIT] = "JIT code",
        [STACK_CUT_BAD_FRAME] = "bad frame",
        [STACK_CUT_NO_USER] = "kernel only",
        [STACK_CUT_UNKNOWN_MAP] = "unknown mapping",
        [STACK_CUT_TOO_DEEP] = "too deep",
        [STACK_CUT_NO_MEMORY] = "stack not in memory",
        [STACK_CUT_SWITCH] = "stack switched",
        [STACK_CUT_GAP] = "middle not copied",
    };
    return cut < STACK_CUT_COUNT ? names[cut] : "unknown reason";
}

ModuleId profile_module(Profile *p, ModuleKind kind, Str path, Str build_id_hex)
{
    Modules *m = &p->modules;
    StrId path_id = profile_str(p, path);
    StrId build_id = profile_str(p, build_id_hex);
    uint64_t hash = hash_pair((uint64_t)path_id.v << 32 | build_id.v, kind);
    uint32_t row;
    for (TableProbe t = table_probe(&p->module_index, hash);
         table_next(&p->module_index, &t, &row);)
        if (m->path.at[row].v == path_id.v && m->build_id.at[row].v == build_id.v &&
            m->kind.at[row] == kind)
            return (ModuleId){row};
    row = (uint32_t)m->path.len;
    vec_push(&p->arena, &m->path, path_id);
    vec_push(&p->arena, &m->build_id, build_id);
    vec_push(&p->arena, &m->kind, (uint8_t)kind);
    table_insert(&p->module_index, hash, row);
    return (ModuleId){row};
}

FunctionId profile_function_of(Profile *p, StrId name, StrId linkage_name, StrId file,
                               uint32_t line)
{
    Functions *f = &p->functions;
    uint64_t hash =
        hash_pair((uint64_t)name.v << 32 | linkage_name.v, (uint64_t)file.v << 32 | line);
    uint32_t row;
    for (TableProbe t = table_probe(&p->function_index, hash);
         table_next(&p->function_index, &t, &row);)
        if (f->name.at[row].v == name.v && f->linkage_name.at[row].v == linkage_name.v &&
            f->file.at[row].v == file.v && f->line.at[row] == line)
            return (FunctionId){row};
    row = (uint32_t)f->name.len;
    vec_push(&p->arena, &f->name, name);
    vec_push(&p->arena, &f->linkage_name, linkage_name);
    vec_push(&p->arena, &f->file, file);
    vec_push(&p->arena, &f->line, line);
    table_insert(&p->function_index, hash, row);
    return (FunctionId){row};
}

FunctionId profile_function(Profile *p, Str name, Str linkage_name, Str file, uint32_t line)
{
    StrId file_id = profile_str(p, file);
    StrId linkage_id = profile_str(p, linkage_name);
    // A name that is not demangled is mostly the very same text.
    bool is_same = name.ptr == linkage_name.ptr && name.len == linkage_name.len;
    StrId name_id = is_same ? linkage_id : profile_str(p, name);
    return profile_function_of(p, name_id, linkage_id, file_id, line);
}

static FrameId frame_append(Profile *p, ModuleId module, uint64_t address, uint8_t flags)
{
    Frames *f = &p->frames;
    uint32_t row = (uint32_t)f->module.len;
    vec_push(&p->arena, &f->module, module);
    vec_push(&p->arena, &f->address, address);
    vec_push(&p->arena, &f->function, (FunctionId){0});
    vec_push(&p->arena, &f->file, (StrId){0});
    vec_push(&p->arena, &f->line, 0);
    vec_push(&p->arena, &f->inlined_in, (FrameId){0});
    vec_push(&p->arena, &f->flags, flags);
    return (FrameId){row};
}

static uint64_t frame_hash(ModuleId module, uint64_t address, uint8_t flags)
{
    return hash_pair(address, (uint64_t)module.v << 8 | flags);
}

FrameId profile_frame(Profile *p, ModuleId module, uint64_t address, uint8_t flags)
{
    const Frames *f = &p->frames;
    uint64_t hash = frame_hash(module, address, flags);
    uint32_t row;
    for (TableProbe t = table_probe(&p->frame_index, hash); table_next(&p->frame_index, &t, &row);)
        if (f->address.at[row] == address && f->module.at[row].v == module.v &&
            f->flags.at[row] == flags)
            return (FrameId){row};
    FrameId frame = frame_append(p, module, address, flags);
    table_insert(&p->frame_index, hash, frame.v);
    return frame;
}

FrameId profile_cut_frame(Profile *p, StackCut cut)
{
    return profile_frame(p, (ModuleId){0}, cut, FRAME_CUT);
}

static uint64_t stack_hash(StackId parent, FrameId frame)
{
    return hash_u64((uint64_t)parent.v << 32 | frame.v);
}

StackId profile_stack_append(Profile *p, StackId parent, FrameId frame)
{
    uint32_t row = (uint32_t)p->stacks.parent.len;
    vec_push(&p->arena, &p->stacks.parent, parent);
    vec_push(&p->arena, &p->stacks.frame, frame);
    p->unindexed_stacks++;
    return (StackId){row};
}

static void index_stacks(Profile *p)
{
    const Stacks *s = &p->stacks;
    table_reserve(&p->stack_index, p->stack_index.len + p->unindexed_stacks);
    for (size_t i = s->parent.len - p->unindexed_stacks; i < s->parent.len; i++)
        table_insert(&p->stack_index, stack_hash(s->parent.at[i], s->frame.at[i]), (uint32_t)i);
    p->unindexed_stacks = 0;
}

StackId profile_stack(Profile *p, StackId parent, FrameId frame)
{
    const Stacks *s = &p->stacks;
    if (p->unindexed_stacks)
        index_stacks(p);
    uint64_t hash = stack_hash(parent, frame);
    uint32_t row;
    for (TableProbe t = table_probe(&p->stack_index, hash); table_next(&p->stack_index, &t, &row);)
        if (s->parent.at[row].v == parent.v && s->frame.at[row].v == frame.v)
            return (StackId){row};
    row = (uint32_t)s->parent.len;
    vec_push(&p->arena, &p->stacks.parent, parent);
    vec_push(&p->arena, &p->stacks.frame, frame);
    table_insert(&p->stack_index, hash, row);
    return (StackId){row};
}

void profile_frame_resolve(Profile *p, FrameId frame, FunctionId function, StrId file,
                           uint32_t line)
{
    p->frames.function.at[frame.v] = function;
    p->frames.file.at[frame.v] = file;
    p->frames.line.at[frame.v] = line;
}

FrameId profile_frame_add_inliner(Profile *p, FrameId inner)
{
    const Frames *f = &p->frames;
    FrameId outer =
        frame_append(p, f->module.at[inner.v], f->address.at[inner.v], f->flags.at[inner.v]);
    p->frames.inlined_in.at[inner.v] = outer;
    return outer;
}

FrameId profile_named_frame(Profile *p, ModuleId module, uint64_t address, FunctionId function,
                            StrId file, uint32_t line, uint8_t flags)
{
    const Frames *f = &p->frames;
    uint64_t hash = hash_pair(frame_hash(module, address, flags),
                              hash_pair((uint64_t)function.v << 32 | file.v, line));
    uint32_t row;
    for (TableProbe t = table_probe(&p->frame_index, hash); table_next(&p->frame_index, &t, &row);)
        if (f->address.at[row] == address && f->module.at[row].v == module.v &&
            f->flags.at[row] == flags && f->function.at[row].v == function.v &&
            f->file.at[row].v == file.v && f->line.at[row] == line)
            return (FrameId){row};
    FrameId frame = frame_append(p, module, address, flags);
    profile_frame_resolve(p, frame, function, file, line);
    table_insert(&p->frame_index, hash, frame.v);
    return frame;
}

void profile_source_line(Profile *p, StrId file, uint32_t line, Str text)
{
    SourceLines *s = &p->source_lines;
    uint64_t hash = hash_u64((uint64_t)file.v << 32 | line);
    uint32_t row;
    for (TableProbe t = table_probe(&p->source_index, hash);
         table_next(&p->source_index, &t, &row);)
        if (s->file.at[row].v == file.v && s->line.at[row] == line)
            return;
    table_insert(&p->source_index, hash, (uint32_t)s->file.len);
    vec_push(&p->arena, &s->file, file);
    vec_push(&p->arena, &s->line, line);
    vec_push(&p->arena, &s->text, profile_str(p, text));
}

ProcessId profile_add_process(Profile *p, uint32_t pid, uint32_t parent_pid, StrId name,
                              int64_t start_ns)
{
    Processes *t = &p->processes;
    vec_push(&p->arena, &t->pid, pid);
    vec_push(&p->arena, &t->parent_pid, parent_pid);
    vec_push(&p->arena, &t->name, name);
    vec_push(&p->arena, &t->command, (StrId){0});
    vec_push(&p->arena, &t->start_ns, start_ns);
    vec_push(&p->arena, &t->end_ns, TIME_NONE);
    return (ProcessId){(uint32_t)t->pid.len - 1};
}

ThreadId profile_add_thread(Profile *p, ProcessId process, uint32_t tid, StrId name,
                            int64_t start_ns)
{
    Threads *t = &p->threads;
    vec_push(&p->arena, &t->process, process);
    vec_push(&p->arena, &t->tid, tid);
    vec_push(&p->arena, &t->name, name);
    vec_push(&p->arena, &t->start_ns, start_ns);
    vec_push(&p->arena, &t->end_ns, TIME_NONE);
    return (ThreadId){(uint32_t)t->tid.len - 1};
}

MetricId profile_add_metric(Profile *p, Str name, Str unit, MetricKind kind, Str event)
{
    Metrics *m = &p->metrics;
    Samples *s = &p->samples;
    vec_push(&p->arena, &m->name, profile_str(p, name));
    vec_push(&p->arena, &m->unit, profile_str(p, unit));
    vec_push(&p->arena, &m->kind, (uint8_t)kind);
    vec_push(&p->arena, &m->event, profile_str(p, event));
    size_t n = s->value_columns;
    s->values = arena_grow(&p->arena, s->values, n * sizeof(I64Vec), (n + 1) * sizeof(I64Vec),
                           _Alignof(I64Vec));
    s->values[n] = (I64Vec){0};
    vec_extend(&p->arena, &s->values[n], s->stack.len);
    s->value_columns = n + 1;
    return (MetricId){(uint32_t)n};
}

bool metric_is_argument(const Profile *p, MetricId metric, MetricId *owner)
{
    const Metrics *m = &p->metrics;
    Str event = profile_text(p, m->event.at[metric.v]);
    if (!str_starts_with(event, STR(METRIC_ARGUMENT_OF)))
        return false;
    Str name = str_slice(event, sizeof(METRIC_ARGUMENT_OF) - 1, event.len);
    for (uint32_t i = 0; i < m->name.len; i++)
        if (str_equal(profile_text(p, m->name.at[i]), name)) {
            *owner = (MetricId){i};
            return true;
        }
    return false;
}

bool metric_is_text(const Profile *p, MetricId metric)
{
    return str_equal(profile_text(p, p->metrics.unit.at[metric.v]), STR(METRIC_TEXT));
}

size_t profile_add_sample(Profile *p, int64_t time_ns, ThreadId thread, StackId stack, uint32_t cpu)
{
    Samples *s = &p->samples;
    vec_push(&p->arena, &s->time_ns, time_ns);
    vec_push(&p->arena, &s->thread, thread);
    vec_push(&p->arena, &s->stack, stack);
    vec_push(&p->arena, &s->cpu, cpu);
    for (size_t i = 0; i < s->value_columns; i++)
        vec_push(&p->arena, &s->values[i], 0);
    return s->stack.len - 1;
}

void profile_drop_samples(Profile *p)
{
    Samples *s = &p->samples;
    DroppedSamples *d = &s->dropped;
    size_t rows = s->stack.len;
    if (d->of_stack.len < p->stacks.parent.len)
        vec_extend(&p->arena, &d->of_stack, p->stacks.parent.len - d->of_stack.len);
    if (d->sum.len < s->value_columns) {
        vec_extend(&p->arena, &d->sum, s->value_columns - d->sum.len);
        vec_extend(&p->arena, &d->not_zero, s->value_columns - d->not_zero.len);
    }
    for (size_t i = 0; i < rows; i++)
        d->of_stack.at[s->stack.at[i].v]++;
    for (size_t m = 0; m < s->value_columns; m++) {
        for (size_t i = 0; i < rows; i++) {
            d->sum.at[m] += (uint64_t)s->values[m].at[i];
            d->not_zero.at[m] += s->values[m].at[i] != 0;
        }
        s->values[m].len = 0;
    }
    d->rows += rows;
    s->time_ns.len = s->thread.len = s->stack.len = s->cpu.len = 0;
}

RunId profile_add_run(Profile *p, const RunRow *run)
{
    Runs *t = &p->runs;
    vec_push(&p->arena, &t->name, run->name);
    vec_push(&p->arena, &t->command, run->command);
    vec_push(&p->arena, &t->revision, run->revision);
    vec_push(&p->arena, &t->conditions, run->conditions);
    vec_push(&p->arena, &t->start_ns, run->start_ns);
    vec_push(&p->arena, &t->wall_ns, run->wall_ns);
    vec_push(&p->arena, &t->user_ns, run->user_ns);
    vec_push(&p->arena, &t->system_ns, run->system_ns);
    vec_push(&p->arena, &t->status, run->status);
    vec_push(&p->arena, &t->round, run->round);
    vec_push(&p->arena, &t->position, run->position);
    vec_push(&p->arena, &t->flags, run->flags);
    return (RunId){(uint32_t)t->name.len - 1};
}

RunRow profile_run(const Profile *p, RunId run)
{
    const Runs *t = &p->runs;
    return (RunRow){.name = t->name.at[run.v],
                    .command = t->command.at[run.v],
                    .revision = t->revision.at[run.v],
                    .conditions = t->conditions.at[run.v],
                    .start_ns = t->start_ns.at[run.v],
                    .wall_ns = t->wall_ns.at[run.v],
                    .user_ns = t->user_ns.at[run.v],
                    .system_ns = t->system_ns.at[run.v],
                    .status = t->status.at[run.v],
                    .round = t->round.at[run.v],
                    .position = t->position.at[run.v],
                    .flags = t->flags.at[run.v]};
}

void profile_add_run_count(Profile *p, RunId run, MetricId metric, double value,
                           uint64_t enabled_ns, uint64_t running_ns, StrId part)
{
    RunValues *t = &p->run_values;
    vec_push(&p->arena, &t->run, run);
    vec_push(&p->arena, &t->metric, metric);
    vec_push(&p->arena, &t->value, value);
    vec_push(&p->arena, &t->enabled_ns, enabled_ns);
    vec_push(&p->arena, &t->running_ns, running_ns);
    vec_push(&p->arena, &t->part, part);
}

void profile_add_run_value(Profile *p, RunId run, MetricId metric, double value)
{
    profile_add_run_count(p, run, metric, value, 0, 0, (StrId){0});
}

void profile_add_point(Profile *p, MetricId metric, int64_t time_ns, double value,
                       uint64_t enabled_ns, uint64_t running_ns, StrId part)
{
    Series *t = &p->series;
    vec_push(&p->arena, &t->metric, metric);
    vec_push(&p->arena, &t->time_ns, time_ns);
    vec_push(&p->arena, &t->value, value);
    vec_push(&p->arena, &t->part, part);
    vec_push(&p->arena, &t->enabled_ns, enabled_ns);
    vec_push(&p->arena, &t->running_ns, running_ns);
}

static void sample_move(Samples *s, size_t to, size_t from)
{
    s->time_ns.at[to] = s->time_ns.at[from];
    s->thread.at[to] = s->thread.at[from];
    s->stack.at[to] = s->stack.at[from];
    s->cpu.at[to] = s->cpu.at[from];
    for (size_t m = 0; m < s->value_columns; m++)
        s->values[m].at[to] = s->values[m].at[from];
}

static bool sample_find_sum(const Samples *s, const Table *sums, size_t sample, uint32_t *ret)
{
    uint64_t hash = hash_u64((uint64_t)s->thread.at[sample].v << 32 | s->stack.at[sample].v);
    for (TableProbe probe = table_probe(sums, hash); table_next(sums, &probe, ret);)
        if (s->thread.at[*ret].v == s->thread.at[sample].v &&
            s->stack.at[*ret].v == s->stack.at[sample].v)
            return true;
    return false;
}

void profile_fold_samples(Profile *p, int64_t before_ns)
{
    Samples *s = &p->samples;
    Table sums = {0};
    size_t kept = 0;
    for (size_t i = 0; i < s->stack.len; i++) {
        // TIME_NONE is below every time.
        bool is_old = s->time_ns.at[i] < before_ns;
        uint32_t sum;
        if (is_old && sample_find_sum(s, &sums, i, &sum)) {
            for (size_t m = 0; m < s->value_columns; m++)
                s->values[m].at[sum] += s->values[m].at[i];
            continue;
        }
        sample_move(s, kept, i);
        if (is_old) {
            s->time_ns.at[kept] = TIME_NONE;
            s->cpu.at[kept] = SAMPLE_CPU_NONE;
            table_insert(&sums,
                         hash_u64((uint64_t)s->thread.at[kept].v << 32 | s->stack.at[kept].v),
                         (uint32_t)kept);
        }
        kept++;
    }
    s->time_ns.len = s->thread.len = s->stack.len = s->cpu.len = kept;
    for (size_t m = 0; m < s->value_columns; m++)
        s->values[m].len = kept;
    table_deinit(&sums);
}

void profile_add_interval(Profile *p, ThreadId thread, int64_t start_ns, int64_t end_ns, StrId name,
                          StrId detail)
{
    Intervals *t = &p->intervals;
    vec_push(&p->arena, &t->thread, thread);
    vec_push(&p->arena, &t->start_ns, start_ns);
    vec_push(&p->arena, &t->end_ns, end_ns);
    vec_push(&p->arena, &t->name, name);
    vec_push(&p->arena, &t->detail, detail);
}

const char *wait_class_name(WaitClass c)
{
    static const char *const names[] = {"running", "runnable", "lock",  "disk",    "network",
                                        "sleep",   "fault",    "child", "stopped", "other"};
    return (size_t)c < ARRAY_LEN(names) ? names[c] : "other";
}

uint64_t wait_bucket_ns(uint32_t bucket)
{
    uint64_t power = 1ull << MIN(bucket / 2, 62u);
    return power + (bucket % 2 ? power / 2 : 0);
}

uint32_t profile_add_wait(Profile *p, const WaitRow *row)
{
    Waits *w = &p->waits;
    vec_push(&p->arena, &w->thread, row->thread);
    vec_push(&p->arena, &w->stack, row->stack);
    vec_push(&p->arena, &w->state, (uint8_t)row->state);
    vec_push(&p->arena, &w->object, row->object);
    vec_push(&p->arena, &w->count, row->count);
    vec_push(&p->arena, &w->blocked_ns, row->blocked_ns);
    vec_push(&p->arena, &w->runnable_ns, row->runnable_ns);
    vec_push(&p->arena, &w->longest_ns, row->longest_ns);
    return (uint32_t)w->thread.len - 1;
}

void profile_add_wait_time(Profile *p, uint32_t wait, uint32_t bucket, uint64_t count)
{
    vec_push(&p->arena, &p->wait_times.wait, wait);
    vec_push(&p->arena, &p->wait_times.bucket, bucket);
    vec_push(&p->arena, &p->wait_times.count, count);
}

void profile_add_state(Profile *p, const StateRow *row)
{
    States *s = &p->states;
    vec_push(&p->arena, &s->thread, row->thread);
    vec_push(&p->arena, &s->start_ns, row->start_ns);
    vec_push(&p->arena, &s->woken_ns, row->woken_ns);
    vec_push(&p->arena, &s->end_ns, row->end_ns);
    vec_push(&p->arena, &s->state, (uint8_t)row->state);
    vec_push(&p->arena, &s->object, row->object);
    vec_push(&p->arena, &s->stack, row->stack);
    vec_push(&p->arena, &s->waker, row->waker);
    vec_push(&p->arena, &s->waker_stack, row->waker_stack);
}

uint32_t profile_add_call(Profile *p, const CallRow *row)
{
    Calls *c = &p->calls;
    vec_push(&p->arena, &c->frame, row->frame);
    vec_push(&p->arena, &c->thread, row->thread);
    vec_push(&p->arena, &c->begin_ns, row->begin_ns);
    vec_push(&p->arena, &c->end_ns, row->end_ns);
    vec_push(&p->arena, &c->depth, row->depth);
    vec_push(&p->arena, &c->flags, row->flags);
    return (uint32_t)c->frame.len - 1;
}

void profile_add_call_value(Profile *p, uint32_t call, StrId name, int64_t value)
{
    vec_push(&p->arena, &p->call_values.call, call);
    vec_push(&p->arena, &p->call_values.name, name);
    vec_push(&p->arena, &p->call_values.value, value);
}

void profile_note(Profile *p, NoteLevel level, Str key, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    Str text = arena_vprintf(&p->arena, fmt, args);
    va_end(args);
    vec_push(&p->arena, &p->notes.level, (uint8_t)level);
    vec_push(&p->arena, &p->notes.key, profile_str(p, key));
    vec_push(&p->arena, &p->notes.text, profile_str(p, text));
}

static bool fact_find(const Profile *p, Str key, size_t *ret)
{
    for (size_t i = 0; i < p->facts.key.len; i++) {
        if (str_equal(profile_text(p, p->facts.key.at[i]), key)) {
            *ret = i;
            return true;
        }
    }
    return false;
}

void profile_set_fact(Profile *p, Str key, Str value)
{
    StrId value_id = profile_str(p, value);
    size_t at;
    if (fact_find(p, key, &at)) {
        p->facts.value.at[at] = value_id;
        return;
    }
    vec_push(&p->arena, &p->facts.key, profile_str(p, key));
    vec_push(&p->arena, &p->facts.value, value_id);
}

Str profile_fact(const Profile *p, Str key)
{
    size_t at;
    return fact_find(p, key, &at) ? profile_text(p, p->facts.value.at[at]) : STR("");
}

bool profile_fact_u64(const Profile *p, Str key, uint64_t *ret)
{
    return str_parse_u64(profile_fact(p, key), 10, ret);
}
