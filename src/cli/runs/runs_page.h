// SPDX-License-Identifier: Apache-2.0
// Runs as a view of the page (viewer/): benchmarks and counted events. The page gets numbers in
// columns and draws them; what was computed of them comes from here. Format: docs/formats/view.md,
// kind "runs".

#ifndef CLI_RUNS_RUNS_PAGE_H
#define CLI_RUNS_RUNS_PAGE_H

#include "analyse/counted_runs.h"
#include "analyse/run_summary.h"
#include "export/view/view.h"

// What a page shows of benches.
typedef struct RunPage {
    Str title;
    RunFamilies families, growths; // as pictures have them; growths may be empty
    Str report;                    // the report as text
    // Adds the members "profile" and "explain", causes that the bench looked for; NULL: none.
    void (*add_members)(JsonWriter *w, void *ctx);
    void *ctx;
} RunPage;

// Adds benches to a page: its block, and their figures to its summary.
MUST_CHECK bool run_page_add(ViewPage *page, const RunPage *runs, Error *err);
// Adds counted events. `each_run`: times of each run too.
MUST_CHECK bool counts_page_add(ViewPage *page, Arena *scratch, const Counts *c, bool each_run,
                                Error *err);
// Adds a recording to which runs_report_applies.
MUST_CHECK bool runs_page_add(ViewPage *page, const Profile *p, Error *err);

// Appends a page of benches, or of counted events, alone.
MUST_CHECK bool run_page_write(StrBuf *out, const RunPage *runs, Error *err);
MUST_CHECK bool counts_page_write(StrBuf *out, Arena *scratch, const Counts *c, bool each_run,
                                  Error *err);

// Appends a report, which was made for terminals, to the summary.
void runs_page_add_report(StrBuf *out, Str report);

#endif // CLI_RUNS_RUNS_PAGE_H
