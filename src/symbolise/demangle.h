// SPDX-License-Identifier: Apache-2.0
// Demangles linkage names to names as the programmer wrote them, by libiberty: C++
// (Itanium), Rust (legacy and v0) and D; by symbolise/other_names those of OCaml, Fortran, Haskell
// and Free Pascal. Names come from files and are not trusted.

#ifndef SYMBOLISE_DEMANGLE_H
#define SYMBOLISE_DEMANGLE_H

#include "base/strbuf.h"

// Longer linkage names are shown mangled. libiberty's use of stack grows with the length; this
// limit keeps it under a megabyte.
enum { DEMANGLE_INPUT_MAX = 4096 };
// A short name with back references can expand to endless text. A name whose text would be longer
// than this is shown mangled.
enum { DEMANGLE_OUTPUT_MAX = 64 * 1024 };

// The name without the suffixes of compilers and linkers: .isra.0, .part.1, .constprop.2, .cold,
// .llvm.123, @@GLIBC_2.2.5 …
Str linkage_name_base(Str linkage_name);

// Appends the full demangled form of linkage_name_base(); the suffixes "@plt"
// and "@0x…" (the address of a function whose name another one has, too) are kept. A name that
// is not mangled, or not correctly, is appended unchanged. True when it was demangled.
bool demangle(Str linkage_name, StrBuf *out);

#endif // SYMBOLISE_DEMANGLE_H
