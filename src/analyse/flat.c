// SPDX-License-Identifier: Apache-2.0
// Flat tables out of a call tree.

#include "analyse/flat.h"

#include <math.h>
#include <stdlib.h>

// Per key while walking the tree.
typedef struct Tally {
    FlatRow row;
    uint64_t inlined;     // self value (total value when there is no self) of inlined nodes
    uint64_t frame_value; // of row.frame
    uint32_t on_path;     // how often the key is on the path under way
} Tally;

static bool is_counted(const CallNode *n)
{
    return !(n->flags & (NODE_GROUP | NODE_CUT));
}

// Calls `visit` for each node on the way down (is_entry) and on the way up.
// Explicit next pointers instead of recursion: stacks may be very deep.
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

static void tally_node(void *ctx, const CallTree *t, uint32_t node, bool is_entry)
{
    const CallNode *n = &t->nodes.at[node];
    if (!is_counted(n))
        return;
    Tally *tally = &((Tally *)ctx)[n->key];
    if (!is_entry) {
        tally->on_path--;
        return;
    }
    bool is_outermost = tally->on_path++ == 0;
    FlatRow *row = &tally->row;
    row->self += n->self;
    row->self_samples += n->self_samples;
    row->kernel |= (n->flags & NODE_KERNEL) != 0;
    if (is_outermost) {
        row->total += n->total;
        row->total_samples += n->total_samples;
    }
    if (n->flags & NODE_INLINED)
        tally->inlined += n->self;
    if (n->self > tally->frame_value || row->frame == 0) {
        tally->frame_value = n->self;
        row->frame = n->frame;
    }
}

// A key without self value is inlined when its nodes' calls are.
static void tally_inlined_total(const CallTree *t, Tally *tallies)
{
    for (size_t i = 1; i < t->nodes.len; i++) {
        const CallNode *n = &t->nodes.at[i];
        if (is_counted(n) && tallies[n->key].row.self == 0 && n->flags & NODE_INLINED)
            tallies[n->key].inlined += n->total;
    }
}

FlatRowVec flat_of_tree(const CallTree *t)
{
    FlatRowVec rows = {0};
    size_t keys = t->keys->first.len;
    Tally *tallies = heap_alloc((keys + 1) * sizeof(Tally));
    walk(t, tally_node, tallies);
    tally_inlined_total(t, tallies);
    for (uint32_t k = 0; k < keys; k++) {
        Tally *tally = &tallies[k];
        if (tally->row.total_samples == 0)
            continue;
        tally->row.key = k;
        uint64_t basis = tally->row.self ? tally->row.self : tally->row.total;
        tally->row.inlined = tally->inlined > basis / 2;
        vec_push(NULL, &rows, tally->row);
    }
    heap_free(tallies);
    flat_sort(&rows, FLAT_BY_SELF, t->keys);
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

typedef struct Around {
    uint32_t key;
    uint32_t on_path; // of `key`
    bool callers;
    Tally *tallies;
} Around;

static void add_around(Around *a, const CallTree *t, uint32_t node, const CallNode *value)
{
    const CallNode *n = &t->nodes.at[node];
    if (!is_counted(n))
        return;
    FlatRow *row = &a->tallies[n->key].row;
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
    // A callee called again from deeper recursion is a call of its own; the
    // recursion itself is not shown as a callee.
    for (uint32_t c = n->first_child; c != NODE_NONE; c = t->nodes.at[c].next)
        if (t->nodes.at[c].key != a->key)
            add_around(a, t, c, &t->nodes.at[c]);
}

static FlatRowVec around(const CallTree *t, uint32_t key, bool callers)
{
    FlatRowVec rows = {0};
    size_t keys = t->keys->first.len;
    Around a = {.key = key, .callers = callers};
    a.tallies = heap_alloc((keys + 1) * sizeof(Tally));
    walk(t, visit_around, &a);
    for (uint32_t k = 0; k < keys; k++) {
        if (a.tallies[k].row.total_samples == 0)
            continue;
        a.tallies[k].row.key = k;
        vec_push(NULL, &rows, a.tallies[k].row);
    }
    heap_free(a.tallies);
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
