// SPDX-License-Identifier: Apache-2.0
// What the rows of a report wait for, beside their time on a processor.

#ifndef ANALYSE_WAIT_WAIT_COLUMNS_H
#define ANALYSE_WAIT_WAIT_COLUMNS_H

#include "analyse/report.h"
#include "analyse/waits.h"

// Time of waits in ns, by class. The self value belongs to the innermost function of the program,
// not to that of the C library that made the system call.
typedef struct WaitCell {
    uint64_t self[WAIT_CLASS_COUNT], total[WAIT_CLASS_COUNT];
} WaitCell;

typedef struct WaitColumns {
    uint64_t cpu_ns;     // of the report's own metric
    uint64_t waiting_ns; // of all classes, without threads that have no work
    uint64_t idle_ns;    // of threads that have none
    WaitCell *cells;     // [key of the report's rows]
    Keys line_keys;
    WaitCell *line_cells; // [key of line_keys]; NULL: the report has no lines
} WaitColumns;

// The metric of a report for which the user chose none: processor time, also where the program used
// too little of it to have a sample.
void wait_columns_choose(const Profile *p, Selection *s);

// Whether a report has such columns: its recording has waits, and it shows the processor time of
// all of the recording. Single waits have a time, but the sums of waits have none.
bool wait_columns_apply(const Report *r);

// Computes the columns. Adds a row to the report for each function that waits and does not run,
// and likewise a line and a group. Sorts rows and lines anew unless they are in the order of
// names: by the time of both kinds. Fails as weights_init does; nothing is to be freed then.
MUST_CHECK bool wait_columns_init(WaitColumns *c, Report *r, Error *err);
void wait_columns_deinit(WaitColumns *c); // accepts a zeroed one

// The processor time and the waits of the whole report, which all shares are of.
uint64_t wait_columns_whole(const WaitColumns *c);
// The cell of a row of r->rows, and that of a row of r->lines.
const WaitCell *wait_columns_row(const WaitColumns *c, const FlatRow *row);
const WaitCell *wait_columns_line(const WaitColumns *c, const LineRow *row);

// The sums over the classes, in ns.
uint64_t wait_cell_self(const WaitCell *c);
uint64_t wait_cell_total(const WaitCell *c);
// The class with most of the total. False: there is no wait.
bool wait_cell_class(const WaitCell *c, WaitClass *ret);

// The waits of one class as weights, without threads that have no work, whose time is added to
// `*idle_ns`. False without an error when the recording has no such class. Else weights_deinit.
MUST_CHECK bool wait_weights(Weights *w, const Profile *p, const Selection *s, Group group,
                             WaitClass class, uint64_t *idle_ns, Error *err);

// Prepares a picture of processor time and waits: each stack of a wait ends in a frame "[lock]",
// "[disk]" … for its class, and threads that have no work are left out. `*ret` becomes the metric
// that has both. False when the recording has no waits, or counts no time.
bool wait_picture_prepare(Profile *p, MetricId *ret);

#endif // ANALYSE_WAIT_WAIT_COLUMNS_H
