// SPDX-License-Identifier: Apache-2.0
// Shows text that is taller than the terminal with the user's pager.

#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include "base/str.h"
#include "cli/option.h"

// The row of an option table; `field` is a bool in the options struct S.
#define NO_PAGER_OPTION(S, field)                                                                  \
    OPT_FLAG(0, "no-pager", S, field,                                                              \
             "write to the terminal at once; otherwise text that is taller than the terminal is "  \
             "shown by $PAGER, or less")

// Writes the result of a command to stdout, as cli_print_text, or cli_print with `is_data`.
//
// If stdout is a terminal and the text is taller, the command in $PAGER shows it: a line for the
// shell, "less" when it is not set. "cat" or an empty value stands for no pager. LESS=FRX is set
// unless the user has set LESS. Returns when the pager has ended, with the terminal's settings as
// they were. Where no pager can be started, the text is written directly.
MUST_CHECK bool pager_print(Str text, bool is_data, bool no_pager);

// Whether pager_print may start a pager: callers that write in parts then write once.
bool pager_is_possible(bool no_pager);

#endif // CLI_PAGER_H
