// SPDX-License-Identifier: Apache-2.0
// Splits a command line by the rules of POSIX quoting.

#include "base/shell_words.h"

#include "base/strbuf.h"

bool shell_split_words(Arena *arena, Str text, StrVec *ret, Error *err)
{
    StrBuf word = {0};
    bool in_word = false;
    char quote = '\0';
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (quote == '\'' ? c == '\'' : quote == '"' && c == '"') {
            quote = '\0';
        } else if (quote == '\'') {
            strbuf_add_char(&word, c);
        } else if (c == '\\' && i + 1 < text.len) {
            char next = text.ptr[++i];
            if (quote && next != '"' && next != '\\' && next != '$' && next != '`')
                strbuf_add_char(&word, '\\');
            strbuf_add_char(&word, next);
            in_word = true;
        } else if (quote) {
            strbuf_add_char(&word, c);
        } else if (c == '\'' || c == '"') {
            quote = c;
            in_word = true;
        } else if (c == ' ' || c == '\t' || c == '\n') {
            if (in_word)
                vec_push(arena, ret, arena_str(arena, strbuf_str(&word)));
            strbuf_clear(&word);
            in_word = false;
        } else {
            strbuf_add_char(&word, c);
            in_word = true;
        }
    }
    if (in_word && !quote)
        vec_push(arena, ret, arena_str(arena, strbuf_str(&word)));
    strbuf_deinit(&word);
    return !quote ||
           error_set(err, ERROR_USAGE, "a quote is not closed in '%" STR_FMT "'", STR_ARG(text));
}
