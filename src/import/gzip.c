// SPDX-License-Identifier: Apache-2.0
// gzip (RFC 1952) around a foreign recording.

#include "import/gzip_internal.h"

#include <libdeflate.h>

#include "base/strbuf.h"

// Deflate codes at most 258 bytes in two bits: 1032 to 1.
static const size_t deflate_ratio_max = 1032;
static const size_t unpacked_max = 4ull << 30;

// One member; doubles the room until it fits. The length that the trailer
// states is only a first guess: it is untrusted and modulo 2^32.
static bool unpack_member(struct libdeflate_decompressor *d, Bytes in, StrBuf *out, size_t *used,
                          Error *err)
{
    size_t limit = MIN(in.len * deflate_ratio_max, unpacked_max);
    size_t room = MIN(in.len * 4 + 4096, limit);
    for (;;) {
        size_t got;
        char *to = strbuf_reserve(out, room);
        enum libdeflate_result result =
            libdeflate_gzip_decompress_ex(d, in.ptr, in.len, to, room, used, &got);
        if (result == LIBDEFLATE_SUCCESS) {
            out->len += got;
            return true;
        }
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
            return error_set(err, ERROR_FORMAT, "gzip: damaged data");
        if (room >= limit)
            return error_set(err, ERROR_LIMIT, "gzip: unpacks to over %zu bytes", limit);
        room = MIN(room * 2, limit);
    }
}

bool gzip_unpack(Arena *arena, Bytes file, Bytes *ret, Error *err)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d)
        return error_set(err, ERROR_LIMIT, "cannot start libdeflate: out of memory");
    StrBuf out = {0};
    bool ok = true;
    while (ok && file.len && gzip_is(file)) {
        size_t used = 0;
        ok = unpack_member(d, file, &out, &used, err);
        file = bytes_slice(file, used, file.len);
        if (ok && out.len > unpacked_max)
            ok = error_set(err, ERROR_LIMIT, "gzip: unpacks to over %zu bytes", unpacked_max);
    }
    libdeflate_free_decompressor(d);
    if (ok)
        *ret = arena_bytes(arena, bytes_from_str(strbuf_str(&out)));
    strbuf_deinit(&out);
    return ok;
}
