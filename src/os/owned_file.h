// SPDX-License-Identifier: Apache-2.0
// Files whose path another user can choose or create: maps of generated code in /tmp, jitdumps; and
// folders of this process below one that may be another user's. A recorder that runs as root for
// the whole machine reads such files of every user.

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

// Opens a folder for files of ours, and makes it and those above it where they are missing
// (mode 0700). Every folder on the way must belong to us or to root, and none may be open to
// all users but a sticky one like /tmp: whoever can rename there could lead us anywhere. A link
// on the way is followed when it belongs to us or to root.
//
// The descriptor, or -1: `err` then names the folder that cannot be trusted, and its owner.
int os_open_own_folder(Str path, Error *err);

// Opens, makes and empties the file to which a command that we start writes; devices and FIFOs are
// taken, too. In a folder where every user may make files, like /tmp, a file, FIFO or link of
// another user is refused.
//
// The descriptor, or -1 with errno; `err` may be NULL.
int os_open_command_output(const char *path, Error *err);

#endif // OS_OWNED_FILE_H
