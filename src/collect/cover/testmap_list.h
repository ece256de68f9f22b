// SPDX-License-Identifier: Apache-2.0
// Lists the tests of a program or of a build folder, with the command that runs each.

#ifndef COLLECT_COVER_TESTMAP_LIST_H
#define COLLECT_COVER_TESTMAP_LIST_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "os/spawn.h"

typedef struct CoverTestCommand {
    Str name;
    char **argv; // ends in NULL
    Str folder;  // the folder to run it in; "" for the current one
} CoverTestCommand;
typedef Vec(CoverTestCommand) CoverTestCommands;

typedef enum CoverTestStyle {
    COVER_TESTS_UNKNOWN,
    COVER_TESTS_LIBTEST, // Rust's own, which rustc --test links
    COVER_TESTS_GTEST,   // GoogleTest
    COVER_TESTS_CTEST,   // a build folder of CMake
} CoverTestStyle;

// The test framework of a program, found by the program's name or by texts in its file.
CoverTestStyle cover_test_style(const Program *program);

// Runs the program to list its tests. `argv` is the user's command line; its arguments that select
// tests are kept. Names of tests get `prefix` in front.
MUST_CHECK bool cover_test_list(Arena *arena, CoverTestStyle style, const Program *program,
                                char *const argv[], Str prefix, Str folder, CoverTestCommands *ret,
                                Error *err);

// Reads a list of tests: a shell command on each line. Empty lines and lines that begin with '#'
// are skipped.
void cover_test_lines(Arena *arena, Str text, CoverTestCommands *ret);

// Parse the list of tests that each framework prints; public for tests.
void cover_test_parse_libtest(Arena *arena, Str text, StrVec *names);
void cover_test_parse_gtest(Arena *arena, Str text, StrVec *names);
void cover_test_parse_ctest(Arena *arena, Str text, StrVec *names, StrVec *numbers);

#endif // COLLECT_COVER_TESTMAP_LIST_H
