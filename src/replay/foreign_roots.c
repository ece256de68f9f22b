// SPDX-License-Identifier: Apache-2.0
// Root folders of processes in containers.

#include "replay/foreign_roots.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/root_path.h"

enum { ROOTS_MAX = 64 }; // each is two descriptors

void foreign_roots_deinit(ForeignRoots *roots)
{
    for (size_t i = 0; i < roots->at.len; i++) {
        close(roots->at.at[i].root_fd);
        close(roots->at.at[i].namespace_fd);
    }
    arena_deinit(&roots->arena);
    *roots = (ForeignRoots){0};
}

static bool stat_of(uint32_t pid, const char *what, struct stat *ret)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/%s", pid, what);
    return stat(path, ret) == 0;
}

// Whoever makes a user namespace may mount in it without any rights outside.
static bool is_trusted(uint32_t pid)
{
    struct stat own, other, process;
    uint32_t self = (uint32_t)getpid();
    if (!stat_of(self, "ns/user", &own) || !stat_of(pid, "ns/user", &other))
        return false;
    if (own.st_ino == other.st_ino && own.st_dev == other.st_dev)
        return true;
    return geteuid() != 0 && stat_of(pid, ".", &process) && process.st_uid == geteuid();
}

static bool open_root(uint32_t pid, ForeignRoot *root)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
    root->namespace_fd = open(path, O_RDONLY | O_CLOEXEC);
    root->root_fd = os_root_of(pid);
    if (root->namespace_fd >= 0 && root->root_fd >= 0)
        return true;
    if (root->namespace_fd >= 0)
        close(root->namespace_fd);
    if (root->root_fd >= 0)
        close(root->root_fd);
    return false;
}

uint32_t foreign_root_of(ForeignRoots *roots, uint32_t pid)
{
    struct stat space, folder, own_space, own_folder;
    uint32_t self = (uint32_t)getpid();
    if (!stat_of(pid, "ns/mnt", &space) || !stat_of(pid, "root", &folder) ||
        !stat_of(self, "ns/mnt", &own_space) || !stat_of(self, "root", &own_folder))
        return 0;
    if (space.st_ino == own_space.st_ino && folder.st_ino == own_folder.st_ino &&
        folder.st_dev == own_folder.st_dev)
        return 0;
    for (size_t i = 0; i < roots->at.len; i++) {
        const ForeignRoot *r = &roots->at.at[i];
        if (r->mount_namespace == space.st_ino && r->inode == folder.st_ino &&
            r->device == folder.st_dev)
            return (uint32_t)i + 1;
    }
    ForeignRoot root = {
        .mount_namespace = space.st_ino, .device = folder.st_dev, .inode = folder.st_ino};
    if (roots->at.len == ROOTS_MAX || !is_trusted(pid) || !open_root(pid, &root))
        return 0;
    vec_push(&roots->arena, &roots->at, root);
    return (uint32_t)roots->at.len;
}

int foreign_root_fd(const ForeignRoots *roots, uint32_t number)
{
    assert(number >= 1 && number <= roots->at.len);
    return roots->at.at[number - 1].root_fd;
}
