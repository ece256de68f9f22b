// SPDX-License-Identifier: Apache-2.0
// The project's folder, from where the user is and where the sources are.

#include "cli/cover/cover_root.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/file.h"

// A file that another user made in a folder like /tmp above ours says nothing about our project.
static bool has_entry(Arena *arena, Str folder, const char *name)
{
    Str path = arena_printf(arena, "%" STR_FMT "/%s", STR_ARG(folder), name);
    return os_file_exists(path) && os_check_not_planted(path, NULL);
}

// The nearest folder at or above `folder` with a ".git"; empty: none.
static Str repository_of(Arena *arena, Str folder)
{
    for (Str at = folder; at.len > 1; at = str_dir_name(at))
        if (has_entry(arena, at, ".git"))
            return at;
    return STR("");
}

// CMAKE_HOME_DIRECTORY of the build that the working folder is of, or below; empty: none.
static Str cmake_sources(Arena *arena, Str folder)
{
    enum { CACHE_MAX = 16 << 20 };
    const Str key = STR("CMAKE_HOME_DIRECTORY:INTERNAL=");
    while (folder.len > 1 && !has_entry(arena, folder, "CMakeCache.txt"))
        folder = str_dir_name(folder);
    Bytes text;
    Str line;
    Error err;
    if (folder.len <= 1 ||
        !os_read_file(arena, arena_printf(arena, "%" STR_FMT "/CMakeCache.txt", STR_ARG(folder)),
                      CACHE_MAX, &text, &err))
        return STR("");
    for (Str rest = str_from_bytes(text); str_next_line(&rest, &line);)
        if (str_starts_with(line, key))
            return str_trim(str_slice(line, key.len, line.len));
    return STR("");
}

// Whether the source is the project's, and not the system's or another package's.
static bool is_of_project(Str path)
{
    static const char *const others[] = {"/usr/", "/rustc/", "/opt/", "/nix/store/"};
    if (path.len == 0 || path.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_starts_with(path, str_from_c(others[i])))
            return false;
    return str_find(path, STR("/.cargo/registry/")) == SIZE_MAX &&
           str_find(path, STR("/.rustup/")) == SIZE_MAX;
}

static bool is_below(Str path, Str folder)
{
    return str_starts_with(path, folder) && path.len > folder.len && path.ptr[folder.len] == '/';
}

// The deepest folder that all sources of the project share; empty: there are none.
static Str shared_folder(const Profile *p, const CoverFiles *files)
{
    Str shared = STR("");
    for (size_t i = 0; i < files->files.len; i++) {
        Str path = profile_text(p, files->files.at[i].file);
        if (!is_of_project(path))
            continue;
        if (shared.len == 0)
            shared = str_dir_name(path);
        while (shared.len > 1 && !is_below(path, shared))
            shared = str_dir_name(shared);
    }
    return shared;
}

// As the sources' paths have it: they may lead through a link.
static Str real_root(Arena *arena, Str root)
{
    char real[PATH_MAX];
    if (root.ptr[0] != '/' && realpath(arena_c_str(arena, root), real))
        root = arena_str(arena, str_from_c(real));
    while (root.len && root.ptr[root.len - 1] == '/')
        root.len--;
    return root;
}

Str cover_root(Arena *arena, Str asked, const Profile *p, const CoverFiles *files)
{
    char folder[PATH_MAX];
    if (asked.len)
        return real_root(arena, asked);
    Str here = getcwd(folder, sizeof(folder)) ? arena_str(arena, str_from_c(folder)) : STR("");
    Str shared = shared_folder(p, files);
    const Str roots[] = {repository_of(arena, here), cmake_sources(arena, here), here};
    for (size_t i = 0; i < ARRAY_LEN(roots); i++)
        if (roots[i].len > 1 &&
            (shared.len == 0 || str_equal(shared, roots[i]) || is_below(shared, roots[i])))
            return roots[i];
    // Sources of another machine keep their paths: how much of them is the project is not known.
    Str root = os_file_exists(shared) ? repository_of(arena, shared) : roots[0];
    if (root.len == 0)
        root = os_file_exists(shared) ? shared : here;
    return root.len > 1 ? root : STR("");
}
