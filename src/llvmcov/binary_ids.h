// SPDX-License-Identifier: Apache-2.0
// The build-ids of the programs that wrote a profile: {u64 length, bytes padded to 8} one after the
// other, in raw profiles since version 6 and in indexed profiles since version 9.

#ifndef LLVMCOV_BINARY_IDS_H
#define LLVMCOV_BINARY_IDS_H

#include "base/cursor.h"
#include "base/strbuf.h"
#include "base/vec.h"

typedef Vec(Bytes) BinaryIdVec;

// Appends the ids that are not in `ret` yet; they lie in `ids`. On false, which names the
// offset within `ids`, some may be in `ret`.
MUST_CHECK bool prof_binary_ids_read(Arena *arena, Bytes ids, bool big_endian, BinaryIdVec *ret,
                                     Error *err);

// Appends a copy of an id that is not in `ids` yet.
void prof_binary_ids_add(Arena *arena, Bytes id, BinaryIdVec *ids);

// Appends the ids in the order of their bytes, little-endian, as llvm-profdata writes them.
void prof_binary_ids_write(StrBuf *out, const BinaryIdVec *ids);

#endif // LLVMCOV_BINARY_IDS_H
