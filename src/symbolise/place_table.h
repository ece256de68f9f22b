// SPDX-License-Identifier: Apache-2.0
// The results of looking up addresses of one module: functions with demangled names, and
// lines. Every text is kept once. This table is what the symbol cache stores.

#ifndef SYMBOLISE_PLACE_TABLE_H
#define SYMBOLISE_PLACE_TABLE_H

#include "base/intern.h"
#include "base/strbuf.h"
#include "symbolise/module_symbols.h"

// Texts are numbers in `strings`.
typedef struct PlaceFunction {
    uint32_t name; // demangled, in full
    uint32_t linkage_name;
    uint32_t file; // of its declaration
    uint32_t line;
} PlaceFunction;

typedef struct PlaceLine {
    uint32_t function; // row of functions
    uint32_t file;
    uint32_t line;
} PlaceLine;

// The frames of one address: lines[first .. first + count), innermost first.
// count 0: it was looked up and nothing is known of it.
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
    U32Vec demangled; // [number of a linkage name]: number of its demangled name + 1
    StrBuf buffer;
} PlaceTable;

// An empty table.
void place_table_init(PlaceTable *t);
void place_table_deinit(PlaceTable *t); // frees everything

// The row of a function; a new row when the table does not have an equal one. The numbers of its
// texts must be from `strings`.
uint32_t place_table_function(PlaceTable *t, PlaceFunction f);

// Adds the frames of an address that the table does not have yet. Texts are copied.
void place_table_add(PlaceTable *t, uint64_t address, const PlaceFrames *frames);

// Sorts the places by address: call it after adding and before place_table_find.
void place_table_sort(PlaceTable *t);

// The place at an address, or NULL when it was not looked up.
const Place *place_table_find(const PlaceTable *t, uint64_t address);

#endif // SYMBOLISE_PLACE_TABLE_H
