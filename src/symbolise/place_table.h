// SPDX-License-Identifier: Apache-2.0
// What stands at the addresses of one module, once it has been looked up:
// function names demangled, every text kept once.

#ifndef SYMBOLISE_PLACE_TABLE_H
#define SYMBOLISE_PLACE_TABLE_H

#include "base/intern.h"
#include "base/strbuf.h"
#include "symbolise/module_symbols.h"

// Texts are numbers in `strings`.
typedef struct PlaceFunction {
    uint32_t name; // demangled, in full
    uint32_t linkage_name;
    uint32_t file; // where it is declared
    uint32_t line;
} PlaceFunction;

typedef struct PlaceLine {
    uint32_t function; // row of functions
    uint32_t file;
    uint32_t line;
} PlaceLine;

// The frames of one address: lines[first .. first + count), innermost first.
// count 0: looked up, nothing known.
typedef struct Place {
    uint64_t address;
    uint32_t first;
    uint32_t count;
} Place;

typedef struct PlaceTable {
    Arena arena;
    Intern strings;
    Vec(PlaceFunction) functions;
    Vec(PlaceLine) lines;
    Vec(Place) places; // ascending addresses after place_table_sort
    SymbolLevel level;
    Str debug_path;
    StrVec troubles;

    // Private from here on.
    Table function_index;
    U32Vec demangled; // linkage name's number -> name's number + 1
    StrBuf buffer;
} PlaceTable;

void place_table_init(PlaceTable *t);
void place_table_deinit(PlaceTable *t);

// The row of an equal function, or a new one. Numbers must be of `strings`.
uint32_t place_table_function(PlaceTable *t, PlaceFunction f);

// Adds what was found at an address that the table does not have yet.
void place_table_add(PlaceTable *t, uint64_t address, const PlaceFrames *frames);

// Puts the places in order. Needed before finding ones that were added.
void place_table_sort(PlaceTable *t);

// The place at an address, or NULL when it was not looked up.
const Place *place_table_find(const PlaceTable *t, uint64_t address);

#endif // SYMBOLISE_PLACE_TABLE_H
