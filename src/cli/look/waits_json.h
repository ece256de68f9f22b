// SPDX-License-Identifier: Apache-2.0
// Tables of waits and critical paths as JSON (docs/formats/waits-json.md).

#ifndef CLI_LOOK_WAITS_JSON_H
#define CLI_LOOK_WAITS_JSON_H

#include "analyse/critical.h"

// Appends the document of --locks and --by class|lock|file|waker; at most `limit` rows, 0 for all.
void waits_add_json(StrBuf *out, const Profile *p, WaitBy by, size_t limit);
// Appends the document of --critical; at most `limit` lines, 0 for all.
void critical_add_json(StrBuf *out, const Critical *c, const Profile *p, size_t limit);

#endif // CLI_LOOK_WAITS_JSON_H
