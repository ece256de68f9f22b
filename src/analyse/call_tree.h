// SPDX-License-Identifier: Apache-2.0
// The call tree: weighted stacks merged into a tree of functions (or lines, or modules),
// from callers to callees or inverted. A node comes after its parent in the array.

#ifndef ANALYSE_CALL_TREE_H
#define ANALYSE_CALL_TREE_H

#include "analyse/keys.h"
#include "analyse/weights.h"

enum {
    NODE_INLINED = 1 << 0, // every call merged here was inlined
    NODE_KERNEL = 1 << 1,
    NODE_GROUP = 1 << 2, // a thread, process or comm: `key` is the row in weights->groups
    NODE_CUT = 1 << 3,   // its name says why the stacks below it are incomplete
    NODE_JIT = 1 << 4
};

// Stands for no node. Node 0 is the root, which holds everything that is selected.
#define NODE_NONE UINT32_MAX

typedef struct CallNode {
    uint32_t parent;      // NODE_NONE for the root
    uint32_t key;         // of Keys, or a group's row
    uint32_t first_child; // NODE_NONE: a leaf. Children are in node order until sorted
    uint32_t next;        // the next sibling; NODE_NONE: last
    uint64_t self;        // value of samples that end here
    uint64_t total;       // `self` and the totals of all children
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
    uint64_t dropped_nodes; // left out because of a limit; their value is in their parents
    U32Vec narrow; // [node]: children left out by call_tree_init_wide; empty: none anywhere
} CallTree;

// Builds the tree from callers to callees; free it with call_tree_deinit. `w` and `k` must outlive
// it. With more than one group each group is a child of the root. BY_MODULE merges a call within
// one module into its caller.
void call_tree_init(CallTree *t, const Weights *w, const Keys *k);

// The same, but stacks end where tables count their self value (weights_count_for_program). For
// call_tree_invert, so that its first level has the functions that the table has.
void call_tree_init_self(CallTree *t, const Weights *w, const Keys *k);

// The same as call_tree_init for a caller that shows only nodes with a value of at least `least`.
// Smaller nodes are left out and counted in `narrow` of their parent; of trees by threads, and of
// samples without a stack, none is left out.
void call_tree_init_wide(CallTree *t, const Weights *w, const Keys *k, uint64_t least);

// Builds the inverted tree of `t`, from callees to callers: the children of the root are the
// functions in which samples ended, their children are the callers. `self` is the value of stacks
// whose outermost frame the node is, 0 for other nodes. Only nodes with a value of at least
// `cutoff` are expanded, to at most `depth_max` levels.
void call_tree_invert(CallTree *ret, const CallTree *t, uint64_t cutoff, uint32_t depth_max);

// Frees the nodes, not the weights and keys.
void call_tree_deinit(CallTree *t);

// Reorders all child lists by total value, greatest first; equal ones keep
// their order.
void call_tree_sort(CallTree *t);

// Appends the node's name: that of its key, that of its group ("worker 4711"), or "all" for the
// root.
void call_tree_add_name(const CallTree *t, uint32_t node, StrBuf *out);

// The number of nodes, the root included.
static inline uint32_t call_tree_count(const CallTree *t)
{
    return (uint32_t)t->nodes.len;
}

#endif // ANALYSE_CALL_TREE_H
