// SPDX-License-Identifier: Apache-2.0
// One path for each source file, however the inputs spell it.

#ifndef COVERAGE_SOURCE_PATHS_H
#define COVERAGE_SOURCE_PATHS_H

#include "base/intern.h"

typedef struct CoverSourcePaths {
    Arena *arena;
    Intern spelt;   // paths that were asked for
    StrVec shown;   // by number of `spelt`; ptr NULL: not asked yet
    Intern folders; // whose real path was asked for
    StrVec real;    // by number of `folders`
    Intern files;   // real paths of files
    StrVec names;   // by number of `files`: the path that they are shown under
} CoverSourcePaths;

// Texts go to `arena`, which must outlive `s`.
void cover_source_paths_init(CoverSourcePaths *s, Arena *arena);
void cover_source_paths_deinit(CoverSourcePaths *s);

// The path under which a source is shown. Two paths are the same source if symbolic links and ".."
// lead both to one file; a file with two names (hard links) is two sources. The first path that
// leads to a file is its name, without "." and "..". Where the folders of a path are not on this
// machine, the text alone is compared. The result lasts as long as the arena.
Str cover_source_path(CoverSourcePaths *s, Str path);

// The real path of the file or folder that a path leads to, without "." and ".." where nothing is
// there. The same lifetime.
Str cover_source_file(CoverSourcePaths *s, Str path);

#endif // COVERAGE_SOURCE_PATHS_H
