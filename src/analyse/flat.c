// SPDX-License-Identifier: Apache-2.0
// Flat tables.

#include "analyse/flat.h"

#include <math.h>
#include <stdlib.h>

// ---- The table -------------------------------------------------------------------

// The sums of one key while the stacks are walked.
typedef struct Tally {
    FlatRow row;
    uint64_t frame_value;   // of row.frame
    uint64_t inlined_self;  // of frames that are inlined calls
    uint64_t inlined_total; // the same, outermost ones
    uint32_t on_path;       // how often the key is on the current path
} Tally;

// A stack with a value, linked into lists of children. The merged call tree is not used because
// building it takes several times as long as the table.
typedef struct StackNode {
    uint64_t self, total; // self: what tables count as self
    uint32_t self_samples, total_samples;
    uint32_t first_child, next; // 0: none
    uint32_t frame;             // its own; here, so that a step of the walk reads one place
} StackNode;

typedef struct Flattener {
    const Profile *p;
    const Keys *keys;
    StackNode *nodes; // [stack]
    Tally *tallies;   // [key]
    uint8_t *flags;   // [frame]: NODE_INLINED, NODE_KERNEL, NODE_CUT
} Flattener;

static void link_stacks(Flattener *f, const Weights *w)
{
    StackNode *nodes = f->nodes;
    const StackId *parent = f->p->stacks.parent.at;
    for (size_t i = 0; i < w->rows.len; i++) {
        const WeightRow *row = &w->rows.at[i];
        StackId self = weights_self_stack(w, row->stack);
        nodes[row->stack.v].total += row->value;
        nodes[row->stack.v].total_samples += row->samples;
        nodes[self.v].self += row->value;
        nodes[self.v].self_samples += row->samples;
    }
    for (size_t s = f->p->stacks.parent.len; s-- > 1;) {
        StackNode *n = &nodes[s];
        if (n->total_samples == 0)
            continue;
        StackNode *above = &nodes[parent[s].v];
        n->frame = f->p->stacks.frame.at[s].v;
        n->next = above->first_child;
        above->first_child = (uint32_t)s;
        if (parent[s].v != 0) {
            above->total += n->total;
            above->total_samples += n->total_samples;
        }
    }
}

static void find_flags(Flattener *f)
{
    const Frames *frames = &f->p->frames;
    for (size_t i = 0; i < frames->module.len; i++) {
        uint8_t of_frame = frames->flags.at[i];
        bool inlined = frames->inlined_in.at[i].v != 0 || of_frame & FRAME_INLINED;
        f->flags[i] =
            (uint8_t)((inlined ? NODE_INLINED : 0) | (of_frame & FRAME_KERNEL ? NODE_KERNEL : 0) |
                      (of_frame & FRAME_CUT ? NODE_CUT : 0));
    }
}

static void tally_self(Flattener *f, uint32_t frame, const StackNode *n)
{
    Tally *t = &f->tallies[f->keys->of_frame[frame]];
    t->row.self += n->self;
    t->row.self_samples += n->self_samples;
    if (f->flags[frame] & NODE_INLINED)
        t->inlined_self += n->self;
}

static void enter_frame(Flattener *f, uint32_t frame, const StackNode *n)
{
    Tally *t = &f->tallies[f->keys->of_frame[frame]];
    if (t->on_path++ > 0)
        return;
    t->row.total += n->total;
    t->row.total_samples += n->total_samples;
    t->row.kernel |= (f->flags[frame] & NODE_KERNEL) != 0;
    if (f->flags[frame] & NODE_INLINED)
        t->inlined_total += n->total;
    if (t->row.frame == 0)
        t->row.frame = frame;
}

static void enter_stack(Flattener *f, uint32_t stack)
{
    const FrameId *inlined_in = f->p->frames.inlined_in.at;
    const StackNode *n = &f->nodes[stack];
    uint32_t frame = n->frame;
    __builtin_prefetch(&f->nodes[n->next]); // the walk comes there when it is done below this one
    if (f->flags[frame] & NODE_CUT)
        return;
    if (n->self_samples)
        tally_self(f, frame, n);
    enter_frame(f, frame, n);
    for (uint32_t at = inlined_in[frame].v; at != 0; at = inlined_in[at].v)
        enter_frame(f, at, n);
}

static void leave_stack(Flattener *f, uint32_t stack)
{
    const FrameId *inlined_in = f->p->frames.inlined_in.at;
    uint32_t frame = f->nodes[stack].frame;
    if (f->flags[frame] & NODE_CUT)
        return;
    f->tallies[f->keys->of_frame[frame]].on_path--;
    for (uint32_t at = inlined_in[frame].v; at != 0; at = inlined_in[at].v)
        f->tallies[f->keys->of_frame[at]].on_path--;
}

// Follows links instead of recursing, because stacks may be very deep.
static void walk_stacks(Flattener *f)
{
    const StackNode *nodes = f->nodes;
    const StackId *parent = f->p->stacks.parent.at;
    uint32_t at = nodes[0].first_child;
    while (at != 0) {
        enter_stack(f, at);
        if (nodes[at].first_child != 0) {
            at = nodes[at].first_child;
            continue;
        }
        while (at != 0) {
            leave_stack(f, at);
            if (nodes[at].next != 0) {
                at = nodes[at].next;
                break;
            }
            at = parent[at].v;
        }
    }
}

// Each key is represented by its frame with the greatest self value.
static void find_hottest_frames(Flattener *f, const Weights *w)
{
    size_t frames = f->p->frames.module.len;
    uint64_t *self = heap_alloc((frames + 1) * sizeof(uint64_t));
    for (size_t i = 0; i < w->rows.len; i++) {
        StackId stack = weights_self_stack(w, w->rows.at[i].stack);
        self[f->p->stacks.frame.at[stack.v].v] += w->rows.at[i].value;
    }
    for (uint32_t i = 1; i < frames; i++) {
        Tally *t = &f->tallies[f->keys->of_frame[i]];
        if (self[i] > t->frame_value) {
            t->frame_value = self[i];
            t->row.frame = i;
        }
    }
    heap_free(self);
}

FlatRowVec flat_of_weights(const Weights *w, const Keys *keys)
{
    const Profile *p = w->profile;
    size_t key_count = keys->first.len;
    Flattener f = {.p = p, .keys = keys};
    f.nodes = heap_alloc((p->stacks.parent.len + 1) * sizeof(StackNode));
    f.tallies = heap_alloc((key_count + 1) * sizeof(Tally));
    f.flags = heap_alloc(p->frames.module.len + 1);
    find_flags(&f);
    link_stacks(&f, w);
    walk_stacks(&f);
    if (f.nodes[0].self_samples) // samples without a stack: an unknown place
        enter_stack(&f, 0);
    find_hottest_frames(&f, w);

    FlatRowVec rows = {0};
    for (uint32_t k = 0; k < key_count; k++) {
        Tally *t = &f.tallies[k];
        if (t->row.total_samples == 0)
            continue;
        t->row.key = k;
        t->row.passed_on = t->row.kernel && w->self_stacks;
        bool inlined =
            t->row.self ? t->inlined_self > t->row.self / 2 : t->inlined_total > t->row.total / 2;
        t->row.inlined = inlined && keys->by != BY_MODULE; // a module is never inlined
        vec_push(NULL, &rows, t->row);
    }
    heap_free(f.nodes);
    heap_free(f.tallies);
    heap_free(f.flags);
    flat_sort(&rows, FLAT_BY_SELF, keys);
    return rows;
}

FlatRowVec flat_of_groups(const Weights *w)
{
    FlatRowVec rows = {0};
    for (uint32_t g = 0; g < w->groups.len; g++) {
        const WeightGroup *group = &w->groups.at[g];
        if (group->samples)
            vec_push(NULL, &rows,
                     (FlatRow){.key = g,
                               .self = group->value,
                               .total = group->value,
                               .self_samples = group->samples,
                               .total_samples = group->samples});
    }
    flat_sort(&rows, FLAT_BY_SELF, NULL);
    return rows;
}

// ---- Callers and callees -------------------------------------------------------

static bool is_counted(const CallNode *n)
{
    return !(n->flags & (NODE_GROUP | NODE_CUT));
}

// Calls `visit` for each node on the way down (is_entry) and on the way up. Follows links instead
// of recursing, because stacks may be very deep.
typedef void Visit(void *ctx, const CallTree *t, uint32_t node, bool is_entry);

static void walk(const CallTree *t, Visit *visit, void *ctx)
{
    const CallNode *nodes = t->nodes.at;
    uint32_t at = 0;
    visit(ctx, t, at, true);
    for (;;) {
        if (nodes[at].first_child != NODE_NONE) {
            at = nodes[at].first_child;
            visit(ctx, t, at, true);
            continue;
        }
        for (;;) {
            visit(ctx, t, at, false);
            if (at == 0)
                return;
            if (nodes[at].next != NODE_NONE)
                break;
            at = nodes[at].parent;
        }
        at = nodes[at].next;
        visit(ctx, t, at, true);
    }
}

typedef struct Around {
    uint32_t key;
    uint32_t on_path; // how often `key` is on the current path
    bool callers;
    FlatRow *rows; // [key]
} Around;

static void add_around(Around *a, const CallTree *t, uint32_t node, const CallNode *value)
{
    const CallNode *n = &t->nodes.at[node];
    if (!is_counted(n))
        return;
    FlatRow *row = &a->rows[n->key];
    row->frame = row->frame ? row->frame : n->frame;
    row->total += value->total;
    row->total_samples += value->total_samples;
    row->self += value->self;
    row->self_samples += value->self_samples;
    row->inlined |= (n->flags & NODE_INLINED) != 0;
    row->kernel |= (n->flags & NODE_KERNEL) != 0;
}

static void visit_around(void *ctx, const CallTree *t, uint32_t node, bool is_entry)
{
    Around *a = ctx;
    const CallNode *n = &t->nodes.at[node];
    if (!is_counted(n) || n->key != a->key)
        return;
    if (!is_entry) {
        a->on_path--;
        return;
    }
    bool is_outermost = a->on_path++ == 0;
    if (a->callers) {
        if (is_outermost)
            add_around(a, t, n->parent, n);
        return;
    }
    // A callee that is called again from a deeper level of the recursion counts as a call of its
    // own. The recursive call itself is not shown as a callee.
    for (uint32_t c = n->first_child; c != NODE_NONE; c = t->nodes.at[c].next)
        if (t->nodes.at[c].key != a->key)
            add_around(a, t, c, &t->nodes.at[c]);
}

static FlatRowVec around(const CallTree *t, uint32_t key, bool callers)
{
    FlatRowVec rows = {0};
    size_t keys = t->keys->first.len;
    Around a = {.key = key, .callers = callers};
    a.rows = heap_alloc((keys + 1) * sizeof(FlatRow));
    walk(t, visit_around, &a);
    for (uint32_t k = 0; k < keys; k++) {
        if (a.rows[k].total_samples == 0)
            continue;
        a.rows[k].key = k;
        vec_push(NULL, &rows, a.rows[k]);
    }
    heap_free(a.rows);
    flat_sort(&rows, FLAT_BY_TOTAL, t->keys);
    return rows;
}

FlatRowVec flat_callers(const CallTree *t, uint32_t key)
{
    return around(t, key, true);
}

FlatRowVec flat_callees(const CallTree *t, uint32_t key)
{
    return around(t, key, false);
}

// ---- Order ---------------------------------------------------------------------

typedef struct SortContext {
    FlatSort by;
    const StrVec *names; // [row's key], for FLAT_BY_NAME
} SortContext;

static int compare_u64(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const FlatRow *x = a, *y = b;
    const SortContext *s = ctx;
    int order = 0;
    if (s->by == FLAT_BY_NAME)
        order = str_compare(s->names->at[x->key], s->names->at[y->key]);
    else if (s->by == FLAT_BY_TOTAL)
        order = compare_u64(x->total, y->total);
    else if (s->by == FLAT_BY_SAMPLES)
        order = compare_u64(x->self_samples, y->self_samples);
    if (order == 0)
        order = compare_u64(x->self, y->self);
    if (order == 0)
        order = x->passed_on - y->passed_on;
    if (order == 0)
        order = compare_u64(x->total, y->total);
    if (order == 0)
        order = x->key < y->key ? -1 : x->key > y->key;
    return order;
}

void flat_sort(FlatRowVec *rows, FlatSort by, const Keys *keys)
{
    SortContext ctx = {.by = by};
    StrVec names = {0};
    Arena arena = {0};
    if (by == FLAT_BY_NAME && keys) {
        StrBuf name = {0};
        for (uint32_t k = 0; k < keys->first.len; k++) {
            strbuf_clear(&name);
            keys_add_name(keys, k, &name);
            vec_push(&arena, &names, arena_str(&arena, strbuf_str(&name)));
        }
        strbuf_deinit(&name);
        ctx.names = &names;
    } else if (by == FLAT_BY_NAME) {
        ctx.by = FLAT_BY_SELF;
    }
    if (rows->len > 1)
        qsort_r(rows->at, rows->len, sizeof(FlatRow), compare_rows, &ctx);
    arena_deinit(&arena);
}

ShareInterval share_interval(uint64_t hits, uint64_t n)
{
    if (n == 0)
        return (ShareInterval){0, 1};
    // Wilson, E. B. (1927): "Probable inference …", JASA 22, with z for 95 %.
    const double z = 1.959963984540054;
    double count = (double)n, p = (double)MIN(hits, n) / count;
    double scale = 1 + z * z / count;
    double centre = (p + z * z / (2 * count)) / scale;
    double half = z * sqrt(p * (1 - p) / count + z * z / (4 * count * count)) / scale;
    return (ShareInterval){MAX(0.0, centre - half), MIN(1.0, centre + half)};
}
