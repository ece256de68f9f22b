// SPDX-License-Identifier: Apache-2.0
// The part of a large tree that a first picture shows.

#include "export/view/view_internal.h"

static uint64_t *totals_of(const ViewTree *t, size_t metric)
{
    uint64_t *total = heap_alloc(((size_t)t->node_count + 1) * sizeof(uint64_t));
    memcpy(total, t->self[metric], t->node_count * sizeof(uint64_t));
    for (uint32_t i = t->node_count; i-- > 1;)
        total[t->parent[i]] += total[i];
    return total;
}

// The number of a place among those of the preview.
static uint32_t keep_place(ViewTree *ret, const ViewTree *t, uint32_t place, uint32_t *number)
{
    if (number[place] == 0) {
        vec_push(NULL, &ret->key, t->key.at[place]);
        vec_push(NULL, &ret->line, t->line.at[place]);
        vec_push(NULL, &ret->file, t->file.at[place]);
        vec_push(NULL, &ret->module, t->module.at[place]);
        vec_push(NULL, &ret->flags, t->flags.at[place]);
        number[place] = (uint32_t)ret->key.len;
    }
    return number[place] - 1;
}

bool view_tree_preview(const ViewTree *t, size_t metric, ViewTree *ret)
{
    enum { LARGE = 20000, SHARES = 4000 }; // nodes; a picture has fewer pixels in a row
    if (t->node_count < LARGE || t->metric_count == 0)
        return false;
    uint64_t *total = totals_of(t, metric), least = total[0] / SHARES;
    size_t nodes = (size_t)t->node_count + 1;
    uint32_t *kept = heap_alloc(nodes * sizeof(uint32_t)); // [node] its number, or its ancestor's
    uint32_t *place = heap_alloc((t->key.len + 1) * sizeof(uint32_t));
    *ret = (ViewTree){.metric_count = t->metric_count, .node_count = 1};
    ret->parent = heap_alloc(nodes * sizeof(uint32_t));
    ret->place = heap_alloc(nodes * sizeof(uint32_t));
    ret->self = heap_alloc((t->metric_count + 1) * sizeof(*ret->self));
    for (uint32_t i = 1; i < t->node_count; i++) {
        kept[i] = kept[t->parent[i]];
        if (total[i] <= least)
            continue;
        uint32_t number = ret->node_count++;
        ret->parent[number] = kept[i];
        ret->place[number] = keep_place(ret, t, t->place[i], place);
        kept[i] = number;
    }
    for (size_t m = 0; m < t->metric_count; m++) {
        ret->self[m] = heap_alloc(((size_t)ret->node_count + 1) * sizeof(uint64_t));
        for (uint32_t i = 0; i < t->node_count; i++)
            ret->self[m][kept[i]] += t->self[m][i];
    }
    heap_free(total);
    heap_free(kept);
    heap_free(place);
    return true;
}
