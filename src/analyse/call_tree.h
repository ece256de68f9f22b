// SPDX-License-Identifier: Apache-2.0
// Weighted stacks merged into a tree of functions (lines, modules), top down or
// inverted. Nodes are columns; a node's parent stands before it.

#ifndef ANALYSE_CALL_TREE_H
#define ANALYSE_CALL_TREE_H

#include "analyse/keys.h"
#include "analyse/weights.h"

enum {
    NODE_INLINED = 1 << 0, // every call merged here was inlined
    NODE_KERNEL = 1 << 1,
    NODE_GROUP = 1 << 2, // a thread, process or comm: `key` is the row in weights->groups
    NODE_CUT = 1 << 3,   // says why the stacks below it are incomplete
    NODE_JIT = 1 << 4
};

// Node 0 is the root: everything selected. No node has `NODE_NONE` as number.
#define NODE_NONE UINT32_MAX

typedef struct CallNode {
    uint32_t parent;      // NODE_NONE for the root
    uint32_t key;         // of Keys, or a group's row
    uint32_t first_child; // NODE_NONE: a leaf. Children stand in node order until sorted
    uint32_t next;        // sibling, NODE_NONE: last
    uint64_t self;        // value of samples that end here
    uint64_t total;       // and of all below
    uint32_t self_samples;
    uint32_t total_samples;
    uint32_t frame; // the first frame that was merged here; 0 for groups
    uint8_t flags;
} CallNode;

typedef struct CallTree {
    const Weights *weights;
    const Keys *keys;
    Vec(CallNode) nodes;
    bool inverted;
    uint64_t dropped_nodes; // cut off by a limit; their value is in their parents
    U32Vec narrow; // [node]: children left out by call_tree_init_wide; empty: none anywhere
} CallTree;

// Caller to callee. With more than one group each group is a child of the root.
// BY_MODULE merges a call within one module into its caller.
void call_tree_init(CallTree *t, const Weights *w, const Keys *k);

// The same for who looks at nodes of at least `least` value only: most of the
// narrower ones may be missing, counted in `narrow` of their parent. Much faster
// when each frame is a function of its own, as in what was read from folded text.
void call_tree_init_wide(CallTree *t, const Weights *w, const Keys *k, uint64_t least);

// Callee to caller: below the root stand the functions that samples ended in,
// below them who called them. `self` is 0 but for values without any caller:
// it is what stacks that begin here put in. Only nodes of at least `cutoff`
// value are expanded, down to `depth_max` levels.
void call_tree_invert(CallTree *ret, const CallTree *t, uint64_t cutoff, uint32_t depth_max);

void call_tree_deinit(CallTree *t);

// Reorders all child lists by total value, greatest first; equal ones keep
// their order.
void call_tree_sort(CallTree *t);

// Appends the node's name: the key's, the group's ("worker 4711"), or "all".
void call_tree_add_name(const CallTree *t, uint32_t node, StrBuf *out);

static inline uint32_t call_tree_count(const CallTree *t)
{
    return (uint32_t)t->nodes.len;
}

#endif // ANALYSE_CALL_TREE_H
