// SPDX-License-Identifier: Apache-2.0
// Reads and writes blobs of names, as in __llvm_prf_names and raw profiles: chunks of
// {ULEB plain size, ULEB zlib size (0: stored), bytes}, names joined by 0x01.
// Document: llvm/docs/InstrProfileFormat.rst, "Names".

#ifndef LLVMCOV_NAMES_H
#define LLVMCOV_NAMES_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/strbuf.h"
#include "base/table.h"
#include "base/vec.h"

// Names with their references (md5_low64). Texts lie in the arena.
typedef struct ProfNames {
    StrVec names;
    U64Vec refs;
    Table index;
} ProfNames;

// Decompresses a blob to texts in the arena, one for each chunk, with names joined by 0x01.
MUST_CHECK bool prof_names_unpack(Arena *arena, Bytes blob, StrVec *ret, Error *err);
typedef void ProfNameEach(void *ctx, Str name, uint64_t ref);
// Calls `each` for every name of such chunks, with its reference. The names borrow the chunks.
void prof_names_split(const StrVec *chunks, ProfNameEach *each, void *ctx);
// Unpacks a blob and calls `each` for its names.
MUST_CHECK bool prof_names_each(Arena *arena, Bytes blob, ProfNameEach *each, void *ctx,
                                Error *err);
// Adds all names of a blob; adds none when the blob is broken.
MUST_CHECK bool prof_names_add_blob(Arena *arena, ProfNames *into, Bytes blob, Error *err);
// Adds one name, without copying it, and returns its row. Equal names have one row.
uint32_t prof_names_add(Arena *arena, ProfNames *into, Str name);
// Appends a blob of names that are already joined by 0x01: one stored chunk, or nothing for "".
void prof_names_write(StrBuf *out, Str joined);
// The name with a reference; "" when it is not known.
Str prof_names_find(const ProfNames *names, uint64_t ref);
void prof_names_deinit(ProfNames *names); // frees the index; texts belong to the arena

// A decompressor for any number of zlib streams. Zero-initialised is valid.
typedef struct ProfInflater {
    uint64_t packed_total, plain_total;    // of all that was inflated, for the limit
    struct libdeflate_decompressor *state; // NULL until the first stream
} ProfInflater;

void prof_inflater_deinit(ProfInflater *in); // frees the decompressor

// Decompresses a zlib stream to `plain_len` bytes in the arena. Before it allocates them it checks
// that a stream of that length can have so many.
MUST_CHECK bool prof_inflate(ProfInflater *in, Arena *arena, Bytes packed, uint64_t plain_len,
                             Bytes *ret, Error *err);

#endif // LLVMCOV_NAMES_H
