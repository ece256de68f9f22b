// SPDX-License-Identifier: Apache-2.0
// Packing by gzip.

#include "base/gzip_pack.h"

#include <libdeflate.h>

bool gzip_pack(Str bytes, StrBuf *out, Error *err)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(1);
    if (!c)
        return error_set(err, ERROR_LIMIT, "out of memory for compression");
    size_t bound = libdeflate_gzip_compress_bound(c, bytes.len);
    char *to = strbuf_reserve(out, bound);
    out->len += libdeflate_gzip_compress(c, bytes.ptr, bytes.len, to, bound);
    libdeflate_free_compressor(c);
    return true;
}
