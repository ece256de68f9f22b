// SPDX-License-Identifier: Apache-2.0
// What tests there are, and the command that runs one of them.

#ifndef COLLECT_COVER_TESTMAP_LIST_H
#define COLLECT_COVER_TESTMAP_LIST_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "os/spawn.h"

typedef struct CoverTestCommand {
    Str name;
    char **argv; // ends in NULL
    Str folder;  // to run it in, "" for the present one
} CoverTestCommand;
typedef Vec(CoverTestCommand) CoverTestCommands;

typedef enum CoverTestStyle {
    COVER_TESTS_UNKNOWN,
    COVER_TESTS_LIBTEST, // what rustc --test links in
    COVER_TESTS_GTEST,   // GoogleTest
    COVER_TESTS_CTEST,   // a build folder of CMake
} CoverTestStyle;

// By the program's name, or by texts that its frameworks leave in it.
CoverTestStyle cover_test_style(const Program *program);

// Asks the program for its tests. `argv` are the user's words; what selects tests
// among them is kept. Names get `prefix` in front.
MUST_CHECK bool cover_test_list(Arena *arena, CoverTestStyle style, const Program *program,
                                char *const argv[], Str prefix, Str folder, CoverTestCommands *ret,
                                Error *err);

// One shell command a line; empty lines and those that begin with '#' are none.
void cover_test_lines(Arena *arena, Str text, CoverTestCommands *ret);

// What programs print when asked, for tests.
void cover_test_parse_libtest(Arena *arena, Str text, StrVec *names);
void cover_test_parse_gtest(Arena *arena, Str text, StrVec *names);
void cover_test_parse_ctest(Arena *arena, Str text, StrVec *names, StrVec *numbers);

#endif // COLLECT_COVER_TESTMAP_LIST_H
