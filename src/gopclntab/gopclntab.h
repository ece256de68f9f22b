// SPDX-License-Identifier: Apache-2.0
// The tables that the Go runtime prints its own tracebacks from. They stay in
// stripped programs: functions, files, lines, inlined calls, frame sizes.
// Format: go.dev/s/go12symtab; runtime/symtab.go, runtime/runtime2.go (_func),
// runtime/symtabinl.go (inlinedCall), cmd/link/internal/ld/pcln.go of Go 1.16 to 1.26.

#ifndef GOPCLNTAB_GOPCLNTAB_H
#define GOPCLNTAB_GOPCLNTAB_H

#include "base/strbuf.h"
#include "elf/elf.h"

// The layouts differ by the magic number at the start of the table.
typedef enum GoLayout {
    GO_LAYOUT_1_16, // 0xfffffffa, Go 1.16 and 1.17
    GO_LAYOUT_1_18, // 0xfffffff0, Go 1.18 and 1.19
    GO_LAYOUT_1_20  // 0xfffffff1, Go 1.20 to 1.26
} GoLayout;

// An opened table. Everything in it borrows the bytes it was opened over.
typedef struct GoPclntab {
    GoLayout layout;
    uint32_t quantum; // addresses are multiples of it: 1 on x86-64, 4 on aarch64
    uint32_t function_count;
    uint64_t text_svma;   // entry addresses are offsets from here
    uint64_t header_text; // what the header states for it; 0: not there (Go 1.26, PIE)
    Bytes names;          // function names, each ends with NUL
    Bytes units;          // u32: file names of compilation units, offsets into `files`
    Bytes files;
    Bytes values; // tables of values by pc
    Bytes functions;
    // Trees of inlined calls lie here, by offset; empty: no inlined calls are known.
    Bytes function_data;
} GoPclntab;

// Opens the bytes of section .gopclntab. The section may be longer than the
// table. ERROR_FORMAT: not such a table, or cut. ERROR_UNSUPPORTED: of a Go
// version before 1.16, of a 32-bit or a big-endian program.
MUST_CHECK bool gopclntab_open(Bytes table, GoPclntab *ret, Error *err);

// Opens the table of an object, with the address of its text and its trees of
// inlined calls, which the runtime's moduledata leads to. ERROR_NOT_FOUND: the
// object has no such table, so it is not a Go program.
MUST_CHECK bool gopclntab_open_elf(const Elf *elf, GoPclntab *ret, Error *err);

enum {
    GO_FUNCTION_TOP = 1, // outermost frame of its stack
};

typedef struct GoFunction {
    uint64_t start, end; // svma; end is where the next function starts
    Str name;            // as Go writes it: "main.(*T).method"
    uint32_t start_line; // of its declaration; 0: not known (before Go 1.20)
    uint32_t flags;      // GO_FUNCTION_*
    // Private from here on: offsets of tables, and where arrays start.
    uint32_t frame_sizes, file_values, line_values;
    uint32_t unit;
    uint32_t value_count, data_count;
    size_t arrays; // in `functions`
} GoFunction;

// Function number `index`, index < function_count. False: its entry is damaged.
bool gopclntab_function_get(const GoPclntab *t, uint32_t index, GoFunction *ret);
// The function at an address. False: none.
bool gopclntab_function_find(const GoPclntab *t, uint64_t svma, GoFunction *ret);

// Walks over the values of a table: the value holds from the last `end` (the
// function's start at first) to the new `end`.
typedef struct GoValues {
    Bytes table;
    size_t at;
    uint32_t quantum;
    uint64_t end;
    int32_t value;
    bool started;
} GoValues;

// Starts before the first value of the table at `offset` of the values.
GoValues gopclntab_values(const GoPclntab *t, uint32_t offset, uint64_t start);
// Goes to the next value. False: there is none, or the table is damaged.
bool gopclntab_values_next(GoValues *v);
// The distance from the stack pointer to the return address, by address.
GoValues gopclntab_frame_sizes(const GoPclntab *t, const GoFunction *f);

typedef struct GoFrame {
    Str name;
    Str file;            // "" where not known
    uint32_t line;       // 0 where not known
    uint32_t start_line; // of the function's declaration; 0: not known
} GoFrame;

enum { GO_FRAMES_MAX = 64 };

// What stands at an address: innermost first, all but the last are inlined into
// the one behind them. 0: no function of the table.
size_t gopclntab_lookup(const GoPclntab *t, uint64_t svma, GoFrame frames[GO_FRAMES_MAX]);

// ---- Unwinding -----------------------------------------------------------------

// Appends call frame information for all functions of an x86-64 table, in the
// form of section .debug_frame: return address, saved frame pointer, and how to
// leave the functions that changed to another stack. `text` are the bytes from
// text_svma on.
void gopclntab_debug_frame(const GoPclntab *t, Bytes text, StrBuf *ret);

// Whether a function goes on running on another stack than the one it was
// called on, so that its caller's frame lies elsewhere in memory.
bool gopclntab_switches_stack(Str name);
// Whether a signal handler returns to this function. Its return address is the
// function's first byte; call frame information leaves it, and the byte before
// it, to rules of the signal's own frame.
bool gopclntab_is_sigreturn(Str name);

#endif // GOPCLNTAB_GOPCLNTAB_H
