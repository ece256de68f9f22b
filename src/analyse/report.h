// SPDX-License-Identifier: Apache-2.0
// One report: all rows and sums that its text, JSON and CSV forms show, computed once.

#ifndef ANALYSE_REPORT_H
#define ANALYSE_REPORT_H

#include "analyse/flat.h"
#include "analyse/lines.h"
#include "analyse/truth.h"

typedef struct ReportRequest {
    Selection selection;
    Group group; // GROUP_NONE: rows are functions, lines or modules as `by` says
    By by;
    FlatSort sort;
    bool want_lines; // the hottest source lines too
    bool want_tree;  // the call tree too, for callers and callees
    // Of the whole: nodes of the tree with less may be left out, and count as dropped. 0: none.
    double tree_percent;
    bool inverted; // the call tree is made for call_tree_invert
    // Events of the kernel have their self value in the kernel's functions, not in the program's
    // innermost frame (analyse/program_self.h).
    bool kernel_self;
    bool no_rows; // no flat rows of functions, lines or modules
} ReportRequest;

typedef struct Report {
    const Profile *profile;
    ReportRequest request;
    Weights weights;
    Keys keys;     // of request.by, also for group tables
    CallTree tree; // empty unless asked for
    FlatRowVec rows;
    LineRowVec lines; // empty unless asked for
    Truth truth;
} Report;

// Computes the report of a profile, which must outlive it. Fails as weights_init does; nothing is
// to be freed then.
MUST_CHECK bool report_init(Report *r, const Profile *p, const ReportRequest *request, Error *err);
void report_deinit(Report *r); // frees everything but the profile

// Appends the unescaped name of a row of `rows`.
void report_add_row_name(const Report *r, const FlatRow *row, StrBuf *out);

// File and line of the declaration of a row's function. False when they are not known, and for
// rows that are groups or modules.
bool report_row_place(const Report *r, const FlatRow *row, StrId *file, uint32_t *line);

// Finds the function that the user named. `name` may be the full name, else one of its shorter
// forms, else a part of it; among several matches the one with the greatest total value is taken,
// and `others` counts the rest. ERROR_NOT_FOUND when nothing matches.
MUST_CHECK bool report_find_function(const Report *r, Str name, uint32_t *key, size_t *others,
                                     Error *err);

// Name and unit of the selected metric; "samples" and "" when there is none.
Str report_metric_name(const Report *r);
Str report_metric_unit(const Report *r);

// The number of threads with samples of the metric.
uint32_t report_thread_count(const Report *r);
// The number of processes with such samples; `*ret_first` becomes the first of them, if any.
uint32_t report_process_count(const Report *r, ProcessId *ret_first);

#endif // ANALYSE_REPORT_H
