// SPDX-License-Identifier: Apache-2.0
// Linkage names -> names as the programmer wrote them, by libiberty: C++
// (Itanium), Rust (legacy and v0) and D. Names come from files and are hostile.

#ifndef SYMBOLISE_DEMANGLE_H
#define SYMBOLISE_DEMANGLE_H

#include "base/strbuf.h"

// Longer linkage names are shown as they are. libiberty's stack use grows with
// the name: this much keeps it under a megabyte.
enum { DEMANGLE_INPUT_MAX = 4096 };
// Back references let a short name ask for endless text; it is given up there.
enum { DEMANGLE_OUTPUT_MAX = 64 * 1024 };

// The name without the marks that compilers and linkers add behind it: .isra.0,
// .part.1, .constprop.2, .cold, .llvm.123, @@GLIBC_2.2.5 …
Str linkage_name_base(Str linkage_name);

// Appends the demangled form of linkage_name_base(), in full. A name that is not
// mangled, or wrongly so, is appended as it is. "@plt" behind a name stays. True
// when it was demangled.
bool demangle(Str linkage_name, StrBuf *out);

#endif // SYMBOLISE_DEMANGLE_H
