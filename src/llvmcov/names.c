// SPDX-License-Identifier: Apache-2.0
// Blobs of names: decompresses and splits them, and finds names by reference.

#include "llvmcov/names.h"

#include <libdeflate.h>

#include "base/decoded.h"
#include "base/md5.h"

void prof_inflater_deinit(ProfInflater *in)
{
    if (in->state)
        libdeflate_free_decompressor(in->state);
    *in = (ProfInflater){0};
}

bool prof_inflate(ProfInflater *in, Arena *arena, Bytes packed, uint64_t plain_len, Bytes *ret,
                  Error *err)
{
    // Deflate has a ratio of 1032:1 at best.
    if (plain_len / 1040 > packed.len)
        return error_set(err, ERROR_FORMAT, "%zu zlib bytes cannot hold the stated %llu",
                         packed.len, (unsigned long long)plain_len);
    in->packed_total += packed.len;
    in->plain_total += plain_len;
    if (!decoded_check(in->plain_total, in->packed_total, err))
        return false;
    uint8_t *plain = arena_alloc(arena, plain_len, 1);
    if (!in->state)
        in->state = libdeflate_alloc_decompressor();
    if (!in->state)
        return error_set(err, ERROR_OS, "no memory for zlib");
    size_t got = 0;
    enum libdeflate_result result =
        libdeflate_zlib_decompress(in->state, packed.ptr, packed.len, plain, plain_len, &got);
    if (result != LIBDEFLATE_SUCCESS || got != plain_len)
        return error_set(err, ERROR_FORMAT, "broken zlib data");
    *ret = bytes_over(plain, plain_len);
    return true;
}

static uint32_t add_name(Arena *arena, ProfNames *into, Str name, uint64_t ref)
{
    uint32_t row;
    for (TableProbe p = table_probe(&into->index, ref); table_next(&into->index, &p, &row);)
        if (into->refs.at[row] == ref)
            return row;
    row = (uint32_t)into->refs.len;
    vec_push(arena, &into->refs, ref);
    vec_push(arena, &into->names, name);
    table_insert(&into->index, ref, row);
    return row;
}

uint32_t prof_names_add(Arena *arena, ProfNames *into, Str name)
{
    return add_name(arena, into, name, md5_low64(bytes_from_str(name)));
}

typedef struct AddTo {
    Arena *arena;
    ProfNames *names;
} AddTo;

static void add_each(void *ctx, Str name, uint64_t ref)
{
    AddTo *to = ctx;
    add_name(to->arena, to->names, name, ref);
}

// Reads and decompresses the next chunk. False at the end and on failure.
static bool next_chunk(ProfInflater *in, Arena *arena, Cursor *c, Bytes *ret, Error *err)
{
    while (cursor_more(c) && c->data.ptr[c->at] == 0) // padding between chunks
        c->at++;
    if (!cursor_more(c))
        return false;
    uint64_t plain_len = cursor_uleb(c);
    uint64_t packed_len = cursor_uleb(c);
    Bytes chunk = cursor_bytes(c, packed_len ? packed_len : plain_len);
    if (!cursor_check(c, err))
        return false;
    if (packed_len && !prof_inflate(in, arena, chunk, plain_len, &chunk, err))
        return error_context(err, "names of functions at offset 0x%zx", c->at);
    *ret = packed_len ? chunk : arena_bytes(arena, chunk);
    return true;
}

bool prof_names_unpack(Arena *arena, Bytes blob, StrVec *ret, Error *err)
{
    Cursor c = cursor_over(blob, "names of functions");
    Error why = {0};
    StrVec chunks = {0};
    Bytes chunk;
    ProfInflater in = {0};
    while (next_chunk(&in, arena, &c, &chunk, &why))
        vec_push(arena, &chunks, str_from_bytes(chunk));
    prof_inflater_deinit(&in);
    if (why.kind != ERROR_NONE) {
        if (err)
            *err = why;
        return false;
    }
    *ret = chunks;
    return true;
}

void prof_names_split(const StrVec *chunks, ProfNameEach *each, void *ctx)
{
    enum { BATCH = 64 };
    Str names[BATCH], name;
    uint64_t refs[BATCH];
    for (size_t chunk = 0; chunk < chunks->len; chunk++) {
        Str rest = chunks->at[chunk];
        for (bool more = true; more;) {
            size_t n = 0;
            while (n < BATCH && (more = str_next_part(&rest, '\1', &name)))
                if (name.len)
                    names[n++] = name;
            md5_low64_many(names, n, refs);
            for (size_t i = 0; i < n; i++)
                each(ctx, names[i], refs[i]);
        }
    }
}

// The number of names to make room for, limited because a broken blob may repeat the same name.
static size_t room_for_names(const StrVec *chunks)
{
    enum { ROOM_MAX = 1 << 20 };
    size_t count = chunks->len;
    for (size_t i = 0; i < chunks->len; i++)
        for (size_t k = 0; k < chunks->at[i].len; k++)
            count += chunks->at[i].ptr[k] == '\1';
    return MIN(count, (size_t)ROOM_MAX);
}

bool prof_names_add_blob(Arena *arena, ProfNames *into, Bytes blob, Error *err)
{
    StrVec chunks;
    AddTo to = {arena, into};
    if (!prof_names_unpack(arena, blob, &chunks, err))
        return false;
    size_t count = room_for_names(&chunks);
    table_reserve(&into->index, into->refs.len + count);
    vec_reserve(arena, &into->refs, count);
    vec_reserve(arena, &into->names, count);
    prof_names_split(&chunks, add_each, &to);
    return true;
}

bool prof_names_each(Arena *arena, Bytes blob, ProfNameEach *each, void *ctx, Error *err)
{
    StrVec chunks;
    if (!prof_names_unpack(arena, blob, &chunks, err))
        return false;
    prof_names_split(&chunks, each, ctx);
    return true;
}

Str prof_names_find(const ProfNames *names, uint64_t ref)
{
    uint32_t row;
    for (TableProbe p = table_probe(&names->index, ref); table_next(&names->index, &p, &row);)
        if (names->refs.at[row] == ref)
            return names->names.at[row];
    return STR("");
}

void prof_names_deinit(ProfNames *names)
{
    table_deinit(&names->index);
}

// ---- Writing ---------------------------------------------------------------

static void add_uleb(StrBuf *out, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        strbuf_add_char(out, (char)(v | 0x80));
    strbuf_add_char(out, (char)v);
}

void prof_names_write(StrBuf *out, Str joined)
{
    if (joined.len == 0)
        return;
    add_uleb(out, joined.len);
    add_uleb(out, 0);
    strbuf_add(out, joined);
}
