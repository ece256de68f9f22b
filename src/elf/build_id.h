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

static inline Bytes build_id_bytes(const BuildId *id)
{
    return bytes_over(id->bytes, id->len);
}

// Two build-ids that are both there and the same.
static inline bool build_id_same(const BuildId *a, const BuildId *b)
{
    return a->len && bytes_equal(build_id_bytes(a), b->bytes, b->len);
}

// Lower-case hex, as profiles and paths spell it.
Str build_id_hex(Arena *arena, const BuildId *id);
// The reverse. False for what is no hex of 1 to ELF_BUILD_ID_MAX bytes.
MUST_CHECK bool build_id_from_hex(Str hex, BuildId *ret);

// Finds the build-id in one SHT_NOTE section or PT_NOTE segment.
//
// `notes` is borrowed, may be unaligned, and is not trusted. `align` is its
// sh_addralign or p_align. On false, `ret` is untouched and `err` says where
// the notes are broken.
MUST_CHECK bool elf_build_id_find(Bytes notes, uint64_t align, BuildId *ret, Error *err);

// The build-id of an object, from its PT_NOTE segments or, where there are none
// (separate debug files may lack their content), its note sections. Broken notes
// count as none: a build-id is looked for, not required.
BuildId elf_build_id(const Elf *elf);

#endif // ELF_BUILD_ID_H
