// SPDX-License-Identifier: Apache-2.0
// Folders with all that lies in them. Each step starts from an open folder, so that a folder that
// somebody replaces by a link cannot lead out of the tree.

#include "os/folder_tree.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, STAT_BLOCK_BYTES = 512 };

DIR *os_open_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

// The next entry but "." and ".."; NULL at the end.
static const char *next_name(DIR *dir)
{
    for (struct dirent *e; (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            return e->d_name;
    return NULL;
}

static void size_below(int parent, const char *name, unsigned depth, TreeSize *add)
{
    DIR *dir = depth ? os_open_folder(parent, name) : NULL;
    struct stat st;
    if (!dir)
        return;
    for (const char *entry; (entry = next_name(dir));) {
        if (fstatat(dirfd(dir), entry, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        add->bytes += (uint64_t)st.st_blocks * STAT_BLOCK_BYTES;
        if (S_ISDIR(st.st_mode))
            size_below(dirfd(dir), entry, depth - 1, add);
        else
            add->files++;
    }
    closedir(dir);
}

void os_tree_size(int parent, const char *name, TreeSize *add)
{
    size_below(parent, name, DEPTH_MAX, add);
}

static bool remove_below(int parent, const char *name, unsigned depth)
{
    DIR *dir = depth ? os_open_folder(parent, name) : NULL;
    bool all = true;
    if (dir) {
        for (const char *entry; (entry = next_name(dir));)
            all = (unlinkat(dirfd(dir), entry, 0) == 0 ||
                   remove_below(dirfd(dir), entry, depth - 1)) &&
                  all;
        closedir(dir);
    }
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 && all;
}

bool os_tree_remove(int parent, const char *name)
{
    return remove_below(parent, name, DEPTH_MAX);
}
