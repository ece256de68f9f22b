// SPDX-License-Identifier: Apache-2.0
// Decompressed debug sections in the folder of the symbol cache. Distributions compress the debug
// information of libc and others; decompressing it takes longer than all else when only a few
// addresses are new (docs/formats/symbol-cache.md).

#ifndef SYMBOLISE_SECTION_CACHE_H
#define SYMBOLISE_SECTION_CACHE_H

#include "elf/build_id.h"
#include "symbolise/symbol_cache.h"

enum { SECTION_CACHE_VERSION = 1, SECTION_CACHE_ROWS_MAX = 64 };

// Where files are kept. `folder` is open and borrowed.
typedef struct SectionCache {
    int folder;
    const SymboliseHelp *help; // writes the files; NULL: this process does
    uint64_t max_bytes;        // of the folder, as for symbol_cache_write
} SectionCache;

// A section of the file: XXH3 of its compressed bytes, and its content.
typedef struct CachedSection {
    uint64_t packed_hash;
    uint64_t at, size; // bytes of the file
    uint64_t hash;     // XXH3 of the content
} CachedSection;

// The sections of one debug file. Zero: none.
typedef struct SectionSet {
    Bytes file; // borrowed
    uint32_t count;
    CachedSection rows[SECTION_CACHE_ROWS_MAX];
} SectionSet;

// The name of the file with the sections of a debug file: "debug-BUILDID.sym"; "" without build-id.
Str section_cache_name(Arena *arena, const BuildId *id);

// Reads the table of a file. False with an error when it is of another version or damaged; the
// contents are checked when they are taken.
MUST_CHECK bool section_set_open(Bytes file, SectionSet *ret, Error *err);

// Finds the content of a section by its compressed bytes. It lies in the file. False when the file
// does not have it, or has it damaged.
bool section_set_find(const SectionSet *set, Bytes packed, Bytes *ret);

// Compressed sections and their contents, to be written.
typedef struct UnpackedSection {
    Bytes packed, content;
} UnpackedSection;

// Appends a file. False, with nothing appended, when there are no sections or too many, or they are
// too large for a file of the cache.
bool section_set_encode(const UnpackedSection *sections, size_t count, StrBuf *out);

#endif // SYMBOLISE_SECTION_CACHE_H
