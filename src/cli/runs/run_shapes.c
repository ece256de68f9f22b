// SPDX-License-Identifier: Apache-2.0
// Ranges and fits of pictures.

#include "cli/runs/run_shapes.h"

#include <math.h>

#include "cli/runs/run_text.h"

void run_times_range(RunSummaries *all, double *ret_from, double *ret_to)
{
    double from = INFINITY, to = -INFINITY;
    for (uint32_t i = 0; i < all->set.count; i++) {
        size_t n = all->set.groups[i].runs.len;
        double *times = runs_times(&all->arena, &all->set.groups[i]);
        if (n == 0)
            continue;
        stats_sort(times, n);
        from = MIN(from, times[0]);
        to = MAX(to, run_picture_end(times, n));
    }
    double pad = (to - from) * 0.04;
    if (!(pad > 0))
        pad = MAX(to * 0.01, 1e-9);
    *ret_from = MAX(0.0, from - pad);
    *ret_to = to + pad;
}

// The median of a command's times as comparisons take them.
static double compared_median(RunSummaries *all, uint32_t command)
{
    const MeasuredRunVec *runs = &all->set.groups[command].runs;
    double *times = arena_array(&all->arena, double, runs->len + 1);
    for (size_t i = 0; i < runs->len; i++)
        times[i] = runs_compared_seconds(&all->set, &runs->at[i]);
    return stats_median(&all->arena, times, runs->len);
}

bool run_growth(RunSummaries *all, RunGrowth *ret)
{
    size_t n = 0;
    double *lx = arena_array(&all->arena, double, all->set.count + 1);
    double *ly = arena_array(&all->arena, double, all->set.count + 1);
    Str name = STR("");
    for (uint32_t i = 0; i < all->set.count; i++) {
        const RunParameterVec *p = &all->commands[i].parameters;
        double value, median = compared_median(all, i);
        if (p->len == 1 && str_parse_double(p->at[0].value, &value) && value > 0 && median > 0) {
            name = p->at[0].name;
            lx[n] = log(value);
            ly[n++] = log(median);
        }
    }
    LineFit fit;
    if (n < 3 || !stats_line_fit(lx, ly, n, all->set.plan.level, &fit))
        return false;
    *ret = (RunGrowth){name, lx, ly, n, fit};
    return true;
}
