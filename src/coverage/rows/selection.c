// SPDX-License-Identifier: Apache-2.0
// Globs on the paths of sources, and their file.

#include "coverage/rows/selection.h"

static bool any_glob(const StrVec *globs, Str path)
{
    for (size_t i = 0; i < globs->len; i++)
        if (str_glob_match(globs->at[i], path))
            return true;
    return false;
}

bool cover_selection_keep(const CoverSelection *s, Str path)
{
    return !any_glob(&s->exclude, path) && (s->include.len == 0 || any_glob(&s->include, path));
}

static void add_globs(StrBuf *out, const char *word, const StrVec *globs)
{
    for (size_t i = 0; i < globs->len; i++) {
        strbuf_printf(out, "%s ", word);
        // A glob stands on one line: '?' matches what would end it.
        for (size_t k = 0; k < globs->at[i].len; k++)
            strbuf_add_char(out, globs->at[i].ptr[k] == '\n' ? '?' : globs->at[i].ptr[k]);
        strbuf_add_char(out, '\n');
    }
}

void cover_selection_write(const CoverSelection *s, StrBuf *out)
{
    add_globs(out, "include", &s->include);
    add_globs(out, "exclude", &s->exclude);
}

bool cover_selection_read(Arena *arena, Str text, CoverSelection *ret, Error *err)
{
    Str line, word, glob;
    for (unsigned number = 1; str_next_line(&text, &line); number++) {
        bool split = str_split(line, ' ', &word, &glob) && glob.len;
        if (split && str_equal(word, STR("include")))
            vec_push(arena, &ret->include, arena_str(arena, glob));
        else if (split && str_equal(word, STR("exclude")))
            vec_push(arena, &ret->exclude, arena_str(arena, glob));
        else
            return error_set(err, ERROR_FORMAT,
                             "line %u is neither 'include GLOB' nor 'exclude "
                             "GLOB'",
                             number);
    }
    return true;
}
