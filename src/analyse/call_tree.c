// SPDX-License-Identifier: Apache-2.0
// The call tree and its inversion.

#include "analyse/call_tree.h"

#include <stdlib.h>

typedef struct Builder {
    CallTree *tree;
    Table index;    // (parent, key) -> node
    uint8_t *flags; // [frame]: NODE_*
} Builder;

static uint8_t frame_node_flags(const Profile *p, uint32_t frame)
{
    uint8_t flags = 0;
    uint8_t of_frame = p->frames.flags.at[frame];
    if (of_frame & FRAME_KERNEL)
        flags |= NODE_KERNEL;
    if (of_frame & FRAME_CUT)
        flags |= NODE_CUT;
    if (p->modules.kind.at[p->frames.module.at[frame].v] == MODULE_JIT)
        flags |= NODE_JIT;
    if (p->frames.inlined_in.at[frame].v != 0 || of_frame & FRAME_INLINED)
        flags |= NODE_INLINED;
    return flags;
}

static uint32_t add_node(CallTree *t, uint32_t parent, uint32_t key, uint32_t frame, uint8_t flags)
{
    assert(t->nodes.len < NODE_NONE);
    vec_push(NULL, &t->nodes,
             (CallNode){.parent = parent,
                        .key = key,
                        .first_child = NODE_NONE,
                        .next = NODE_NONE,
                        .frame = frame,
                        .flags = flags});
    return (uint32_t)t->nodes.len - 1;
}

// The child of `parent` for the key of `frame`, one level of inlining; added when there is none.
static uint32_t enter(Builder *b, uint32_t parent, uint32_t frame)
{
    CallTree *t = b->tree;
    uint32_t key = t->keys->of_frame[frame];
    uint8_t flags = b->flags[frame];
    const CallNode *above = &t->nodes.at[parent];
    if (t->keys->by == BY_MODULE && !t->inverted && above->key == key && parent != 0 &&
        !(above->flags & NODE_GROUP))
        return parent;
    uint64_t hash = hash_u64((uint64_t)parent << 32 | key);
    uint32_t row;
    for (TableProbe p = table_probe(&b->index, hash); table_next(&b->index, &p, &row);) {
        CallNode *n = &t->nodes.at[row];
        if (n->parent == parent && n->key == key && !(n->flags & NODE_GROUP)) {
            if (!(flags & NODE_INLINED))
                n->flags &= (uint8_t)~NODE_INLINED;
            return row;
        }
    }
    uint32_t node = add_node(t, parent, key, frame, flags);
    table_insert(&b->index, hash, node);
    return node;
}

// Enters a frame and the calls inlined at it, outermost first.
static uint32_t enter_inlined(Builder *b, uint32_t parent, uint32_t frame)
{
    const FrameId *inlined_in = b->tree->keys->profile->frames.inlined_in.at;
    uint32_t chain[64];
    size_t depth = 0;
    uint32_t f = frame;
    for (; inlined_in[f].v != 0 && depth < ARRAY_LEN(chain); f = inlined_in[f].v)
        chain[depth++] = f;
    uint32_t node = enter(b, parent, f);
    while (depth > 0)
        node = enter(b, node, chain[--depth]);
    return node;
}

// Adds totals to all parents and links the children. Nodes come after their parents, so that one
// pass from the end does both.
static void finish(CallTree *t)
{
    CallNode *nodes = t->nodes.at;
    for (size_t i = t->nodes.len; i-- > 1;) {
        CallNode *n = &nodes[i];
        CallNode *parent = &nodes[n->parent];
        n->total += n->self;
        n->total_samples += n->self_samples;
        parent->total += n->total;
        parent->total_samples += n->total_samples;
        n->next = parent->first_child;
        parent->first_child = (uint32_t)i;
    }
    nodes[0].total += nodes[0].self;
    nodes[0].total_samples += nodes[0].self_samples;
}

// Adds the stacks of one group below the node `top`.
static void add_group(Builder *b, const WeightGroup *group, uint32_t top, uint32_t *node_of,
                      U32Vec *touched)
{
    CallTree *t = b->tree;
    const Stacks *stacks = &t->keys->profile->stacks;
    U32Vec path = {0};
    touched->len = 0;
    for (size_t r = group->first_row; r < group->first_row + group->row_count; r++) {
        const WeightRow *row = &t->weights->rows.at[r];
        uint32_t s = row->stack.v;
        // Goes up to the first stack that has a node, then back down and adds nodes.
        for (; s != 0 && node_of[s] == NODE_NONE; s = stacks->parent.at[s].v)
            vec_push(NULL, &path, s);
        uint32_t node = s == 0 ? top : node_of[s];
        while (path.len > 0) {
            s = vec_pop(&path);
            node = enter_inlined(b, node, stacks->frame.at[s].v);
            node_of[s] = node;
            vec_push(NULL, touched, s);
        }
        if (row->stack.v == 0) // a sample without a stack: an unknown place
            node = enter(b, top, 0);
        t->nodes.at[node].self += row->value;
        t->nodes.at[node].self_samples += row->samples;
    }
    for (size_t i = 0; i < touched->len; i++)
        node_of[touched->at[i]] = NODE_NONE;
    vec_free(&path);
}

void call_tree_init(CallTree *t, const Weights *w, const Keys *k)
{
    *t = (CallTree){.weights = w, .keys = k};
    Builder b = {.tree = t};
    size_t frames = w->profile->frames.module.len;
    b.flags = heap_alloc(frames + 1);
    for (uint32_t i = 0; i < frames; i++)
        b.flags[i] = frame_node_flags(w->profile, i);
    add_node(t, NODE_NONE, 0, 0, NODE_GROUP);
    size_t stacks = w->profile->stacks.parent.len;
    uint32_t *node_of = heap_alloc((stacks + 1) * sizeof(uint32_t));
    memset(node_of, 0xff, stacks * sizeof(uint32_t));
    U32Vec touched = {0};
    for (size_t g = 0; g < w->groups.len; g++) {
        uint32_t top = 0;
        if (w->groups.len > 1)
            top = add_node(t, 0, (uint32_t)g, 0, NODE_GROUP);
        add_group(&b, &w->groups.at[g], top, node_of, &touched);
    }
    vec_free(&touched);
    heap_free(node_of);
    heap_free(b.flags);
    table_deinit(&b.index);
    finish(t);
}

// ---- Wide nodes only -----------------------------------------------------------

// The sums over a stack and all stacks that extend it, and its node.
typedef struct StackSum {
    uint64_t value;
    uint32_t samples;
    uint32_t node; // NODE_NONE: too small to have one
} StackSum;

// Whether the call tree equals the trie of stacks: no two frames share a key, no frame has inlined
// calls, and no level of groups is above.
static bool is_tree_of_stacks(const Weights *w, const Keys *k)
{
    const Frames *f = &w->profile->frames;
    if (w->groups.len > 1 || w->samples_without_stack || k->by == BY_MODULE ||
        k->first.len != f->module.len)
        return false;
    for (size_t i = 0; i < f->module.len; i++)
        if (f->inlined_in.at[i].v)
            return false;
    return true;
}

// A stack's number is greater than that of its caller, so that one pass from the end is enough.
static StackSum *sum_stacks(const Weights *w)
{
    const Stacks *stacks = &w->profile->stacks;
    StackSum *sums = heap_alloc(arena_size_of(stacks->parent.len + 1, sizeof(StackSum)));
    for (size_t r = 0; r < w->rows.len; r++) {
        const WeightRow *row = &w->rows.at[r];
        sums[row->stack.v].value = row->value;
        sums[row->stack.v].samples = row->samples;
    }
    for (size_t i = stacks->parent.len; i-- > 1;) {
        StackSum *caller = &sums[stacks->parent.at[i].v];
        caller->value += sums[i].value;
        caller->samples += sums[i].samples;
    }
    return sums;
}

// Adds nodes for the stacks of at least `least`. Their totals are final at once. `self` starts as
// the total; each callee subtracts its own total here.
static void add_wide(CallTree *t, StackSum *sums, uint64_t least)
{
    const Profile *p = t->keys->profile;
    const Stacks *stacks = &p->stacks;
    sums[0].node = 0;
    vec_push(NULL, &t->narrow, 0);
    for (size_t i = 1; i < stacks->parent.len; i++) {
        StackSum *sum = &sums[i];
        sum->node = NODE_NONE;
        uint32_t caller = sums[stacks->parent.at[i].v].node;
        if (caller == NODE_NONE || sum->samples == 0)
            continue;
        CallNode *above = &t->nodes.at[caller];
        above->self -= sum->value;
        above->self_samples -= sum->samples;
        if (sum->value < least) {
            t->narrow.at[caller]++;
            continue;
        }
        uint32_t frame = stacks->frame.at[i].v;
        sum->node =
            add_node(t, caller, t->keys->of_frame[frame], frame, frame_node_flags(p, frame));
        CallNode *n = &t->nodes.at[sum->node];
        n->self = n->total = sum->value;
        n->self_samples = n->total_samples = sum->samples;
        vec_push(NULL, &t->narrow, 0);
    }
}

static void link_children(CallTree *t)
{
    CallNode *nodes = t->nodes.at;
    for (size_t i = t->nodes.len; i-- > 1;) {
        CallNode *parent = &nodes[nodes[i].parent];
        nodes[i].next = parent->first_child;
        parent->first_child = (uint32_t)i;
    }
}

void call_tree_init_wide(CallTree *t, const Weights *w, const Keys *k, uint64_t least)
{
    if (!is_tree_of_stacks(w, k)) {
        call_tree_init(t, w, k);
        return;
    }
    *t = (CallTree){.weights = w, .keys = k};
    StackSum *sums = sum_stacks(w);
    add_node(t, NODE_NONE, 0, 0, NODE_GROUP);
    t->nodes.at[0].self = t->nodes.at[0].total = sums[0].value;
    t->nodes.at[0].self_samples = t->nodes.at[0].total_samples = sums[0].samples;
    add_wide(t, sums, least);
    heap_free(sums);
    link_children(t);
}

void call_tree_deinit(CallTree *t)
{
    vec_free(&t->nodes);
    vec_free(&t->narrow);
    *t = (CallTree){0};
}

// ---- Inversion ---------------------------------------------------------------

// A part of the value of an inverted node, and the node of the upright tree that it has been
// followed up to.
typedef struct Trace {
    uint32_t at;
    uint32_t samples;
    uint64_t value;
} Trace;
typedef Vec(Trace) TraceVec;

typedef struct Inverter {
    Builder b;
    const CallTree *upright;
    uint64_t cutoff;
    uint32_t depth_max;
    // [node of the upright tree]: its trace in the list that is being built.
    uint32_t *trace_of;
} Inverter;

static int compare_traces_by_key(const void *a, const void *b, void *ctx)
{
    const CallNode *nodes = ctx;
    const Trace *x = a, *y = b;
    uint32_t key_x = nodes[x->at].key, key_y = nodes[y->at].key;
    if (key_x != key_y)
        return key_x < key_y ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

// Whether a node is a call. Groups and the root are none and have no key.
static bool is_call(const CallNode *n)
{
    return !(n->flags & NODE_GROUP);
}

// Moves every trace one step up; traces that reach the same caller are joined.
static TraceVec callers_of(Inverter *in, const Trace *traces, size_t count, uint64_t *ended,
                           uint32_t *ended_samples)
{
    const CallNode *nodes = in->upright->nodes.at;
    TraceVec ret = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t caller = nodes[traces[i].at].parent;
        if (!is_call(&nodes[caller])) {
            *ended += traces[i].value;
            *ended_samples += traces[i].samples;
            continue;
        }
        uint32_t slot = in->trace_of[caller];
        if (slot >= ret.len || ret.at[slot].at != caller) {
            slot = (uint32_t)ret.len;
            in->trace_of[caller] = slot;
            vec_push(NULL, &ret, (Trace){.at = caller});
        }
        ret.at[slot].value += traces[i].value;
        ret.at[slot].samples += traces[i].samples;
    }
    return ret;
}

typedef struct Pending {
    uint32_t node; // index in the inverted tree
    uint32_t depth;
    TraceVec traces; // owned
} Pending;
typedef Vec(Pending) PendingVec;

// Adds a child of `parent` for each key among the traces, and queues it.
static void add_callers(Inverter *in, uint32_t parent, uint32_t depth, TraceVec *traces,
                        PendingVec *queue)
{
    CallTree *t = in->b.tree;
    const CallNode *nodes = in->upright->nodes.at;
    if (traces->len > 1)
        qsort_r(traces->at, traces->len, sizeof(Trace), compare_traces_by_key,
                in->upright->nodes.at);
    for (size_t i = 0; i < traces->len;) {
        uint32_t key = nodes[traces->at[i].at].key;
        uint64_t value = 0;
        uint32_t samples = 0;
        uint8_t flags = UINT8_MAX;
        size_t end = i;
        for (; end < traces->len && nodes[traces->at[end].at].key == key; end++) {
            value += traces->at[end].value;
            samples += traces->at[end].samples;
            flags &= nodes[traces->at[end].at].flags;
        }
        // The child is marked inlined only when all calls are; the other flags come from the key.
        const CallNode *first = &nodes[traces->at[i].at];
        flags = (uint8_t)((first->flags & ~NODE_INLINED) | (flags & NODE_INLINED));
        if (value < in->cutoff) {
            t->dropped_nodes++;
            // Its value stays with the parent: there is no caller to show.
            i = end;
            continue;
        }
        uint32_t node = add_node(t, parent, key, first->frame, flags);
        t->nodes.at[node].total = value;
        t->nodes.at[node].total_samples = samples;
        Pending next = {.node = node, .depth = depth};
        Trace *own = vec_extend(NULL, &next.traces, end - i);
        memcpy(own, traces->at + i, (end - i) * sizeof(Trace));
        vec_push(NULL, queue, next);
        i = end;
    }
}

static TraceVec leaf_traces(const CallTree *t)
{
    TraceVec ret = {0};
    for (uint32_t i = 1; i < t->nodes.len; i++) {
        const CallNode *n = &t->nodes.at[i];
        if (n->self_samples && is_call(n))
            vec_push(NULL, &ret, (Trace){.at = i, .value = n->self, .samples = n->self_samples});
    }
    return ret;
}

void call_tree_invert(CallTree *ret, const CallTree *t, uint64_t cutoff, uint32_t depth_max)
{
    *ret = (CallTree){.weights = t->weights, .keys = t->keys, .inverted = true};
    Inverter in = {.b.tree = ret, .upright = t, .cutoff = cutoff, .depth_max = depth_max};
    in.trace_of = heap_alloc((t->nodes.len + 1) * sizeof(uint32_t));
    add_node(ret, NODE_NONE, 0, 0, NODE_GROUP);
    ret->nodes.at[0].total = t->nodes.at[0].total;
    ret->nodes.at[0].total_samples = t->nodes.at[0].total_samples;

    PendingVec queue = {0};
    TraceVec leaves = leaf_traces(t);
    add_callers(&in, 0, 1, &leaves, &queue);
    vec_free(&leaves);
    // Breadth first, so that nodes come after their parents.
    for (size_t i = 0; i < queue.len; i++) {
        Pending p = queue.at[i];
        if (p.depth < depth_max) {
            uint64_t ended = 0;
            uint32_t ended_samples = 0;
            TraceVec callers = callers_of(&in, p.traces.at, p.traces.len, &ended, &ended_samples);
            ret->nodes.at[p.node].self = ended;
            ret->nodes.at[p.node].self_samples = ended_samples;
            add_callers(&in, p.node, p.depth + 1, &callers, &queue);
            vec_free(&callers);
        } else {
            ret->dropped_nodes++;
        }
        vec_free(&p.traces);
    }
    vec_free(&queue);
    heap_free(in.trace_of);
    link_children(ret);
}

// ---- Order and names -----------------------------------------------------------

static int compare_by_total(const void *a, const void *b, void *ctx)
{
    const CallNode *nodes = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (nodes[x].total != nodes[y].total)
        return nodes[x].total > nodes[y].total ? -1 : 1;
    return x < y ? -1 : x > y;
}

void call_tree_sort(CallTree *t)
{
    CallNode *nodes = t->nodes.at;
    U32Vec children = {0};
    for (size_t i = 0; i < t->nodes.len; i++) {
        children.len = 0;
        for (uint32_t c = nodes[i].first_child; c != NODE_NONE; c = nodes[c].next)
            vec_push(NULL, &children, c);
        if (children.len < 2)
            continue;
        qsort_r(children.at, children.len, sizeof(uint32_t), compare_by_total, nodes);
        nodes[i].first_child = children.at[0];
        for (size_t c = 0; c < children.len; c++)
            nodes[children.at[c]].next = c + 1 < children.len ? children.at[c + 1] : NODE_NONE;
    }
    vec_free(&children);
}

void call_tree_add_name(const CallTree *t, uint32_t node, StrBuf *out)
{
    const CallNode *n = &t->nodes.at[node];
    if (node == 0) {
        strbuf_add(out, STR("all"));
    } else if (n->flags & NODE_GROUP) {
        weight_group_add_name(t->weights, n->key, out);
    } else {
        keys_add_name(t->keys, n->key, out);
    }
}
