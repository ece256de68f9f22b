// SPDX-License-Identifier: Apache-2.0
// Compression around a foreign recording: bzip2, gzip, zstd and xz.

#include "import/packed_internal.h"

#include <bzlib.h>
#include <lzma.h>
#include <zstd.h>

#include "base/decoded.h"
#include "base/gzip.h"
#include "base/strbuf.h"

typedef bool Unpack(Arena *arena, Bytes file, Bytes *ret, Error *err);

static bool begins_with(Bytes file, const char *magic, size_t len)
{
    return file.len > len && memcmp(file.ptr, magic, len) == 0;
}

static bool zstd_is(Bytes file)
{
    return begins_with(file, "\x28\xb5\x2f\xfd", 4);
}

static bool xz_is(Bytes file)
{
    return begins_with(file,
                       "\xfd"
                       "7zXZ\0",
                       6);
}

// "BZh", the size of blocks, and the mark of a block or of the end.
static bool bzip2_is(Bytes file)
{
    return begins_with(file, "BZh", 3) && file.len >= 10 && file.ptr[3] >= '1' &&
           file.ptr[3] <= '9' &&
           (memcmp(file.ptr + 4, "1AY&SY", 6) == 0 ||
            memcmp(file.ptr + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

// Room for the next piece of output; false when the limit of the input is reached.
static bool next_room(const StrBuf *out, size_t input_bytes, size_t *room, Error *err)
{
    enum { PIECE = 1 << 20 };
    uint64_t limit = decoded_limit(input_bytes);
    if (out->len > limit)
        return decoded_check(limit + 1, input_bytes, err);
    *room = (size_t)MIN(limit + 1 - out->len, (uint64_t)MAX((size_t)PIECE, out->len));
    return true;
}

static bool keep(Arena *arena, StrBuf *out, bool ok, Bytes *ret)
{
    if (ok)
        *ret = bytes_from_str(strbuf_move(arena, out));
    strbuf_deinit(out);
    return ok;
}

static bool zstd_unpack(Arena *arena, Bytes file, Bytes *ret, Error *err)
{
    StrBuf out = {0};
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {file.ptr, file.len, 0};
    size_t left = 0, room = 0;
    bool ok = stream || error_set(err, ERROR_LIMIT, "no memory for the zstd decompressor");
    for (bool has_more = true; ok && (in.pos < in.size || has_more);) {
        ok = next_room(&out, file.len, &room, err);
        if (!ok)
            break;
        ZSTD_outBuffer piece = {strbuf_reserve(&out, room), room, 0};
        left = ZSTD_decompressStream(stream, &piece, &in);
        out.len += piece.pos;
        has_more = piece.pos == piece.size;
        if (ZSTD_isError(left))
            ok = error_set(err, ERROR_FORMAT, "damaged data: %s", ZSTD_getErrorName(left));
    }
    ZSTD_freeDStream(stream);
    if (ok && left)
        ok = error_set(err, ERROR_FORMAT, "the packed data ends early");
    return keep(arena, &out, ok, ret);
}

static bool xz_unpack(Arena *arena, Bytes file, Bytes *ret, Error *err)
{
    enum { MEMORY_MAX = 256 << 20 };
    StrBuf out = {0};
    lzma_stream s = LZMA_STREAM_INIT;
    lzma_ret result = lzma_stream_decoder(&s, MEMORY_MAX, LZMA_CONCATENATED);
    s.next_in = file.ptr;
    s.avail_in = file.len;
    size_t room = 0;
    bool ok = result == LZMA_OK;
    while (ok && result == LZMA_OK && next_room(&out, file.len, &room, err)) {
        s.next_out = (uint8_t *)strbuf_reserve(&out, room);
        s.avail_out = room;
        result = lzma_code(&s, LZMA_FINISH);
        out.len += room - s.avail_out;
    }
    lzma_end(&s);
    bool is_over = out.len > decoded_limit(file.len);
    if (result != LZMA_STREAM_END && !is_over)
        (void)error_set(err, ERROR_FORMAT, "damaged data, or its end is missing");
    return keep(arena, &out, result == LZMA_STREAM_END && !is_over, ret);
}

// libbzip2 takes and gives at most 4 GiB at once.
static unsigned up_to_4_gib(size_t bytes)
{
    return (unsigned)MIN(bytes, (size_t)UINT32_MAX);
}

// One stream; streams may follow each other, as bzip2 and pbzip2 write them. `in` moves on.
static bool bzip2_unpack_stream(Bytes *in, size_t input_bytes, StrBuf *out, Error *err)
{
    bz_stream s = {0};
    int result = BZ2_bzDecompressInit(&s, 0, 0);
    size_t room = 0;
    bool ok = result == BZ_OK || error_set(err, ERROR_LIMIT, "no memory for the decompressor");
    bool has_begun = result == BZ_OK;
    while (ok && result == BZ_OK) {
        ok = next_room(out, input_bytes, &room, err);
        if (!ok)
            break;
        unsigned given = up_to_4_gib(in->len), free_bytes = up_to_4_gib(room);
        // The library has no const in its interface and does not write there.
        s.next_in = (char *)(uintptr_t)in->ptr;
        s.avail_in = given;
        s.next_out = strbuf_reserve(out, free_bytes);
        s.avail_out = free_bytes;
        result = BZ2_bzDecompress(&s);
        out->len += free_bytes - s.avail_out;
        *in = bytes_slice(*in, given - s.avail_in, in->len);
        bool is_stuck = result == BZ_OK && in->len == 0 && s.avail_out != 0;
        if ((result != BZ_OK && result != BZ_STREAM_END) || is_stuck)
            ok = error_set(err, ERROR_FORMAT, "damaged data, or its end is missing");
    }
    if (has_begun)
        BZ2_bzDecompressEnd(&s);
    return ok;
}

static bool bzip2_unpack(Arena *arena, Bytes file, Bytes *ret, Error *err)
{
    StrBuf out = {0};
    Bytes in = file;
    bool ok = true;
    do
        ok = bzip2_unpack_stream(&in, file.len, &out, err);
    while (ok && bzip2_is(in));
    return keep(arena, &out, ok, ret);
}

static const struct {
    const char *name;
    bool (*is)(Bytes file);
    Unpack *unpack;
} methods[] = {{"gzip", gzip_is, gzip_unpack},
               {"zstd", zstd_is, zstd_unpack},
               {"xz", xz_is, xz_unpack},
               {"bzip2", bzip2_is, bzip2_unpack}};

bool packed_is(Bytes head)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (methods[i].is(head))
            return true;
    return false;
}

bool packed_unpack(Arena *arena, Bytes file, Bytes *ret, Error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (!methods[i].is(file))
            continue;
        if (methods[i].unpack(arena, file, ret, err))
            return true;
        bool is_named = methods[i].unpack == gzip_unpack; // its messages say "gzip"
        return is_named ? false : error_context(err, "%s", methods[i].name);
    }
    *ret = file;
    return true;
}
