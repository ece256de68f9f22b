// SPDX-License-Identifier: Apache-2.0
// Root folders of processes in containers. They are kept open because a container may end before
// the recording does.

#ifndef REPLAY_FOREIGN_ROOTS_H
#define REPLAY_FOREIGN_ROOTS_H

#include "base/arena.h"
#include "base/vec.h"

typedef struct ForeignRoot {
    uint64_t mount_namespace; // numbers of inodes
    uint64_t device, inode;   // of the folder
    int root_fd;
    int namespace_fd; // keeps the list of mounts below the root folder
} ForeignRoot;

typedef struct ForeignRoots {
    Arena arena;
    Vec(ForeignRoot) at;
} ForeignRoots;

void foreign_roots_deinit(ForeignRoots *roots); // closes all

// The number, from 1, of the root folder of a running process. 0 for the root folder of this
// process, and for one in which other users can mount file systems: that of a process in
// another user namespace, unless the process is this user's and this user is not root.
uint32_t foreign_root_of(ForeignRoots *roots, uint32_t pid);

// The folder of that number.
int foreign_root_fd(const ForeignRoots *roots, uint32_t number);

#endif // REPLAY_FOREIGN_ROOTS_H
