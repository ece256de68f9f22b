// SPDX-License-Identifier: Apache-2.0
// What the three build tools share: running them, finding build folders.

#include "build/build_parts_internal.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/capture.h"

enum { OUTPUT_MAX_BYTES = 1 << 28, FOLDER_DEPTH = 2 };

Str build_json_text(const JsonValue *object, const char *key)
{
    const JsonValue *v = object ? json_find(object, key) : NULL;
    return v && v->kind == JSON_STRING ? v->text : STR("");
}

bool build_run(Arena *arena, Str search_path, const StrVec *words, Bytes *output, int *status,
               Error *err)
{
    Program tool;
    char **argv = arena_array(arena, char *, words->len + 1);
    for (size_t i = 0; i < words->len; i++)
        argv[i] = arena_c_str(arena, words->at[i]);
    return program_find(arena, words->at[0], search_path, &tool, err) &&
           os_capture(arena, &tool, argv, false, OUTPUT_MAX_BYTES, output, status, err);
}

// ---- Build folders -------------------------------------------------------------------

typedef struct FolderSearch {
    Arena *arena;
    const char *marker;
    Str best; // "" until one is found
    struct timespec newest;
} FolderSearch;

static bool is_newer(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

static bool consider_folder(FolderSearch *s, Str folder)
{
    struct stat st;
    Str path = arena_printf(s->arena, "%" STR_FMT "/%s", STR_ARG(folder), s->marker);
    if (stat(path.ptr, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    if (s->best.len == 0 || is_newer(st.st_mtim, s->newest)) {
        s->best = folder;
        s->newest = st.st_mtim;
    }
    return true;
}

// Folders below a build folder are its own: they are not searched.
static void search_below(FolderSearch *s, Str folder, unsigned depth)
{
    DIR *dir = opendir(arena_c_str(s->arena, folder));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
            continue;
        Str below = arena_printf(s->arena, "%" STR_FMT "/%s", STR_ARG(folder), e->d_name);
        if (!consider_folder(s, below) && depth > 1)
            search_below(s, below, depth - 1);
    }
    if (dir)
        closedir(dir);
}

bool build_folder_find(Arena *arena, Str wanted, const char *marker, const char *option, Str *ret,
                       Error *err)
{
    FolderSearch s = {.arena = arena, .marker = marker};
    if (wanted.len) {
        if (!consider_folder(&s, wanted))
            return error_set(err, ERROR_NOT_FOUND,
                             "'%" STR_FMT "' is not a build folder: it has no %s", STR_ARG(wanted),
                             marker);
    } else if (!consider_folder(&s, STR("."))) {
        search_below(&s, STR("."), FOLDER_DEPTH);
    }
    if (s.best.len == 0) {
        (void)error_set(err, ERROR_NOT_FOUND,
                        "%s: no build folder here: no folder down to two levels has a %s", option,
                        marker);
        return error_hint(err, "set one up, or name it with --build-dir DIR");
    }
    *ret = s.best;
    return true;
}
