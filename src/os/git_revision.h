// SPDX-License-Identifier: Apache-2.0
// The commit that a folder has checked out, read from git's own files.

#ifndef OS_GIT_REVISION_H
#define OS_GIT_REVISION_H

#include "base/arena.h"

// The commit of the checkout that `folder` lies in, in hexadecimal digits; "" when it lies in
// none, or in one whose owner is not this user: others must not choose what a recording says.
// git is not run. Format: gitrepository-layout(5).
Str os_git_revision(Arena *arena, Str folder);

#endif // OS_GIT_REVISION_H
