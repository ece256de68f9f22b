// SPDX-License-Identifier: Apache-2.0
// Types of variables: size and sign of numbers, members of structures. Format: DWARF 5 §5.

#include "dwarf/dwarf_internal.h"

enum { HOPS_MAX = 32, MEMBERS_MAX = 10000, ATTRS_MAX = 64 };

// The attributes of a type or a member.
typedef struct TypeDie {
    uint16_t tag;
    bool has_children;
    Value name, size, encoding, type, member_at, bit_size;
} TypeDie;

// Reads the DIE at the cursor. False at a null entry or on damage.
static bool read_die(Unit *u, Cursor *c, TypeDie *ret)
{
    *ret = (TypeDie){0};
    Cursor at_code = *c;
    if (cursor_uleb(c) == 0)
        return false;
    *c = at_code;
    const Abbrev *a = die_open(u, c);
    const AbbrevTable *t = abbrevs_of(u);
    if (!a || !t || a->attr_count > ATTRS_MAX)
        return false;
    ret->tag = a->tag;
    ret->has_children = a->has_children;
    for (uint32_t i = 0; i < a->attr_count && cursor_ok(c); i++) {
        const AbbrevAttr *attr = &t->attrs[a->attr + i];
        Value v = form_read(c, unit_sizes(u), attr->form, attr->implicit);
        switch (attr->name) {
        case DW_AT_name:
            ret->name = v;
            break;
        case DW_AT_byte_size:
            ret->size = v;
            break;
        case DW_AT_encoding:
            ret->encoding = v;
            break;
        case DW_AT_type:
            ret->type = v;
            break;
        case DW_AT_data_member_location:
            ret->member_at = v;
            break;
        case DW_AT_bit_size:
        case DW_AT_data_bit_offset:
            ret->bit_size = v;
            break;
        default:
            break;
        }
    }
    return cursor_ok(c);
}

static bool is_name_of_other(uint16_t tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

static void set_number(const TypeDie *die, Type *ret)
{
    uint64_t encoding = die->encoding.u;
    ret->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    bool is_number = ret->is_signed || encoding == DW_ATE_unsigned || encoding == DW_ATE_boolean ||
                     encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF ||
                     encoding == DW_ATE_address;
    ret->class = is_number ? TYPE_NUMBER : TYPE_FLOAT;
}

static void classify(const Unit *u, const TypeDie *die, Type *ret)
{
    ret->size = die->size.kind == VALUE_UINT ? die->size.u : 0;
    switch (die->tag) {
    case DW_TAG_base_type:
        set_number(die, ret);
        break;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        ret->class = TYPE_NUMBER;
        ret->size = ret->size ? ret->size : u->addr_size;
        break;
    case DW_TAG_enumeration_type:
        ret->class = TYPE_NUMBER;
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        ret->class = TYPE_RECORD;
        break;
    default:
        break;
    }
}

void type_read(Unit *u, Value reference, Type *ret)
{
    *ret = (Type){.class = TYPE_OTHER};
    for (int i = 0; i < HOPS_MAX; i++) {
        Unit *at;
        uint64_t offset;
        TypeDie die;
        if (!value_die(u, reference, &at, &offset))
            return;
        Cursor c = unit_cursor(at, offset);
        if (!read_die(at, &c, &die))
            return;
        if (is_name_of_other(die.tag)) {
            u = at;
            reference = die.type;
            continue;
        }
        ret->unit = at;
        ret->die = offset;
        classify(at, &die, ret);
        return;
    }
}

bool type_member(const Type *record, Str name, uint64_t *ret_offset, Type *ret)
{
    TypeDie die;
    Unit *u = record->unit;
    if (record->class != TYPE_RECORD)
        return false;
    Cursor c = unit_cursor(u, record->die);
    if (!read_die(u, &c, &die) || !die.has_children)
        return false;
    unsigned depth = 1;
    for (int i = 0; i < MEMBERS_MAX && depth; i++) {
        if (!read_die(u, &c, &die)) {
            if (!cursor_ok(&c))
                return false;
            depth--;
            continue;
        }
        bool is_wanted = depth == 1 && die.tag == DW_TAG_member &&
                         die.bit_size.kind == VALUE_NONE &&
                         str_equal(value_text(u, die.name), name);
        if (is_wanted) {
            *ret_offset = die.member_at.kind == VALUE_UINT ? die.member_at.u : 0;
            type_read(u, die.type, ret);
            return true;
        }
        depth += die.has_children;
    }
    return false;
}
