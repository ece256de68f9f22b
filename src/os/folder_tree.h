// SPDX-License-Identifier: Apache-2.0
// Folders with all that lies in them: how much disk it takes, and its removal. Links are counted
// and removed as links; the files behind them stay.

#ifndef OS_FOLDER_TREE_H
#define OS_FOLDER_TREE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct TreeSize {
    uint64_t files; // everything that is not a folder
    uint64_t bytes; // on the disk
} TreeSize;

// Opens the folder `name` of the open folder `parent` (AT_FDCWD: the working folder), and follows
// no link at its end. To be closed by closedir; NULL when it is not a folder or cannot be read.
DIR *os_open_folder(int parent, const char *name);

// Adds what lies in the folder `name` of the open folder `parent` (AT_FDCWD: the working folder).
// Folders that cannot be read, or lie more than 64 folders deep, add nothing.
void os_tree_size(int parent, const char *name, TreeSize *add);

// Removes the folder `name` of the open folder `parent` (AT_FDCWD: the working folder), down to a
// depth of 64 folders. False when a part of it is still there; errno says why the last part is.
bool os_tree_remove(int parent, const char *name);

#endif // OS_FOLDER_TREE_H
