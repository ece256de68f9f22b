// SPDX-License-Identifier: Apache-2.0
// Counts for programs: the CSV of `perf stat -x` and the lines of `perf stat -j`, and the figures
// alone of --metric-only.
// Format: docs/formats/stat-json.md.

#ifndef CLI_STAT_STAT_ROWS_H
#define CLI_STAT_STAT_ROWS_H

#include "analyse/counted_runs.h"
#include "base/strbuf.h"
#include "collect/counters/counting.h"

typedef struct StatRows {
    const Profile *profile;
    const CountRowVec *rows;
    const CountingTargets *targets; // for the kind and the size of parts
    double at_s;                    // where a span ends; below 0: no span
    Str separator;                  // of CSV
    Str prefix;                     // first field of CSV lines: "summary"; "" for none
} StatRows;

// A line for each row.
void stat_add_csv(StrBuf *out, const StatRows *r);
// The same as an object in each line.
void stat_add_json(StrBuf *out, const StatRows *r);

typedef enum StatForm { STAT_TEXT, STAT_CSV, STAT_JSON } StatForm;
// A line with the figures derived from the counts, for each part. `heading`: the names stand above.
void stat_add_metrics(StrBuf *out, const StatRows *r, StatForm form, bool heading);

#endif // CLI_STAT_STAT_ROWS_H
