// SPDX-License-Identifier: Apache-2.0
// Function names at several lengths. Demangled C++ names average 948 characters
// in template-heavy programs; a reader needs a fraction of that.

#ifndef MODEL_NAME_H
#define MODEL_NAME_H

#include "base/strbuf.h"

// What each keeps of
//     void ns::Map<int, Hash>::visit<Fn>(Fn&&) const [clone .isra.0]
// and of the Rust name
//     <alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop
typedef enum NameLength {
    NAME_FULL,         // all of it
    NAME_NO_ARGUMENTS, // ns::Map<int, Hash>::visit<Fn>; Rust: all of it
    NAME_NO_TEMPLATES, // ns::Map::visit; <alloc::vec::Vec as core::ops::drop::Drop>::drop
    NAME_LAST // visit; drop. Closures keep the name of the function around them: main::{{closure}}
} NameLength;

// Appends `name`, as a demangler prints it, at that length. Return types, ABI
// tags and clone marks go with the arguments. Text that does not have the shape
// of a C++, Rust or D function name (JIT names, Go, labels) is appended as it is.
void name_shorten(Str name, NameLength length, StrBuf *out);

// Whether `full` is `wanted`, or ends in "::" and `wanted`: a user may leave out the crate, the
// module or the namespace of a function.
bool name_ends_in(Str full, Str wanted);

// Appends the type and the function of a method as Rust names it, without paths: of
//     <alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop
// "<Vec as Drop>::drop", or without `with_trait` "Vec::drop". False, and nothing is appended, for
// other names.
bool name_add_method(Str name, bool with_trait, StrBuf *out);

#endif // MODEL_NAME_H
