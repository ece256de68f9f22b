// SPDX-License-Identifier: Apache-2.0
// The sub-commands of 'assay cover', each run by its own cover_<name>.c.

#ifndef CLI_COVER_COVER_COMMANDS_H
#define CLI_COVER_COVER_COMMANDS_H

#include "cli/option.h"

// Where 'assay cover run' puts its results, and what the others read without inputs.
#define COVER_RUN_FOLDER STR(".assay/cover")

extern const Command cover_report_command;
extern const Command cover_show_command;
extern const Command cover_export_command;
extern const Command cover_merge_command;
extern const Command cover_add_command;
extern const Command cover_intersect_command;
extern const Command cover_subtract_command;
extern const Command cover_flags_command;
extern const Command cover_run_command;
extern const Command cover_tests_command;
extern const Command cover_diff_command;
extern const Command cover_formats_command;

#endif // CLI_COVER_COVER_COMMANDS_H
