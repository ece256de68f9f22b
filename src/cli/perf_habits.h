// SPDX-License-Identifier: Apache-2.0
// Commands of perf that are no commands here, because another one does it in one step.

#ifndef CLI_PERF_HABITS_H
#define CLI_PERF_HABITS_H

#include "base/strbuf.h"

// For the words of "assay probe …", as perf probe has them: appends the command that does it here.
// False for other commands.
bool perf_habit_hint(int argc, char **argv, StrBuf *ret);

#endif // CLI_PERF_HABITS_H
