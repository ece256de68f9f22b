// SPDX-License-Identifier: Apache-2.0
// What the importers share about places: which kind of module a path is, and the
// entries by which exports say that a stack is cut.

#ifndef IMPORT_PLACES_INTERNAL_H
#define IMPORT_PLACES_INTERNAL_H

#include "model/profile.h"

// By its name, as perf and our exports write it: "[kernel.kallsyms]", "[vdso]",
// "//anon", "/tmp/perf-12.map", a path.
ModuleKind import_module_kind(Str path);

// True for "[stack cut: dump too short]": the entry that our exports write where a
// stack is cut, so that it is one here again and no function.
bool import_is_cut(Str name, StackCut *ret);

// The frame of a function that is known by name. A cut entry becomes a cut frame.
FrameId import_named_frame(Profile *p, ModuleId module, uint64_t address, FunctionId function,
                           StrId file, uint32_t line, uint8_t flags);

// Text with the \xNN undone that our exports write (export_internal.h,
// export_add_line_safe); other backslashes stay. Borrows `text` where there are none.
Str import_unescaped(Arena *arena, Str text);

#endif // IMPORT_PLACES_INTERNAL_H
