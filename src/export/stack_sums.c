// SPDX-License-Identifier: Apache-2.0
// Sums over stacks, for the formats that hold tables.

#include "export/stack_sums_internal.h"

bool export_wants_metric(const ExportSet *s, size_t metric)
{
    const ExportRequest *r = s->request;
    return r->all_metrics || metric == r->selection.metric.v;
}

bool export_text_of(const ExportSet *s, size_t metric, size_t sample, Str *ret)
{
    const Profile *p = s->p;
    MetricId id = {(uint32_t)metric}, owner;
    if (!metric_is_text(p, id) || !metric_is_argument(p, id, &owner) ||
        p->samples.values[owner.v].at[sample] <= 0)
        return false;
    int64_t value = p->samples.values[metric].at[sample];
    bool is_known = value > 0 && (uint64_t)value < p->strings.texts.len;
    *ret = is_known ? profile_text(p, (StrId){(uint32_t)value}) : STR("");
    return true;
}

uint64_t export_count_texts(const ExportSet *s, size_t metric)
{
    uint64_t count = 0;
    Str text;
    for (size_t i = 0; i < s->samples.len; i++)
        count += export_text_of(s, metric, s->samples.at[i], &text);
    return count;
}

Str export_metric_kind(const Profile *p, size_t metric)
{
    if (metric_is_text(p, (MetricId){(uint32_t)metric}))
        return STR("text");
    return p->metrics.kind.at[metric] == METRIC_MAX ? STR("max") : STR("sum");
}

// Marks stack rows whose function stands above them already, so that sums of
// totals count recursion once. One walk down the trie with a count by function.
ExportShape export_shape(const ExportSet *s)
{
    ExportShape shape;
    size_t rows = s->stacks.len;
    uint32_t *child = heap_alloc((rows + 1) * sizeof(uint32_t)); // row + 1; [rows]: the roots
    uint32_t *next = heap_alloc((rows + 1) * sizeof(uint32_t));
    uint32_t *on_path = heap_alloc((s->keys.first.len + 1) * sizeof(uint32_t));
    shape.repeats = heap_alloc(rows + 1);
    shape.depth = heap_alloc((rows + 1) * sizeof(uint32_t));
    for (size_t i = rows; i-- > 0;) {
        uint32_t parent = s->stacks.at[i].parent;
        size_t list = parent == EXPORT_NONE ? rows : parent;
        next[i] = child[list];
        child[list] = (uint32_t)i + 1;
    }
    for (uint32_t at = child[rows]; at != 0;) {
        uint32_t row = at - 1, parent = s->stacks.at[row].parent;
        shape.depth[row] = parent == EXPORT_NONE ? 0 : shape.depth[parent] + 1;
        shape.repeats[row] = on_path[s->keys.of_frame[s->stacks.at[row].frame]]++ > 0;
        at = child[row];
        // Leaves: up to the next row that has a brother.
        while (at == 0) {
            on_path[s->keys.of_frame[s->stacks.at[row].frame]]--;
            at = next[row];
            parent = s->stacks.at[row].parent;
            if (at != 0 || parent == EXPORT_NONE)
                break;
            row = parent;
        }
    }
    heap_free(child);
    heap_free(next);
    heap_free(on_path);
    return shape;
}

void export_shape_deinit(ExportShape *shape)
{
    heap_free(shape->repeats);
    heap_free(shape->depth);
}

// Both at most INT64_MAX, as integers of databases are.
static uint64_t add_capped(uint64_t a, uint64_t b)
{
    return b > INT64_MAX - a ? INT64_MAX : a + b;
}

uint64_t export_add_up(const ExportSet *set, size_t metric, ExportTotals *rows)
{
    const Samples *s = &set->p->samples;
    uint64_t sum = 0;
    memset(rows, 0, (set->stacks.len + 1) * sizeof(ExportTotals));
    for (size_t i = 0; i < set->samples.len; i++) {
        uint32_t at = set->samples.at[i];
        int64_t value = s->values[metric].at[at];
        int64_t row = export_stack_number(set, s->stack.at[at].v);
        if (value <= 0)
            continue;
        sum = add_capped(sum, (uint64_t)value);
        if (row < 0)
            continue;
        rows[row - 1].self = add_capped(rows[row - 1].self, (uint64_t)value);
        rows[row - 1].samples++;
    }
    // Children stand behind their parents.
    for (size_t i = set->stacks.len; i-- > 0;) {
        rows[i].total = add_capped(rows[i].total, rows[i].self);
        uint32_t parent = set->stacks.at[i].parent;
        if (parent != EXPORT_NONE)
            rows[parent].total = add_capped(rows[parent].total, rows[i].total);
    }
    return sum;
}
