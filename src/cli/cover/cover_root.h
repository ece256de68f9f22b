// SPDX-License-Identifier: Apache-2.0
// The folder of the project, relative to which services expect the paths of sources.

#ifndef CLI_COVER_COVER_ROOT_H
#define CLI_COVER_COVER_ROOT_H

#include "analyse/cover/file_rows.h"

// As it stands in the sources' paths: absolute, without a slash at its end; empty: none. `asked` is
// the folder that the user named. Without it the first that holds of: the folder of the repository
// that the working folder lies in, the source folder of a CMake build in the working folder, the
// working folder itself, if all sources of the project lie below it; the repository of the sources;
// the folder that all of them share. Sources of the system and of other packages do not matter. If
// the sources are not on this machine, it is the first of the above without that condition.
Str cover_root(Arena *arena, Str asked, const Profile *p, const CoverFiles *files);

#endif // CLI_COVER_COVER_ROOT_H
