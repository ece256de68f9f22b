// SPDX-License-Identifier: Apache-2.0
// Packing by gzip (RFC 1952).

#ifndef BASE_GZIP_PACK_H
#define BASE_GZIP_PACK_H

#include "base/error.h"
#include "base/strbuf.h"

// Appends `bytes`, packed, at the fastest level: what is sent or stored once.
MUST_CHECK bool gzip_pack(Str bytes, StrBuf *out, Error *err);

#endif // BASE_GZIP_PACK_H
