// SPDX-License-Identifier: Apache-2.0
// Joins coverage with a recording: how often the source lines of the recording ran.
//
// The two mostly come from different builds, perhaps in different folders. A file of the
// recording is matched to the coverage file with the same path, else to the one with the same
// base name that has the most folders in common at the end of the path, if there is just one.

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

// Adds up the line counts of all `profiles`, whose texts must outlive `ret`. Free with
// executions_deinit.
void executions_init(Executions *ret, const Profile *const *profiles, size_t count);
void executions_deinit(Executions *x);

// The coverage file for a path of the other recording. EXECUTIONS_NO_FILE when there is none, or
// when several match equally well.
uint32_t executions_file(const Executions *x, Str path);

// The count of a line. False when the line has no count: it has no code, or was not in the
// coverage. `file` may be EXECUTIONS_NO_FILE.
bool executions_of(const Executions *x, uint32_t file, uint32_t line, uint64_t *ret);

#endif // ANALYSE_EXECUTIONS_H
