// SPDX-License-Identifier: Apache-2.0
// Commands of perf that are not commands here, because another one does it in one step.

#ifndef CLI_HABITS_H
#define CLI_HABITS_H

#include "base/strbuf.h"

// Whether argv[1] is a command or an option of another tool (perf, hyperfine, llvm-cov, valgrind,
// heaptrack, samply) and none of assay's. Appends the command of assay that does the same to `ret`,
// as a sentence for a hint.
bool habit_hint(int argc, char **argv, StrBuf *ret);

#endif // CLI_HABITS_H
