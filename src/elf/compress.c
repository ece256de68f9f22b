// SPDX-License-Identifier: Apache-2.0
// Decompresses sections: zlib by libdeflate, zstd by libzstd, xz by liblzma.

#include "elf/compress.h"

#include "base/cursor.h"
#include "base/decoded.h"

#include <elf.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

// The best ratios of the methods: deflate encodes 258 bytes in 2 bits; a zstd block of 128 KiB has
// at least 4 bytes.
enum { ZLIB_RATIO_MAX = 1032, ZSTD_RATIO_MAX = 32768 };

static bool size_check(uint64_t size, size_t packed, uint64_t ratio_max, Error *err)
{
    if (size > ELF_DECOMPRESSED_MAX)
        return error_set(err, ERROR_LIMIT, "claims to hold %llu bytes, more than %llu",
                         (unsigned long long)size, (unsigned long long)ELF_DECOMPRESSED_MAX);
    if (size / ratio_max > packed)
        return error_set(err, ERROR_FORMAT, "claims to hold %llu bytes in %zu compressed ones",
                         (unsigned long long)size, packed);
    return true;
}

static bool zlib_unpack(Arena *arena, Bytes packed, uint64_t size, Bytes *ret, Error *err)
{
    if (!size_check(size, packed.len, ZLIB_RATIO_MAX, err))
        return false;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d)
        return error_set(err, ERROR_LIMIT, "no memory for the zlib decompressor");
    uint8_t *out = arena_alloc(arena, size, 16);
    // Without a pointer for the actual size, fewer than `size` bytes are an error, too.
    enum libdeflate_result r =
        libdeflate_zlib_decompress(d, packed.ptr, packed.len, out, size, NULL);
    libdeflate_free_decompressor(d);
    if (r != LIBDEFLATE_SUCCESS)
        return error_set(err, ERROR_FORMAT, "zlib stream is broken or not %llu bytes long",
                         (unsigned long long)size);
    *ret = bytes_over(out, size);
    return true;
}

static bool zstd_unpack(Arena *arena, Bytes packed, uint64_t size, Bytes *ret, Error *err)
{
    if (!size_check(size, packed.len, ZSTD_RATIO_MAX, err))
        return false;
    uint8_t *out = arena_alloc(arena, size, 16);
    size_t n = ZSTD_decompress(out, size, packed.ptr, packed.len);
    if (ZSTD_isError(n))
        return error_set(err, ERROR_FORMAT, "zstd stream is broken: %s", ZSTD_getErrorName(n));
    if (n != size)
        return error_set(err, ERROR_FORMAT, "zstd stream holds %zu bytes, expected %llu", n,
                         (unsigned long long)size);
    *ret = bytes_over(out, size);
    return true;
}

bool elf_decompress_section(Arena *arena, Bytes raw, Bytes *ret, Error *err)
{
    Cursor c = cursor_over(raw, "compression header");
    uint32_t method = cursor_u32(&c);
    cursor_skip(&c, 4); // ch_reserved
    uint64_t size = cursor_u64(&c);
    cursor_skip(&c, 8); // ch_addralign
    Bytes packed = cursor_bytes(&c, cursor_left(&c));
    if (!cursor_check(&c, err))
        return false;
    if (method == ELFCOMPRESS_ZLIB)
        return zlib_unpack(arena, packed, size, ret, err);
    if (method == ELFCOMPRESS_ZSTD)
        return zstd_unpack(arena, packed, size, ret, err);
    return error_set(err, ERROR_UNSUPPORTED, "compression method %u is not known", method);
}

bool elf_decompress_zdebug(Arena *arena, Bytes raw, Bytes *ret, Error *err)
{
    Cursor c = cursor_over(raw, "compression header");
    Bytes magic = cursor_bytes(&c, 4);
    c.big_endian = true;
    uint64_t size = cursor_u64(&c);
    Bytes packed = cursor_bytes(&c, cursor_left(&c));
    if (!cursor_check(&c, err))
        return false;
    if (memcmp(magic.ptr, "ZLIB", 4) != 0)
        return error_set(err, ERROR_FORMAT, "does not start with 'ZLIB'");
    return zlib_unpack(arena, packed, size, ret, err);
}

bool elf_compressed_size(Bytes raw, bool has_header, uint64_t *ret)
{
    Cursor c = cursor_over(raw, "compression header");
    cursor_skip(&c, has_header ? 8 : 4); // ch_type and ch_reserved; "ZLIB"
    c.big_endian = !has_header;
    uint64_t size = cursor_u64(&c);
    if (!cursor_ok(&c))
        return false;
    *ret = size;
    return true;
}

// The size of the content of an xz file, from its index. False when it has none.
static bool xz_size(Bytes xz, uint64_t *ret)
{
    lzma_stream_flags footer;
    if (xz.len < 2 * LZMA_STREAM_HEADER_SIZE ||
        lzma_stream_footer_decode(&footer, xz.ptr + xz.len - LZMA_STREAM_HEADER_SIZE) != LZMA_OK ||
        footer.backward_size > xz.len - 2 * LZMA_STREAM_HEADER_SIZE)
        return false;
    lzma_index *index = NULL;
    uint64_t memory_max = 64 << 20;
    size_t at = xz.len - LZMA_STREAM_HEADER_SIZE - (size_t)footer.backward_size;
    size_t end = xz.len - LZMA_STREAM_HEADER_SIZE;
    if (lzma_index_buffer_decode(&index, &memory_max, NULL, xz.ptr, &at, end) != LZMA_OK)
        return false;
    *ret = lzma_index_uncompressed_size(index);
    lzma_index_end(index, NULL);
    return true;
}

bool elf_decompress_xz(Arena *arena, Bytes xz, Bytes *ret, Error *err)
{
    uint64_t size;
    if (!xz_size(xz, &size))
        return error_set(err, ERROR_FORMAT, "xz stream has no valid index");
    if (size > ELF_DEBUGDATA_MAX)
        return error_set(err, ERROR_LIMIT, "xz stream holds %llu bytes, more than %llu",
                         (unsigned long long)size, (unsigned long long)ELF_DEBUGDATA_MAX);
    if (!decoded_check(size, xz.len, err))
        return false;
    uint8_t *out = arena_alloc(arena, size, 16);
    uint64_t memory_max = 256 << 20;
    size_t in_at = 0, out_at = 0;
    lzma_ret r =
        lzma_stream_buffer_decode(&memory_max, 0, NULL, xz.ptr, &in_at, xz.len, out, &out_at, size);
    if (r != LZMA_OK || out_at != size)
        return error_set(err, ERROR_FORMAT, "xz stream is broken (liblzma error %d)", (int)r);
    *ret = bytes_over(out, size);
    return true;
}
