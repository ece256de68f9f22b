// SPDX-License-Identifier: Apache-2.0
// The report of a recording that `assay bench` made, of commands or of functions.

#ifndef CLI_RUNS_RUNS_REPORT_H
#define CLI_RUNS_RUNS_REPORT_H

#include "base/error.h"
#include "cli/terminal.h"
#include "model/profile.h"

typedef enum RunsForm { RUNS_TEXT, RUNS_JSON, RUNS_CSV } RunsForm;

// Whether the profile is such a recording.
bool runs_report_applies(const Profile *p);

// Appends what `assay bench` printed when it made the recording, or the file that its
// --export-json or --export-csv wrote.
MUST_CHECK bool runs_report(StrBuf *out, const Terminal *t, const Profile *p, RunsForm form,
                            Error *err);

#endif // CLI_RUNS_RUNS_REPORT_H
