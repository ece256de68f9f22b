// SPDX-License-Identifier: Apache-2.0
// Counts for programs: the CSV of `perf stat -x` and the lines of `perf stat -j`.
// Format: docs/formats/stat-json.md.

#ifndef CLI_STAT_STAT_ROWS_H
#define CLI_STAT_STAT_ROWS_H

#include "analyse/counted_runs.h"
#include "base/strbuf.h"

// The value of "schema" in each line.
#define STAT_JSON_SCHEMA "assay-stat/1"

// A line for each row. `at_s` is where a span ends; below 0: no span.
void stat_add_csv(StrBuf *out, const Profile *p, const CountRowVec *rows, Str separator,
                  double at_s);

// The same as an object in each line.
void stat_add_json(StrBuf *out, const Profile *p, const CountRowVec *rows, double at_s);

#endif // CLI_STAT_STAT_ROWS_H
