// SPDX-License-Identifier: Apache-2.0
// .git/HEAD, references and packed references.

#include "os/git_revision.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"

enum { SMALL_BYTES = 4096, PACKED_MAX_BYTES = 16 << 20, FOLDERS_MAX = 64 };

// A regular file that this user owns, not through a link and without blocking. "" otherwise.
static Str read_own(Arena *arena, Str path, size_t max_bytes)
{
    struct stat st;
    Bytes bytes = {0};
    Error err;
    int fd = open(arena_c_str(arena, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return STR("");
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
              os_read_fd(arena, fd, path, max_bytes, &bytes, &err);
    close(fd);
    return ok ? str_trim(str_from_bytes(bytes)) : STR("");
}

static Str join(Arena *arena, Str folder, Str name)
{
    if (name.len && name.ptr[0] == '/')
        return name;
    return arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(name));
}

// A folder that this user owns.
static bool is_own_folder(Arena *arena, Str path)
{
    struct stat st;
    return lstat(arena_c_str(arena, path), &st) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid();
}

// The .git folder of the checkout, going up from `folder`.
static bool find_git(Arena *arena, Str folder, Str *ret)
{
    for (int i = 0; i < FOLDERS_MAX && folder.len; i++) {
        Str git = join(arena, folder, STR(".git")), to = STR("gitdir: ");
        struct stat st;
        if (lstat(arena_c_str(arena, git), &st) == 0) {
            // A worktree or a submodule has a file that names the folder.
            if (S_ISREG(st.st_mode)) {
                Str text = read_own(arena, git, SMALL_BYTES);
                if (!str_starts_with(text, to))
                    return false;
                git = join(arena, folder, str_slice(text, to.len, text.len));
            }
            *ret = git;
            return is_own_folder(arena, git);
        }
        Str up = str_dir_name(folder);
        if (up.len >= folder.len)
            return false;
        while (up.len > 1 && up.ptr[up.len - 1] == '/')
            up.len--;
        folder = up;
    }
    return false;
}

static bool is_revision(Str s)
{
    if (s.len != 40 && s.len != 64)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
    }
    return true;
}

static Str find_packed(Arena *arena, Str common, Str name)
{
    Str rest = read_own(arena, join(arena, common, STR("packed-refs")), PACKED_MAX_BYTES);
    Str line, revision, reference;
    while (str_next_line(&rest, &line))
        if (str_split(line, ' ', &revision, &reference) && str_equal(reference, name))
            return revision;
    return STR("");
}

// A reference's name stays below the folder: "refs/heads/main".
static bool is_reference(Str name)
{
    if (!str_starts_with(name, STR("refs/")))
        return false;
    for (size_t i = 0; i + 1 < name.len; i++)
        if (name.ptr[i] == '.' && name.ptr[i + 1] == '.')
            return false;
    return true;
}

Str os_git_revision(Arena *arena, Str folder)
{
    Str git, to = STR("ref: ");
    char real[PATH_MAX];
    if (!realpath(arena_c_str(arena, folder), real) || !find_git(arena, str_from_c(real), &git))
        return STR("");
    Str head = read_own(arena, join(arena, git, STR("HEAD")), SMALL_BYTES);
    if (str_starts_with(head, to)) {
        Str name = str_slice(head, to.len, head.len);
        Str common = read_own(arena, join(arena, git, STR("commondir")), SMALL_BYTES);
        common = common.len ? join(arena, git, common) : git;
        if (!is_reference(name) || !is_own_folder(arena, common))
            return STR("");
        head = read_own(arena, join(arena, git, name), SMALL_BYTES);
        if (head.len == 0)
            head = read_own(arena, join(arena, common, name), SMALL_BYTES);
        if (head.len == 0)
            head = find_packed(arena, common, name);
    }
    return is_revision(head) ? head : STR("");
}
