// SPDX-License-Identifier: Apache-2.0
// Paths below the root folder of another process: a container, a chroot.

#ifndef OS_ROOT_PATH_H
#define OS_ROOT_PATH_H

#include "base/str.h"

// Opens `path` as a process with the root folder `root_fd` sees it: absolute links and ".." lead no
// further than that folder, and links of /proc lead where their text says. It looks at each part
// itself, because openat2 is refused to a recorder that has given up its rights. `flags` as for
// openat; O_NOFOLLOW is for the last part.
//
// The descriptor, or -1 and errno.
int os_open_in_root(int root_fd, Str path, int flags);

// The root folder of a process (O_PATH), or -1 and errno.
int os_root_of(uint32_t pid);

#endif // OS_ROOT_PATH_H
