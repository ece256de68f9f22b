// SPDX-License-Identifier: Apache-2.0
// Splits run times into usual and slow ones.

#include "analyse/slow_runs.h"

#include <math.h>

#include "base/arena.h"
#include "stats/modes.h"
#include "stats/summary.h"

SlowRuns slow_runs_split(const double *times_s, size_t n)
{
    Arena scratch = {0};
    Mode modes[STATS_MODES_MAX];
    SlowRuns ret = {.from_s = INFINITY};
    if (n == 0)
        return ret;
    size_t count = stats_modes(&scratch, times_s, n, modes);
    double *sorted = stats_sorted(&scratch, times_s, n);
    TukeyFences fences = stats_fences_sorted(sorted, n);
    if (count > 1)
        ret.from_s = sqrt(modes[0].centre * modes[1].centre);
    for (size_t i = 0; i < n && count <= 1; i++) {
        Outlier o = stats_outlier(&fences, times_s[i]);
        if (o == OUTLIER_HIGH_MILD || o == OUTLIER_HIGH_SEVERE)
            ret.from_s = MIN(ret.from_s, times_s[i]);
    }
    ret.stand_out = isfinite(ret.from_s);
    if (!ret.stand_out && n >= SLOW_RUNS_LEAST)
        ret.from_s = stats_percentile_sorted(sorted, n, 0.75);
    for (size_t i = 0; i < n; i++)
        ret.count += times_s[i] >= ret.from_s;
    arena_deinit(&scratch);
    return ret;
}
