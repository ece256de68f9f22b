// SPDX-License-Identifier: Apache-2.0
// Files whose path another user can choose or plant: maps of generated code in /tmp,
// jitdumps. Whoever records the whole machine as root opens them for every user.

#ifndef OS_OWNED_FILE_H
#define OS_OWNED_FILE_H

#include "base/error.h"
#include "base/str.h"

// The largest such file that is read.
#define OWNED_FILE_MAX_BYTES (256ull << 20)

// Opens a regular file for reading without following a link, and without waiting for a
// FIFO or a device. The file must belong to `uid` or to root and have at most
// OWNED_FILE_MAX_BYTES. `root_pid` is the process whose root folder `path` starts at; links
// in folders of the path cannot lead out of that root. 0: our own root.
//
// The descriptor, or -1. `err` is ERROR_NOT_FOUND when there is no file, which is normal;
// otherwise it says why the file was refused. It may be NULL.
int os_open_owned(uint32_t root_pid, Str path, uint32_t uid, Error *err);

#endif // OS_OWNED_FILE_H
