// SPDX-License-Identifier: Apache-2.0
// Writes the coverage that the cover commands have loaded.

#ifndef CLI_COVER_COVER_EXPORT_H
#define CLI_COVER_COVER_EXPORT_H

#include "cli/cover/cover_baseline.h"
#include "export/view/view.h"

typedef struct CoverExportOptions {
    CoverRequest inputs;
    Str format, output, root;
    CoverBaselineOptions baseline; // of HTML
    bool force;
    bool is_sum; // of rows: no documents of gcc's units, names as they are
} CoverExportOptions;

#define COVER_ROOT_HELP                                                                            \
    "folder of the project: in cobertura, coveralls, codecov and sonarqube, paths are relative "   \
    "to "                                                                                          \
    "it (default: the repository, the CMake build or the folder of the sources)"

#define COVER_OUTPUT_OPTIONS(S, field)                                                             \
    OPT_TEXT('o', "output", S, field.output, "FILE", "write to FILE, not to stdout"),              \
        OPT_FLAG('f', "force", S, field.force, "replace an existing output file"),                 \
        OPT_TEXT(0, "root", S, field.root, "DIR", COVER_ROOT_HELP)

// Loads the inputs and writes them in the format that the options name. Gives the exit status;
// prints what went wrong.
int cover_export_inputs(const CoverExportOptions *o, const StrVec *operands);

// Writes the rows of a profile, of any format but llvm-json. Gives the exit status.
int cover_export_profile(Profile *p, const CoverExportOptions *o, Arena *arena);

// Adds the coverage of a profile, beside the baseline of the options, to a page, without the text
// of sources unless `with_source`, with the last part alone of every path if `base_names`. Says
// which sources are not here.
MUST_CHECK bool cover_export_to_page(const Profile *p, const CoverExportOptions *o,
                                     bool with_source, bool base_names, Arena *arena,
                                     ViewPage *page, Error *err);

#endif // CLI_COVER_COVER_EXPORT_H
