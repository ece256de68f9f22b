// SPDX-License-Identifier: Apache-2.0
// Criterion's folders: HOME/GROUP/FUNCTION/VALUE/new/{sample,benchmark}.json, of which the parts
// below GROUP may be missing.

#include "collect/bench/criterion_home.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"
#include "os/folder_tree.h"

enum { DEPTH_MAX = 8, SAMPLE_MAX_BYTES = 64 << 20 };

bool criterion_home_make(Arena *arena, Str scratch, const char **ret, Error *err)
{
    char *path = arena_c_str(
        arena, arena_printf(arena, "%" STR_FMT "/assay-criterion-XXXXXX", STR_ARG(scratch)));
    if (!mkdtemp(path))
        return error_os(err, "cannot make a folder in '%" STR_FMT "'", STR_ARG(scratch));
    *ret = path;
    return true;
}

static bool is_entry(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static bool read_result(Arena *arena, Str folder, HarnessResults *ret, Error *err)
{
    Str sample = arena_printf(arena, "%" STR_FMT "/new/sample.json", STR_ARG(folder));
    Str about = arena_printf(arena, "%" STR_FMT "/new/benchmark.json", STR_ARG(folder));
    Bytes times, description;
    HarnessResult r;
    if (!os_file_exists(sample))
        return true;
    if (!os_read_file(arena, sample, SAMPLE_MAX_BYTES, &times, err) ||
        !os_read_file(arena, about, SAMPLE_MAX_BYTES, &description, err))
        return false;
    if (!harness_read_criterion(arena, str_from_bytes(times), str_from_bytes(description), &r, err))
        return error_context(err, "cannot read '%" STR_FMT "'", STR_ARG(sample));
    vec_push(arena, ret, r);
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool read_below(Arena *arena, Str folder, unsigned depth, HarnessResults *ret, Error *err)
{
    Vec(char *) names = {0};
    DIR *dir = opendir(arena_c_str(arena, folder));
    if (!dir)
        return error_os(err, "cannot read '%" STR_FMT "'", STR_ARG(folder));
    for (struct dirent *e; (e = readdir(dir));)
        if (is_entry(e) && e->d_type == DT_DIR)
            vec_push(arena, &names, arena_c_str(arena, str_from_c(e->d_name)));
    closedir(dir);
    if (names.len)
        qsort(names.at, names.len, sizeof(*names.at), by_text);
    if (!read_result(arena, folder, ret, err))
        return false;
    for (size_t i = 0; depth > 0 && i < names.len; i++) {
        Str below = arena_printf(arena, "%" STR_FMT "/%s", STR_ARG(folder), names.at[i]);
        if (!read_below(arena, below, depth - 1, ret, err))
            return false;
    }
    return true;
}

bool criterion_home_read(Arena *arena, const char *home, HarnessResults *ret, Error *err)
{
    return read_below(arena, str_from_c(home), DEPTH_MAX, ret, err);
}

void criterion_home_remove(const char *home)
{
    if (home)
        (void)os_tree_remove(AT_FDCWD, home); // a file that stays in $TMPDIR does no harm
}
