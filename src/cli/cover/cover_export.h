// SPDX-License-Identifier: Apache-2.0
// Writing what the cover commands have loaded.

#ifndef CLI_COVER_COVER_EXPORT_H
#define CLI_COVER_COVER_EXPORT_H

#include "cli/cover/cover_inputs.h"

typedef struct CoverExportOptions {
    CoverInputOptions inputs;
    Str format, output, root;
    bool force;
} CoverExportOptions;

#define COVER_ROOT_HELP                                                                            \
    "folder of the project, to which paths are relative in cobertura, coveralls, codecov and "     \
    "sonarqube (that of the repository, or the working folder)"

#define COVER_OUTPUT_OPTIONS(S, field)                                                             \
    OPT_TEXT('o', "output", S, field.output, "FILE", "write to FILE, not to stdout"),              \
        OPT_FLAG('f', "force", S, field.force, "replace an existing output file"),                 \
        OPT_TEXT(0, "root", S, field.root, "DIR", COVER_ROOT_HELP)

// Writes the result in the format that the options name. Gives the exit status;
// what went wrong is said.
int cover_export_result(CoverResult *r, const void *values);

#endif // CLI_COVER_COVER_EXPORT_H
