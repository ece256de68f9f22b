// SPDX-License-Identifier: Apache-2.0
// Debug information: finds the function, the source line and the inlined calls of an
// address as stated in the file, and gives access to units, line tables and functions.
// Format: DWARF 2 to 5, GNU split DWARF, dwz (DWARF 5 supplementary files).
//
// Opening reads only unit headers and unit DIEs. A unit is decoded when an address in it is
// first looked up, and is then kept. No I/O: the caller provides the sections, decompressed,
// and they must outlive the DwarfFile.
//
// Only one thread at a time may use a DwarfFile; different ones are independent.

#ifndef DWARF_DWARF_H
#define DWARF_DWARF_H

#include "base/arena.h"
#include "base/error.h"

// The sections of one file. Absent ones are empty. The ".dwo" sections of a .dwo or .dwp file have
// the same fields (".debug_info.dwo" is `info`).
typedef struct DwarfSections {
    Bytes info;
    Bytes types; // DWARF 4 type units
    Bytes abbrev;
    Bytes line;
    Bytes str;
    Bytes line_str;
    Bytes str_offsets;
    Bytes addr;
    Bytes ranges;   // DWARF 2 to 4
    Bytes rnglists; // DWARF 5
    Bytes aranges;
    Bytes cu_index;                  // only in a .dwp
    Bytes tu_index;                  // only in a .dwp
    const struct DwarfSections *alt; // the dwz file of .gnu_debugaltlink; NULL: none
    bool big_endian;
} DwarfSections;

// The file that holds the rest of a skeleton unit, as that unit names it.
typedef struct DwarfDwoRequest {
    Str dwo_name; // as written: relative to comp_dir, or absolute
    Str comp_dir;
    uint64_t dwo_id;
} DwarfDwoRequest;

// A function of the caller that opens .dwo files. It returns the sections of the requested file, or
// of the .dwp package that replaces all of them: a package has a `cu_index`, in which the reader
// finds dwo_id itself. False when there is none. It is called at most once for each unit and may
// return the same package every time; the bytes must outlive the DwarfFile.
typedef struct DwarfHooks {
    void *ctx;
    bool (*get_dwo)(void *ctx, const DwarfDwoRequest *request, DwarfSections *ret);
} DwarfHooks;

typedef struct DwarfFile DwarfFile;

// Indexes the units. `hooks` may be NULL. Fails only when no unit can be read; a unit that is
// damaged further on is incomplete, which dwarf_stats counts.
MUST_CHECK bool dwarf_open(const DwarfSections *sections, const DwarfHooks *hooks, DwarfFile **ret,
                           Error *err);
// Frees the file and all texts and tables it returned. Accepts NULL.
void dwarf_close(DwarfFile *f);

// ---- An address ------------------------------------------------------------
// Texts borrow from the sections or live as long as the DwarfFile. Within one unit equal paths and
// names have the same pointer.
typedef struct DwarfFrame {
    Str name;         // DW_AT_name, "" when only the line is known
    Str linkage_name; // mangled name, "" if there is none
    // Of an inlined function without linkage name: the name with its namespaces and classes, but
    // without parameters; "" for others.
    Str qualified_name;
    Str decl_file; // file of the function's declaration
    uint32_t decl_line;
    uint32_t line;   // 0: code of the compiler that belongs to no line, or `file` is empty
    uint32_t column; // 0: not known
    bool is_inlined; // this function was inlined into that of the next frame
    Str file;        // of `line`: absolute where the debug information allows it
    uint64_t low;    // the lowest stated address of this function, or of this inlined
                     // copy of it; 0: unknown
} DwarfFrame;

// A deeper chain is cut: its innermost frames are returned.
enum { DWARF_FRAMES_MAX = 256 };

// The frames of one address, innermost first. Caller's storage; need not be initialised.
typedef struct DwarfFrames {
    size_t len;
    bool is_cut;
    DwarfFrame at[DWARF_FRAMES_MAX];
} DwarfFrames;

// Finds the frames at `address`. False, with `len` 0, when no unit contains it. A unit without
// functions (-gline-tables-only) gives one frame with an empty name. For a return address look up
// the address minus one.
bool dwarf_lookup(DwarfFile *f, uint64_t address, DwarfFrames *ret);

// ---- The units -------------------------------------------------------------
// The number of units, type and partial units included; they are numbered from 0.
size_t dwarf_unit_count(const DwarfFile *f);

enum {
    DWARF_ROW_IS_STMT = 1,      // a recommended breakpoint position
    DWARF_ROW_BASIC_BLOCK = 2,  // the start of a basic block
    DWARF_ROW_PROLOGUE_END = 4, // the position for a breakpoint on the function
    DWARF_ROW_EPILOGUE_BEGIN = 8,
    DWARF_ROW_END = 16, // the first address after a sequence: it has no line
};

// A row is valid from its address up to that of the next row.
typedef struct DwarfRow {
    uint64_t address;
    uint32_t file; // for dwarf_unit_file
    uint32_t line;
    uint16_t column; // 65535: that or more
    uint8_t flags;   // DWARF_ROW_*
} DwarfRow;

typedef struct DwarfRows {
    const DwarfRow *at; // ascending addresses; every sequence closed by DWARF_ROW_END
    size_t len;
} DwarfRows;

// The unit's line table, decoded on first use; empty when it has none. Sequences of functions that
// the linker dropped are left out, and rows that cover no byte and have no flag.
DwarfRows dwarf_unit_rows(DwarfFile *f, size_t unit);

// The path of a row's file, absolute and normalised where possible; "" for a
// number that the table does not have.
Str dwarf_unit_file(DwarfFile *f, size_t unit, uint32_t file);

// A function with code of its own.
typedef struct DwarfFunction {
    Str name;
    Str linkage_name;
    Str decl_file;
    uint32_t decl_line;
    uint64_t low; // of one contiguous range; a function with several ranges has a row for each
    uint64_t high;
} DwarfFunction;

typedef struct DwarfFunctions {
    const DwarfFunction *at; // ascending `low`
    size_t len;
} DwarfFunctions;

// The unit's out-of-line functions; decodes the unit on first use.
DwarfFunctions dwarf_unit_functions(DwarfFile *f, size_t unit);

typedef void DwarfInlinedEach(void *ctx, Str name, Str linkage_name, uint64_t low);

// Calls `each` for every inlined copy of a function that has code in the unit, with the lowest
// address of the copy. Decodes the unit on first use.
void dwarf_unit_inlined(DwarfFile *f, size_t unit, DwarfInlinedEach *each, void *ctx);

// Whether any function was inlined in the unit. Without optimisation none is, and every address has
// at most one frame. Decodes the unit on first use.
bool dwarf_unit_has_inlined(DwarfFile *f, size_t unit);

// ---- Variables -------------------------------------------------------------
// The sections with location lists, which no look-up of lines needs.
typedef struct DwarfLocations {
    Bytes loc;      // .debug_loc, DWARF 2 to 4
    Bytes loclists; // .debug_loclists, DWARF 5
} DwarfLocations;

typedef enum DwarfPlace {
    DWARF_IN_REGISTER, // the value is that of `reg`, plus `offset`
    DWARF_IN_MEMORY,   // at the address in `reg`, plus `offset`
    DWARF_IN_FRAME,    // at the CFA, plus `offset`
    DWARF_CONSTANT     // the value is `offset`
} DwarfPlace;

// Where the value of a variable is while the instruction at one address is about to run.
typedef struct DwarfVariable {
    DwarfPlace place;
    uint32_t reg; // DWARF's number
    int64_t offset;
    uint8_t size; // bytes: 1, 2, 4 or 8
    bool is_signed;
    bool is_parameter;
    // The function has not stored its parameters at their places yet: the address is in front of
    // the body, and the place holds for the whole function.
    bool is_before_body;
    uint32_t argument; // number among the arguments passed in integer registers, from 1; 0: unknown
} DwarfVariable;

// Finds the innermost variable of that name at an address: "len", or a member of a structure on the
// stack, "buffer.len". The error says why it has no value there: no such name (and which there
// are), optimised away, not a number, in memory that is neither a register nor the frame.
MUST_CHECK bool dwarf_variable_find(DwarfFile *f, const DwarfLocations *locations, uint64_t address,
                                    Str name, DwarfVariable *ret, Error *err);

// Calls `each` with the name of each variable and parameter that is visible at an address.
void dwarf_variables_each(DwarfFile *f, uint64_t address, void (*each)(void *ctx, Str name),
                          void *ctx);

// ---- Counters of a profile ---------------------------------------------------
// The counters of an instrumented function whose profile does not describe them (clang -mllvm
// -profile-correlate=debug-info). The debug information does: the function contains a variable
// "__profc_..." with annotations.
// Document: llvm/docs/SourceLevelDebugging.rst, DW_TAG_LLVM_annotation;
// llvm/lib/Transforms/Instrumentation/InstrProfiling.cpp writes them.
typedef struct DwarfCounters {
    Str function;     // its name in profiles
    uint64_t hash;    // of its structure
    uint64_t address; // stated, of the first counter
    uint32_t count;
    uint64_t low; // the start of the function; 0 when it has no code of its own
} DwarfCounters;

typedef void DwarfCountersEach(void *ctx, const DwarfCounters *counters);

// Calls `each` for every such variable of a unit, in the order of the DIEs. Texts borrow from the
// sections. Returns the number of incomplete ones, which are left out.
size_t dwarf_unit_counters(DwarfFile *f, size_t unit, DwarfCountersEach *each, void *ctx);

// ---- What went wrong -------------------------------------------------------
// Counts of problems and of work done, for notes and for --self-stats.
typedef struct DwarfStats {
    size_t units;
    size_t units_decoded;
    size_t units_damaged; // their functions or lines are incomplete
    size_t dwo_missing;   // skeleton units whose .dwo was not found: lines only
    size_t dwo_found;
    size_t alt_missing; // references into a missing dwz file: these names are lost
    char trouble[200];  // the first damage, "" when there was none
} DwarfStats;

// The counts so far: they grow as units are decoded.
void dwarf_stats(const DwarfFile *f, DwarfStats *ret);

#endif // DWARF_DWARF_H
