// SPDX-License-Identifier: Apache-2.0
// Judges the rows of a comparison.

#include "analyse/diff/diff_changes.h"

// One metric out of values by recording and metric.
static double *take_metric(ProfileDiff *d, int side, size_t metric, const double *values)
{
    size_t n = d->set[side].count;
    double *ret = arena_array(&d->arena, double, n);
    for (size_t i = 0; i < n; i++)
        ret[i] = values[i * d->metrics.len + metric];
    return ret;
}

// The total as a row of its own.
static RowChange judge_total(ProfileDiff *d, size_t metric, const ChangeInput *rows,
                             const ChangeOptions *o)
{
    ChangeInput total;
    for (int side = 0; side < DIFF_SIDES; side++) {
        double *samples = arena_array(&d->arena, double, d->set[side].count);
        for (size_t i = 0; i < d->set[side].count; i++)
            for (size_t r = 0; r < d->rows.len; r++)
                samples[i] += rows[r].samples[side][i];
        total.value[side] = take_metric(d, side, metric, d->total_each[side]);
        total.samples[side] = samples;
    }
    return stats_row_changes(&d->arena, &total, 1, o).rows[0];
}

DiffChanges diff_judge(ProfileDiff *d, size_t metric, double level, double margin)
{
    ChangeOptions o = {level, margin, {d->set[DIFF_OLD].count, d->set[DIFF_NEW].count}};
    DiffChanges ret = {.repeated = o.recordings[DIFF_OLD] >= CHANGE_REPEATS_LEAST &&
                                   o.recordings[DIFF_NEW] >= CHANGE_REPEATS_LEAST};
    ret.exact = !d->metrics.at[metric].sampled && !ret.repeated;
    if (ret.exact)
        return ret;
    ChangeInput *rows = arena_array(&d->arena, ChangeInput, d->rows.len + 1);
    for (size_t r = 0; r < d->rows.len; r++)
        for (int side = 0; side < DIFF_SIDES; side++) {
            rows[r].value[side] = take_metric(d, side, metric, d->rows.at[r].each[side]);
            rows[r].samples[side] = take_metric(d, side, metric, d->rows.at[r].samples[side]);
        }
    ret.rows = stats_row_changes(&d->arena, rows, d->rows.len, &o);
    for (size_t r = 0; r < d->rows.len; r++)
        d->rows.at[r].change = &ret.rows.rows[r];
    ret.total = judge_total(d, metric, rows, &o);
    return ret;
}
