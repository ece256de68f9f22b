// SPDX-License-Identifier: Apache-2.0
// The symbols of one module: opens its symbol tables and debug information, which may lie
// in separate files, and looks up addresses in them.

#ifndef SYMBOLISE_MODULE_SYMBOLS_H
#define SYMBOLISE_MODULE_SYMBOLS_H

#include "base/table.h"
#include "dwarf/dwarf.h"
#include "elf/build_id.h"
#include "gopclntab/gopclntab.h"
#include "symbolise/files.h"
#include "symbolise/symbol_index.h"

// Where to look for separate debug files. Order: the object itself, by build-id
// (debug_dirs, /usr/lib/debug, debuginfod's cache), by .gnu_debuglink, debuginfod.
typedef struct DebugSearch {
    const Str *dirs; // /usr/lib/debug is always added
    size_t dir_count;
    Str debuginfod_cache;                // "": not known
    Str debuginfod_urls;                 // "": do not use the network
    const SymboliseHelp *help;           // who asks the servers; NULL: this process
    const struct SectionCache *sections; // keeps decompressed sections; NULL: they are not kept
    // A file that once had the debug information of the module, such as the program of which it is
    // a stripped copy; tried after the other places, by its build-id. "": none is known.
    Str known_file;
} DebugSearch;

// How much the symbols of a module say, from most to least.
typedef enum SymbolLevel {
    SYMBOLS_DEBUG,   // lines and inlined calls, by DWARF or a Go program's own tables
    SYMBOLS_TABLE,   // .symtab: every function's name
    SYMBOLS_DYNAMIC, // exported names, perhaps .gnu_debugdata; the rest by bounds only
    SYMBOLS_BOUNDS,  // function bounds without names
    SYMBOLS_NONE,    // nothing, or the object could not be opened
    SYMBOLS_LEVEL_COUNT
} SymbolLevel;

typedef struct ModuleSymbols {
    Arena arena;
    FileSet files;
    Str path;       // as given
    Str debug_path; // the file with the debug information; "" when there is none
    SymbolLevel level;
    // Why the level is not better, one sentence each: a debug file that does not match, a missing
    // dwz or .dwo file, damage. Empty when there is nothing to report.
    StrVec troubles;

    bool has_object;  // elf is valid
    Elf elf;          // of the object itself
    DwarfFile *dwarf; // NULL when there is no debug information

    // Private from here on.
    DebugSearch search;
    BuildId build_id;
    bool has_debug; // `debug` is a separate file and valid
    Elf debug;
    DwarfSections sections;
    DwarfSections alt;
    DwarfSections package; // .dwp
    bool package_tried;
    bool has_go; // go is valid: the object has the tables of a Go program
    GoPclntab go;
    SymbolIndex tables[5]; // searched in this order
    size_t table_count;
    Table local_names; // of functions: the first symbol with each name; filled when first needed
    bool local_names_read;
    size_t dwo_wanted, dwo_found;
} ModuleSymbols;

// Opens the symbols of a module. `object` holds the bytes of the object if the caller has them;
// else the file at `path` is used when it has the wanted build-id (any, when `build_id` has no
// length). Never fails: `level` and `troubles` name the missing parts. `access` and `search` must
// outlive it.
void module_symbols_open(ModuleSymbols *m, const SymboliseFiles *access, const DebugSearch *search,
                         Str path, const BuildId *build_id, Bytes object);
// The same for a caller that uses only `elf` and `dwarf`: symbol tables are not read, and
// module_symbols_lookup must not be called.
void module_symbols_open_debug(ModuleSymbols *m, const SymboliseFiles *access,
                               const DebugSearch *search, Str path, const BuildId *build_id,
                               Bytes object);
// The separate debug file; NULL when there is none.
const Elf *module_symbols_debug_elf(const ModuleSymbols *m);
void module_symbols_close(ModuleSymbols *m); // closes all files and frees all texts

// One frame at an address. Texts live as long as the ModuleSymbols.
typedef struct PlaceFrame {
    Str linkage_name; // to be demangled; DW_AT_name when there is no linkage name
    Str decl_file;
    uint32_t decl_line;
    Str file;
    uint32_t line;
} PlaceFrame;

enum { PLACE_FRAMES_MAX = DWARF_FRAMES_MAX };

// The frames of one address, innermost first. Each but the last is inlined into the next one.
typedef struct PlaceFrames {
    size_t len;
    PlaceFrame at[PLACE_FRAMES_MAX];
} PlaceFrames;

// Looks up an address as stated in the object. False, with `len` 0, when nothing is known of it.
bool module_symbols_lookup(ModuleSymbols *m, uint64_t svma, PlaceFrames *ret);

#endif // SYMBOLISE_MODULE_SYMBOLS_H
