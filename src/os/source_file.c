// SPDX-License-Identifier: Apache-2.0
// Source files whose names stand in a file that a stranger made.

#include "os/source_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/root_path.h"

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

// Of the languages that compilers write debug information or coverage for.
static const char *const suffixes[] = {
    "c",   "h",   "cc",  "hh",  "cpp", "hpp",   "cxx",  "hxx", "c++",   "h++", "inc",  "inl",
    "ipp", "tcc", "tpp", "def", "cu",  "cuh",   "s",    "S",   "asm",   "rs",  "go",   "d",
    "di",  "zig", "nim", "m",   "mm",  "swift", "f",    "for", "ftn",   "f77", "f90",  "f95",
    "f03", "f08", "F",   "F90", "adb", "ads",   "pas",  "pp",  "vala",  "cr",  "hs",   "ml",
    "mli", "jl",  "py",  "pyx", "pxd", "rb",    "java", "kt",  "scala", "cs",  "js",   "ts",
    "mjs", "cjs", "tsx", "jsx", "php", "pl",    "pm",   "lua", "ex",    "erl", "clj",  "cl",
    "y",   "yy",  "l",   "ll",  "re",  "rl",    "v",    "sv",  "vhd",   "cob", "lisp", "sh"};

bool source_has_suffix(Str path)
{
    Str name = str_base_name(path);
    size_t dot = str_find_last_char(name, '.');
    if (dot == SIZE_MAX)
        return str_find(path, STR("/include/c++/")) != SIZE_MAX;
    Str suffix = str_slice(name, dot + 1, name.len);
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_equal(suffix, str_from_c(suffixes[i])))
            return true;
    return false;
}

// ---- Folders -----------------------------------------------------------------------

// A checkout that somebody else made above us is not the project.
static bool is_own_checkout(Arena *arena, Str folder)
{
    struct stat st;
    Str git = arena_printf(arena, "%" STR_FMT "/.git", STR_ARG(folder));
    return stat(git.ptr, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0);
}

void source_roots_add(Arena *arena, SourceRoots *roots, Str path)
{
    char real[PATH_MAX];
    if (realpath(arena_c_str(arena, path), real))
        vec_push(arena, &roots->folders, arena_str(arena, str_from_c(real)));
}

void source_roots_init(Arena *arena, const StrVec *named, SourceRoots *ret)
{
    char real[PATH_MAX];
    *ret = (SourceRoots){0};
    if (getcwd(real, sizeof(real)) && strcmp(real, "/") != 0) {
        Str here = arena_str(arena, str_from_c(real)), root = here;
        for (Str at = here; at.len > 1 && root.len == here.len; at = str_dir_name(at))
            if (is_own_checkout(arena, at))
                root = at;
        vec_push(arena, &ret->folders, root);
    }
    for (size_t i = 0; i < named->len; i++)
        source_roots_add(arena, ret, named->at[i]);
}

static bool is_in(Str path, Str folder)
{
    if (str_equal(folder, STR("/")) || str_equal(folder, path))
        return true;
    return str_starts_with(path, folder) && path.len > folder.len && path.ptr[folder.len] == '/';
}

// ---- Files -------------------------------------------------------------------------

// Where an open file lies, behind all links.
static bool real_path(int fd, char *buf, size_t size, Str *ret)
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, buf, size);
    if (n <= 0 || (size_t)n >= size)
        return false;
    *ret = str_over(buf, (size_t)n);
    return true;
}

static bool is_public_source(int fd, Str path)
{
    struct stat st;
    return source_has_suffix(path) && fstat(fd, &st) == 0 && (st.st_mode & S_IROTH);
}

static bool may_be_read(const SourceRoots *roots, bool or_public, int fd)
{
    char buf[PATH_MAX];
    Str path;
    if (!real_path(fd, buf, sizeof(buf), &path))
        return false;
    for (size_t i = 0; i < roots->folders.len; i++)
        if (is_in(path, roots->folders.at[i]))
            return true;
    return or_public && is_public_source(fd, path);
}

SourceAccess source_map(const SourceRoots *roots, bool or_public, Str path, MappedFile *ret)
{
    char name[PATH_MAX];
    if (path.len == 0 || path.len >= sizeof(name) || memchr(path.ptr, 0, path.len))
        return SOURCE_ABSENT;
    memcpy(name, path.ptr, path.len);
    name[path.len] = 0;
    int fd = open(name, OPEN_FLAGS);
    if (fd < 0)
        return SOURCE_ABSENT;
    SourceAccess access = SOURCE_OUTSIDE;
    if (may_be_read(roots, or_public, fd))
        access = os_map_fd(fd, path, ret, NULL) ? SOURCE_HERE : SOURCE_ABSENT;
    close(fd);
    return access;
}

SourceAccess source_map_in_root(int root_fd, Str path, MappedFile *ret)
{
    char buf[PATH_MAX];
    Str real;
    int fd = str_starts_with(path, STR("/")) ? os_open_in_root(root_fd, path, OPEN_FLAGS) : -1;
    if (fd < 0)
        return SOURCE_ABSENT;
    SourceAccess access = SOURCE_OUTSIDE;
    if (real_path(fd, buf, sizeof(buf), &real) && is_public_source(fd, real))
        access = os_map_fd(fd, path, ret, NULL) ? SOURCE_HERE : SOURCE_ABSENT;
    close(fd);
    return access;
}
