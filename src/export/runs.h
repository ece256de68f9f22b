// SPDX-License-Identifier: Apache-2.0
// Runs and their counts, as JSON (docs/formats/runs-json.md) and as CSV
// (docs/formats/export.md).

#ifndef EXPORT_RUNS_H
#define EXPORT_RUNS_H

#include "base/strbuf.h"
#include "model/profile.h"

enum { RUNS_JSON_VERSION = 1 };

// Appends one object: facts, notes, runs with their values, means by event, series.
void runs_add_json(StrBuf *out, const Profile *p, Str tool_version);

// Appends a header line, then a line for each run and event.
void runs_add_csv(StrBuf *out, const Profile *p);

#endif // EXPORT_RUNS_H
