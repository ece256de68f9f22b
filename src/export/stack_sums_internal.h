// SPDX-License-Identifier: Apache-2.0
// Sums over stacks, for the formats that hold tables: with them the common questions need no walk
// over stacks in SQL.

#ifndef EXPORT_STACK_SUMS_INTERNAL_H
#define EXPORT_STACK_SUMS_INTERNAL_H

#include "export/export_internal.h"

// Whether the request wants a metric of the profile.
bool export_wants_metric(const ExportSet *s, size_t metric);

// The text that a sample of the profile has in a metric of texts. False when the metric has none or
// the sample is not of the probe. Texts have no sum: they go into tables of their own.
bool export_text_of(const ExportSet *s, size_t metric, size_t sample, Str *ret);
// How many samples of the selection have a text in the metric.
uint64_t export_count_texts(const ExportSet *s, size_t metric);
// What tables call the kind of a metric: "sum", "max" or "text".
Str export_metric_kind(const Profile *p, size_t metric);

// The number of a stack of the profile in tables: its row + 1, or -1 for none.
static inline int64_t export_stack_number(const ExportSet *s, uint32_t stack)
{
    uint32_t row = stack ? s->row_of_stack[stack] : EXPORT_NONE;
    return row == EXPORT_NONE ? -1 : (int64_t)row + 1;
}

// By stack row. Heap memory.
typedef struct ExportShape {
    uint8_t *repeats; // the row's function stands above it already: sums of totals leave it out
    uint32_t *depth;  // 0 at the root
} ExportShape;

// Walks down the stacks once.
ExportShape export_shape(const ExportSet *s);
// Frees both arrays.
void export_shape_deinit(ExportShape *shape);

typedef struct ExportTotals {
    uint64_t self, total; // at most INT64_MAX
    uint32_t samples;     // of self
} ExportTotals;

// Self and total of one metric for each stack row: `rows` has room for one more than there are.
// Gives the metric's sum over the selection.
uint64_t export_add_up(const ExportSet *s, size_t metric, ExportTotals *rows);

#endif // EXPORT_STACK_SUMS_INTERNAL_H
