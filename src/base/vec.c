// SPDX-License-Identifier: Apache-2.0
// Growable arrays: the one function behind the macros.

#include "base/vec.h"

void *vec_make_room(Arena *arena, void *at, size_t len, size_t *cap, size_t more, size_t elem_size,
                    size_t elem_align)
{
    size_t need = len + more;
    assert(need >= len);
    size_t new_cap = *cap ? *cap * 2 : 8;
    if (new_cap < need)
        new_cap = need;
    size_t new_size = arena_size_of(new_cap, elem_size);
    if (arena)
        at = arena_grow_raw(arena, at, *cap * elem_size, new_size, elem_align);
    else
        at = heap_grow(at, new_size);
    *cap = new_cap;
    return at;
}

void str_add_lines(Arena *arena, Str text, StrVec *ret)
{
    Str line;
    while (str_next_line(&text, &line))
        vec_push(arena, ret, line);
}
