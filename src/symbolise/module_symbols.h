// SPDX-License-Identifier: Apache-2.0
// All that is known about the code of one object: its symbol tables and debug
// information, wherever those lie; and the look-up of an address in them.

#ifndef SYMBOLISE_MODULE_SYMBOLS_H
#define SYMBOLISE_MODULE_SYMBOLS_H

#include "dwarf/dwarf.h"
#include "elf/build_id.h"
#include "symbolise/files.h"
#include "symbolise/symbol_index.h"

// Where to look for separate debug files. Order: the object itself, by build-id
// (debug_dirs, /usr/lib/debug, debuginfod's cache), by .gnu_debuglink, debuginfod.
typedef struct DebugSearch {
    const Str *dirs; // /usr/lib/debug is always added
    size_t dir_count;
    Str debuginfod_cache; // "": not known
    Str debuginfod_urls;  // "": do not ask
} DebugSearch;

// Best first.
typedef enum SymbolLevel {
    SYMBOLS_DEBUG,   // lines and inlined calls
    SYMBOLS_TABLE,   // .symtab: every function's name
    SYMBOLS_DYNAMIC, // exported names, perhaps .gnu_debugdata; the rest by bounds only
    SYMBOLS_BOUNDS,  // function bounds without names
    SYMBOLS_NONE,    // nothing, or the object could not be had
    SYMBOLS_LEVEL_COUNT
} SymbolLevel;

typedef struct ModuleSymbols {
    Arena arena;
    FileSet files;
    Str path;       // as given
    Str debug_path; // where the debug information came from; "" when nowhere
    SymbolLevel level;
    // What keeps it from being better, one sentence each: a debug file that does
    // not match, a missing dwz or .dwo file, damage. "" when there is nothing to say.
    StrVec troubles;

    bool has_object;  // elf is valid
    Elf elf;          // of the object itself
    DwarfFile *dwarf; // NULL when level is not SYMBOLS_DEBUG

    // Private from here on.
    DebugSearch search;
    BuildId build_id;
    bool has_debug; // debug is valid and a file of its own
    Elf debug;
    DwarfSections sections;
    DwarfSections alt;
    DwarfSections package; // .dwp
    bool package_tried;
    SymbolIndex tables[5]; // asked in this order
    size_t table_count;
    size_t dwo_wanted, dwo_found;
} ModuleSymbols;

// Opens what can be found for the module. `object` are its bytes when the caller
// has them, else empty: the file at `path` is then taken, if its build-id is the
// wanted one. `build_id` may have no length. Never fails: what is missing shows
// in level and troubles. `access` and `search` must outlive it.
void module_symbols_open(ModuleSymbols *m, const SymboliseFiles *access, const DebugSearch *search,
                         Str path, const BuildId *build_id, Bytes object);
// The same for who walks the debug information (`elf`, `dwarf`): names of symbol
// tables are not read, and an address is not looked up in it.
void module_symbols_open_debug(ModuleSymbols *m, const SymboliseFiles *access,
                               const DebugSearch *search, Str path, const BuildId *build_id,
                               Bytes object);
void module_symbols_close(ModuleSymbols *m);

// One frame at an address. Texts live as long as the ModuleSymbols.
typedef struct PlaceFrame {
    Str linkage_name; // what to demangle; DWARF's plain name where there is no other
    Str decl_file;
    uint32_t decl_line;
    Str file;
    uint32_t line;
} PlaceFrame;

enum { PLACE_FRAMES_MAX = DWARF_FRAMES_MAX };

// Innermost first; all but the last are inlined into the one behind them.
typedef struct PlaceFrames {
    size_t len;
    PlaceFrame at[PLACE_FRAMES_MAX];
} PlaceFrames;

// What stands at a stated address. False and len 0: nothing is known.
bool module_symbols_lookup(ModuleSymbols *m, uint64_t svma, PlaceFrames *ret);

#endif // SYMBOLISE_MODULE_SYMBOLS_H
