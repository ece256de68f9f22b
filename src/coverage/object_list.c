// SPDX-License-Identifier: Apache-2.0
// Lines of the list of objects.

#include "coverage/object_list.h"

void cover_object_list_add(StrBuf *out, const BuildId *id, Str path)
{
    Arena arena = {0};
    Str hex = id && id->len ? build_id_hex(&arena, id) : STR("-");
    if (str_find_char(path, '\n') == SIZE_MAX)
        strbuf_printf(out, "%" STR_FMT " %" STR_FMT "\n", STR_ARG(hex), STR_ARG(path));
    arena_deinit(&arena);
}

bool cover_object_list_split(Str line, BuildId *id, Str *path)
{
    Str hex;
    *id = (BuildId){0};
    return str_split(line, ' ', &hex, path) && path->len &&
           (str_equal(hex, STR("-")) || build_id_from_hex(hex, id));
}
