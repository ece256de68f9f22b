// SPDX-License-Identifier: Apache-2.0
// Counts beside the values of a report: calls of its functions and executions of its lines,
// from coverage or from other recordings of the same program.

#ifndef ANALYSE_REPORT_COUNTS_H
#define ANALYSE_REPORT_COUNTS_H

#include "analyse/executions.h"
#include "analyse/prof.h"

// Reports divide a time by a count only when the time comes from at least this many samples.
enum { COUNTS_EACH_SAMPLES = 10 };

typedef struct ReportCounts {
    Executions executions;
    U64Vec calls; // [key of the report]: calls + 1; 0: not counted
    ProfJoin join;
} ReportCounts;

// Adds up the counts of all `profiles`, whose texts must outlive `ret`. Free with
// report_counts_deinit.
void report_counts_init(ReportCounts *ret, Arena *arena, const Report *r,
                        const Profile *const *profiles, size_t count);
void report_counts_deinit(ReportCounts *c);

// The calls of a row's function, or the executions of a row's line. False when they were not
// counted, and for rows of any other kind. `c` may be NULL: false.
bool report_counts_of_row(const ReportCounts *c, const Report *r, const FlatRow *row,
                          uint64_t *ret);
bool report_counts_of_line(const ReportCounts *c, const Report *r, const LineRow *row,
                           uint64_t *ret);

#endif // ANALYSE_REPORT_COUNTS_H
