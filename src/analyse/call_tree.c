// SPDX-License-Identifier: Apache-2.0
// The call tree and its inversion.

#include "analyse/call_tree.h"

#include <stdlib.h>

enum { INLINED_MAX = 64 }; // levels at one place

typedef struct Builder {
    CallTree *tree;
    Table index;    // (parent, key) -> node
    uint8_t *flags; // [frame]: NODE_*
    bool ends_at_self;
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
    uint32_t chain[INLINED_MAX];
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
        const StackId stack =
            b->ends_at_self ? weights_self_stack(t->weights, row->stack) : row->stack;
        uint32_t s = stack.v;
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
        if (stack.v == 0) // a sample without a stack: an unknown place
            node = enter(b, top, 0);
        t->nodes.at[node].self += row->value;
        t->nodes.at[node].self_samples += row->samples;
    }
    for (size_t i = 0; i < touched->len; i++)
        node_of[touched->at[i]] = NODE_NONE;
    vec_free(&path);
}

static void init_whole(CallTree *t, const Weights *w, const Keys *k, bool ends_at_self)
{
    *t = (CallTree){.weights = w, .keys = k};
    Builder b = {.tree = t, .ends_at_self = ends_at_self};
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

void call_tree_init(CallTree *t, const Weights *w, const Keys *k)
{
    init_whole(t, w, k, false);
}

void call_tree_init_self(CallTree *t, const Weights *w, const Keys *k)
{
    init_whole(t, w, k, true);
}

// ---- Wide nodes only -----------------------------------------------------------
// The trie of stacks has a row for each address; the tree has a node for each function. From the
// root on, the callees of all stacks that were merged into a node are merged by their keys, and
// only those with enough value are followed further.

// The sums over a stack and all stacks that extend it.
typedef struct StackSum {
    uint64_t value;
    uint32_t samples;
} StackSum;

// A stack that was merged into a node, by its own frame or by one of those that are inlined there.
typedef struct Member {
    uint32_t stack;
    uint32_t frame;
} Member;

// A candidate for a node, which becomes one if it is wide enough.
typedef struct Callee {
    uint64_t value;
    uint32_t samples;
    uint32_t key;
    uint32_t frame; // of the first member
    uint32_t count; // members
    size_t place;   // of the next member that is stored; SIZE_MAX: too narrow
    uint8_t flags;
} Callee;

typedef struct MemberRange {
    size_t begin;
    uint32_t count;
} MemberRange;

typedef struct Heir {
    Member member;
    uint32_t callee;
} Heir;

typedef struct Merger {
    CallTree *tree;
    StackSum *sums;         // [stack]
    uint32_t *first, *next; // [stack]: the first that extends it, and the next beside it; 0: none
    uint32_t *callee_of;    // [key]: index of `callees`, valid when that one has the key
    Vec(Callee) callees;    // of the node that is expanded
    Vec(Heir) heirs;        // their members
    Vec(Member) joined;     // further members of that node
    Vec(Member) members;    // of all nodes
    Vec(MemberRange) members_of; // [node]
} Merger;

// A stack's number is greater than that of its caller, so that one pass from the end is enough.
static void sum_stacks(Merger *m, const Weights *w)
{
    const StackIdVec *parent = &w->profile->stacks.parent;
    m->sums = heap_alloc(arena_size_of(parent->len + 1, sizeof(StackSum)));
    m->first = heap_alloc(arena_size_of(parent->len + 1, sizeof(uint32_t)));
    m->next = heap_alloc(arena_size_of(parent->len + 1, sizeof(uint32_t)));
    for (size_t r = 0; r < w->rows.len; r++) {
        const WeightRow *row = &w->rows.at[r];
        m->sums[row->stack.v] = (StackSum){row->value, row->samples};
    }
    for (uint32_t i = (uint32_t)parent->len; i-- > 1;) {
        if (m->sums[i].samples == 0)
            continue;
        uint32_t caller = parent->at[i].v;
        m->sums[caller].value += m->sums[i].value;
        m->sums[caller].samples += m->sums[i].samples;
        m->next[i] = m->first[caller];
        m->first[caller] = i;
    }
}

// The function in which the calls inlined at a frame lie, or the outermost of so many.
static uint32_t outermost(const Profile *p, uint32_t frame)
{
    for (size_t i = 0; i < INLINED_MAX && p->frames.inlined_in.at[frame].v; i++)
        frame = p->frames.inlined_in.at[frame].v;
    return frame;
}

// The call that is inlined into `frame`, on the way to the stack's own frame.
static uint32_t inlined_at(const Profile *p, uint32_t own, uint32_t frame)
{
    uint32_t f = own;
    while (p->frames.inlined_in.at[f].v != frame)
        f = p->frames.inlined_in.at[f].v;
    return f;
}

// Adds a member to the callee of its key, or to the node that is expanded where views by module
// stay in one module.
static void add_heir(Merger *m, uint32_t node, uint32_t stack, uint32_t frame)
{
    CallTree *t = m->tree;
    uint32_t key = t->keys->of_frame[frame];
    Member member = {stack, frame};
    if (t->keys->by == BY_MODULE && node != 0 && t->nodes.at[node].key == key) {
        vec_push(NULL, &m->joined, member);
        return;
    }
    uint8_t flags = frame_node_flags(t->keys->profile, frame);
    uint32_t at = m->callee_of[key];
    if (at >= m->callees.len || m->callees.at[at].key != key) {
        at = m->callee_of[key] = (uint32_t)m->callees.len;
        vec_push(NULL, &m->callees, (Callee){.key = key, .frame = frame, .flags = flags});
    }
    Callee *callee = &m->callees.at[at];
    callee->value += m->sums[stack].value;
    callee->samples += m->sums[stack].samples;
    callee->count++;
    if (!(flags & NODE_INLINED))
        callee->flags &= (uint8_t)~NODE_INLINED;
    vec_push(NULL, &m->heirs, (Heir){member, at});
}

// Finds the callees of the members of a node; add_heir may give it more members.
static void find_callees(Merger *m, uint32_t node)
{
    const Profile *p = m->tree->keys->profile;
    MemberRange of = m->members_of.at[node];
    m->callees.len = m->heirs.len = m->joined.len = 0;
    for (size_t i = 0; i < of.count + m->joined.len; i++) {
        Member member = i < of.count ? m->members.at[of.begin + i] : m->joined.at[i - of.count];
        uint32_t own = p->stacks.frame.at[member.stack].v;
        if (member.stack != 0 && own != member.frame) {
            add_heir(m, node, member.stack, inlined_at(p, own, member.frame));
            continue;
        }
        for (uint32_t s = m->first[member.stack]; s; s = m->next[s])
            add_heir(m, node, s, outermost(p, p->stacks.frame.at[s].v));
    }
}

// Adds nodes for the wide callees of a node, with their members.
static void add_callees(Merger *m, uint32_t node, uint64_t least)
{
    CallTree *t = m->tree;
    for (size_t i = 0; i < m->callees.len; i++) {
        Callee *c = &m->callees.at[i];
        t->nodes.at[node].self -= c->value;
        t->nodes.at[node].self_samples -= c->samples;
        c->place = SIZE_MAX;
        if (c->value < least) {
            t->narrow.at[node]++;
            continue;
        }
        uint32_t child = add_node(t, node, c->key, c->frame, c->flags);
        CallNode *n = &t->nodes.at[child];
        n->self = n->total = c->value;
        n->self_samples = n->total_samples = c->samples;
        vec_push(NULL, &t->narrow, 0);
        c->place = m->members.len;
        vec_push(NULL, &m->members_of, (MemberRange){m->members.len, c->count});
        (void)vec_extend(NULL, &m->members, c->count);
    }
    for (size_t i = 0; i < m->heirs.len; i++) {
        const Heir *h = &m->heirs.at[i];
        if (m->callees.at[h->callee].place != SIZE_MAX)
            m->members.at[m->callees.at[h->callee].place++] = h->member;
    }
}

static void merger_deinit(Merger *m)
{
    heap_free(m->sums);
    heap_free(m->first);
    heap_free(m->next);
    heap_free(m->callee_of);
    vec_free(&m->callees);
    vec_free(&m->heirs);
    vec_free(&m->joined);
    vec_free(&m->members);
    vec_free(&m->members_of);
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
    if (w->groups.len > 1 || w->samples_without_stack) {
        call_tree_init(t, w, k);
        return;
    }
    *t = (CallTree){.weights = w, .keys = k};
    Merger m = {.tree = t};
    sum_stacks(&m, w);
    m.callee_of = heap_alloc(arena_size_of(k->first.len + 1, sizeof(uint32_t)));
    add_node(t, NODE_NONE, 0, 0, NODE_GROUP);
    t->nodes.at[0].self = t->nodes.at[0].total = m.sums[0].value;
    t->nodes.at[0].self_samples = t->nodes.at[0].total_samples = m.sums[0].samples;
    vec_push(NULL, &t->narrow, 0);
    vec_push(NULL, &m.members, (Member){0});
    vec_push(NULL, &m.members_of, (MemberRange){0, 1});
    for (uint32_t node = 0; node < t->nodes.len; node++) {
        find_callees(&m, node);
        add_callees(&m, node, least);
    }
    merger_deinit(&m);
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
