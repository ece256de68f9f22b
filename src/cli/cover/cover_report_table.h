// SPDX-License-Identifier: Apache-2.0
// The tables of 'assay cover report': for the terminal, as Markdown, as JSON.

#ifndef CLI_COVER_COVER_REPORT_TABLE_H
#define CLI_COVER_COVER_REPORT_TABLE_H

#include "analyse/cover/change.h"
#include "analyse/cover/totals.h"
#include "cli/terminal.h"

// A file, a folder or a function.
typedef struct CoverReportRow {
    Str path; // of the file or folder
    CoverTotals totals;
    Str name, linkage_name; // of a function; empty for others
    uint32_t line;          // where a function starts
    LineRangeVec missing;   // lines that did not run
    // Beside a baseline:
    CoverTotals before;
    uint64_t classes[COVER_CLASS_COUNT]; // of the lines
    bool is_gone;                        // only the baseline has it
} CoverReportRow;

typedef Vec(CoverReportRow) CoverReportRowVec;

typedef struct CoverReportTable {
    CoverReportRowVec rows;
    CoverTotals total;                        // of all, those that are not listed included
    bool regions, instantiations, conditions; // columns that are there
    bool baseline;                            // rows have their earlier values
    CoverTotals before;                       // of all
    uint64_t classes[COVER_CLASS_COUNT];
    bool missing;    // list lines that did not run
    bool full_paths; // do not leave out the folder that all files share
    Terminal terminal;
} CoverReportTable;

// Percentage that ran, 100 where there is nothing to run.
double cover_percent(CoverTally t);

// Appends the table: for the terminal, as Markdown, as JSON
// (docs/formats/cover-report-json.md).
void cover_report_add_text(StrBuf *out, const CoverReportTable *t);
void cover_report_add_markdown(StrBuf *out, const CoverReportTable *t);
void cover_report_add_json(StrBuf *out, const CoverReportTable *t);

#endif // CLI_COVER_COVER_REPORT_TABLE_H
