// SPDX-License-Identifier: Apache-2.0
// Tables of functions and lines with their processor time and their waits side by side.

#ifndef CLI_LOOK_WAIT_TABLE_H
#define CLI_LOOK_WAIT_TABLE_H

#include "analyse/wait/wait_columns.h"
#include "cli/look/report_screen.h"

// Appends the table of functions, lines, modules or groups. All shares are of the processor time
// and the waits of all threads that have work.
void wait_table_add(StrBuf *out, const Report *r, const WaitColumns *c, const ScreenStyle *style);
// Appends the lines with most time of both kinds, and their text.
void wait_table_add_lines(StrBuf *out, const Report *r, const WaitColumns *c,
                          const ScreenStyle *style);

#endif // CLI_LOOK_WAIT_TABLE_H
