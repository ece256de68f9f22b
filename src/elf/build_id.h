// SPDX-License-Identifier: Apache-2.0
// Build-ids: the note that ties a mapped object to its separate debug file.
// Format: System V gABI ch. 5 "Note Section"; ld manual, --build-id.

#ifndef ELF_BUILD_ID_H
#define ELF_BUILD_ID_H

#include "elf/elf.h"

// Linkers write 8, 16 or 20 bytes. A user may ask for any length with
// --build-id=0x…; the cap keeps a corrupt note from being copied wholesale.
enum { ELF_BUILD_ID_MAX = 64 };

// Raw bytes of a build-id. `len` is 0 when the object has none, which is
// normal for hand-linked programs and is not an error.
typedef struct BuildId {
    uint8_t bytes[ELF_BUILD_ID_MAX];
    uint32_t len;
} BuildId;

// The bytes of a build-id, borrowed from it.
static inline Bytes build_id_bytes(const BuildId *id)
{
    return bytes_over(id->bytes, id->len);
}

// Whether both have a build-id and the two are equal.
static inline bool build_id_same(const BuildId *a, const BuildId *b)
{
    return a->len && bytes_equal(build_id_bytes(a), b->bytes, b->len);
}

// The build-id in lower-case hexadecimal digits, as in profiles and paths.
Str build_id_hex(Arena *arena, const BuildId *id);
// The reverse. False when the text is not hexadecimal, or not of 1 to ELF_BUILD_ID_MAX bytes.
MUST_CHECK bool build_id_from_hex(Str hex, BuildId *ret);

// Finds the build-id in one SHT_NOTE section or PT_NOTE segment.
//
// `notes` is borrowed, may be unaligned, and is not trusted. `align` is its
// sh_addralign or p_align. On false, `ret` is untouched and `err` says where
// the notes are broken.
MUST_CHECK bool elf_build_id_find(Bytes notes, uint64_t align, BuildId *ret, Error *err);

// The build-id of an object, from its PT_NOTE segments or, when they have none (separate debug
// files may lack their content), from its note sections. Broken notes count as none, because
// callers work without a build-id, too.
BuildId elf_build_id(const Elf *elf);

#endif // ELF_BUILD_ID_H
