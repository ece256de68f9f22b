// SPDX-License-Identifier: Apache-2.0
// An index from addresses to symbols, made from the symbol tables of an object.

#ifndef SYMBOLISE_SYMBOL_INDEX_H
#define SYMBOLISE_SYMBOL_INDEX_H

#include "base/vec.h"
#include "elf/elf.h"

// A range of code with one name. The ranges of an index do not overlap; a function that contains
// others has several ranges.
typedef struct Symbol {
    uint64_t start; // svma; for text maps (kallsyms, JIT) the address in the kernel or process
    uint64_t end;   // the first address after it
    Str name;       // linkage name, "" for a function known only by its bounds
    uint64_t function_start;
    bool is_local;       // private to a source file, so another function may have the same name
    bool is_name_shared; // set by callers that compare names
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

// Adds the bounds of functions, without names, from .eh_frame, which a stripped object still has.
// From a broken table the entries before the damage are used.
void symbol_index_from_eh_frame(Arena *arena, const Elf *elf, SymbolIndex *ret);

// Adds the PLT entries, by which calls go to other objects, as "memcpy@plt". Only for x86-64;
// nothing for other machines.
void symbol_index_from_plt(Arena *arena, const Elf *elf, SymbolIndex *ret);

// An entry of any symbol table: it claims a range of code for a name. Ranges may overlap.
typedef struct SymbolClaim {
    uint64_t start;
    uint64_t size; // 0: up to the next symbol, at most `limit`
    uint64_t limit;
    Str name;
    uint32_t rank; // of two claims on the same bytes the lower one wins
} SymbolClaim;

typedef Vec(SymbolClaim) SymbolClaimVec;

// Makes an index of claims, which it reorders. Of nested claims with a size the inner one wins.
// Takes linear time apart from the sort.
void symbol_index_build(Arena *arena, SymbolClaimVec *claims, SymbolIndex *ret);

// The symbol at an address, or NULL.
const Symbol *symbol_index_find(const SymbolIndex *index, uint64_t address);

#endif // SYMBOLISE_SYMBOL_INDEX_H
