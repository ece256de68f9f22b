// SPDX-License-Identifier: Apache-2.0
// The sub-commands of 'assay cover', each run by its own cover_<name>.c.

#ifndef CLI_COVER_COVER_COMMANDS_H
#define CLI_COVER_COVER_COMMANDS_H

#include "cli/kept.h"
#include "cli/option.h"

// The folder to which 'assay cover run' writes its results, and which the other commands read
// without inputs.
#define COVER_RUN_FOLDER kept_path(STR(".assay/cover"), STR("target/assay/cover"))

// The table of sub-commands, in the order of the help. Row x stands for
// `const Command cover_x_command`.
#define COVER_COMMANDS(ROW)                                                                        \
    ROW(run)                                                                                       \
    ROW(report)                                                                                    \
    ROW(show)                                                                                      \
    ROW(export)                                                                                    \
    ROW(merge)                                                                                     \
    ROW(add)                                                                                       \
    ROW(intersect)                                                                                 \
    ROW(subtract)                                                                                  \
    ROW(flags)                                                                                     \
    ROW(tests)                                                                                     \
    ROW(diff)                                                                                      \
    ROW(formats)

#define DECLARE_COVER_COMMAND(name) extern const Command cover_##name##_command;
COVER_COMMANDS(DECLARE_COVER_COMMAND)

#endif // CLI_COVER_COVER_COMMANDS_H
