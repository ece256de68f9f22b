// SPDX-License-Identifier: Apache-2.0
// Commands and options of other tools that assay does not have, with what to type instead.

#ifndef CLI_HABITS_H
#define CLI_HABITS_H

#include "base/strbuf.h"

// Whether argv[1], or the word behind "cover", is a command, an option or a file of another tool
// (perf, hyperfine, llvm-cov, lcov, valgrind, heaptrack, samply) and no command of assay. Appends
// the command of assay that does the same to `ret`, as a sentence for a hint.
bool habit_hint(int argc, char **argv, StrBuf *ret);

#endif // CLI_HABITS_H
