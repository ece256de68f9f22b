// SPDX-License-Identifier: Apache-2.0
// Address -> symbol, from the symbol tables of an object.

#ifndef SYMBOLISE_SYMBOL_INDEX_H
#define SYMBOLISE_SYMBOL_INDEX_H

#include "base/vec.h"
#include "elf/elf.h"

// A stretch of code with one name. Stretches of an index do not overlap; a
// function that others lie inside of has several.
typedef struct Symbol {
    uint64_t start; // svma, or an address of the kernel or process for text maps
    uint64_t end;   // behind the last byte
    Str name;       // linkage name, "" for a function known only by its bounds
    uint64_t function_start;
} Symbol;

typedef Vec(Symbol) SymbolVec;

// Sorted by start.
typedef struct SymbolIndex {
    SymbolVec symbols;
} SymbolIndex;

// Adds the functions of one symbol table (SHT_SYMTAB or SHT_DYNSYM) of `elf`.
// Of several names at one address the exported one wins, then the one with fewer
// leading underscores. Symbols without a size reach up to the next one. Names
// are borrowed from the file or live in `arena`.
MUST_CHECK bool symbol_index_from_elf(Arena *arena, const Elf *elf, uint32_t section_type,
                                      SymbolIndex *ret, Error *err);

// Function bounds without names, from .eh_frame: what is left in a stripped
// object. Broken tables give what could be read before the break.
void symbol_index_from_eh_frame(Arena *arena, const Elf *elf, SymbolIndex *ret);

// The stubs of calls into other objects, as "memcpy@plt". x86-64 only; empty for
// other machines.
void symbol_index_from_plt(Arena *arena, const Elf *elf, SymbolIndex *ret);

// One claim that code has a name. Input for those who read other tables.
typedef struct SymbolClaim {
    uint64_t start;
    uint64_t size; // 0: up to the next symbol, at most `limit`
    uint64_t limit;
    Str name;
    uint32_t rank; // of two claims on the same bytes the lower one wins
} SymbolClaim;

typedef Vec(SymbolClaim) SymbolClaimVec;

// Turns claims into an index; reorders them. Where sized claims are nested, the
// inner one wins inside it. Linear but for the sort.
void symbol_index_build(Arena *arena, SymbolClaimVec *claims, SymbolIndex *ret);

// The symbol at an address, or NULL.
const Symbol *symbol_index_find(const SymbolIndex *index, uint64_t address);

#endif // SYMBOLISE_SYMBOL_INDEX_H
