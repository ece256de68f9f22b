// SPDX-License-Identifier: Apache-2.0
// Files without a name, and their way to another process: another user cannot put a link or a file
// at a path that does not exist.

#ifndef OS_UNNAMED_FILE_H
#define OS_UNNAMED_FILE_H

#include "base/error.h"
#include "base/str.h"

// Opens an empty file for reading and writing that has no name and that only this user may open.
// It lies on the file system of `folder`; in memory where that file system has no such files or
// the folder cannot be written to. The memory is free again when the last descriptor is closed.
//
// The descriptor (close on exec), or -1.
int os_open_unnamed(Str folder, Error *err);

// The same, always in memory.
int os_open_memory(Error *err);

// Sends one byte through a stream socket of AF_UNIX, and with it `fd`, of which the receiver gets
// a descriptor of its own. `fd` -1: the byte alone. False: errno says why.
MUST_CHECK bool os_send_turn(int socket, int fd);
// Receives that byte, and the descriptor or -1. The caller closes it. False: the other side is gone
// (errno 0), or errno says what failed.
MUST_CHECK bool os_receive_turn(int socket, int *fd);

#endif // OS_UNNAMED_FILE_H
