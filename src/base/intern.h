// SPDX-License-Identifier: Apache-2.0
// Interned texts: each distinct text is kept once and has a number. Numbers count up in
// order of first use; number 0 is always the empty text.

#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/table.h"
#include "base/vec.h"

typedef struct Intern {
    Arena *arena; // where the copies live
    StrVec texts; // number -> text
    Table table;
} Intern;

// Starts with the empty text as number 0. Copies of texts go to `arena`, which must outlive `in`.
void intern_init(Intern *in, Arena *arena);
void intern_deinit(Intern *in); // frees the table only; the texts belong to the arena

// The number of `s`; a new text is copied.
uint32_t intern_add(Intern *in, Str s);

// The text of a number that intern_add returned.
static inline Str intern_get(const Intern *in, uint32_t id)
{
    assert(id < in->texts.len);
    return in->texts.at[id];
}

#endif // BASE_INTERN_H
