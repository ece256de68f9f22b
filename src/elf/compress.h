// SPDX-License-Identifier: Apache-2.0
// Compressed parts of ELF files: SHF_COMPRESSED sections (gABI "Section
// Compression"), GNU's older .zdebug_* sections, and .gnu_debugdata (xz).
//
// Stated sizes are not trusted. Each is limited to the best ratio that the method can reach,
// and to an absolute size. The caller holds their sum under decoded_limit of the file.

#ifndef ELF_COMPRESS_H
#define ELF_COMPRESS_H

#include "base/arena.h"
#include "base/error.h"

// More than any debug section seen (Chromium: 4 GB over all sections).
#define ELF_DECOMPRESSED_MAX (8ull << 30)
// .gnu_debugdata holds symbols only.
#define ELF_DEBUGDATA_MAX (256ull << 20)

// Decompresses a section that starts with Elf64_Chdr.
MUST_CHECK bool elf_decompress_section(Arena *arena, Bytes raw, Bytes *ret, Error *err);

// Decompresses a .zdebug_* section: "ZLIB", the size as 8 bytes big-endian, a zlib stream.
MUST_CHECK bool elf_decompress_zdebug(Arena *arena, Bytes raw, Bytes *ret, Error *err);

// The size that the header of a compressed section states: of an Elf64_Chdr or, without
// `has_header`, of a .zdebug_ section. False when the header is cut short.
bool elf_compressed_size(Bytes raw, bool has_header, uint64_t *ret);

// Decompresses one whole .xz file.
MUST_CHECK bool elf_decompress_xz(Arena *arena, Bytes xz, Bytes *ret, Error *err);

#endif // ELF_COMPRESS_H
