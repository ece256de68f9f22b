// SPDX-License-Identifier: Apache-2.0
// Groups decisions by place and by the conditions that ran.

#include "analyse/cover/decisions.h"

#include <stdlib.h>

// A decision on its way to those at its place.
typedef struct Placed {
    uint64_t start, end; // line << 32 | column
    uint32_t row;
} Placed;

static int compare_places(const Placed *x, const Placed *y)
{
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static int compare_placed(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    int order = compare_places(x, y);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

// Pairs follow from the vectors, so that those tell whether two instances show the same.
static void add_place(const Profile *p, const Placed *placed, size_t count,
                      CoverDecisionGroupVec *ret)
{
    const Decisions *d = &p->decisions;
    Table seen = {0}; // numbers within this place by vectors
    size_t first = ret->len;
    for (size_t i = 0; i < count; i++) {
        StrId vectors = d->vectors.at[placed[i].row];
        uint64_t hash = hash_pair(vectors.v, 0);
        uint32_t number;
        bool known = false;
        for (TableProbe probe = table_probe(&seen, hash);
             !known && table_next(&seen, &probe, &number);)
            known = d->vectors.at[ret->at[first + number].row].v == vectors.v;
        if (known) {
            ret->at[first + number].more++;
            continue;
        }
        table_insert(&seen, hash, (uint32_t)(ret->len - first));
        vec_push(NULL, ret, ((CoverDecisionGroup){placed[i].row, 0, count > 1}));
    }
    table_deinit(&seen);
}

void cover_decisions_group(const Profile *p, const CoverFiles *c, const CoverFileRows *f,
                           CoverDecisionGroupVec *ret)
{
    const Decisions *d = &p->decisions;
    Vec(Placed) placed = {0};
    for (uint32_t i = f->decisions.first; i < f->decisions.end; i++) {
        uint32_t row = c->decisions.at[i];
        if (!(d->flags.at[row] & DECISION_IS_EXCLUDED))
            vec_push(NULL, &placed,
                     ((Placed){(uint64_t)d->line.at[row] << 32 | d->column.at[row],
                               (uint64_t)d->end_line.at[row] << 32 | d->end_column.at[row], row}));
    }
    if (placed.len)
        qsort(placed.at, placed.len, sizeof(placed.at[0]), compare_placed);
    for (size_t i = 0, end; i < placed.len; i = end) {
        for (end = i + 1; end < placed.len && compare_places(&placed.at[i], &placed.at[end]) == 0;
             end++)
            ;
        add_place(p, placed.at + i, end - i, ret);
    }
    vec_free(&placed);
}

CoverRows cover_decision_conditions(const Profile *p, uint32_t decision)
{
    const U32Vec *of = &p->decision_conditions.decision;
    CoverRows rows = {0};
    rows.first = (uint32_t)PARTITION_POINT(i, of->len, of->at[i] < decision);
    for (rows.end = rows.first; rows.end < of->len && of->at[rows.end] == decision; rows.end++)
        ;
    return rows;
}
