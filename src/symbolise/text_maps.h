// SPDX-License-Identifier: Apache-2.0
// Symbols in text files: those of the kernel (/proc/kallsyms) and those that runtimes
// write for the code they generate (/tmp/perf-PID.map). Neither is trusted.

#ifndef SYMBOLISE_TEXT_MAPS_H
#define SYMBOLISE_TEXT_MAPS_H

#include "symbolise/symbol_index.h"

// Addresses [start, end).
typedef struct AddressRange {
    uint64_t start, end;
} AddressRange;

// Reads lines such as "ffffffff81000000 T _text", perhaps followed by "\t[module]" (proc(5)). Only
// code is kept; names borrow `text`. When every address is zero the kernel hides them: false with
// ERROR_PERMISSION and a hint. `core` becomes the range of the kernel's own code, without modules
// and code added at run time; it may be NULL.
MUST_CHECK bool kallsyms_parse(Arena *arena, Str text, SymbolIndex *ret, AddressRange *core,
                               Error *err);

// Reads lines "START SIZE name", hexadecimal, in the order in which the code was generated (Linux,
// tools/perf/Documentation/jit-interface.txt). Of overlapping entries the later one holds, because
// runtimes reuse memory. Other lines are skipped and counted in `bad_lines` (may be NULL).
void jit_map_parse(Arena *arena, Str text, SymbolIndex *ret, size_t *bad_lines);

#endif // SYMBOLISE_TEXT_MAPS_H
