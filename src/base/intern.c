// SPDX-License-Identifier: Apache-2.0
// Interned texts: from text to number.

#include "base/intern.h"

void intern_init(Intern *in, Arena *arena)
{
    *in = (Intern){.arena = arena};
    intern_add(in, STR(""));
}

void intern_deinit(Intern *in)
{
    table_deinit(&in->table);
}

static bool find_hashed(const Intern *in, Str s, uint64_t hash, uint32_t *ret)
{
    uint32_t row;
    for (TableProbe p = table_probe(&in->table, hash); table_next(&in->table, &p, &row);) {
        if (str_equal(in->texts.at[row], s)) {
            *ret = row;
            return true;
        }
    }
    return false;
}

uint32_t intern_add(Intern *in, Str s)
{
    uint64_t hash = str_hash(s);
    uint32_t id;
    if (find_hashed(in, s, hash, &id))
        return id;
    id = (uint32_t)in->texts.len;
    vec_push(in->arena, &in->texts, arena_str(in->arena, s));
    table_insert(&in->table, hash, id);
    return id;
}
