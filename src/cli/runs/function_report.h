// SPDX-License-Identifier: Apache-2.0
// Function benchmarks as text and as files that other tools read: the text that `assay bench`
// prints after measuring, and `assay report` later.

#ifndef CLI_RUNS_FUNCTION_REPORT_H
#define CLI_RUNS_FUNCTION_REPORT_H

#include "analyse/function_summary.h"
#include "cli/runs/run_report.h"

// The report in `format`: "" or "text", "libtest", "gbench".
void function_report(StrBuf *out, const RunStyle *style, FunctionSummaries *f, Str format);

// hyperfine's layout with a time for each process; other members stand under "assay".
void function_report_json(StrBuf *out, FunctionSummaries *f);

#endif // CLI_RUNS_FUNCTION_REPORT_H
