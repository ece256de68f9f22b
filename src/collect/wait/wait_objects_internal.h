// SPDX-License-Identifier: Apache-2.0
// Names of the objects that threads wait for: variables, files, sockets, processes.

#ifndef COLLECT_WAIT_WAIT_OBJECTS_INTERNAL_H
#define COLLECT_WAIT_WAIT_OBJECTS_INTERNAL_H

#include "base/strbuf.h"
#include "replay/consumer.h"

// A variable of a file.
typedef struct Variable {
    uint64_t start, size;
    Str name; // of the file's bytes or of `arena`
} Variable;

// The variables of one file, by address.
typedef struct FileVariables {
    const ModuleFile *file;
    Vec(Variable) at; // of the arena
} FileVariables;

typedef struct WaitObjects {
    Arena arena;
    Vec(FileVariables) files; // of the arena
} WaitObjects;

// Frees all names and tables.
void wait_objects_deinit(WaitObjects *o);

// Appends the name of the object that a system call of a process waits for; `object` is the value
// of its argument. Nothing when it has no name. Returns the path of a descriptor, or "channel:" for
// a path that is not a file on a disk; "" for all else and when it is not known. It is valid until
// the next call.
Str wait_object_name(WaitObjects *o, Consumer *c, uint32_t pid, uint32_t call, uint64_t object,
                     StrBuf *out);

// Appends the name of the socket when a line of /proc/PID/net/TABLE is about it (proc(5),
// "net/tcp", "net/unix"): the other end where there is one, else its own.
bool wait_socket_name(Str table, Str line, uint64_t inode, StrBuf *out);

#endif // COLLECT_WAIT_WAIT_OBJECTS_INTERNAL_H
