// SPDX-License-Identifier: Apache-2.0
// How often source lines ran, for the lines of another recording: the join of
// coverage's counts with time by line.
//
// The two were mostly made of different builds, perhaps in different folders: a
// file is the one with the same path, else the one of the same base name with
// most folders in common at the end of the path, where there is one such.

#ifndef ANALYSE_EXECUTIONS_H
#define ANALYSE_EXECUTIONS_H

#include "model/profile.h"

#define EXECUTIONS_NO_FILE UINT32_MAX

typedef struct ExecutedLine {
    uint32_t line;
    uint64_t count; // stops at 2^64 - 1
} ExecutedLine;

typedef struct ExecutedFile {
    Str path;
    Vec(ExecutedLine) lines; // ascending, each once
} ExecutedFile;

typedef struct Executions {
    Vec(ExecutedFile) files;
    Table by_path, by_base_name;
} Executions;

// The counts of all `profiles` together; their texts must outlive `ret`. Release
// with executions_deinit.
void executions_init(Executions *ret, const Profile *const *profiles, size_t count);
void executions_deinit(Executions *x);

// The file that is meant by another recording's path, or EXECUTIONS_NO_FILE: no
// such, or several that fit alike.
uint32_t executions_file(const Executions *x, Str path);

// False: the line has no code, or nobody counted it. `file` may be EXECUTIONS_NO_FILE.
bool executions_of(const Executions *x, uint32_t file, uint32_t line, uint64_t *ret);

#endif // ANALYSE_EXECUTIONS_H
