// SPDX-License-Identifier: Apache-2.0
// Debug information: an address stated in a file -> function, source line and
// the chain of inlined calls; and back, the line tables themselves.
// Format: DWARF 2 to 5, GNU split DWARF, dwz (DWARF 5 supplementary files).
//
// Only unit headers and unit DIEs are read on opening. A unit is decoded when
// the first address falls in it, and then kept. No I/O: the caller brings the
// sections, already decompressed, and they must outlive the DwarfFile.
//
// A DwarfFile is for one thread at a time; separate ones are independent.

#ifndef DWARF_DWARF_H
#define DWARF_DWARF_H

#include "base/arena.h"
#include "base/error.h"

// The sections of one file. Absent ones are empty. For a .dwo or .dwp file the
// ".dwo" sections stand under the same names (".debug_info.dwo" is `info`).
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

// What a skeleton unit says about the file that holds the rest of it.
typedef struct DwarfDwoRequest {
    Str dwo_name; // as written: relative to comp_dir, or absolute
    Str comp_dir;
    uint64_t dwo_id;
} DwarfDwoRequest;

// The caller's way to a .dwo file, or to the .dwp package that replaces all of
// them: `ret->cu_index` is non-empty for a package, and dwo_id is then looked
// up here. False when there is none. Asked at most once for each unit; bytes
// given must outlive the DwarfFile. The same package may be given every time.
typedef struct DwarfHooks {
    void *ctx;
    bool (*get_dwo)(void *ctx, const DwarfDwoRequest *request, DwarfSections *ret);
} DwarfHooks;

typedef struct DwarfFile DwarfFile;

// Indexes the units. `hooks` may be NULL. Fails only when no unit can be read
// at all; damage further on costs the units it is in and shows in dwarf_stats.
MUST_CHECK bool dwarf_open(const DwarfSections *sections, const DwarfHooks *hooks, DwarfFile **ret,
                           Error *err);
// Frees it with everything it handed out. Accepts NULL.
void dwarf_close(DwarfFile *f);

// ---- An address ------------------------------------------------------------
// Texts borrow from the sections or live as long as the DwarfFile. The same
// path or name comes as the same pointer again and again within one unit.
typedef struct DwarfFrame {
    Str name;         // DW_AT_name, "" when the line is all that is known
    Str linkage_name; // mangled, "" when there is none
    Str decl_file;    // where the function is declared
    uint32_t decl_line;
    uint32_t line;   // 0: made by the compiler, belongs to no line (or file is empty)
    uint32_t column; // 0: not known
    bool is_inlined; // this function was inlined into the next frame's
    Str file;        // of `line`: absolute where the debug information allows it
    uint64_t low;    // stated address where this function, or this inlined
                     // copy of it, begins (the lowest of its ranges); 0: unknown
} DwarfFrame;

// Deeper chains are cut: the outermost frame is then the last that fits.
enum { DWARF_FRAMES_MAX = 256 };

// Innermost first. Caller's storage; need not be initialised.
typedef struct DwarfFrames {
    size_t len;
    bool is_cut;
    DwarfFrame at[DWARF_FRAMES_MAX];
} DwarfFrames;

// The frames at `address`: 0 and false when no unit knows it. A unit without
// functions (-gline-tables-only) gives one frame with an empty name. For a
// return address ask for the address minus one.
bool dwarf_lookup(DwarfFile *f, uint64_t address, DwarfFrames *ret);

// ---- The units -------------------------------------------------------------
// Units are numbered from 0. Type and partial units are counted too.
size_t dwarf_unit_count(const DwarfFile *f);

enum {
    DWARF_ROW_IS_STMT = 1,      // a recommended breakpoint position
    DWARF_ROW_BASIC_BLOCK = 2,  // begins one
    DWARF_ROW_PROLOGUE_END = 4, // where a breakpoint on the function goes
    DWARF_ROW_EPILOGUE_BEGIN = 8,
    DWARF_ROW_END = 16, // the first address behind a sequence: names no line
};

// A row holds up to the next row's address.
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

// The unit's line table, decoded on first use; empty when it has none.
// Sequences of functions that the linker dropped are left out, and so are rows
// that hold no byte and have no flag.
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
    uint64_t low; // of one contiguous range; a split function comes once for each
    uint64_t high;
} DwarfFunction;

typedef struct DwarfFunctions {
    const DwarfFunction *at; // ascending `low`
    size_t len;
} DwarfFunctions;

// The unit's out-of-line functions; decodes the unit on first use.
DwarfFunctions dwarf_unit_functions(DwarfFile *f, size_t unit);

// Whether a function was inlined anywhere in the unit: in code without optimisation none
// is, and no address of it has more than one frame. Decodes the unit on first use.
bool dwarf_unit_has_inlined(DwarfFile *f, size_t unit);

// ---- Counters of a profile ---------------------------------------------------
// A function that counts its executions and whose profile is to find what it is by
// the debug information (clang -mllvm -profile-correlate=debug-info): in it stands a
// variable "__profc_..." with annotations.
// Document: llvm/docs/SourceLevelDebugging.rst, DW_TAG_LLVM_annotation;
// llvm/lib/Transforms/Instrumentation/InstrProfiling.cpp writes them.
typedef struct DwarfCounters {
    Str function;     // its name in profiles
    uint64_t hash;    // of its structure
    uint64_t address; // stated, of the first counter
    uint32_t count;
    uint64_t low; // where the function begins; 0 when it has no code of its own
} DwarfCounters;

typedef void DwarfCountersEach(void *ctx, const DwarfCounters *counters);

// Gives those of a unit to `each`, in the order in which they stand. Texts borrow
// from the sections. Returns how many were left out, as something of them is missing.
size_t dwarf_unit_counters(DwarfFile *f, size_t unit, DwarfCountersEach *each, void *ctx);

// ---- What went wrong -------------------------------------------------------
// Counts for notes and for --self-stats.
typedef struct DwarfStats {
    size_t units;
    size_t units_decoded;
    size_t units_damaged; // their functions or lines are incomplete
    size_t dwo_missing;   // skeleton units whose .dwo was not found: lines only
    size_t dwo_found;
    size_t alt_missing; // references into a dwz file that was not given: names are lost
    char trouble[200];  // the first damage, "" when there was none
} DwarfStats;

void dwarf_stats(const DwarfFile *f, DwarfStats *ret);

#endif // DWARF_DWARF_H
