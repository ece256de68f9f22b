// SPDX-License-Identifier: Apache-2.0
// Lists of build-ids. LLVM refuses a whole profile whose list is broken, so it is checked.

#include "llvmcov/binary_ids.h"

#include <stdlib.h>

static bool has_id(const BinaryIdVec *ids, Bytes id)
{
    for (size_t i = 0; i < ids->len; i++)
        if (bytes_equal(ids->at[i], id.ptr, id.len))
            return true;
    return false;
}

void prof_binary_ids_add(Arena *arena, Bytes id, BinaryIdVec *ids)
{
    if (!has_id(ids, id))
        vec_push(arena, ids, arena_bytes(arena, id));
}

bool prof_binary_ids_read(Arena *arena, Bytes ids, bool big_endian, BinaryIdVec *ret, Error *err)
{
    Cursor c = cursor_over(ids, "binary ids");
    c.big_endian = big_endian;
    if (ids.len % 8)
        return error_set(err, ERROR_FORMAT,
                         "binary ids take %zu bytes, which is not a multiple of 8", ids.len);
    while (cursor_more(&c)) {
        uint64_t len = cursor_u64(&c);
        Bytes id = cursor_padded(&c, len, 8);
        if (cursor_ok(&c) && len == 0)
            cursor_fail(&c, "a binary id of no bytes");
        if (cursor_ok(&c) && !has_id(ret, id))
            vec_push(arena, ret, id);
    }
    return cursor_check(&c, err);
}

static int compare_ids(const void *a, const void *b)
{
    const Bytes *x = a, *y = b;
    return str_compare(str_from_bytes(*x), str_from_bytes(*y));
}

void prof_binary_ids_write(StrBuf *out, const BinaryIdVec *ids)
{
    BinaryIdVec sorted = {0};
    for (size_t i = 0; i < ids->len; i++)
        vec_push(NULL, &sorted, ids->at[i]);
    if (sorted.len)
        qsort(sorted.at, sorted.len, sizeof(sorted.at[0]), compare_ids);
    for (size_t i = 0; i < sorted.len; i++) {
        uint64_t len = sorted.at[i].len;
        strbuf_add_bytes(out, bytes_over(&len, sizeof(len)));
        strbuf_add_bytes(out, sorted.at[i]);
        strbuf_add_repeated(out, '\0', align_up(len, 8) - len);
    }
    vec_free(&sorted);
}
