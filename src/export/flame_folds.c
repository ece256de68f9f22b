// SPDX-License-Identifier: Apache-2.0
// A node repeats with period p when the node p levels above it has the same key. The tree has one
// child of each key, so that the rounds of a chain are one path.

#include "export/flame_folds_internal.h"

#include "base/defs.h"

enum {
    ROUNDS = 8,    // a chain has more
    PERIOD_MAX = 6 // functions that call each other in a circle
};

// The p-th ancestor; NODE_NONE above the root.
static uint32_t ancestor(const CallTree *t, uint32_t node, uint32_t p)
{
    while (p-- && node != NODE_NONE)
        node = t->nodes.at[node].parent;
    return node;
}

static bool repeats(const CallTree *t, uint32_t node, uint32_t above)
{
    const CallNode *a = &t->nodes.at[node], *b = &t->nodes.at[above];
    return a->key == b->key && !((a->flags | b->flags) & (NODE_GROUP | NODE_CUT));
}

static void extend(FlameFolds *f, uint32_t node, uint32_t chain, uint32_t at)
{
    f->chain.at[node] = chain;
    f->at.at[node] = at;
    f->chains.at[chain - 1].len = MAX(f->chains.at[chain - 1].len, at + 1);
}

// `len` nodes up to `node` repeat with this period: continues the chain of the parent, or makes one
// of those that are not part of another.
static void mark(FlameFolds *f, const CallTree *t, uint32_t node, uint32_t period, uint32_t len)
{
    uint32_t parent = t->nodes.at[node].parent;
    uint32_t chain = f->chain.at[parent];
    if (chain && f->chains.at[chain - 1].period == period && f->at.at[parent] + 1 >= period) {
        extend(f, node, chain, f->at.at[parent] + 1);
        return;
    }
    uint32_t own = 0;
    for (uint32_t n = node; own < len && !f->chain.at[n]; n = t->nodes.at[n].parent)
        own++;
    if (own <= ROUNDS * period)
        return;
    FlameChain made = {.period = period};
    vec_push(NULL, &f->chains, made);
    for (uint32_t n = node, at = own; at--; n = t->nodes.at[n].parent)
        extend(f, n, (uint32_t)f->chains.len, at);
}

void flame_folds_find(FlameFolds *ret, const CallTree *t, uint64_t least)
{
    *ret = (FlameFolds){0};
    U32Vec runs = {0}; // [node * PERIOD_MAX + p - 1]: nodes in sequence that repeat with period p
    for (uint32_t node = 0; node < call_tree_count(t); node++) {
        vec_push(NULL, &ret->chain, 0);
        vec_push(NULL, &ret->at, 0);
        bool is_marked = t->nodes.at[node].total < least;
        for (uint32_t p = 1; p <= PERIOD_MAX; p++) {
            uint32_t above = ancestor(t, node, p), run = 0;
            // Node 0 is the root, which is no function.
            if (above != NODE_NONE && above != 0 && repeats(t, node, above))
                run = runs.at[(size_t)t->nodes.at[node].parent * PERIOD_MAX + p - 1] + 1;
            vec_push(NULL, &runs, run);
            if (!is_marked && run >= ROUNDS * p) {
                mark(ret, t, node, p, run + p);
                is_marked = true;
            }
        }
    }
    vec_free(&runs);
}

void flame_folds_deinit(FlameFolds *f)
{
    vec_free(&f->chains);
    vec_free(&f->chain);
    vec_free(&f->at);
}

uint32_t flame_folds_of(const FlameFolds *f, uint32_t node)
{
    return f->chain.at[node];
}

bool flame_folds_hide(const FlameFolds *f, uint32_t node)
{
    uint32_t chain = f->chain.at[node];
    return chain && f->at.at[node] >= f->chains.at[chain - 1].period;
}

uint32_t flame_folds_rounds(const FlameFolds *f, uint32_t node)
{
    uint32_t chain = f->chain.at[node];
    if (!chain || flame_folds_hide(f, node))
        return 0;
    FlameChain c = f->chains.at[chain - 1];
    return (c.len - f->at.at[node] + c.period - 1) / c.period;
}
