// SPDX-License-Identifier: Apache-2.0
// A report as JSON (docs/formats/report-json.md) and as CSV.

#ifndef EXPORT_REPORT_JSON_H
#define EXPORT_REPORT_JSON_H

#include "analyse/arguments.h"
#include "analyse/report_counts.h"
#include "analyse/wait/wait_columns.h"
#include "base/json.h"

enum { REPORT_JSON_VERSION = 1 };

typedef struct ReportExport {
    Str tool_version;
    size_t limit;         // rows; 0: all
    double percent_limit; // rows and tree nodes with less in total are left out
    const CallTree *tree; // sorted; NULL: without a tree
    // Callers and callees of this key; SIZE_MAX: without.
    size_t around;
    const ReportCounts *counts;         // calls of rows, executions of lines; NULL: none
    const ArgumentValuesVec *arguments; // of a probe; NULL: none
    const WaitColumns *waits;           // of rows and lines; NULL: none
} ReportExport;

// Appends the member "facts", an object, or "notes", an array, to the object that is open.
void report_json_add_facts(JsonWriter *w, const Profile *p);
void report_json_add_notes(JsonWriter *w, const Profile *p);

// Appends the JSON document.
void report_add_json(StrBuf *out, const Report *r, const ReportExport *options);

// Appends the rows of the flat table as CSV, with a header line.
void report_add_csv(StrBuf *out, const Report *r, const ReportExport *options);

#endif // EXPORT_REPORT_JSON_H
