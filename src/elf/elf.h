// SPDX-License-Identifier: Apache-2.0
// ELF objects: header, sections, segments, symbols, and the links that lead to
// separate debug files. Works on bytes, does no I/O.
// Format: System V gABI ch. 4 and 5; ELF-64, little-endian.

#ifndef ELF_ELF_H
#define ELF_ELF_H

#include "base/arena.h"
#include "base/error.h"

#include <elf.h>

typedef struct ElfSection {
    Str name;        // borrowed from the file
    uint64_t flags;  // SHF_*
    uint64_t svma;   // sh_addr; 0 when not loaded
    uint64_t offset; // into the file
    uint64_t size;   // in the file, so compressed; SHT_NOBITS takes no bytes there
    uint64_t align;
    uint64_t entry_size;
    uint32_t type; // SHT_*
    uint32_t link; // section number, its meaning is the type's
    uint32_t info;
} ElfSection;

typedef struct ElfSegment {
    uint64_t offset; // into the file
    uint64_t svma;   // p_vaddr
    uint64_t file_size;
    uint64_t mem_size;
    uint64_t align;
    uint32_t type;  // PT_*
    uint32_t flags; // PF_*
} ElfSegment;

// A parsed object. It borrows `file`; the tables lie in the arena. Offsets and sizes of sections
// and segments are as stated and not checked: get their bytes from the functions below, which check
// them.
typedef struct Elf {
    Bytes file;
    uint16_t type;    // ET_*
    uint16_t machine; // EM_*
    uint64_t entry;
    ElfSection *sections; // [0] is the null section
    size_t section_count;
    ElfSegment *segments;
    size_t segment_count;
} Elf;

// Parses header, section and segment tables. ERROR_UNSUPPORTED for 32-bit and big-endian objects;
// ERROR_FORMAT for other files, and when the tables lie outside the file. A file without section
// headers is valid and has no sections.
MUST_CHECK bool elf_parse(Arena *arena, Bytes file, Elf *ret, Error *err);

// ---- Sections --------------------------------------------------------------

// The first section of that name or type, or NULL.
const ElfSection *elf_section_find(const Elf *elf, Str name);
const ElfSection *elf_section_find_type(const Elf *elf, uint32_t type);

// A section's bytes as they lie in the file, still compressed where the section
// is; empty for SHT_NOBITS. False when they lie outside the file.
MUST_CHECK bool elf_section_raw(const Elf *elf, const ElfSection *s, Bytes *ret, Error *err);

// A section's bytes, decompressed (SHF_COMPRESSED zlib or zstd; .zdebug_*) into
// `arena` where needed, else borrowed from the file.
MUST_CHECK bool elf_section_bytes(Arena *arena, const Elf *elf, const ElfSection *s, Bytes *ret,
                                  Error *err);

// The bytes of a section by name, as elf_section_bytes. ".debug_x" also finds
// ".zdebug_x". A section that is absent or has no bytes here gives empty bytes.
MUST_CHECK bool elf_section_load(Arena *arena, const Elf *elf, Str name, Bytes *ret, Error *err);

// ---- Addresses -------------------------------------------------------------
// A mapping says which file offset lies at which address of the process. Symbol tables and
// DWARF use the stated address (svma) of that offset. Linkers place segments differently,
// so that the PT_LOAD segments are needed to convert one into the other.

// The stated address of the first byte of a mapping of `len` bytes of the file from `offset` on.
// A mapping begins at a page boundary, a segment may not (lld, mold), so that the first byte may
// belong to the segment before. Therefore the executable segment that shares most bytes with the
// mapping is used. False when none shares any. The result may wrap below zero; use it only for
// `start - svma`, the bias.
bool elf_svma_of_mapping(const Elf *elf, uint64_t offset, uint64_t len, uint64_t *ret);
// The loaded bytes from a stated address to the end of their segment's file
// part; empty when there are none.
Bytes elf_bytes_at_svma(const Elf *elf, uint64_t svma);

// The place in the file of a stated address. False when the file has no bytes of it.
bool elf_offset_at_svma(const Elf *elf, uint64_t svma, uint64_t *ret);
// Whether the address lies in an executable PT_LOAD, or, in an object that has
// no segments, in an executable section.
bool elf_is_code(const Elf *elf, uint64_t svma);

// ---- Links to separate debug files -------------------------------------------

// .gnu_debuglink: a file name, without directories, and the CRC-32 of the file.
typedef struct ElfDebugLink {
    Str name; // borrowed
    uint32_t crc;
} ElfDebugLink;

// Reads .gnu_debuglink. False when there is none, or a broken one.
bool elf_debug_link_find(const Elf *elf, ElfDebugLink *ret);

// .gnu_debugaltlink, as dwz writes it: a path and the build-id of the file there.
typedef struct ElfAltLink {
    Str path;       // borrowed
    Bytes build_id; // borrowed
} ElfAltLink;

// Reads .gnu_debugaltlink. False when there is none, or a broken one.
bool elf_alt_link_find(const Elf *elf, ElfAltLink *ret);

// The CRC-32 of a whole file, as .gnu_debuglink states it.
uint32_t elf_crc32(Bytes file);

// .gnu_debugdata: a small ELF object with function symbols, xz-compressed inside
// this one. Empty when there is none.
MUST_CHECK bool elf_debugdata_load(Arena *arena, const Elf *elf, Bytes *ret, Error *err);

// ---- Symbols ---------------------------------------------------------------

typedef struct ElfSymbol {
    Str name; // borrowed; "" when it has none or its offset is broken
    uint64_t value;
    uint64_t size;
    uint32_t section; // section number or SHN_*, SHN_XINDEX not yet looked up
    uint8_t type;     // STT_*
    uint8_t binding;  // STB_*
    uint8_t visibility;
} ElfSymbol;

typedef struct ElfSymbols {
    Bytes entries; // a whole number of Elf64_Sym
    Bytes names;
    size_t count;
} ElfSymbols;

// The symbol table of type SHT_SYMTAB or SHT_DYNSYM. Absent: count 0.
MUST_CHECK bool elf_symbols_load(Arena *arena, const Elf *elf, uint32_t section_type,
                                 ElfSymbols *ret, Error *err);

// Symbol number i, i < count.
ElfSymbol elf_symbol_get(const ElfSymbols *s, size_t i);

#endif // ELF_ELF_H
