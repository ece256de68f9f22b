// SPDX-License-Identifier: Apache-2.0
// cargo test, run, bench and nextest: built with instrumentation in a target
// folder of their own, so that the user's build stays, then run.

#ifndef COLLECT_COVER_CARGO_H
#define COLLECT_COVER_CARGO_H

#include "collect/cover/run.h"

typedef struct CoverCargo {
    StrVec objects;   // executables and shared objects that were built
    StrVec folders;   // of the packages that the objects are of
    StrVec members;   // folders of the workspace's packages
    Str target;       // the target folder
    int build_status; // of wait(2)
} CoverCargo;

// Whether the words are a cargo command that runs what it builds.
bool cover_cargo_is(char *const argv[]);

// Variables of the user that say how rustc is called; "" when not set.
typedef struct CoverCargoFlags {
    Str rustflags, encoded_rustflags, rustdocflags;
} CoverCargoFlags;

// Asks cargo for the workspace. When build_status is not 0, cargo has said why.
MUST_CHECK bool cover_cargo_metadata(Arena *arena, const Program *cargo, char *const argv[],
                                     CoverCargo *ret, Error *err);
// The environment of the build and of the run.
void cover_cargo_variables(Arena *arena, char *const argv[], const CoverCargoFlags *flags,
                           const CoverCargo *c, CoverVariables *ret);
// Builds what is to run. build_status as above.
MUST_CHECK bool cover_cargo_build(Arena *arena, const Program *cargo, char *const argv[],
                                  CoverCargo *ret, Error *err);

// The words of the command that builds what `argv` runs, for tests.
typedef Vec(char *) CoverWords;
void cover_cargo_build_words(Arena *arena, char *const argv[], CoverWords *ret);

// Reads cargo's JSON messages, one a line.
void cover_cargo_read_messages(Arena *arena, Str text, CoverCargo *ret);

#endif // COLLECT_COVER_CARGO_H
