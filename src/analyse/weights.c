// SPDX-License-Identifier: Apache-2.0
// Adds up samples to weighted stacks.

#include "analyse/weights.h"

#include <regex.h>

#include "analyse/program_self.h"

void selection_init(Selection *s)
{
    *s = (Selection){.from_ns = INT64_MIN, .to_ns = INT64_MAX};
}

// The class of a stack by its frames, one byte for each stack.
enum {
    STACK_CUT_MASK = 0x0f, // a StackCut
    STACK_FOCUSED = 0x10,
    STACK_IGNORED = 0x20
};
_Static_assert((int)STACK_CUT_COUNT <= (int)STACK_CUT_MASK, "a StackCut fits its bits");

static bool regex_compile(regex_t *re, const char *pattern, const char *option, Error *err)
{
    int code = regcomp(re, pattern, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return true;
    char why[128];
    regerror(code, re, why, sizeof(why));
    return error_set(err, ERROR_USAGE, "bad regular expression '%s' for %s: %s", pattern, option,
                     why);
}

static bool regex_matches(const regex_t *re, Str text)
{
    // REG_STARTEND takes a length, so that names need not be copied to get a NUL.
    regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)MIN(text.len, (size_t)INT32_MAX)};
    return regexec(re, text.ptr ? text.ptr : "", 0, &range, REG_STARTEND) == 0;
}

// Sets `bit` in the flags of each function whose name matches.
static bool mark_functions(const Profile *p, const char *pattern, const char *option, uint8_t bit,
                           uint8_t *flags, Error *err)
{
    if (!pattern)
        return true;
    regex_t re;
    if (!regex_compile(&re, pattern, option, err))
        return false;
    for (size_t i = 1; i < p->functions.name.len; i++)
        if (regex_matches(&re, profile_text(p, p->functions.name.at[i])))
            flags[i] |= bit;
    regfree(&re);
    return true;
}

// The bits of a stack's own frame and of the calls inlined at it.
static uint8_t frame_bits(const Profile *p, FrameId frame, const uint8_t *function_flags)
{
    uint8_t bits = 0;
    if (p->frames.flags.at[frame.v] & FRAME_CUT) {
        uint64_t cut = p->frames.address.at[frame.v];
        return cut < STACK_CUT_COUNT ? (uint8_t)cut : STACK_CUT_BAD_FRAME;
    }
    for (uint32_t f = frame.v; f != 0; f = p->frames.inlined_in.at[f].v)
        bits |= function_flags[p->frames.function.at[f].v];
    return bits;
}

// Of two markers in a stack, as a file may have them, the inner one counts.
static uint8_t join_bits(uint8_t outer, uint8_t own)
{
    return (own & STACK_CUT_MASK ? outer & ~STACK_CUT_MASK : outer) | own;
}

static bool stack_bits(const Profile *p, const Selection *s, uint8_t **ret, Error *err)
{
    size_t stacks = p->stacks.parent.len;
    uint8_t *function_flags = heap_alloc(p->functions.name.len + 1);
    if (!mark_functions(p, s->focus, "--focus", STACK_FOCUSED, function_flags, err) ||
        !mark_functions(p, s->ignore, "--ignore", STACK_IGNORED, function_flags, err)) {
        heap_free(function_flags);
        return false;
    }
    // Many stacks share a frame, so that each frame's chain of inlined calls is examined once.
    size_t frames = p->frames.module.len;
    uint8_t *of_frame = heap_alloc(frames + 1);
    for (uint32_t f = 0; f < frames; f++)
        of_frame[f] = frame_bits(p, (FrameId){f}, function_flags);
    heap_free(function_flags);

    uint8_t *bits = heap_alloc(stacks + 1);
    if (stacks && !s->focus)
        bits[0] = STACK_FOCUSED;
    for (size_t i = 1; i < stacks; i++)
        bits[i] = join_bits(bits[p->stacks.parent.at[i].v], of_frame[p->stacks.frame.at[i].v]);
    heap_free(of_frame);
    *ret = bits;
    return true;
}

static bool contains_u32(const U32Vec *v, uint32_t x)
{
    if (!v)
        return true;
    for (size_t i = 0; i < v->len; i++)
        if (v->at[i] == x)
            return true;
    return false;
}

static bool contains_str(const StrVec *v, Str a, Str b)
{
    if (!v)
        return true;
    for (size_t i = 0; i < v->len; i++)
        if (str_equal(v->at[i], a) || str_equal(v->at[i], b))
            return true;
    return false;
}

#define GROUP_SKIP UINT32_MAX

static uint64_t thread_group_hash(const Profile *p, size_t thread, Group grouping)
{
    return hash_u64(grouping == GROUP_COMM ? p->threads.name.at[thread].v
                                           : p->threads.process.at[thread].v);
}

static bool keeps_thread(const Profile *p, const Selection *s, size_t t)
{
    uint32_t process = p->threads.process.at[t].v;
    return contains_u32(s->tids, p->threads.tid.at[t]) &&
           contains_u32(s->pids, p->processes.pid.at[process]) &&
           contains_str(s->comms, profile_text(p, p->threads.name.at[t]),
                        profile_text(p, p->processes.name.at[process]));
}

// The group of each thread, numbered in the order of threads; GROUP_SKIP for threads that are not
// selected.
static uint32_t *threads_to_groups(Weights *w)
{
    const Profile *p = w->profile;
    const Selection *s = &w->selection;
    size_t threads = p->threads.tid.len;
    uint32_t *group_of = heap_alloc((threads + 1) * sizeof(uint32_t));
    U32Vec first_thread = {0}; // of each group
    Table index = {0};

    if (w->grouping == GROUP_NONE)
        vec_push(NULL, &w->groups, (WeightGroup){0});
    for (size_t t = 0; t < threads; t++) {
        uint32_t process = p->threads.process.at[t].v;
        if (!keeps_thread(p, s, t)) {
            group_of[t] = GROUP_SKIP;
            continue;
        }
        if (w->grouping == GROUP_NONE)
            continue;
        uint32_t group = GROUP_SKIP;
        if (w->grouping != GROUP_THREAD) {
            uint64_t hash = thread_group_hash(p, t, w->grouping);
            uint32_t row;
            for (TableProbe probe = table_probe(&index, hash); table_next(&index, &probe, &row);) {
                uint32_t other = first_thread.at[row];
                if (w->grouping == GROUP_COMM
                        ? p->threads.name.at[other].v == p->threads.name.at[t].v
                        : p->threads.process.at[other].v == process) {
                    group = row;
                    break;
                }
            }
            if (group == GROUP_SKIP)
                table_insert(&index, hash, (uint32_t)w->groups.len);
        }
        if (group == GROUP_SKIP) {
            group = (uint32_t)w->groups.len;
            vec_push(NULL, &first_thread, (uint32_t)t);
            bool by_process = w->grouping == GROUP_PROCESS;
            vec_push(NULL, &w->groups,
                     (WeightGroup){
                         .name = by_process ? p->processes.name.at[process] : p->threads.name.at[t],
                         .pid = w->grouping == GROUP_COMM ? 0 : p->processes.pid.at[process],
                         .tid = w->grouping == GROUP_THREAD ? p->threads.tid.at[t] : 0,
                     });
        }
        group_of[t] = group;
    }
    table_deinit(&index);
    vec_free(&first_thread);
    return group_of;
}

static bool in_time(const Selection *s, int64_t time_ns)
{
    if (!selection_has_time(s))
        return true;
    return time_ns != TIME_NONE && time_ns >= s->from_ns && time_ns < s->to_ns;
}

// Sorts the selected samples by group; within a group they keep their order. Returns their number.
static size_t order_samples(Weights *w, const uint32_t *group_of, const uint8_t *bits,
                            uint32_t **ret)
{
    const Profile *p = w->profile;
    const Samples *samples = &p->samples;
    const int64_t *values = samples->values[w->selection.metric.v].at;
    size_t n = samples->stack.len;
    uint32_t *group_of_sample = heap_alloc((n + 1) * sizeof(uint32_t));
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t b = bits[samples->stack.at[i].v];
        bool is_kept = (b & (STACK_FOCUSED | STACK_IGNORED)) == STACK_FOCUSED &&
                       in_time(&w->selection, samples->time_ns.at[i]);
        uint32_t group = is_kept ? group_of[samples->thread.at[i].v] : GROUP_SKIP;
        if (values[i] <= 0)
            group = GROUP_SKIP;
        else if (group == GROUP_SKIP)
            w->samples_outside++;
        group_of_sample[i] = group;
        if (group != GROUP_SKIP) {
            w->groups.at[group].samples++;
            kept++;
        }
    }
    size_t *next = heap_alloc((w->groups.len + 1) * sizeof(size_t));
    for (size_t g = 0, at = 0; g < w->groups.len; g++) {
        next[g] = at;
        at += w->groups.at[g].samples;
    }
    uint32_t *order = heap_alloc((kept + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < n; i++)
        if (group_of_sample[i] != GROUP_SKIP)
            order[next[group_of_sample[i]]++] = (uint32_t)i;
    heap_free(next);
    heap_free(group_of_sample);
    *ret = order;
    return kept;
}

static void count_sample(Weights *w, StackId stack, uint8_t bits, uint64_t value)
{
    const Profile *p = w->profile;
    FrameId frame = p->stacks.frame.at[stack.v];
    uint8_t flags = p->frames.flags.at[frame.v];
    if (stack.v == 0)
        w->samples_without_stack++;
    else
        w->cut_samples[bits & STACK_CUT_MASK]++;
    if (flags & FRAME_KERNEL)
        w->kernel_value += value;
    if (p->frames.function.at[frame.v].v == 0)
        w->unnamed_value += value;
    w->value += value;
    w->samples++;
}

// Adds up the samples of one group to rows.
static void add_group_rows(Weights *w, WeightGroup *group, const uint32_t *order,
                           const uint8_t *bits, uint32_t *row_of_stack, uint64_t value_max)
{
    const Samples *samples = &w->profile->samples;
    const int64_t *values = samples->values[w->selection.metric.v].at;
    group->first_row = w->rows.len;
    for (size_t k = 0; k < group->samples; k++) {
        uint32_t i = order[k];
        StackId stack = samples->stack.at[i];
        uint64_t value = (uint64_t)values[i];
        if (value > value_max) {
            value = value_max;
            w->clamped = true;
        }
        // A row of an earlier group has a number below first_row, so that nothing is cleared
        // between groups.
        uint32_t row = row_of_stack[stack.v];
        if (row < group->first_row || row >= w->rows.len || w->rows.at[row].stack.v != stack.v) {
            row = (uint32_t)w->rows.len;
            row_of_stack[stack.v] = row;
            vec_push(NULL, &w->rows, (WeightRow){.stack = stack});
        }
        w->rows.at[row].samples++;
        w->rows.at[row].value += value;
        group->value += value;
        count_sample(w, stack, bits[stack.v], value);
    }
    group->row_count = w->rows.len - group->first_row;
}

static void drop_empty_groups(Weights *w)
{
    size_t kept = 0;
    for (size_t g = 0; g < w->groups.len; g++)
        if (w->groups.at[g].samples)
            w->groups.at[kept++] = w->groups.at[g];
    w->groups.len = kept;
}

bool weights_init(Weights *w, const Profile *p, const Selection *s, Group grouping, Error *err)
{
    *w = (Weights){.profile = p, .selection = *s, .grouping = grouping};
    if (p->metrics.name.len == 0) // nothing was measured: no rows
        return true;
    assert(s->metric.v < p->samples.value_columns);
    uint8_t *bits;
    if (!stack_bits(p, s, &bits, err))
        return false;
    uint32_t *group_of = threads_to_groups(w);
    uint32_t *order;
    size_t kept = order_samples(w, group_of, bits, &order);
    heap_free(group_of);

    uint32_t *row_of_stack = heap_alloc((p->stacks.parent.len + 1) * sizeof(uint32_t));
    uint64_t value_max = (uint64_t)INT64_MAX / MAX(kept, (size_t)1);
    size_t at = 0;
    for (size_t g = 0; g < w->groups.len; g++) {
        add_group_rows(w, &w->groups.at[g], order + at, bits, row_of_stack, value_max);
        at += w->groups.at[g].samples;
    }
    drop_empty_groups(w);
    heap_free(row_of_stack);
    heap_free(order);
    heap_free(bits);
    return true;
}

static bool has_value(const Samples *samples, size_t i, const Selection *s, bool any_metric)
{
    if (!any_metric)
        return samples->values[s->metric.v].at[i] > 0;
    for (size_t m = 0; m < samples->value_columns; m++)
        if (samples->values[m].at[i] > 0)
            return true;
    return false;
}

bool selection_samples(const Profile *p, const Selection *s, bool any_metric, U32Vec *ret,
                       Error *err)
{
    *ret = (U32Vec){0};
    if (p->metrics.name.len == 0)
        return true;
    uint8_t *bits;
    if (!stack_bits(p, s, &bits, err))
        return false;
    Weights w = {.profile = p, .selection = *s, .grouping = GROUP_NONE};
    uint32_t *group_of = threads_to_groups(&w);
    const Samples *samples = &p->samples;
    for (size_t i = 0; i < samples->stack.len; i++) {
        uint8_t b = bits[samples->stack.at[i].v];
        if ((b & (STACK_FOCUSED | STACK_IGNORED)) == STACK_FOCUSED &&
            in_time(s, samples->time_ns.at[i]) && group_of[samples->thread.at[i].v] != GROUP_SKIP &&
            has_value(samples, i, s, any_metric))
            vec_push(NULL, ret, (uint32_t)i);
    }
    heap_free(group_of);
    heap_free(bits);
    weights_deinit(&w);
    return true;
}

uint8_t *selection_threads(const Profile *p, const Selection *s)
{
    uint8_t *kept = heap_alloc(p->threads.tid.len + 1);
    for (size_t t = 0; t < p->threads.tid.len; t++)
        kept[t] = keeps_thread(p, s, t);
    return kept;
}

void weights_count_for_program(Weights *w)
{
    if (w->kernel_value && metric_counts_kernel_events(w->profile, w->selection.metric))
        w->self_stacks = program_self_stacks(w->profile);
}

void weights_deinit(Weights *w)
{
    heap_free(w->self_stacks);
    vec_free(&w->groups);
    vec_free(&w->rows);
    *w = (Weights){0};
}

void weight_group_add_name(const Weights *w, uint32_t group, StrBuf *out)
{
    const WeightGroup *g = &w->groups.at[group];
    Str name = profile_text(w->profile, g->name);
    strbuf_add(out, name.len ? name : STR("[unnamed]"));
    uint32_t id = g->tid ? g->tid : g->pid;
    if (id) {
        strbuf_add_char(out, ' ');
        strbuf_add_u64(out, id);
    }
}

static bool has_values(const I64Vec *column)
{
    for (size_t i = 0; i < column->len; i++)
        if (column->at[i] > 0)
            return true;
    return false;
}

MetricId metric_with_samples(const Profile *p)
{
    for (uint32_t m = 0; m < p->metrics.name.len && p->samples.stack.len; m++)
        if (has_values(&p->samples.values[m]))
            return (MetricId){m};
    return (MetricId){0};
}

// Texts have no sum: the probe that they are an argument of stands for them.
static MetricId with_sum(const Profile *p, uint32_t metric)
{
    MetricId owner, m = {metric};
    return metric_is_text(p, m) && metric_is_argument(p, m, &owner) ? owner : m;
}

bool metric_find(const Profile *p, Str name, MetricId *ret, Error *err)
{
    uint64_t number;
    if (str_parse_u64(name, 10, &number) && number < p->metrics.name.len) {
        *ret = with_sum(p, (uint32_t)number);
        return true;
    }
    for (uint32_t i = 0; i < p->metrics.name.len; i++) {
        if (str_equal(profile_text(p, p->metrics.name.at[i]), name) ||
            str_equal(profile_text(p, p->metrics.event.at[i]), name)) {
            *ret = with_sum(p, i);
            return true;
        }
    }
    error_set(err, ERROR_NOT_FOUND, "no metric '%" STR_FMT "' in this recording", STR_ARG(name));
    char known[400];
    size_t len = 0;
    known[0] = '\0';
    for (size_t i = 0; i < p->metrics.name.len && len + 80 < sizeof(known); i++) {
        Str metric = str_slice(profile_text(p, p->metrics.name.at[i]), 0, 60);
        if (i)
            known[len++] = ',', known[len++] = ' ';
        bytes_copy(known + len, bytes_from_str(metric));
        len += metric.len;
        known[len] = '\0';
    }
    error_hint(err, "it has: %s", len ? known : "none");
    return false;
}
