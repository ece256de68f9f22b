// SPDX-License-Identifier: Apache-2.0
// Builds a program by cargo, CMake or Meson and finds the file that was built.

#ifndef BUILD_BUILD_H
#define BUILD_BUILD_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

typedef struct BuildRequest {
    bool cargo;
    StrVec cargo_words; // behind --cargo: cargo's own options
    Str cmake, meson;   // the target; "": not asked for
    Str folder;         // the build folder of CMake or Meson; "": it is searched
    Str search_path;    // $PATH
} BuildRequest;

// A variable of the environment; `value` NULL removes it.
typedef struct BuildVariable {
    const char *name, *value;
} BuildVariable;
typedef Vec(BuildVariable) BuildVariables;

typedef struct BuiltProgram {
    Str path;               // absolute
    Str folder;             // in which the build tool would start it; "": the present one
    StrVec words;           // arguments that the build tool would add behind the user's
    BuildVariables started; // the environment in which the build tool would start it
    Str note;               // what the user should know about the build; "": nothing
    int status;             // wait status of the build tool: not 0, the build failed
    Str output;             // then what the tool wrote to its standard output, for the user
} BuiltProgram;

// Whether a build is asked for at all.
static inline bool build_is_asked(const BuildRequest *r)
{
    return r->cargo || r->cmake.len || r->meson.len;
}

// Appends the variables with which the build writes line tables, but for those that `is_set` says
// the user has set.
void build_variables(Arena *arena, const BuildRequest *r, bool (*is_set)(const char *name),
                     BuildVariables *ret);

// Builds, and finds the program. When `status` is not 0, the build failed and the rest is not set.
MUST_CHECK bool build_program(Arena *arena, const BuildRequest *r, BuiltProgram *ret, Error *err);

// ---- Benchmarks of cargo ------------------------------------------------------

typedef struct BuiltBench {
    Str path;     // absolute
    Str name;     // of the target
    Str folder;   // of the package, in which cargo would start it
    bool is_unit; // unit tests of a library or a program, which may hold benchmarks
} BuiltBench;
typedef Vec(BuiltBench) BuiltBenches;

// The words of the command that builds the benchmarks and prints messages, "cargo" first.
StrVec build_cargo_bench_words(Arena *arena, const StrVec *cargo_words);
// The programs that it built, by the messages among its output.
void build_cargo_bench_read(Arena *arena, Str output, BuiltBenches *ret);
// Builds here. `*status` is the wait status of cargo; when it is not 0, the build failed and `*ret`
// is not set.
MUST_CHECK bool build_cargo_benches(Arena *arena, const StrVec *cargo_words, Str search_path,
                                    BuiltBenches *ret, int *status, Error *err);

#endif // BUILD_BUILD_H
