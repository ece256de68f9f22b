// SPDX-License-Identifier: Apache-2.0
// MD5. LLVM's profiles identify functions and file lists by it, Coveralls identifies sources.
// Document: RFC 1321.

#ifndef BASE_MD5_H
#define BASE_MD5_H

#include "base/str.h"

// The whole digest, 16 bytes in the order of RFC 1321.
void md5_digest(Bytes data, uint8_t ret[16]);

// The first 8 bytes of the digest, little-endian: LLVM's NameRef and FilenamesRef.
uint64_t md5_low64(Bytes data);

// The same for `count` texts, several at a time in vector registers. `refs` has room for `count`.
void md5_low64_many(const Str *texts, size_t count, uint64_t *refs);

#endif // BASE_MD5_H
