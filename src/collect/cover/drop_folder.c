// SPDX-License-Identifier: Apache-2.0
// The folder to which the programs of a run write their raw profiles.

#include "collect/cover/drop_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coverage/object_list.h"
#include "os/file.h"
#include "os/owned_file.h"

enum {
    FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    OURS = 0700,        // ours alone
    PASSABLE = 0711,    // others may pass to a name that they know, not list the names
    ALL_ADD = 01733,    // others may add files, and neither list, replace nor remove any
    INHERITED_FD = 200, // programs seldom expect or reuse a descriptor as high
};

static Str random_name(Arena *arena, const char *prefix)
{
    uint64_t part[2] = {0};
    if (getrandom(part, sizeof(part), 0) != sizeof(part))
        return (Str){0};
    return arena_printf(arena, "%s%016llx%016llx", prefix, (unsigned long long)part[0],
                        (unsigned long long)part[1]);
}

// Makes a folder in an open one, or opens the one that is there when it is ours.
static int make_in(int above, Str path, mode_t mode, Error *err)
{
    char name[NAME_MAX + 1];
    Str base = str_base_name(path);
    struct stat st = {0};
    if (base.len == 0 || base.len > NAME_MAX) {
        (void)error_set(err, ERROR_OS, "no folder can be named '%" STR_FMT "'", STR_ARG(path));
        return -1;
    }
    memcpy(name, base.ptr, base.len);
    name[base.len] = 0;
    int fd = -1;
    if (mkdirat(above, name, OURS) == 0 || errno == EEXIST)
        fd = openat(above, name, FOLDER_FLAGS);
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && fchmod(fd, mode) == 0;
    if (ok)
        return fd;
    if (fd >= 0 && st.st_uid != geteuid())
        (void)error_set(err, ERROR_PERMISSION, "'%" STR_FMT "' belongs to user id %u, not to us",
                        STR_ARG(path), (unsigned)st.st_uid);
    else if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        (void)error_set(err, ERROR_PERMISSION, "'%" STR_FMT "' is a link or a file, not a folder",
                        STR_ARG(path));
    else
        (void)error_os(err, "cannot make folder '%" STR_FMT "'", STR_ARG(path));
    (void)error_hint(err, "remove it, or choose another folder with -o");
    if (fd >= 0)
        close(fd);
    return -1;
}

// The kernel refuses root the links of others in a folder to which all may add files.
static bool kernel_protects_links(void)
{
    uint64_t symlinks, hardlinks;
    return os_read_u64("/proc/sys/fs/protected_symlinks", &symlinks) &&
           os_read_u64("/proc/sys/fs/protected_hardlinks", &hardlinks) && symlinks && hardlinks;
}

// Whether every user may pass through all folders of an absolute path.
static bool all_may_pass(Arena *arena, Str path)
{
    struct stat st;
    for (Str at = str_dir_name(path); at.len > 1; at = str_dir_name(at))
        if (stat(arena_c_str(arena, at), &st) != 0 || !(st.st_mode & S_IXOTH))
            return false;
    return true;
}

// The folder as a mount of its own that is at no path and follows no links. A process that has
// inherited the descriptor reaches it from anywhere; it is gone when the last one is closed.
static int open_linkless_mount(int folder)
{
    struct mount_attr how = {.attr_set =
                                 MOUNT_ATTR_NOSYMFOLLOW | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID};
    int fd = (int)syscall(SYS_open_tree, folder, "",
                          OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
    int high = -1;
    if (fd >= 0 && syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &how, sizeof(how)) == 0)
        high = fcntl(fd, F_DUPFD, INHERITED_FD);
    if (fd >= 0)
        close(fd);
    return high;
}

// Programs of root may continue as any user: which user that is, is not known before.
static void let_all_users_add(Arena *arena, int fd, CoverDrop *d)
{
    if (!kernel_protects_links() || !all_may_pass(arena, d->folder)) {
        d->mount_fd = open_linkless_mount(fd);
        d->is_closed = d->mount_fd < 0;
    }
    if (!d->is_closed && fchmod(fd, ALL_ADD) != 0)
        d->is_closed = true;
    if (d->mount_fd >= 0)
        d->reach = arena_printf(arena, "/proc/self/fd/%d", d->mount_fd);
}

static void mark(int folder)
{
    int fd = openat(folder, COVER_UNFINISHED_FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

bool cover_drop_open(Arena *arena, Str results, Str temp, CoverDrop *ret, Error *err)
{
    bool as_root = geteuid() == 0;
    CoverDrop d = {.mount_fd = -1};
    Str name = random_name(arena, "");
    if (!name.len)
        return error_os(err, "cannot read random bytes");
    int above = os_open_own_folder(results, NULL);
    d.base = arena_printf(arena, "%" STR_FMT "/raw", STR_ARG(results));
    if (above < 0) {
        d.is_elsewhere = true;
        above = os_open_own_folder(temp, NULL);
        temp = above < 0 ? STR("/tmp") : temp;
        above = above < 0 ? os_open_own_folder(temp, err) : above;
        d.base = arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(temp),
                              STR_ARG(random_name(arena, "assay-")));
    }
    if (above < 0)
        return false;
    d.folder = d.reach =
        arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(d.base), STR_ARG(name));
    int base = make_in(above, d.base, as_root ? PASSABLE : OURS, err);
    int folder = base >= 0 ? make_in(base, d.folder, OURS, err) : -1;
    if (folder >= 0)
        mark(folder);
    if (folder >= 0 && as_root)
        let_all_users_add(arena, folder, &d);
    const int fds[] = {above, base, folder};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (folder < 0)
        return false;
    *ret = d;
    return true;
}

void cover_drop_finished(CoverDrop *d)
{
    d->is_finished = true;
}

void cover_drop_close(Arena *arena, CoverDrop *d, bool is_in_use)
{
    int folder = d->folder.len ? open(arena_c_str(arena, d->folder), FOLDER_FLAGS) : -1;
    if (d->mount_fd >= 0)
        close(d->mount_fd);
    d->mount_fd = -1;
    if (folder < 0)
        return;
    unlinkat(folder, COVER_UNFINISHED_FILE, 0);
    if (!is_in_use && rmdir(arena_c_str(arena, d->folder)) == 0)
        rmdir(arena_c_str(arena, d->base));
    else if (!d->is_finished)
        mark(folder);
    close(folder);
}
