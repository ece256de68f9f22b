// SPDX-License-Identifier: Apache-2.0
// Files and folders whose path another user can choose or plant.

#include "os/owned_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "os/root_path.h"

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK };

static int open_in_root(uint32_t pid, const char *path)
{
    int root = os_root_of(pid);
    if (root < 0) {
        errno = ENOENT; // the process is gone, or none of ours
        return -1;
    }
    int fd = os_open_in_root(root, str_from_c(path), OPEN_FLAGS);
    int saved = errno;
    close(root);
    errno = saved;
    return fd;
}

static bool check_owned(int fd, const char *name, uint32_t uid, Error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return error_os(err, "cannot read '%s'", name);
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERROR_OS, "'%s' is not a regular file", name);
    if (st.st_uid != uid && st.st_uid != 0)
        return error_set(err, ERROR_PERMISSION, "'%s' belongs to user id %u, not to %u or root",
                         name, (unsigned)st.st_uid, uid);
    if ((uint64_t)st.st_size > OWNED_FILE_MAX_BYTES)
        return error_set(err, ERROR_LIMIT, "'%s' has %lld bytes, more than %llu", name,
                         (long long)st.st_size, (unsigned long long)OWNED_FILE_MAX_BYTES);
    return true;
}

int os_open_owned(uint32_t root_pid, Str path, uint32_t uid, Error *err)
{
    char name[PATH_MAX];
    if (path.len == 0 || path.len >= sizeof(name) || memchr(path.ptr, 0, path.len)) {
        (void)error_set(err, ERROR_NOT_FOUND, "no file has this path");
        return -1;
    }
    memcpy(name, path.ptr, path.len);
    name[path.len] = 0;
    int fd = root_pid ? open_in_root(root_pid, name) : open(name, OPEN_FLAGS);
    if (fd < 0 && errno == ELOOP)
        (void)error_set(err, ERROR_PERMISSION, "'%s' is a symbolic link", name);
    else if (fd < 0 && errno == ENXIO)
        (void)error_set(err, ERROR_OS, "'%s' is not a regular file", name);
    else if (fd < 0)
        (void)error_os(err, "cannot open '%s'", name);
    else if (!check_owned(fd, name, uid, err)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

// ---- Folders -----------------------------------------------------------------------

static bool is_ours(const struct stat *st)
{
    return st->st_uid == geteuid() || st->st_uid == 0;
}

// `name` is the path up to the folder, for the error.
static bool check_folder(int fd, Str name, Error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return error_os(err, "cannot open folder '%" STR_FMT "'", STR_ARG(name));
    if (!is_ours(&st))
        return error_set(err, ERROR_PERMISSION,
                         "folder '%" STR_FMT "' belongs to user id %u, not to us or root",
                         STR_ARG(name), (unsigned)st.st_uid);
    if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
        return error_set(err, ERROR_PERMISSION, "every user may write to folder '%" STR_FMT "'",
                         STR_ARG(name));
    return true;
}

// Opens one folder in another that was checked; makes it where it is missing.
static int step_into(int above, const char *part, Str name, Error *err)
{
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
    int fd = openat(above, part, FLAGS | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT && (mkdirat(above, part, 0700) == 0 || errno == EEXIST))
        fd = openat(above, part, FLAGS | O_NOFOLLOW);
    struct stat st;
    // With O_DIRECTORY the kernel calls a link "not a directory".
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP) &&
        fstatat(above, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
        if (!is_ours(&st)) {
            (void)error_set(err, ERROR_PERMISSION, "'%" STR_FMT "' is a link of user id %u",
                            STR_ARG(name), (unsigned)st.st_uid);
            return -1;
        }
        fd = openat(above, part, FLAGS);
    }
    if (fd < 0 && errno == EACCES) // a folder that we may pass through but not list
        fd = openat(above, part, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        (void)error_os(err, "cannot open folder '%" STR_FMT "'", STR_ARG(name));
    return fd;
}

int os_open_own_folder(Str path, Error *err)
{
    int fd = open(str_starts_with(path, STR("/")) ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        (void)error_os(err, "cannot open folder '%" STR_FMT "'", STR_ARG(path));
        return -1;
    }
    Str rest = path, part;
    bool ok = true;
    while (ok && str_next_part(&rest, '/', &part)) {
        char name[NAME_MAX + 1];
        Str so_far = str_slice(path, 0, (size_t)(part.ptr + part.len - path.ptr));
        if (part.len == 0)
            continue;
        if (part.len > NAME_MAX || memchr(part.ptr, 0, part.len)) {
            ok = error_set(err, ERROR_USAGE, "no folder has this name: '%" STR_FMT "'",
                           STR_ARG(so_far));
            break;
        }
        memcpy(name, part.ptr, part.len);
        name[part.len] = 0;
        int below = step_into(fd, name, so_far, err);
        close(fd);
        fd = below;
        ok = fd >= 0 && check_folder(fd, so_far, err);
    }
    if (!ok && fd >= 0)
        close(fd);
    return ok ? fd : -1;
}

// Whether others but the folder's owner cannot replace a link of ours there, and can make files.
static bool is_shared_folder(const char *path, struct stat *folder)
{
    char name[PATH_MAX];
    Str dir = str_dir_name(str_from_c(path));
    if (dir.len >= sizeof(name))
        return false;
    snprintf(name, sizeof(name), "%" STR_FMT, STR_ARG(dir.len ? dir : STR(".")));
    return stat(name, folder) == 0 && (folder->st_mode & S_ISVTX) && (folder->st_mode & S_IWOTH);
}

int os_open_command_output(const char *path, Error *err)
{
    struct stat folder, st;
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, fd = -1;
    bool is_shared = is_shared_folder(path, &folder);
    if (!os_check_not_planted(str_from_c(path), err)) {
        errno = EACCES;
        return -1;
    }
    // Nobody else can replace a link of ours in such a folder, but a file may appear now.
    if (is_shared && !(lstat(path, &st) == 0 && S_ISLNK(st.st_mode)))
        flags |= O_NOFOLLOW;
    fd = open(path, flags, 0666);
    if (fd < 0 || fstat(fd, &st) != 0)
        error_put_os(err, "cannot open '%s'", path);
    else if ((flags & O_NOFOLLOW) && st.st_uid != geteuid() && st.st_uid != folder.st_uid) {
        errno = EACCES;
        error_put_os(err, "cannot write '%s': it belongs to user id %u", path, (unsigned)st.st_uid);
    } else if (!S_ISREG(st.st_mode) || ftruncate(fd, 0) == 0) {
        return fd;
    } else {
        error_put_os(err, "cannot empty '%s'", path);
    }
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
    return -1;
}
