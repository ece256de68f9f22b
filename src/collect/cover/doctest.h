// SPDX-License-Identifier: Apache-2.0
// Programs of Rust's documentation tests. rustdoc deletes each when it has run; what
// is needed of it, the mapping of the functions that it has from the crates under test,
// is kept in LLVM's test form (llvmcov/covmap.h), a hundredth of its size.

#ifndef COLLECT_COVER_DOCTEST_H
#define COLLECT_COVER_DOCTEST_H

#include "base/strbuf.h"
#include "elf/build_id.h"

// Appends the mapping of a program. Functions of the doctest itself are left out:
// their lines are those of a comment. `scratch` may be given back afterwards.
MUST_CHECK bool cover_doctest_mapping(Arena *scratch, Bytes program, BuildId *id, StrBuf *out,
                                      Error *err);

// The crate that a function is of, by its linkage name: "" where the name is none of
// Rust's scheme v0 or does not begin with a path.
// Document: Rust RFC 2603, "Symbol name mangling v0".
Str cover_rust_crate_of(Str linkage_name);

#endif // COLLECT_COVER_DOCTEST_H
