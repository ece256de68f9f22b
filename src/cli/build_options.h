// SPDX-License-Identifier: Apache-2.0
// --cargo, --cmake and --meson: builds a program and gives the command that runs it.

#ifndef CLI_BUILD_OPTIONS_H
#define CLI_BUILD_OPTIONS_H

#include "base/error.h"
#include "cli/option.h"
#include "os/spawn.h"

typedef struct BuildOptions {
    RestWords cargo;
    Str cmake, meson, folder;
} BuildOptions;

// For an option table; `field` is a BuildOptions in the options struct S.
#define BUILD_OPTIONS(S, field)                                                                    \
    OPT_REST(                                                                                      \
        0, "cargo", S, field.cargo, "OPTION ...",                                                  \
        "build with cargo and run the program that it built: --bin X, --example X, --test X or "   \
        "--bench X, and all other options of cargo, up to --"),                                    \
        OPT_TEXT(0, "cmake", S, field.cmake, "TARGET",                                             \
                 "build this executable with cmake and run it"),                                   \
        OPT_TEXT(0, "meson", S, field.meson, "TARGET",                                             \
                 "build this executable with meson and run it"),                                   \
        OPT_TEXT(                                                                                  \
            0, "build-dir", S, field.folder, "DIR",                                                \
            "with --cmake or --meson: the build folder (default: searched below this folder)")

// Options of cargo without --cargo in front, for a table of foreign options.
#define BUILD_FOREIGN_OPTIONS                                                                      \
    {0, "bin", FOREIGN_REFUSED, "--cargo --bin NAME"},                                             \
        {0, "example", FOREIGN_REFUSED, "--cargo --example NAME"},                                 \
        {0, "features", FOREIGN_REFUSED, "--cargo --features NAMES"},                              \
        {0, "package", FOREIGN_REFUSED, "--cargo --package NAME"},                                 \
    {                                                                                              \
        0, "release", FOREIGN_REFUSED, "--cargo builds with --release"                             \
    }

// Whether a build is asked for.
bool build_options_given(const BuildOptions *o);

// The words of the command and their origin.
typedef struct BuiltCommand {
    Program program;
    char **argv; // ends in NULL
} BuiltCommand;

// Builds, and makes the command line out of the built program and `words`, which end in NULL. Sets
// the environment in which the build tool would start the program. When the build itself failed,
// its tool has said why: the result is false, `*status` is its exit status and `err` has no text.
MUST_CHECK bool build_command(Arena *arena, const BuildOptions *o, char *const *words,
                              BuiltCommand *ret, int *status, Error *err);

#endif // CLI_BUILD_OPTIONS_H
