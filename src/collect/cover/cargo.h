// SPDX-License-Identifier: Apache-2.0
// cargo test, run, bench and nextest: built with instrumentation in a target
// folder of their own, so that the user's build stays, then run. How the compiler is
// told: collect/cover/cargo_tools.h.

#ifndef COLLECT_COVER_CARGO_H
#define COLLECT_COVER_CARGO_H

#include "collect/cover/run.h"

// How crates are compiled. Builds that differ in it have target folders of their own,
// since cargo does not tell them apart.
typedef struct CoverCargoHow {
    bool all;        // also crates that are not the workspace's
    bool continuous; // so that counters may lie in the profile (%c)
} CoverCargoHow;

typedef struct CoverCargo {
    CoverCargoHow how;
    StrVec objects;   // executables and shared objects that were built
    StrVec folders;   // of the packages that the objects are of
    StrVec units;     // what was compiled, as cargo names its files: "parser-0123456789abcdef"
    StrVec members;   // folders of the workspace's packages
    Str target;       // the user's target folder
    Str own_target;   // below it: of builds that count
    int build_status; // of wait(2)
} CoverCargo;

// Whether the words are a cargo command that runs what it builds.
bool cover_cargo_is(char *const argv[]);

// The words with options of tarpaulin's behind the sub-command.
char *const *cover_cargo_with_options(Arena *arena, char *const argv[], const StrVec *packages,
                                      bool all_features);

// Asks cargo for the workspace. When build_status is not 0, cargo has said why.
MUST_CHECK bool cover_cargo_metadata(Arena *arena, const Program *cargo, char *const argv[],
                                     CoverCargoHow how, CoverCargo *ret, Error *err);
// The target folder of the build and of the run, unless `argv` states one.
void cover_cargo_variables(Arena *arena, char *const argv[], const CoverCargo *c,
                           CoverVariables *ret);
// Builds what is to run. build_status as above.
MUST_CHECK bool cover_cargo_build(Arena *arena, const Program *cargo, char *const argv[],
                                  CoverCargo *ret, Error *err);

// The words of the commands that build what `argv` runs, and that ask for its workspace;
// for tests.
typedef Vec(char *) CoverWords;
void cover_cargo_build_words(Arena *arena, char *const argv[], CoverWords *ret);
void cover_cargo_metadata_words(Arena *arena, char *const argv[], CoverWords *ret);

// Reads cargo's JSON messages, one a line.
void cover_cargo_read_messages(Arena *arena, Str text, CoverCargo *ret);

#endif // COLLECT_COVER_CARGO_H
