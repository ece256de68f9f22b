// SPDX-License-Identifier: Apache-2.0
// The table of commands. Row x stands for `const Command x_command`, which cmd_x.c defines below
// its option table.

#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/option.h"

// In the order of the overview; rows of one group stand together: time it, see where, look, move,
// help.
#define COMMANDS(ROW)                                                                              \
    ROW(bench)                                                                                     \
    ROW(stat)                                                                                      \
    ROW(record)                                                                                    \
    ROW(dump)                                                                                      \
    ROW(heap)                                                                                      \
    ROW(top)                                                                                       \
    ROW(survey)                                                                                    \
    ROW(cover)                                                                                     \
    ROW(report)                                                                                    \
    ROW(annotate)                                                                                  \
    ROW(loop)                                                                                      \
    ROW(diff)                                                                                      \
    ROW(flame)                                                                                     \
    ROW(view)                                                                                      \
    ROW(export)                                                                                    \
    ROW(import)                                                                                    \
    ROW(merge)                                                                                     \
    ROW(list)                                                                                      \
    ROW(doctor)                                                                                    \
    ROW(cache)                                                                                     \
    ROW(help)

#define DECLARE_COMMAND(name) extern const Command name##_command;
COMMANDS(DECLARE_COMMAND)

#endif // CLI_COMMANDS_H
