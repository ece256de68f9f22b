// SPDX-License-Identifier: Apache-2.0
// Finds and reads source files.

#include "coverage/source_text.h"

void cover_sources_deinit(CoverSources *s)
{
    os_unmap_file(&s->file);
    arena_deinit(&s->arena);
}

static bool open_source(CoverSources *s, Str path)
{
    if (!s->roots)
        return os_map_file(path, &s->file, NULL);
    SourceAccess access = source_map(s->roots, false, path, &s->file);
    s->is_outside |= access == SOURCE_OUTSIDE;
    return access == SOURCE_HERE;
}

bool cover_source_text(void *ctx, Str path, Str *text)
{
    CoverSources *s = ctx;
    arena_deinit(&s->arena);
    os_unmap_file(&s->file);
    s->is_outside = false;
    bool found = open_source(s, path);
    // Tries ever shorter ends of the path below each folder.
    for (size_t i = 0; i < s->folders.len && !found; i++) {
        Str rest = path;
        while (!found && rest.len) {
            while (rest.len && rest.ptr[0] == '/')
                rest = str_slice(rest, 1, rest.len);
            found = open_source(s, arena_printf(&s->arena, "%" STR_FMT "/%" STR_FMT,
                                                STR_ARG(s->folders.at[i]), STR_ARG(rest)));
            size_t slash = str_find_char(rest, '/');
            rest = slash == SIZE_MAX ? STR("") : str_slice(rest, slash, rest.len);
        }
    }
    if (found)
        *text = str_from_bytes(s->file.bytes);
    return found;
}
