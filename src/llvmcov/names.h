// SPDX-License-Identifier: Apache-2.0
// Blobs of names, as __llvm_prf_names and raw profiles hold them: chunks of
// {ULEB plain size, ULEB zlib size (0: stored), bytes}, names joined by 0x01.
// Document: llvm/docs/InstrProfileFormat.rst, "Names".

#ifndef LLVMCOV_NAMES_H
#define LLVMCOV_NAMES_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/strbuf.h"
#include "base/table.h"
#include "base/vec.h"

// Names with their references (md5_low64). Texts are the arena's.
typedef struct ProfNames {
    StrVec names;
    U64Vec refs;
    Table index;
} ProfNames;

// The chunks of a blob as text, names joined by 0x01; texts are the arena's.
MUST_CHECK bool prof_names_unpack(Arena *arena, Bytes blob, StrVec *ret, Error *err);
// Gives every name of such chunks with its reference to `each`; texts stay where they are.
typedef void ProfNameEach(void *ctx, Str name, uint64_t ref);
void prof_names_split(const StrVec *chunks, ProfNameEach *each, void *ctx);
// Both in one.
MUST_CHECK bool prof_names_each(Arena *arena, Bytes blob, ProfNameEach *each, void *ctx,
                                Error *err);
// Adds the names of a blob; none of one that is broken.
MUST_CHECK bool prof_names_add_blob(Arena *arena, ProfNames *into, Bytes blob, Error *err);
// Adds one name, which is not copied; an equal one is kept once. Gives its row.
uint32_t prof_names_add(Arena *arena, ProfNames *into, Str name);
// Appends a blob of names that are joined by 0x01 already: one stored chunk, or nothing.
void prof_names_write(StrBuf *out, Str joined);
// "" when the reference is not known.
Str prof_names_find(const ProfNames *names, uint64_t ref);
void prof_names_deinit(ProfNames *names); // the index; texts go with the arena

// What zlib streams are unpacked with, for many of them. Zero-initialised is valid.
typedef struct ProfInflater {
    struct libdeflate_decompressor *state; // NULL until the first stream
} ProfInflater;

void prof_inflater_deinit(ProfInflater *in);

// `plain_len` bytes out of a zlib stream, into the arena. The size is checked
// against what zlib can reach before it is allocated.
MUST_CHECK bool prof_inflate(ProfInflater *in, Arena *arena, Bytes packed, uint64_t plain_len,
                             Bytes *ret, Error *err);

#endif // LLVMCOV_NAMES_H
