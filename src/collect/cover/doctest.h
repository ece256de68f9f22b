// SPDX-License-Identifier: Apache-2.0
// Programs of Rust's documentation tests. rustdoc deletes each program after its run. The
// report needs the coverage mapping of its functions from the crates under test: that is
// kept in LLVM's test form (llvmcov/covmap.h), which has a hundredth of the program's size.

#ifndef COLLECT_COVER_DOCTEST_H
#define COLLECT_COVER_DOCTEST_H

#include "base/strbuf.h"
#include "elf/build_id.h"

// Appends the mapping of a program in that form and reads its build-id. Functions of the doctest
// itself are left out: their lines are in a comment. `scratch` may be cleared afterwards.
MUST_CHECK bool cover_doctest_mapping(Arena *scratch, Bytes program, BuildId *id, StrBuf *out,
                                      Error *err);

// The crate of a function, from its linkage name. "" when the name is not mangled by Rust's scheme
// v0, or does not begin with a path.
// Document: Rust RFC 2603, "Symbol name mangling v0".
Str cover_rust_crate_of(Str linkage_name);

#endif // COLLECT_COVER_DOCTEST_H
