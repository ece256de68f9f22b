// SPDX-License-Identifier: Apache-2.0
// Ruby's Marshal format, version 4.8: nil, booleans, numbers, strings, symbols, arrays and hashes,
// and links to those that came before.

#ifndef IMPORT_STACKS_RUBY_MARSHAL_H
#define IMPORT_STACKS_RUBY_MARSHAL_H

#include "base/json.h"

// Whether the bytes begin as a dump of Marshal does.
bool ruby_marshal_is(Bytes head);

// Reads one dump into `arena`. A symbol becomes a string, a key of a hash becomes its text, and nil
// becomes null. Texts borrow from `file`. Values that are linked to from several places share their
// children, so the tree takes memory in proportion to the file. An object of another class, a
// hash that holds itself, a number of more than 64 bits and a cut file are errors that name the
// offset.
MUST_CHECK bool ruby_marshal_parse(Arena *arena, Bytes file, JsonValue **ret, Error *err);

#endif // IMPORT_STACKS_RUBY_MARSHAL_H
