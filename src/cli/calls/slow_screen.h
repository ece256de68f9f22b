// SPDX-License-Identifier: Apache-2.0
// The forms of `report --slow`: what slow calls do that fast ones do not, as text and JSON.

#ifndef CLI_CALLS_SLOW_SCREEN_H
#define CLI_CALLS_SLOW_SCREEN_H

#include "analyse/calls/slow_calls.h"

// Appends a comparison for each function with calls; at most `limit` causes of each, 0 for all.
void slow_add_table(StrBuf *out, const Profile *p, const SlowLimit *slow, size_t limit);
// The same as JSON: docs/formats/report-json.md.
void slow_add_json(StrBuf *out, const Profile *p, const SlowLimit *slow, size_t limit);

#endif // CLI_CALLS_SLOW_SCREEN_H
