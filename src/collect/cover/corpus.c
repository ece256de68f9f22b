// SPDX-License-Identifier: Apache-2.0
// Lists the files of a corpus and puts each into the command line.

#include "collect/cover/corpus.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/strbuf.h"

enum { DEPTH_MAX = 64 };

static bool list_files(Arena *arena, Str folder, Str below, unsigned depth, StrVec *ret, Error *err)
{
    Str path = below.len
                   ? arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(below))
                   : folder;
    DIR *dir = opendir(arena_c_str(arena, path));
    if (!dir)
        return error_os(err, "cannot open folder '%" STR_FMT "'", STR_ARG(path));
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(dir));) {
        struct stat st;
        if (e->d_name[0] == '.' || fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        Str name = below.len ? arena_printf(arena, "%" STR_FMT "/%s", STR_ARG(below), e->d_name)
                             : arena_str(arena, str_from_c(e->d_name));
        if (S_ISREG(st.st_mode))
            vec_push(arena, ret, name);
        else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            ok = list_files(arena, folder, name, depth + 1, ret, err);
    }
    closedir(dir);
    return ok;
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(*(const Str *)a, *(const Str *)b);
}

// A word with the path in each place for it.
static char *fill_word(Arena *arena, Str word, Str path, bool *any)
{
    StrBuf text = {0};
    while (word.len) {
        bool is_place = str_starts_with(word, STR("{}")) || str_starts_with(word, STR("@@"));
        strbuf_add(&text, is_place ? path : str_slice(word, 0, 1));
        word = str_slice(word, is_place ? 2 : 1, word.len);
        *any |= is_place;
    }
    char *ret = arena_c_str(arena, strbuf_str(&text));
    strbuf_deinit(&text);
    return ret;
}

static char **fill(Arena *arena, char *const argv[], Str path, bool *any)
{
    Vec(char *) words = {0};
    for (size_t i = 0; argv[i]; i++)
        vec_push(arena, &words, fill_word(arena, str_from_c(argv[i]), path, any));
    vec_push(arena, &words, NULL);
    return words.at;
}

bool cover_corpus_list(Arena *arena, Str folder, char *const argv[], CoverTestCommands *ret,
                       Error *err)
{
    StrVec names = {0};
    bool any = false;
    if (!list_files(arena, folder, STR(""), 0, &names, err))
        return false;
    if (names.len == 0)
        return error_set(err, ERROR_NOT_FOUND, "no file in '%" STR_FMT "'", STR_ARG(folder));
    qsort(names.at, names.len, sizeof(names.at[0]), compare_names);
    for (size_t i = 0; i < names.len; i++) {
        Str path =
            arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(names.at[i]));
        CoverTestCommand command = {.name = names.at[i], .argv = fill(arena, argv, path, &any)};
        vec_push(arena, ret, command);
    }
    if (any)
        return true;
    (void)error_set(err, ERROR_USAGE, "the command has no place for its input");
    return error_hint(err, "write {} where the name of the file goes: -- ./parse {}");
}
