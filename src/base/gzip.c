// SPDX-License-Identifier: Apache-2.0
// Unpacks gzip (RFC 1952).

#include "base/gzip.h"

#include <libdeflate.h>

#include "base/decoded.h"
#include "base/strbuf.h"

// Deflate codes at most 258 bytes in two bits: 1032 to 1.
static const size_t deflate_ratio_max = 1032;

// What the file's last four bytes state, modulo 2^32. Untrusted, and of the last member.
static size_t stated_length(Bytes in)
{
    size_t length = 0;
    for (size_t i = 0; i < 4 && in.len >= 4; i++)
        length |= (size_t)in.ptr[in.len - 4 + i] << 8 * i;
    return length;
}

// One member; doubles the room until it fits. The length that the trailer states is only a first
// guess.
static bool unpack_member(struct libdeflate_decompressor *d, Bytes in, size_t input_bytes,
                          StrBuf *out, size_t *used, Error *err)
{
    size_t left = (size_t)decoded_limit(input_bytes) + 1 - out->len;
    size_t limit = MIN(in.len * deflate_ratio_max, left);
    size_t room = MIN(MAX(in.len * 4 + 4096, stated_length(in)), limit);
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
        if (room >= limit && limit == left)
            return decoded_check(decoded_limit(input_bytes) + 1, input_bytes, err) ||
                   error_context(err, "gzip");
        if (room >= limit)
            return error_set(err, ERROR_FORMAT, "gzip: damaged data");
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
    size_t input_bytes = file.len;
    while (ok && file.len && gzip_is(file)) {
        size_t used = 0;
        ok = unpack_member(d, file, input_bytes, &out, &used, err) &&
             (decoded_check(out.len, input_bytes, err) || error_context(err, "gzip"));
        file = bytes_slice(file, used, file.len);
    }
    libdeflate_free_decompressor(d);
    if (ok)
        *ret = bytes_from_str(strbuf_move(arena, &out));
    strbuf_deinit(&out);
    return ok;
}
