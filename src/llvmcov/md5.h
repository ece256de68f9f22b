// SPDX-License-Identifier: Apache-2.0
// MD5, which LLVM's profiles use to name functions and file lists.
// Document: RFC 1321.

#ifndef LLVMCOV_MD5_H
#define LLVMCOV_MD5_H

#include "base/str.h"

// The first 8 bytes of the digest, little-endian: LLVM's NameRef and FilenamesRef.
uint64_t md5_low64(Bytes data);

// The same for many texts, several at a time.
void md5_low64_many(const Str *texts, size_t count, uint64_t *refs);

#endif // LLVMCOV_MD5_H
