// SPDX-License-Identifier: Apache-2.0
// Finds lines of brackets, looking at one line at a time: inside a comment of several lines there
// is not code anyway.

#include "collect/cover/bracket_lines.h"

#include <string.h>

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The length of a word at the beginning that opens a block and does nothing itself, or 0.
static size_t block_word(Str s)
{
    static const char *const words[] = {"else", "do", "try"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i]);
        if (str_starts_with(s, str_from_c(words[i])) && (s.len == len || !is_name_byte(s.ptr[len])))
            return len;
    }
    return 0;
}

// The length of a comment at the beginning, up to its end or the end of the line; 0 when there is
// none.
static size_t comment(Str s)
{
    if (str_starts_with(s, STR("//")))
        return s.len;
    if (!str_starts_with(s, STR("/*")))
        return 0;
    size_t end = str_find(str_slice(s, 2, s.len), STR("*/"));
    return end == SIZE_MAX ? s.len : end + 4;
}

static const bool is_bracket[256] = {
    [' '] = true, ['\t'] = true, ['\r'] = true, ['{'] = true, ['}'] = true, ['('] = true,
    [')'] = true, ['['] = true,  [']'] = true,  [';'] = true, [','] = true, ['\\'] = true,
};

bool bracket_line_is(Str line)
{
    for (;;) {
        size_t at = 0;
        while (at < line.len && is_bracket[(uint8_t)line.ptr[at]])
            at++;
        if (at == line.len)
            return true;
        line = str_slice(line, at, line.len);
        size_t skip = comment(line);
        if (skip == 0)
            skip = block_word(line);
        if (skip == 0)
            return false;
        line = str_slice(line, skip, line.len);
    }
}

void bracket_lines_find(Str text, U32Vec *ret)
{
    Str line;
    for (uint32_t number = 1; str_next_line(&text, &line); number++)
        if (bracket_line_is(line))
            vec_push(NULL, ret, number);
}
