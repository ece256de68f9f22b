// SPDX-License-Identifier: Apache-2.0
// Values of one function, or of one source file, by line and by address.

#include "analyse/annotate.h"

#include <stdlib.h>

static bool is_target(const Annotation *a, uint32_t frame)
{
    if (a->key != ANNOTATE_NO_KEY)
        return a->keys->of_frame[frame] == a->key;
    return a->profile->frames.file.at[frame].v == a->file.v;
}

// In the frame table a frame comes before those that it was inlined into: going backwards, each
// chain takes one step.
static void mark_frames(Annotation *a)
{
    const Frames *f = &a->profile->frames;
    for (uint32_t i = (uint32_t)f->module.len; i-- > 0;) {
        uint32_t outer = f->inlined_in.at[i].v;
        a->frame_has[i] = is_target(a, i) || (outer && a->frame_has[outer]);
    }
}

static void mark_stacks(Annotation *a)
{
    const Stacks *s = &a->profile->stacks;
    for (size_t i = 1; i < s->frame.len; i++)
        a->stack_has[i] = a->frame_has[s->frame.at[i].v] || a->stack_has[s->parent.at[i].v];
}

void annotation_init(Annotation *a, const Profile *p, const Keys *keys, uint32_t key, StrId file,
                     size_t metric_count)
{
    *a = (Annotation){.profile = p, .keys = keys, .key = key, .file = file};
    a->metric_count = metric_count;
    a->frame_has = heap_alloc(p->frames.module.len + 1);
    a->stack_has = heap_alloc(p->stacks.frame.len + 1);
    a->target_self = heap_alloc(metric_count * sizeof(uint64_t));
    a->target_total = heap_alloc(metric_count * sizeof(uint64_t));
    a->all = heap_alloc(metric_count * sizeof(uint64_t));
    mark_frames(a);
    mark_stacks(a);
}

void annotation_deinit(Annotation *a)
{
    for (size_t i = 0; i < a->lines.len; i++)
        vec_free(&a->lines.at[i].callees);
    vec_free(&a->lines);
    vec_free(&a->addresses);
    vec_free(&a->self);
    vec_free(&a->total);
    vec_free(&a->address_self);
    vec_free(&a->address_total);
    vec_free(&a->line_stamp);
    vec_free(&a->address_stamp);
    heap_free(a->frame_has);
    heap_free(a->stack_has);
    heap_free(a->target_self);
    heap_free(a->target_total);
    heap_free(a->all);
    table_deinit(&a->line_index);
    table_deinit(&a->address_index);
    *a = (Annotation){0};
}

static size_t line_of(Annotation *a, uint32_t frame)
{
    const Frames *f = &a->profile->frames;
    StrId file = f->file.at[frame];
    uint32_t line = f->line.at[frame];
    if (file.v == 0 || line == 0) {
        file.v = 0;
        line = 0;
    }
    uint64_t hash = hash_u64((uint64_t)file.v << 32 | line);
    uint32_t row;
    for (TableProbe t = table_probe(&a->line_index, hash); table_next(&a->line_index, &t, &row);)
        if (a->lines.at[row].file.v == file.v && a->lines.at[row].line == line)
            return row;
    table_insert(&a->line_index, hash, (uint32_t)a->lines.len);
    AnnotateLine fresh = {.file = file, .line = line, .first_value = a->self.len};
    vec_push(NULL, &a->lines, fresh);
    vec_push(NULL, &a->line_stamp, 0);
    vec_extend(NULL, &a->self, a->metric_count);
    vec_extend(NULL, &a->total, a->metric_count);
    return a->lines.len - 1;
}

static size_t address_of(Annotation *a, uint32_t frame)
{
    const Frames *f = &a->profile->frames;
    ModuleId module = f->module.at[frame];
    uint64_t address = f->address.at[frame];
    bool is_exact = f->flags.at[frame] & FRAME_EXACT;
    uint64_t hash = hash_pair(address, (uint64_t)module.v << 1 | is_exact);
    uint32_t row;
    for (TableProbe t = table_probe(&a->address_index, hash);
         table_next(&a->address_index, &t, &row);) {
        const AnnotateAddress *at = &a->addresses.at[row];
        if (at->module.v == module.v && at->address == address && at->is_exact == is_exact)
            return row;
    }
    table_insert(&a->address_index, hash, (uint32_t)a->addresses.len);
    AnnotateAddress fresh = {module, address, is_exact, a->address_self.len};
    vec_push(NULL, &a->addresses, fresh);
    vec_push(NULL, &a->address_stamp, 0);
    vec_extend(NULL, &a->address_self, a->metric_count);
    vec_extend(NULL, &a->address_total, a->metric_count);
    return a->addresses.len - 1;
}

// A line calls few functions; the one of the previous stack is likely, so the search starts at the
// end.
static void add_callee(AnnotateLine *line, uint32_t key, bool is_inlined, uint64_t value)
{
    for (size_t i = line->callees.len; i-- > 0;) {
        AnnotateCallee *c = &line->callees.at[i];
        if (c->key == key && c->is_inlined == is_inlined) {
            c->total += value;
            return;
        }
    }
    AnnotateCallee fresh = {key, is_inlined, value};
    vec_push(NULL, &line->callees, fresh);
}

typedef struct StackWalk {
    Annotation *a;
    size_t metric;
    uint64_t value;
    uint32_t callee; // key of the next frame inwards; ANNOTATE_NO_KEY at the innermost
    bool callee_is_inlined;
    bool found;
} StackWalk;

static void add_level(StackWalk *s, uint32_t frame)
{
    Annotation *a = s->a;
    size_t row = line_of(a, frame);
    AnnotateLine *line = &a->lines.at[row];
    bool is_first = a->line_stamp.at[row] != a->stamp;
    a->line_stamp.at[row] = a->stamp;
    s->found = true;
    if (is_first)
        a->total.at[line->first_value + s->metric] += s->value;
    if (s->callee == ANNOTATE_NO_KEY) {
        a->self.at[line->first_value + s->metric] += s->value;
        a->target_self[s->metric] += s->value;
    } else if (is_first && s->metric == 0) {
        add_callee(line, s->callee, s->callee_is_inlined, s->value);
    }
}

static void add_address(StackWalk *s, uint32_t frame, bool is_leaf)
{
    Annotation *a = s->a;
    size_t row = address_of(a, frame);
    size_t at = a->addresses.at[row].first_value + s->metric;
    if (is_leaf)
        a->address_self.at[at] += s->value;
    if (a->address_stamp.at[row] != a->stamp)
        a->address_total.at[at] += s->value;
    a->address_stamp.at[row] = a->stamp;
}

static void add_stack(StackWalk *s, StackId stack)
{
    const Profile *p = s->a->profile;
    bool is_leaf = true;
    s->callee = ANNOTATE_NO_KEY;
    s->found = false;
    s->a->stamp++;
    for (uint32_t node = stack.v; node && s->a->stack_has[node];
         node = p->stacks.parent.at[node].v) {
        uint32_t frame = p->stacks.frame.at[node].v;
        s->callee_is_inlined = false;
        if (s->a->frame_has[frame])
            add_address(s, frame, is_leaf);
        for (; frame; frame = p->frames.inlined_in.at[frame].v) {
            if (is_target(s->a, frame))
                add_level(s, frame);
            s->callee = s->a->keys->of_frame[frame];
            s->callee_is_inlined = true;
        }
        is_leaf = false;
    }
}

void annotation_add(Annotation *a, const Weights *w, size_t metric)
{
    StackWalk s = {.a = a, .metric = metric};
    a->all[metric] = w->value;
    for (size_t i = 0; i < w->rows.len; i++) {
        const WeightRow *row = &w->rows.at[i];
        s.value = row->value;
        add_stack(&s, row->stack);
        if (!s.found)
            continue;
        a->target_total[metric] += row->value;
        if (metric == 0)
            a->samples += row->samples;
    }
}

static int compare_lines(const void *x, const void *y)
{
    const AnnotateLine *a = x, *b = y;
    if (a->file.v != b->file.v)
        return a->file.v < b->file.v ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static int compare_addresses(const void *x, const void *y)
{
    const AnnotateAddress *a = x, *b = y;
    if (a->module.v != b->module.v)
        return a->module.v < b->module.v ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->is_exact - b->is_exact;
}

static int compare_callees(const void *x, const void *y)
{
    const AnnotateCallee *a = x, *b = y;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->is_inlined - b->is_inlined;
}

void annotation_finish(Annotation *a)
{
    for (size_t i = 0; i < a->lines.len; i++) {
        AnnotateCalleeVec *c = &a->lines.at[i].callees;
        if (c->len > 1)
            qsort(c->at, c->len, sizeof(c->at[0]), compare_callees);
    }
    if (a->lines.len > 1)
        qsort(a->lines.at, a->lines.len, sizeof(a->lines.at[0]), compare_lines);
    if (a->addresses.len > 1)
        qsort(a->addresses.at, a->addresses.len, sizeof(a->addresses.at[0]), compare_addresses);
}
