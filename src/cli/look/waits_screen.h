// SPDX-License-Identifier: Apache-2.0
// The text forms of waits: lines of the first screen, and tables.

#ifndef CLI_LOOK_WAITS_SCREEN_H
#define CLI_LOOK_WAITS_SCREEN_H

#include "analyse/critical.h"

// Appends how the threads spent their time, and the longest waits. Nothing for a recording
// without waits. `columns` is the width of the screen. Returns the number of lines.
size_t waits_add_summary(StrBuf *out, const Profile *p, size_t columns);
// Appends the table of --locks and --by class|lock|file|waker; at most `limit` rows, 0 for all.
void waits_add_table(StrBuf *out, const Profile *p, WaitBy by, size_t limit);
// Appends the critical path of a thread; at most `limit` rows, 0 for all.
void waits_add_critical(StrBuf *out, const Critical *c, const Profile *p, size_t limit);

#endif // CLI_LOOK_WAITS_SCREEN_H
