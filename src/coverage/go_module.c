// SPDX-License-Identifier: Apache-2.0
// Finds go.mod and takes the module's path out of it.

#include "coverage/go_module.h"

#include <limits.h>
#include <stdlib.h>

#include "os/file.h"

// The line "module PATH", where PATH may be quoted and a comment may follow.
static Str module_path(Str text)
{
    Str line;
    while (str_next_line(&text, &line)) {
        line = str_trim(line);
        if (!str_starts_with(line, STR("module ")))
            continue;
        line = str_trim(str_slice(line, 7, MIN(str_find(line, STR("//")), line.len)));
        bool is_quoted = line.len > 1 && (line.ptr[0] == '"' || line.ptr[0] == '`');
        return is_quoted ? str_slice(line, 1, line.len - 1) : line;
    }
    return (Str){0};
}

// The module of one folder.
static GoModule read_module(Arena *arena, Str folder)
{
    enum { HEAD_MAX = 1 << 16 };
    GoModule none = {0};
    char real[PATH_MAX];
    if (!realpath(folder.len ? arena_c_str(arena, folder) : ".", real))
        return none;
    folder = arena_str(arena, str_from_c(real));
    uint8_t *head = arena_alloc(arena, HEAD_MAX, 1);
    Str file = arena_printf(arena, "%" STR_FMT "/go.mod", STR_ARG(folder));
    Str text = str_over((const char *)head, os_read_start(file, head, HEAD_MAX));
    return (GoModule){module_path(text), folder};
}

GoModule cover_go_module(Arena *arena, Str profile)
{
    GoModule beside = read_module(arena, str_dir_name(profile));
    return beside.path.len ? beside : read_module(arena, STR(""));
}

Str cover_go_module_file(Arena *arena, const GoModule *module, Str path)
{
    size_t len = module->path.len;
    if (len == 0 || path.len <= len || path.ptr[len] != '/' || !str_starts_with(path, module->path))
        return path;
    return arena_printf(arena, "%" STR_FMT "%" STR_FMT, STR_ARG(module->folder),
                        STR_ARG(str_slice(path, len, path.len)));
}
