// SPDX-License-Identifier: Apache-2.0
// The folder to which the programs of a run write their raw profiles. On a shared machine nobody
// else may place a file or a link there: the programs of root would write through it
// (docs/decisions/0140).

#ifndef COLLECT_COVER_DROP_FOLDER_H
#define COLLECT_COVER_DROP_FOLDER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

typedef struct CoverDrop {
    Str base;          // RESULTS/raw, or a folder in `temp`: ours alone
    Str folder;        // in `base`, with a name that nobody can guess
    Str reach;         // how programs reach `folder`: its path, or one through `mount_fd`
    int mount_fd;      // inherited by the programs; -1: they go by the path
    bool is_elsewhere; // `base` lies in `temp`, because others may change the path of `results`
    bool is_finished;
    bool is_closed; // processes that change to another user cannot write to it
} CoverDrop;

// Makes the folders. `results` is absolute and has no links; `temp` is the folder for temporary
// files. A file that another user planted at these names is an error, which names it.
MUST_CHECK bool cover_drop_open(Arena *arena, Str results, Str temp, CoverDrop *ret, Error *err);

// The run has its results. Until then readers pass over the folder: files that a killed run has
// left are not results; files that a process writes after the run are.
void cover_drop_finished(CoverDrop *d);

// Removes the folders where they are empty, unless `is_in_use`: processes that outlive the run
// still write to them.
void cover_drop_close(Arena *arena, CoverDrop *d, bool is_in_use);

#endif // COLLECT_COVER_DROP_FOLDER_H
