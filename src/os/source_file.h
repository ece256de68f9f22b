// SPDX-License-Identifier: Apache-2.0
// Source files whose names stand in a file that a stranger made: a tracefile or a program can
// name any file of the machine. Text of it is read only from the folders of the project.

#ifndef OS_SOURCE_FILE_H
#define OS_SOURCE_FILE_H

#include "os/file.h"

typedef struct SourceRoots {
    StrVec folders; // and single files; absolute, without links
} SourceRoots;

// The folders of the project: the git checkout that the working folder lies in, if it is ours or
// root's, else the working folder (unless that is "/"), and those that the user names.
void source_roots_init(Arena *arena, const StrVec *named, SourceRoots *ret);
// Adds a folder, or one source file, that the user names.
void source_roots_add(Arena *arena, SourceRoots *roots, Str path);

typedef enum SourceAccess {
    SOURCE_HERE,
    SOURCE_ABSENT, // none, or none that may be read
    SOURCE_OUTSIDE // not below a root, and not public where that is enough
} SourceAccess;

// Maps a regular file, wherever links lead, if it lies below one of the roots. With `or_public`
// also one that every user may read and that is named as sources are. `ret` is set only when the
// file is here.
SourceAccess source_map(const SourceRoots *roots, bool or_public, Str path, MappedFile *ret);

// The same in the root folder of a container. There the project has no folder, so that only files
// that every user may read, and that are named as sources are, are mapped.
SourceAccess source_map_in_root(int root_fd, Str path, MappedFile *ret);

// Whether a path ends as source files do: ".c", ".rs" …, or is a header of C++ without a suffix.
bool source_has_suffix(Str path);

#endif // OS_SOURCE_FILE_H
