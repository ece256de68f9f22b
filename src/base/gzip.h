// SPDX-License-Identifier: Apache-2.0
// gzip (RFC 1952) around a file.

#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include "base/arena.h"
#include "base/error.h"

// Whether the file begins as gzip does.
static inline bool gzip_is(Bytes file)
{
    return file.len >= 18 && file.ptr[0] == 0x1f && file.ptr[1] == 0x8b && file.ptr[2] == 8;
}

// Unpacks all members into the arena. The result is limited to 4 GiB, and to the most that deflate
// can make of the file's size.
MUST_CHECK bool gzip_unpack(Arena *arena, Bytes file, Bytes *ret, Error *err);

#endif // BASE_GZIP_H
