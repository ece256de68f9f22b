// SPDX-License-Identifier: Apache-2.0
// The report of a recording of runs, which `assay bench` or `assay stat` made.

#ifndef CLI_RUNS_RUNS_REPORT_H
#define CLI_RUNS_RUNS_REPORT_H

#include "base/error.h"
#include "cli/terminal.h"
#include "model/profile.h"

typedef enum RunsForm { RUNS_TEXT, RUNS_JSON, RUNS_CSV } RunsForm;

// Whether the profile is such a recording.
bool runs_report_applies(const Profile *p);

// Appends the text that the command printed when it made the recording; as JSON and CSV the file
// that
// --export-json and --export-csv of `bench` write, and for `stat` runs-json.md and a line for each
// run and event. `all_notes`: with every note, where the text shows only warnings, and with the
// details of `bench --details`.
MUST_CHECK bool runs_report(StrBuf *out, const Terminal *t, const Profile *p, RunsForm form,
                            bool all_notes, Error *err);

#endif // CLI_RUNS_RUNS_REPORT_H
