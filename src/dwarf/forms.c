// SPDX-License-Identifier: Apache-2.0
// Attribute values: their sizes and their meaning. Format: DWARF 5 §7.5.5, §7.5.6; GNU forms of
// split DWARF 4 and dwz.

#include "dwarf/dwarf_internal.h"

int form_size(FormSizes sizes, uint64_t form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return sizes.addr_size;
    case DW_FORM_ref_addr:
        return sizes.version == 2 ? sizes.addr_size : sizes.offset_size;
    case DW_FORM_sec_offset:
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return sizes.offset_size;
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
    case DW_FORM_exprloc:
    case DW_FORM_string:
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_indirect:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        return -1;
    default:
        return -2;
    }
}

void form_skip(Cursor *c, FormSizes sizes, uint64_t form)
{
    switch (form) {
    case DW_FORM_block1:
        cursor_skip(c, cursor_u8(c));
        return;
    case DW_FORM_block2:
        cursor_skip(c, cursor_u16(c));
        return;
    case DW_FORM_block4:
        cursor_skip(c, cursor_u32(c));
        return;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        cursor_skip(c, cursor_uleb(c));
        return;
    case DW_FORM_string:
        (void)cursor_c_str(c);
        return;
    case DW_FORM_sdata:
        (void)cursor_sleb(c);
        return;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        (void)cursor_uleb(c);
        return;
    case DW_FORM_indirect: {
        uint64_t real = cursor_uleb(c);
        // Neither may be reached through DW_FORM_indirect (§7.5.3).
        if (real == DW_FORM_indirect || real == DW_FORM_implicit_const)
            cursor_fail_hex(c, "indirect value of form", real);
        else
            form_skip(c, sizes, real);
        return;
    }
    default: {
        int size = form_size(sizes, form);
        if (size < 0)
            cursor_fail_hex(c, "unknown attribute form", form);
        else
            cursor_skip(c, (uint64_t)size);
    }
    }
}

static Value value_of(ValueKind kind, uint64_t u)
{
    return (Value){.kind = kind, .u = u};
}

static ValueKind kind_of_form(uint64_t form)
{
    switch (form) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_flag:
    case DW_FORM_udata:
        return VALUE_UINT;
    case DW_FORM_addr:
        return VALUE_ADDR;
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
        return VALUE_ADDRX;
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index:
        return VALUE_STRX;
    case DW_FORM_strp:
        return VALUE_STRP;
    case DW_FORM_line_strp:
        return VALUE_LINE_STRP;
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        return VALUE_STRP_ALT;
    case DW_FORM_sec_offset:
        return VALUE_SEC_OFFSET;
    case DW_FORM_rnglistx:
        return VALUE_RNGLISTX;
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
        return VALUE_REF;
    case DW_FORM_ref_addr:
        return VALUE_REF_ADDR;
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
    case DW_FORM_GNU_ref_alt:
        return VALUE_REF_ALT;
    case DW_FORM_ref_sig8:
        return VALUE_REF_SIG8;
    default:
        return VALUE_NONE;
    }
}

Value form_read(Cursor *c, FormSizes sizes, uint64_t form, int64_t implicit)
{
    if (form == DW_FORM_indirect) {
        form = cursor_uleb(c);
        if (form == DW_FORM_indirect || form == DW_FORM_implicit_const) {
            cursor_fail_hex(c, "indirect value of form", form);
            return value_of(VALUE_NONE, 0);
        }
    }
    switch (form) {
    case DW_FORM_flag_present:
        return value_of(VALUE_UINT, 1);
    case DW_FORM_implicit_const:
        return value_of(VALUE_UINT, (uint64_t)implicit);
    case DW_FORM_sdata:
        return value_of(VALUE_UINT, (uint64_t)cursor_sleb(c));
    case DW_FORM_string:
        return (Value){.kind = VALUE_TEXT, .text = cursor_c_str(c)};
    default:
        break;
    }
    ValueKind kind = kind_of_form(form);
    int size = form_size(sizes, form);
    if (kind == VALUE_NONE || size == -2) {
        form_skip(c, sizes, form);
        return value_of(VALUE_NONE, 0);
    }
    return value_of(kind, size < 0 ? cursor_uleb(c) : cursor_uint(c, (size_t)size));
}

bool form_is_block(uint16_t form)
{
    return form == DW_FORM_exprloc || form == DW_FORM_block || form == DW_FORM_block1 ||
           form == DW_FORM_block2 || form == DW_FORM_block4;
}

Bytes form_read_block(Cursor *c, uint16_t form)
{
    switch (form) {
    case DW_FORM_block1:
        return cursor_bytes(c, cursor_u8(c));
    case DW_FORM_block2:
        return cursor_bytes(c, cursor_u16(c));
    case DW_FORM_block4:
        return cursor_bytes(c, cursor_u32(c));
    default:
        return cursor_bytes(c, cursor_uleb(c));
    }
}

Str section_text(Bytes section, uint64_t offset)
{
    if (offset >= section.len)
        return (Str){0};
    const char *start = (const char *)section.ptr + offset;
    size_t limit = MIN(section.len - (size_t)offset, (size_t)TEXT_MAX);
    const char *nul = memchr(start, 0, limit);
    return nul ? str_over(start, (size_t)(nul - start)) : (Str){0};
}

static Str strx_text(Unit *u, uint64_t index)
{
    uint64_t at;
    if (__builtin_mul_overflow(index, u->offset_size, &at) ||
        __builtin_add_overflow(at, u->str_offsets_base, &at))
        return (Str){0};
    Cursor c = section_cursor(u->set, u->set->s.str_offsets, ".debug_str_offsets");
    cursor_seek(&c, at);
    uint64_t offset = cursor_uint(&c, u->offset_size);
    return cursor_ok(&c) ? section_text(u->set->s.str, offset) : (Str){0};
}

Str value_text(Unit *u, Value v)
{
    switch (v.kind) {
    case VALUE_TEXT:
        return v.text;
    case VALUE_STRP:
        return section_text(u->set->s.str, v.u);
    case VALUE_LINE_STRP:
        return section_text(u->set->s.line_str, v.u);
    case VALUE_STRX:
        return strx_text(u, v.u);
    case VALUE_STRP_ALT:
        if (!u->set->s.alt) {
            u->set->file->stats.alt_missing++;
            return (Str){0};
        }
        return section_text(u->set->s.alt->str, v.u);
    default:
        return (Str){0};
    }
}

bool value_address(Unit *u, Value v, uint64_t *ret)
{
    if (v.kind == VALUE_ADDR) {
        *ret = v.u;
        return true;
    }
    if (v.kind != VALUE_ADDRX)
        return false;
    // The addresses of a split unit are in its skeleton's file, where the linker relocates them.
    Unit *owner = u->skeleton ? u->skeleton : u;
    uint64_t at;
    if (__builtin_mul_overflow(v.u, owner->addr_size, &at) ||
        __builtin_add_overflow(at, owner->addr_base, &at))
        return false;
    Cursor c = section_cursor(owner->set, owner->set->s.addr, ".debug_addr");
    cursor_seek(&c, at);
    uint64_t address = cursor_uint(&c, owner->addr_size);
    if (!cursor_ok(&c))
        return false;
    *ret = address;
    return true;
}

Cursor unit_cursor(const Unit *u, uint64_t offset)
{
    Cursor c = section_cursor(u->set, bytes_slice(u->section, 0, (size_t)u->end), ".debug_info");
    cursor_seek(&c, offset);
    return c;
}
