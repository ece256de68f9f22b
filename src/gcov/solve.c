// SPDX-License-Identifier: Apache-2.0
// The counts of all arcs and blocks from those off the spanning tree: what flows
// into a block flows out of it.

#include "gcov/gcov.h"

// What is still unknown around each block, on its way in and on its way out.
typedef struct Side {
    uint32_t unknown;
    uint64_t sum;      // of the known arcs
    uint64_t xor_arcs; // of the numbers of the unknown arcs: the last one is it
} Side;

typedef struct Solver {
    GcovArc *arcs;
    Side *in, *out;
    uint64_t *counts;
    uint8_t *is_known; // blocks
    uint32_t entry, exit;
    U32Vec work;
} Solver;

static void settle_arc(Solver *s, uint64_t arc, uint64_t count)
{
    GcovArc *a = &s->arcs[arc];
    a->count = count;
    a->is_known = true;
    s->out[a->from].unknown--;
    s->out[a->from].sum += count;
    s->out[a->from].xor_arcs ^= arc;
    s->in[a->to].unknown--;
    s->in[a->to].sum += count;
    s->in[a->to].xor_arcs ^= arc;
    vec_push(NULL, &s->work, a->from);
    vec_push(NULL, &s->work, a->to);
}

static void look_at(Solver *s, uint32_t block)
{
    Side *in = &s->in[block], *out = &s->out[block];
    if (!s->is_known[block]) {
        // Nothing flows into the entry or out of the exit.
        if (block != s->entry && in->unknown == 0)
            s->counts[block] = in->sum;
        else if (block != s->exit && out->unknown == 0)
            s->counts[block] = out->sum;
        else
            return;
        s->is_known[block] = 1;
    }
    // Differences below zero happen when threads tear counters; they stay at zero.
    if (block != s->exit && out->unknown == 1)
        settle_arc(s, out->xor_arcs, s->counts[block] > out->sum ? s->counts[block] - out->sum : 0);
    if (block != s->entry && in->unknown == 1)
        settle_arc(s, in->xor_arcs, s->counts[block] > in->sum ? s->counts[block] - in->sum : 0);
}

// A single way out, fakes aside, is no decision.
static void mark_unconditional(const Solver *s, size_t arc_count, uint32_t *ways)
{
    for (size_t i = 0; i < arc_count; i++)
        ways[s->arcs[i].from] += !(s->arcs[i].flags & GCOV_ARC_FAKE);
    for (size_t i = 0; i < arc_count; i++)
        s->arcs[i].is_unconditional =
            !(s->arcs[i].flags & GCOV_ARC_FAKE) && ways[s->arcs[i].from] == 1;
}

// Every count is zero where all that were read are.
static void solve_zero(const GcovNotes *n, GcovFunction *f)
{
    Solver s = {.arcs = n->arcs.at + f->arcs_first};
    uint32_t *ways = heap_alloc(f->block_count * sizeof(ways[0]));
    mark_unconditional(&s, f->arc_count, ways);
    heap_free(ways);
}

bool gcov_solve(Arena *arena, GcovNotes *n, GcovFunction *f, Error *err)
{
    f->blocks = arena_array(arena, uint64_t, f->block_count);
    if (f->block_count == 0)
        return true;
    if (f->is_zero) {
        solve_zero(n, f);
        return true;
    }
    Solver s = {.arcs = n->arcs.at + f->arcs_first, .counts = f->blocks, .exit = f->exit_block};
    // One piece for all that the blocks need, and no more than they and the arcs push.
    size_t blocks = f->block_count;
    uint8_t *piece = heap_alloc(blocks * (2 * sizeof(Side) + sizeof(uint32_t) + 1));
    s.in = (Side *)(void *)piece;
    s.out = s.in + blocks;
    uint32_t *ways = (uint32_t *)(void *)(s.out + blocks);
    s.is_known = (uint8_t *)(ways + blocks);
    vec_reserve(NULL, &s.work, blocks + 2 * f->arc_count);
    for (size_t i = 0; i < f->arc_count; i++) {
        const GcovArc *a = &s.arcs[i];
        s.out[a->from].unknown++;
        s.out[a->from].xor_arcs ^= i;
        s.in[a->to].unknown++;
        s.in[a->to].xor_arcs ^= i;
    }
    for (size_t i = 0; i < f->arc_count; i++)
        if (!(s.arcs[i].flags & GCOV_ARC_ON_TREE))
            settle_arc(&s, i, s.arcs[i].count);
    for (uint32_t b = 0; b < f->block_count; b++)
        vec_push(NULL, &s.work, b);
    while (s.work.len)
        look_at(&s, vec_pop(&s.work));
    mark_unconditional(&s, f->arc_count, ways);
    bool solved = true;
    for (size_t i = 0; i < f->arc_count; i++)
        solved &= s.arcs[i].is_known;
    vec_free(&s.work);
    heap_free(piece);
    if (!solved)
        return error_set(err, ERROR_FORMAT,
                         "the counts of function '%" STR_FMT "' do not determine its graph",
                         STR_ARG(f->name));
    return true;
}
