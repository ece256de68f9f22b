// SPDX-License-Identifier: Apache-2.0
// Code that the importers share for places: the kind of module that a path names, and the entries
// with which our exports mark a cut stack.

#ifndef IMPORT_PLACES_INTERNAL_H
#define IMPORT_PLACES_INTERNAL_H

#include "model/profile.h"

// The kind of a module by its name, as perf and our exports write it: "[kernel.kallsyms]",
// "[vdso]",
// "//anon", "/tmp/perf-12.map", a path.
ModuleKind import_module_kind(Str path);

// FRAME_KERNEL for a module of the kernel, else 0.
uint8_t import_kernel_flag(const Profile *p, ModuleId module);

// Whether a name is the entry that our exports write where a stack is cut, such as "[stack cut:
// dump too short]". `ret` becomes the reason.
bool import_is_cut(Str name, StackCut *ret);

// The frame of a function that is known by name; FRAME_KERNEL is added for the kernel's modules.
// The entry of a cut stack becomes a cut marker.
FrameId import_named_frame(Profile *p, ModuleId module, uint64_t address, FunctionId function,
                           StrId file, uint32_t line, uint8_t flags);

// Text in which the \xNN of our exports (export_internal.h, export_add_line_safe) is undone; other
// backslashes stay. The result borrows `text` when nothing is to be undone.
Str import_unescaped(Arena *arena, Str text);

#endif // IMPORT_PLACES_INTERNAL_H
