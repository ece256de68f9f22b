// SPDX-License-Identifier: Apache-2.0
// The folder of results while a run replaces its contents or adds to them.

#include "collect/cover/results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/cover/objects.h"
#include "coverage/object_list.h"
#include "coverage/rows/selection.h"
#include "os/file.h"

enum { DEPTH_MAX = 64 };

// Whether a name, as "lines-1.info", is that of a file with the lines that the breakpoint engine
// hit.
static bool is_tracefile(Str name)
{
    return str_starts_with(name, STR("lines-")) && str_ends_with(name, STR(".info"));
}

// Whether a run writes a file of this name.
static bool is_result(Str name)
{
    return str_equal(name, STR("profile.profdata")) || str_equal(name, COVER_OBJECTS_FILE) ||
           str_equal(name, COVER_SOURCES_FILE) || str_equal(name, STR("tests.assay-cover")) ||
           is_tracefile(name) || str_starts_with(name, STR("object-"));
}

// Whether a name is that of a file that programs write to the folder.
static bool is_raw_result(Str name)
{
    static const char *const ends[] = {
        ".gcda", ".gcno", ".profraw", ".profraw.kept", ".profraw.refused", ".object"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends_with(name, str_from_c(ends[i])))
            return true;
    return false;
}

// Whether a folder of this name holds files that programs wrote.
static bool is_raw_folder(Str name, unsigned depth)
{
    return depth > 0 || str_equal(name, STR("gcov")) || str_equal(name, STR("raw"));
}

static void list(Arena *arena, Str folder, unsigned depth, CoverOldFiles *ret)
{
    DIR *dir = opendir(arena_c_str(arena, folder));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        Str name = str_from_c(e->d_name);
        Str path = arena_printf(arena, "%" STR_FMT "/%s", STR_ARG(folder), e->d_name);
        struct stat st;
        if (str_equal(name, STR(".")) || str_equal(name, STR("..")) || lstat(path.ptr, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && is_raw_folder(name, depth) && depth < DEPTH_MAX)
            list(arena, path, depth + 1, ret);
        else if (!S_ISDIR(st.st_mode) && (depth ? is_raw_result(name) : is_result(name)))
            vec_push(arena, ret, (CoverOldFile){path, st.st_dev, st.st_ino});
    }
    if (dir)
        closedir(dir);
}

void cover_results_list(Arena *arena, Str folder, CoverOldFiles *ret)
{
    list(arena, folder, 0, ret);
}

void cover_results_remove(Arena *arena, Str folder, const CoverOldFiles *old)
{
    struct stat st;
    for (size_t i = 0; i < old->len; i++) {
        const CoverOldFile *f = &old->at[i];
        if (lstat(f->path.ptr, &st) != 0 || st.st_dev != f->device || st.st_ino != f->inode)
            continue;
        unlink(f->path.ptr);
        for (Str up = str_dir_name(f->path); up.len > folder.len; up = str_dir_name(up))
            if (rmdir(arena_c_str(arena, up)) != 0)
                break;
    }
}

// ---- gcc's data ----------------------------------------------------------------------

typedef struct Copy {
    Str from, to;
    bool ok;
    Error *err;
} Copy;

static void copy_file(void *ctx, Str path)
{
    Copy *c = ctx;
    Arena arena = {0};
    MappedFile m = {0};
    Str to = arena_printf(&arena, "%" STR_FMT "%" STR_FMT, STR_ARG(c->to),
                          STR_ARG(str_slice(path, c->from.len, path.len)));
    c->ok = c->ok && os_map_file(path, &m, c->err) && os_make_folders(str_dir_name(to), c->err) &&
            os_write_file(to, m.bytes, OUTPUT_REPLACE, c->err);
    os_unmap_file(&m);
    arena_deinit(&arena);
}

bool cover_results_copy_data(Str from, Str to, Error *err)
{
    Copy c = {.from = from, .to = to, .ok = true, .err = err};
    cover_each_data_file(from, copy_file, &c);
    return c.ok;
}

// Removes the data files below a folder, and the folders.
static void remove_data(Str folder)
{
    Arena arena = {0};
    CoverOldFiles files = {0};
    list(&arena, folder, 1, &files);
    cover_results_remove(&arena, str_dir_name(folder), &files);
    arena_deinit(&arena);
}

static bool swap(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0)
        return true;
    return errno == ENOENT && rename(from, to) == 0; // there were none before
}

bool cover_results_move_data(Str from, Str to, Error *err)
{
    Arena arena = {0};
    const char *source = arena_c_str(&arena, from), *target = arena_c_str(&arena, to);
    bool ok = true;
    if (access(source, F_OK) == 0) {
        // Another file system, or one that cannot exchange.
        if (!swap(source, target)) {
            remove_data(to);
            ok = cover_results_copy_data(from, to, err);
        }
        if (ok)
            remove_data(from);
        if (ok)
            (void)!symlink(target, source);
    }
    arena_deinit(&arena);
    return ok;
}
