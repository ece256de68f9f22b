// SPDX-License-Identifier: Apache-2.0
// What was counted beside a report's time: calls of its functions, executions of its
// lines, out of coverage or of other recordings of the same program.

#ifndef ANALYSE_REPORT_COUNTS_H
#define ANALYSE_REPORT_COUNTS_H

#include "analyse/executions.h"
#include "analyse/prof.h"

// Time is divided by a count where so many samples stand behind it: fewer tell too little.
enum { COUNTS_EACH_SAMPLES = 10 };

typedef struct ReportCounts {
    Executions executions;
    U64Vec calls; // by the report's key, + 1; 0: nobody counted
    ProfJoin join;
} ReportCounts;

// Of all `profiles` together; their texts must outlive `ret`. Release with
// report_counts_deinit.
void report_counts_init(ReportCounts *ret, Arena *arena, const Report *r,
                        const Profile *const *profiles, size_t count);
void report_counts_deinit(ReportCounts *c);

// How often what a row is about ran: the calls of a function, the executions of a line.
// False where nobody counted, and for rows of anything else. `c` may be NULL.
bool report_counts_of_row(const ReportCounts *c, const Report *r, const FlatRow *row,
                          uint64_t *ret);
bool report_counts_of_line(const ReportCounts *c, const Report *r, const LineRow *row,
                           uint64_t *ret);

#endif // ANALYSE_REPORT_COUNTS_H
