// SPDX-License-Identifier: Apache-2.0
// References from one DIE to another: in the unit, in another unit, in a
// supplementary file, or by the signature of a type.
// Format: DWARF 5 §7.5.5 (reference), §7.32 (type signatures), §7.3.6 (supplementary files).

#include "dwarf/dwarf_internal.h"

// NULL when there is none.
static Set *set_alt(Set *set)
{
    if (set->alt || !set->s.alt)
        return set->alt;
    DwarfFile *f = set->file;
    set->alt = arena_new(&f->arena, Set);
    set_init(set->alt, f, set->s.alt);
    set->alt->s.alt = NULL; // supplementary files do not nest
    vec_push(&f->arena, &f->sets, set->alt);
    set_index(set->alt);
    return set->alt;
}

static Unit *type_find(const Set *set, uint64_t signature)
{
    uint32_t row;
    for (TableProbe p = table_probe(&set->type_table, hash_u64(signature));
         table_next(&set->type_table, &p, &row);) {
        Unit *u = row < set->units.len ? set->units.at[row] : set->types.at[row - set->units.len];
        if (u->id == signature)
            return u;
    }
    return NULL;
}

// `first` is what the table counts these units from.
static void index_types(Set *set, const UnitVec *units, size_t first)
{
    for (size_t i = 0; i < units->len; i++) {
        const Unit *u = units->at[i];
        bool is_type = u->unit_type == DW_UT_type || u->unit_type == DW_UT_split_type;
        // One of each: a file full of one signature would make probing slow.
        if (is_type && !type_find(set, u->id))
            table_insert(&set->type_table, hash_u64(u->id), (uint32_t)(first + i));
    }
}

static Unit *set_type_unit(Set *set, uint64_t signature)
{
    if (!set->are_types_indexed) {
        set->are_types_indexed = true;
        index_types(set, &set->units, 0);
        index_types(set, &set->types, set->units.len);
    }
    Unit *u = type_find(set, signature);
    if (!u) {
        // In a package types have units, and rows, of their own.
        u = split_type_find(set, signature);
        if (!u)
            return NULL;
        vec_push(&set->file->arena, &set->types, u);
        table_insert(&set->type_table, hash_u64(signature),
                     (uint32_t)(set->units.len + set->types.len - 1));
    }
    unit_read_root(u);
    return u;
}

static bool die_of_set(Set *set, uint64_t offset, Unit **ret_unit, uint64_t *ret_offset)
{
    Unit *u = set_unit_at(set, offset);
    if (!u || offset < u->die)
        return false;
    unit_read_root(u);
    *ret_unit = u;
    *ret_offset = offset;
    return true;
}

bool value_die(Unit *u, Value v, Unit **ret_unit, uint64_t *ret_offset)
{
    switch (v.kind) {
    case VALUE_REF: {
        uint64_t at;
        if (__builtin_add_overflow(u->offset, v.u, &at) || at < u->die || at >= u->end)
            return false;
        *ret_unit = u;
        *ret_offset = at;
        return true;
    }
    case VALUE_REF_ADDR:
        return die_of_set(u->set, v.u, ret_unit, ret_offset);
    case VALUE_REF_ALT: {
        Set *alt = set_alt(u->set);
        if (!alt) {
            u->set->file->stats.alt_missing++;
            return false;
        }
        return die_of_set(alt, v.u, ret_unit, ret_offset);
    }
    case VALUE_REF_SIG8: {
        Unit *type = set_type_unit(u->set, v.u);
        if (!type || type->type_die < type->die - type->offset ||
            type->type_die >= type->end - type->offset)
            return false;
        *ret_unit = type;
        *ret_offset = type->offset + type->type_die;
        return true;
    }
    default:
        return false;
    }
}
