// SPDX-License-Identifier: Apache-2.0
// Symbols that come as text: the kernel's (/proc/kallsyms) and those that
// runtimes write for the code they make (/tmp/perf-PID.map). Both untrusted.

#ifndef SYMBOLISE_TEXT_MAPS_H
#define SYMBOLISE_TEXT_MAPS_H

#include "symbolise/symbol_index.h"

// Addresses [start, end).
typedef struct AddressRange {
    uint64_t start, end;
} AddressRange;

// Format: "ffffffff81000000 T _text" or with "\t[module]" behind it (proc(5)).
// Only code is kept; names borrow `text`. False with ERROR_PERMISSION and the
// remedy as hint when every address is zero: the kernel hides them. `core` may be
// NULL; it is what the kernel was linked with: no module's code, none made since.
MUST_CHECK bool kallsyms_parse(Arena *arena, Str text, SymbolIndex *ret, AddressRange *core,
                               Error *err);

// Format: "START SIZE name", hexadecimal, in the order in which code was made
// (Linux, tools/perf/Documentation/jit-interface.txt). Where entries overlap, the
// later one holds: memory is used again. Lines of another shape are counted in
// `bad_lines` (may be NULL) and skipped.
void jit_map_parse(Arena *arena, Str text, SymbolIndex *ret, size_t *bad_lines);

#endif // SYMBOLISE_TEXT_MAPS_H
