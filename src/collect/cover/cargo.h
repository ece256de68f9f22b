// SPDX-License-Identifier: Apache-2.0
// Coverage of cargo test, run, bench and nextest: builds the programs with instrumentation
// in a separate target folder, so that the user's own build stays as it is, then runs them.
// collect/cover/cargo_tools.h adds the compiler's options.

#ifndef COLLECT_COVER_CARGO_H
#define COLLECT_COVER_CARGO_H

#include "collect/cover/run.h"

// How crates are compiled. Each combination has its own target folder, because cargo does not
// notice the difference and would reuse files of the other build.
typedef struct CoverCargoHow {
    bool all;        // instrument all crates, not only those of the workspace
    bool continuous; // for programs that map their counters into the profile file (%c)
} CoverCargoHow;

typedef struct CoverCargo {
    CoverCargoHow how;
    StrVec objects;   // executables and shared objects that were built
    StrVec folders;   // of the packages that the objects were built from
    StrVec units;     // names of cargo's output files: "parser-0123456789abcdef"
    StrVec members;   // folders of the workspace's packages
    StrVec scripts;   // sources of the packages' build scripts, which cargo runs
    Str target;       // the user's target folder
    Str own_target;   // the folder for instrumented builds, below `target`
    int build_status; // wait status of cargo
} CoverCargo;

// Whether the command line is a cargo command that runs the programs it builds.
bool cover_cargo_is(char *const argv[]);

// The command line with the packages and features that tarpaulin's options select, inserted after
// the sub-command.
char *const *cover_cargo_with_options(Arena *arena, char *const argv[], const StrVec *packages,
                                      bool all_features);

// Runs cargo metadata. When build_status is not 0, cargo has printed why it failed.
MUST_CHECK bool cover_cargo_metadata(Arena *arena, const Program *cargo, char *const argv[],
                                     CoverCargoHow how, CoverCargo *ret, Error *err);
// Appends the variables that set the target folder of build and run, unless `argv` sets one.
void cover_cargo_variables(Arena *arena, char *const argv[], const CoverCargo *c,
                           CoverVariables *ret);
// Builds the programs that `argv` runs. When build_status is not 0, cargo has printed why.
MUST_CHECK bool cover_cargo_build(Arena *arena, const Program *cargo, char *const argv[],
                                  CoverCargo *ret, Error *err);

typedef Vec(char *) CoverWords;
// The command lines of cover_cargo_build and cover_cargo_metadata for `argv`; public for tests.
void cover_cargo_build_words(Arena *arena, char *const argv[], CoverWords *ret);
void cover_cargo_metadata_words(Arena *arena, char *const argv[], CoverWords *ret);

// Reads cargo's JSON messages, one on each line, and adds the objects, folders and units.
void cover_cargo_read_messages(Arena *arena, Str text, CoverCargo *ret);

#endif // COLLECT_COVER_CARGO_H
