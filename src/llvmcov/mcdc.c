// SPDX-License-Identifier: Apache-2.0
// Decision diagrams: numbers their paths, and finds pairs of paths that show the independence of a
// condition.

#include "llvmcov/mcdc.h"

#include <stdlib.h>

// Comparing pairs of paths is quadratic. Bitmaps of clang stay far below the limit.
enum { COMPARISONS_MAX = 1 << 28, CONDITIONS_MAX = 4096 };

// An edge that leaves the diagram.
typedef struct Exit {
    uint64_t width; // number of paths that lead to its node
    uint32_t order;
    uint32_t node;
    unsigned side;
} Exit;

typedef struct Diagram {
    const CovCondition **nodes; // [id]
    uint32_t count;
    // Two for each node: the sum of these along a path is its number.
    uint64_t *indices;
    uint64_t path_count;
} Diagram;

static bool broken(Error *err)
{
    return error_set(err, ERROR_FORMAT, "the conditions of a decision form no diagram");
}

static bool order_nodes(Diagram *d, const CovCondition *conditions, Error *err)
{
    for (uint32_t i = 0; i < d->count; i++) {
        const CovCondition *c = &conditions[i];
        for (unsigned side = 0; side < 2; side++)
            if (c->next[side] == 0 || c->next[side] >= (int32_t)d->count || c->next[side] < -1)
                return broken(err);
        if (c->id < 0 || c->id >= (int32_t)d->count || d->nodes[c->id])
            return broken(err);
        d->nodes[c->id] = c;
    }
    return true;
}

static int compare_exits(const void *a, const void *b)
{
    const Exit *x = a, *y = b;
    if (x->width != y->width)
        return x->width > y->width ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

// Computes the widths of nodes in topological order; each edge gets the width that its target had
// so far. Edges out of nodes with more paths are numbered first.
static bool number_paths(Diagram *d, Error *err)
{
    uint32_t *incoming = heap_alloc(d->count * sizeof(*incoming));
    uint64_t *width = heap_alloc(d->count * sizeof(*width));
    Exit *exits = heap_alloc(2 * (size_t)d->count * sizeof(*exits));
    U32Vec queue = {0};
    uint32_t exit_count = 0;
    bool overflow = false;
    for (uint32_t i = 0; i < d->count; i++)
        for (unsigned side = 0; side < 2; side++)
            if (d->nodes[i]->next[side] > 0)
                incoming[d->nodes[i]->next[side]]++;
    width[0] = 1;
    vec_push(NULL, &queue, 0);
    for (size_t at = 0; at < queue.len && !overflow; at++) {
        uint32_t node = queue.at[at];
        for (unsigned side = 0; side < 2; side++) {
            int32_t next = d->nodes[node]->next[side];
            if (next < 0) {
                exits[exit_count] = (Exit){width[node], exit_count, node, side};
                exit_count++;
                continue;
            }
            d->indices[2 * (size_t)node + side] = width[next];
            overflow |= __builtin_add_overflow(width[next], width[node], &width[next]);
            if (--incoming[next] == 0)
                vec_push(NULL, &queue, (uint32_t)next);
        }
    }
    // A node that is never ready is on a cycle, or cannot be reached.
    bool ok = queue.len == d->count && !overflow;
    qsort(exits, exit_count, sizeof(*exits), compare_exits);
    for (uint32_t i = 0; i < exit_count && ok; i++) {
        d->indices[2 * (size_t)exits[i].node + exits[i].side] = d->path_count;
        ok = !__builtin_add_overflow(d->path_count, exits[i].width, &d->path_count);
    }
    vec_free(&queue);
    heap_free(incoming);
    heap_free(width);
    heap_free(exits);
    return ok || broken(err);
}

// ---- Paths that ran --------------------------------------------------------------

typedef struct Walk {
    const Diagram *d;
    Bytes bitmap;
    uint64_t base; // bit of path 0
    bool by_mask;
    U8Vec *out[2]; // [outcome]: vectors
    uint8_t *states;
} Walk;

static bool has_run(const Walk *w, uint64_t path)
{
    uint64_t bit = w->base + path;
    if (w->by_mask) {
        bit = w->base;
        for (uint32_t i = 0; i < w->d->count && i < 64; i++)
            bit += (uint64_t)(w->states[i] == COV_TRUE) << i;
    }
    return bit / 8 < w->bitmap.len && w->bitmap.ptr[bit / 8] >> (bit % 8) & 1;
}

// A node on the current path: the outcome to follow next, and the number of the path up to it.
typedef struct Step {
    uint32_t node;
    unsigned side;
    uint64_t path;
} Step;

static void walk_paths(Walk *w)
{
    Vec(Step) way = {0};
    vec_push(NULL, &way, (Step){0});
    while (way.len) {
        Step *s = &vec_last(&way);
        if (s->side == 2) {
            w->states[s->node] = COV_NOT_EVALUATED;
            way.len--;
            continue;
        }
        unsigned side = s->side++;
        uint64_t path = s->path + w->d->indices[2 * (size_t)s->node + side];
        int32_t next = w->d->nodes[s->node]->next[side];
        w->states[s->node] = (uint8_t)side;
        if (next >= 0) {
            vec_push(NULL, &way, (Step){(uint32_t)next, 0, path});
        } else if (has_run(w, path)) {
            for (uint32_t i = 0; i < w->d->count; i++)
                vec_push(NULL, w->out[side], w->states[i]);
            vec_push(NULL, w->out[side], (uint8_t)side);
        }
    }
    vec_free(&way);
}

// The only node in which two paths differ; `count` when they differ in none or in several.
static uint32_t only_difference(const uint8_t *a, const uint8_t *b, uint32_t count)
{
    uint32_t found = count;
    for (uint32_t i = 0; i < count; i++) {
        if (a[i] == b[i] || a[i] == COV_NOT_EVALUATED || b[i] == COV_NOT_EVALUATED)
            continue;
        if (found != count)
            return count;
        found = i;
    }
    return found;
}

static void find_pairs(CovMcdc *m, uint32_t false_count)
{
    size_t size = (size_t)m->condition_count + 1;
    for (uint32_t i = false_count; i < m->vector_count; i++) {
        for (uint32_t k = 0; k < false_count; k++) {
            uint32_t node = only_difference(m->vectors.at + i * size, m->vectors.at + k * size,
                                            m->condition_count);
            if (node == m->condition_count || m->pairs.at[2 * (size_t)node])
                continue;
            m->pairs.at[2 * (size_t)node] = k + 1;
            m->pairs.at[2 * (size_t)node + 1] = i + 1;
        }
    }
}

static bool find_vectors(const Diagram *d, uint32_t bitmap_index, bool by_mask, Bytes bitmap,
                         CovMcdc *m, Error *err)
{
    uint64_t bits = 8 * (uint64_t)bitmap.len, base = bitmap_index - d->path_count;
    uint64_t need = bitmap_index;
    if (by_mask) {
        base = 8 * (uint64_t)bitmap_index;
        need = d->count < 40 ? base + (1ull << d->count) : UINT64_MAX;
    }
    if (need > bits || (!by_mask && d->path_count > bitmap_index))
        return error_set(err, ERROR_FORMAT, "a decision's bitmap has its end at bit %llu of %llu",
                         (unsigned long long)need, (unsigned long long)bits);
    if (d->path_count > COMPARISONS_MAX / (d->count + 1))
        return error_set(err, ERROR_LIMIT, "a decision of %u conditions has %llu paths, too many",
                         d->count, (unsigned long long)d->path_count);
    U8Vec trues = {0};
    Walk w = {.d = d,
              .bitmap = bitmap,
              .base = base,
              .by_mask = by_mask,
              .out = {&m->vectors, &trues},
              .states = heap_alloc(d->count)};
    memset(w.states, COV_NOT_EVALUATED, d->count);
    walk_paths(&w);
    heap_free(w.states);
    size_t size = (size_t)d->count + 1;
    uint32_t false_count = (uint32_t)(m->vectors.len / size);
    uint64_t true_count = trues.len / size;
    vec_reserve(NULL, &m->vectors, trues.len + 1);
    bytes_copy(m->vectors.at + m->vectors.len, bytes_over(trues.at, trues.len));
    m->vectors.len += trues.len;
    m->vector_count = (uint32_t)(m->vectors.len / size);
    vec_free(&trues);
    if (true_count * false_count * d->count > COMPARISONS_MAX)
        return error_set(err, ERROR_LIMIT, "a decision of %u conditions ran in %u ways, too many",
                         d->count, m->vector_count);
    find_pairs(m, false_count);
    return true;
}

bool cov_mcdc_evaluate(const CovCondition *conditions, uint32_t count, uint32_t bitmap_index,
                       bool by_mask, Bytes bitmap, CovMcdc *m, Error *err)
{
    m->vectors.len = m->pairs.len = 0;
    m->condition_count = count;
    m->vector_count = 0;
    if (count == 0 || count > CONDITIONS_MAX)
        return error_set(err, ERROR_LIMIT, "a decision of %u conditions", count);
    vec_extend(NULL, &m->pairs, 2 * (size_t)count);
    Diagram d = {.nodes = heap_alloc(count * sizeof(void *)),
                 .count = count,
                 .indices = heap_alloc(2 * (size_t)count * sizeof(uint64_t))};
    bool ok = order_nodes(&d, conditions, err) && number_paths(&d, err) &&
              find_vectors(&d, bitmap_index, by_mask, bitmap, m, err);
    heap_free(d.nodes);
    heap_free(d.indices);
    return ok;
}

void cov_mcdc_deinit(CovMcdc *m)
{
    vec_free(&m->vectors);
    vec_free(&m->pairs);
}
