// SPDX-License-Identifier: Apache-2.0
// Real paths of sources. The real path of a folder is asked for once; a source of it then costs
// one system call.

#include "coverage/source_paths.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "llvmcov/covmap.h"

void cover_source_paths_init(CoverSourcePaths *s, Arena *arena)
{
    *s = (CoverSourcePaths){.arena = arena};
    intern_init(&s->spelt, arena);
    intern_init(&s->folders, arena);
    intern_init(&s->files, arena);
}

void cover_source_paths_deinit(CoverSourcePaths *s)
{
    if (!s->arena)
        return;
    intern_deinit(&s->spelt);
    intern_deinit(&s->folders);
    intern_deinit(&s->files);
}

// The text at `id`, which has ptr NULL until it is set.
static Str *text_of(CoverSourcePaths *s, StrVec *texts, uint32_t id)
{
    if (id >= texts->len)
        vec_extend(s->arena, texts, id + 1 - texts->len);
    return &texts->at[id];
}

// Empty when nothing is there.
static Str real_path(CoverSourcePaths *s, Str path)
{
    char real[PATH_MAX];
    bool found = realpath(path.len ? arena_c_str(s->arena, path) : ".", real) != NULL;
    return found ? arena_str(s->arena, str_from_c(real)) : STR("");
}

static Str real_folder(CoverSourcePaths *s, Str folder)
{
    uint32_t id = intern_add(&s->folders, folder);
    Str *real = text_of(s, &s->real, id);
    if (!real->ptr)
        *real = real_path(s, folder);
    return *real;
}

// A file that is gone has the name that it had in its folder.
Str cover_source_file(CoverSourcePaths *s, Str path)
{
    struct stat st;
    Str folder = real_folder(s, str_dir_name(path)), base = str_base_name(path);
    if (folder.len == 0 || base.len == 0 || str_equal(base, STR("..")) ||
        str_equal(base, STR("."))) {
        Str plain = covmap_path_without_dots(s->arena, path);
        return str_equal(plain, path) ? path : cover_source_file(s, plain);
    }
    if (lstat(arena_c_str(s->arena, path), &st) == 0 && S_ISLNK(st.st_mode)) {
        Str real = real_path(s, path);
        if (real.len)
            return real;
    }
    return arena_printf(s->arena, "%" STR_FMT "%s%" STR_FMT, STR_ARG(folder),
                        folder.len > 1 ? "/" : "", STR_ARG(base));
}

// A path without ".." is the shortest to read, but behind a link it leads elsewhere.
static Str name_of(CoverSourcePaths *s, Str path, Str file)
{
    Str plain = covmap_path_without_dots(s->arena, path);
    if (plain.len == 0)
        return path;
    return str_equal(cover_source_file(s, plain), file) ? plain : file;
}

Str cover_source_path(CoverSourcePaths *s, Str path)
{
    if (path.len == 0)
        return path;
    uint32_t id = intern_add(&s->spelt, path);
    path = intern_get(&s->spelt, id); // the caller's may be gone before its name is
    Str *shown = text_of(s, &s->shown, id);
    if (!shown->ptr) {
        Str file = cover_source_file(s, path);
        Str *name = text_of(s, &s->names, intern_add(&s->files, file));
        if (!name->ptr)
            *name = name_of(s, path, file);
        *shown = *name;
    }
    return *shown;
}
