// SPDX-License-Identifier: Apache-2.0
// Compression around a foreign recording.

#ifndef IMPORT_PACKED_INTERNAL_H
#define IMPORT_PACKED_INTERNAL_H

#include "base/arena.h"
#include "base/error.h"

// Whether the file begins as gzip, zstd, xz or bzip2 does.
bool packed_is(Bytes head);

// Unpacks a file of one of the methods into the arena; any other file is given back as it is. The
// result is limited by the file's size (base/decoded.h).
MUST_CHECK bool packed_unpack(Arena *arena, Bytes file, Bytes *ret, Error *err);

#endif // IMPORT_PACKED_INTERNAL_H
