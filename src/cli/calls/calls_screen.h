// SPDX-License-Identifier: Apache-2.0
// The forms of recorded calls: text and JSON.

#ifndef CLI_CALLS_CALLS_SCREEN_H
#define CLI_CALLS_CALLS_SCREEN_H

#include "analyse/calls/call_summary.h"

// Appends one line for each function with calls, for the first screen. Nothing without calls.
void calls_add_summary(StrBuf *out, const Profile *p, size_t columns);
// Appends histogram, percentiles and the slowest calls of each function; `limit` of the slowest, 0
// for all.
void calls_add_table(StrBuf *out, const Profile *p, size_t limit);
// The same as JSON: docs/formats/report-json.md.
void calls_add_json(StrBuf *out, const Profile *p, size_t limit);

#endif // CLI_CALLS_CALLS_SCREEN_H
