// SPDX-License-Identifier: Apache-2.0
// Rows of separated values.

#include "import/stacks/csv_row.h"

// A field that begins with a quote, up to the quote that ends it; "" stands for one.
static Str quoted(Arena *arena, Str line, size_t *at)
{
    char *out = arena_alloc(arena, line.len + 1, 1);
    size_t len = 0, i = *at + 1;
    for (; i < line.len; i++) {
        if (line.ptr[i] != '"')
            out[len++] = line.ptr[i];
        else if (i + 1 < line.len && line.ptr[i + 1] == '"')
            out[len++] = line.ptr[i++];
        else
            break;
    }
    *at = MIN(i + 1, line.len);
    return str_over(out, len);
}

// VTune indents before the quote.
static size_t quote_after_spaces(Str line, size_t at)
{
    while (at < line.len && line.ptr[at] == ' ')
        at++;
    return at < line.len && line.ptr[at] == '"' ? at : SIZE_MAX;
}

StrVec csv_row(Arena *arena, Str line, char separator)
{
    StrVec row = {0};
    for (size_t at = 0; at <= line.len; at++) {
        size_t begin = at, quote = quote_after_spaces(line, at);
        Str field;
        if (quote != SIZE_MAX) {
            at = quote;
            field = quoted(arena, line, &at);
            // The indentation stays: it is the depth.
            if (quote > begin)
                field = arena_printf(arena, "%*s%" STR_FMT, (int)MIN(quote - begin, (size_t)100000),
                                     "", STR_ARG(field));
        }
        while (at < line.len && line.ptr[at] != separator)
            at++;
        if (quote == SIZE_MAX)
            field = str_slice(line, begin, at);
        vec_push(arena, &row, field);
    }
    return row;
}

size_t csv_column(const StrVec *row, const char *text)
{
    for (size_t i = 0; i < row->len; i++)
        if (str_find(row->at[i], str_from_c(text)) != SIZE_MAX)
            return i;
    return SIZE_MAX;
}
