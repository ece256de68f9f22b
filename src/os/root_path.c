// SPDX-License-Identifier: Apache-2.0
// Paths below the root folder of another process.

#include "os/root_path.h"

#include "base/arena.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40, DEPTH_MAX = 128 }; // the kernel follows 40 links, too

typedef struct RootWalk {
    Arena arena; // texts of links
    int root_fd;
    int folders[DEPTH_MAX]; // that lead to the present one; `..` goes back in them
    size_t depth;           // 0: in the root
    unsigned links;
} RootWalk;

static int here(const RootWalk *w)
{
    return w->depth ? w->folders[w->depth - 1] : w->root_fd;
}

static void leave(RootWalk *w, size_t depth)
{
    while (w->depth > depth)
        close(w->folders[--w->depth]);
}

static int fail(int error)
{
    errno = error;
    return -1;
}

// The text of an open link, followed by the rest of the path.
static bool follow(RootWalk *w, int link, Str *rest)
{
    char text[PATH_MAX];
    ssize_t n = readlinkat(link, "", text, sizeof(text));
    if (n <= 0 || (size_t)n >= sizeof(text) || ++w->links > LINKS_MAX) {
        errno = n < 0 ? errno : ELOOP;
        return false;
    }
    if (text[0] == '/')
        leave(w, 0);
    *rest = arena_printf(&w->arena, "%.*s/%" STR_FMT, (int)n, text, STR_ARG(*rest));
    return true;
}

// Opens the last part, which is no link unless `flags` say that links are not followed. Between the
// look at a part and this someone can put a link there; O_NOFOLLOW refuses it.
static int open_last(const RootWalk *w, const char *name, int flags)
{
    return openat(here(w), name, flags | O_NOFOLLOW | O_CLOEXEC);
}

static bool more_parts(Str rest)
{
    for (size_t i = 0; i < rest.len; i++)
        if (rest.ptr[i] != '/')
            return true;
    return false;
}

static int walk(RootWalk *w, Str rest, int flags)
{
    Str part;
    while (str_next_part(&rest, '/', &part)) {
        char name[NAME_MAX + 1];
        struct stat st;
        if (part.len == 0 || str_equal(part, STR(".")))
            continue;
        if (part.len > NAME_MAX || memchr(part.ptr, 0, part.len))
            return fail(ENAMETOOLONG);
        if (str_equal(part, STR(".."))) {
            leave(w, w->depth ? w->depth - 1 : 0);
            continue;
        }
        memcpy(name, part.ptr, part.len);
        name[part.len] = 0;
        bool last = !more_parts(rest);
        if (last && (flags & O_NOFOLLOW))
            return open_last(w, name, flags);
        int fd = openat(here(w), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) != 0)
            return fd < 0 ? -1 : (close(fd), fail(ENOENT));
        if (S_ISLNK(st.st_mode)) {
            bool ok = follow(w, fd, &rest);
            int saved = errno;
            close(fd);
            if (!ok)
                return fail(saved);
        } else if (last) {
            close(fd);
            return open_last(w, name, flags);
        } else if (!S_ISDIR(st.st_mode) || w->depth == DEPTH_MAX) {
            close(fd);
            return fail(S_ISDIR(st.st_mode) ? ENAMETOOLONG : ENOTDIR);
        } else {
            w->folders[w->depth++] = fd;
        }
    }
    return openat(here(w), ".", flags | O_CLOEXEC);
}

int os_open_in_root(int root_fd, Str path, int flags)
{
    RootWalk w = {.root_fd = root_fd};
    int fd = walk(&w, path, flags);
    int saved = errno;
    leave(&w, 0);
    arena_deinit(&w.arena);
    errno = saved;
    return fd;
}

int os_root_of(uint32_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/root", pid);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}
