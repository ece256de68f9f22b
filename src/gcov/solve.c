// SPDX-License-Identifier: Apache-2.0
// Computes the counts of all arcs and blocks from those of the arcs off the spanning tree: the
// counts into a block and out of it are equal.

#include "gcov/gcov.h"

// The arcs into a block, or those out of it.
typedef struct Side {
    uint64_t sum;      // of the arcs with a known count
    uint32_t unknown;  // number of arcs without one
    uint32_t xor_arcs; // xor of the numbers of the unknown arcs: that of the last one
} Side;

typedef struct Node {
    Side in, out;
    bool is_known;
    bool is_source; // no arc leads to it
} Node;

typedef struct Solver {
    GcovArc *arcs;
    Node *nodes;
    uint64_t *counts; // of blocks
    uint32_t entry, exit;
    uint32_t *work; // stack of blocks to look at; each arc is solved once and adds one
    size_t work_count;
    size_t unknown; // number of arcs without a count
    // Blocks without incoming arcs may have counts: clang splits blocks at calls of exec after it
    // has written the arcs. Such a block has no count unless other arcs determine one.
    bool sources_open;
} Solver;

static void side_add(Side *side, uint32_t arc, uint64_t count)
{
    side->sum += count;
    side->unknown--;
    side->xor_arcs ^= arc;
}

static void look_again(Solver *s, uint32_t block, const Side *side)
{
    if (side->unknown <= 1)
        s->work[s->work_count++] = block;
}

static void settle_out(Solver *s, Node *node, uint64_t count)
{
    uint32_t arc = node->out.xor_arcs;
    GcovArc *a = &s->arcs[arc];
    Side *other = &s->nodes[a->to].in;
    // A difference can be negative when threads update counters without locks; it is taken as zero.
    a->count = count > node->out.sum ? count - node->out.sum : 0;
    s->unknown--;
    side_add(&node->out, arc, a->count);
    side_add(other, arc, a->count);
    look_again(s, a->to, other);
}

static void settle_in(Solver *s, Node *node, uint64_t count)
{
    uint32_t arc = node->in.xor_arcs;
    GcovArc *a = &s->arcs[arc];
    Side *other = &s->nodes[a->from].out;
    a->count = count > node->in.sum ? count - node->in.sum : 0;
    s->unknown--;
    side_add(&node->in, arc, a->count);
    side_add(other, arc, a->count);
    look_again(s, a->from, other);
}

static void look_at(Solver *s, uint32_t block)
{
    Node *node = &s->nodes[block];
    if (!node->is_known) {
        // No arcs lead into the entry or out of the exit.
        if (block != s->entry && node->in.unknown == 0 && !(node->is_source && s->sources_open))
            s->counts[block] = node->in.sum;
        else if (block != s->exit && node->out.unknown == 0)
            s->counts[block] = node->out.sum;
        else
            return;
        node->is_known = true;
    }
    if (block != s->exit && node->out.unknown == 1)
        settle_out(s, node, s->counts[block]);
    if (block != s->entry && node->in.unknown == 1)
        settle_in(s, node, s->counts[block]);
}

static void enter_arcs(Solver *s, size_t arc_count)
{
    for (uint32_t i = 0; i < arc_count; i++) {
        const GcovArc *a = &s->arcs[i];
        Side *out = &s->nodes[a->from].out, *in = &s->nodes[a->to].in;
        s->nodes[a->to].is_source = false;
        if (a->flags & GCOV_ARC_ON_TREE) {
            out->unknown++;
            in->unknown++;
            out->xor_arcs ^= i;
            in->xor_arcs ^= i;
            s->unknown++;
        } else {
            out->sum += a->count;
            in->sum += a->count;
        }
    }
}

static void look_at_all(Solver *s, uint32_t blocks)
{
    for (uint32_t b = 0; b < blocks; b++) {
        look_at(s, b);
        while (s->work_count)
            look_at(s, s->work[--s->work_count]);
    }
}

bool gcov_solve(Arena *arena, GcovNotes *n, GcovFunction *f, Error *err)
{
    uint32_t blocks = f->block_count;
    f->blocks = arena_array(arena, uint64_t, 2 * (size_t)blocks);
    f->arrivals = f->blocks + blocks;
    if (blocks == 0 || f->is_zero) // when all counts that were read are zero, all others are
        return true;
    Solver s = {.arcs = n->arcs.at + f->arcs_first, .counts = f->blocks, .exit = f->exit_block};
    s.sources_open = n->is_of_llvm;
    s.nodes = arena_array(arena, Node, blocks);
    s.work = arena_array(arena, uint32_t, f->arc_count);
    for (uint32_t b = 0; b < blocks; b++)
        s.nodes[b].is_source = true;
    enter_arcs(&s, f->arc_count);
    look_at_all(&s, blocks);
    if (s.unknown && s.sources_open) {
        s.sources_open = false;
        look_at_all(&s, blocks);
    }
    for (uint32_t b = 0; b < blocks; b++)
        f->arrivals[b] = b == s.entry ? s.counts[b] : s.nodes[b].in.sum;
    if (s.unknown)
        return error_set(err, ERROR_FORMAT,
                         "the counts of function '%" STR_FMT "' do not determine its graph",
                         STR_ARG(f->name));
    return true;
}
