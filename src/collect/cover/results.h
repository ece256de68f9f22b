// SPDX-License-Identifier: Apache-2.0
// The folder of results while a run replaces its contents or adds to them: the old results stay
// until the new ones are whole, so that a run that is killed loses neither.

#ifndef COLLECT_COVER_RESULTS_H
#define COLLECT_COVER_RESULTS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

// A file of earlier results, known again by its inode: a new file of that name has another.
typedef struct CoverOldFile {
    Str path;
    uint64_t device, inode;
} CoverOldFile;
typedef Vec(CoverOldFile) CoverOldFiles;

// Lists the files that earlier runs wrote to the folder. All others in it are the user's.
void cover_results_list(Arena *arena, Str folder, CoverOldFiles *ret);
// Removes those that no new file has replaced, and the folders that this empties.
void cover_results_remove(Arena *arena, Str folder, const CoverOldFiles *old);

// Copies gcc's data files below a folder to the same paths below another.
MUST_CHECK bool cover_results_copy_data(Str from, Str to, Error *err);
// Puts gcc's data files at `from` in place of those at `to`, in one step where the file system
// can; nothing is done when there are none at `from`. A link at `from` leads to them, for programs
// that have that path.
MUST_CHECK bool cover_results_move_data(Str from, Str to, Error *err);

#endif // COLLECT_COVER_RESULTS_H
