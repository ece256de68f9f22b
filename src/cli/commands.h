// SPDX-License-Identifier: Apache-2.0
// Every command's entry in the table of main.c. Each is defined at the end of
// its cmd_<name>.c, with the option table above it:
//     extern const Command record_command;

#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/option.h"

extern const Command annotate_command;
extern const Command bench_command;
extern const Command stat_command;
extern const Command export_command;
extern const Command flame_command;
extern const Command cover_command;
extern const Command import_command;
extern const Command doctor_command;
extern const Command list_command;
extern const Command record_command;
extern const Command report_command;

#endif // CLI_COMMANDS_H
