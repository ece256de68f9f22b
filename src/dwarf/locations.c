// SPDX-License-Identifier: Apache-2.0
// Location expressions and lists. Format: DWARF 5 §2.5, §2.6, §7.7; DWARF 4 §2.6.2.

#include "dwarf/dwarf_internal.h"

// No compiler writes longer lists; without a limit, many variables could refer to one list.
enum { ENTRIES_MAX = 100000 };

// ---- Lists -----------------------------------------------------------------------

static bool address_x(Unit *u, uint64_t index, uint64_t *ret)
{
    return value_address(u, (Value){.kind = VALUE_ADDRX, .u = index}, ret);
}

static uint64_t base_of(const Unit *u)
{
    return u->skeleton ? u->skeleton->low_pc : u->low_pc;
}

// One entry of .debug_loclists. False at the end of the list, or when it is broken.
static bool read_entry(Unit *u, Cursor *c, uint64_t *base, Range *ret, Bytes *expression)
{
    uint8_t kind = cursor_u8(c);
    uint64_t a = 0, b = 0;
    bool ok = true;
    *ret = (Range){0};
    *expression = (Bytes){0};
    switch (kind) {
    case DW_LLE_base_addressx:
        return address_x(u, cursor_uleb(c), base) && cursor_ok(c);
    case DW_LLE_base_address:
        *base = cursor_uint(c, u->addr_size);
        return cursor_ok(c);
    case DW_LLE_view_pair:
        cursor_uleb(c);
        cursor_uleb(c);
        return cursor_ok(c);
    case DW_LLE_startx_endx:
    case DW_LLE_startx_length:
        ok = address_x(u, cursor_uleb(c), &a);
        b = cursor_uleb(c);
        if (kind == DW_LLE_startx_endx)
            ok = ok && address_x(u, b, &b);
        else
            b += a;
        break;
    case DW_LLE_offset_pair:
        a = *base + cursor_uleb(c);
        b = *base + cursor_uleb(c);
        break;
    case DW_LLE_default_location:
        b = UINT64_MAX;
        break;
    case DW_LLE_start_end:
    case DW_LLE_start_length:
        a = cursor_uint(c, u->addr_size);
        b = kind == DW_LLE_start_end ? cursor_uint(c, u->addr_size) : a + cursor_uleb(c);
        break;
    default:
        return false;
    }
    *expression = cursor_bytes(c, cursor_uleb(c));
    *ret = (Range){.low = a, .high = b};
    return ok && cursor_ok(c);
}

static bool find_in_loclists(Unit *u, Bytes section, uint64_t offset, uint64_t address, Bytes *ret)
{
    Cursor c = section_cursor(u->set, section, ".debug_loclists");
    uint64_t base = base_of(u);
    Range range;
    cursor_seek(&c, offset);
    for (int i = 0; i < ENTRIES_MAX && read_entry(u, &c, &base, &range, ret); i++)
        if (address >= range.low && address < range.high)
            return true;
    return false;
}

static bool find_in_loc(const Unit *u, Bytes section, uint64_t offset, uint64_t address, Bytes *ret)
{
    Cursor c = section_cursor(u->set, section, ".debug_loc");
    uint64_t base = base_of(u);
    uint64_t top = u->addr_size >= 8 ? UINT64_MAX : UINT32_MAX;
    cursor_seek(&c, offset);
    for (int i = 0; i < ENTRIES_MAX; i++) {
        uint64_t low = cursor_uint(&c, u->addr_size), high = cursor_uint(&c, u->addr_size);
        if (!cursor_ok(&c) || (low == 0 && high == 0))
            return false;
        if (low == top) {
            base = high;
            continue;
        }
        *ret = cursor_bytes(&c, cursor_u16(&c));
        if (cursor_ok(&c) && address >= base + low && address < base + high)
            return true;
    }
    return false;
}

// The offset of a list, of DW_FORM_loclistx.
static bool list_offset(const Unit *u, const DwarfLocations *l, uint64_t index, uint64_t *ret)
{
    Cursor c = section_cursor(u->set, l->loclists, ".debug_loclists");
    uint64_t at;
    if (__builtin_mul_overflow(index, u->offset_size, &at) ||
        __builtin_add_overflow(at, u->loclists_base, &at))
        return false;
    cursor_seek(&c, at);
    uint64_t offset = cursor_uint(&c, u->offset_size);
    return cursor_ok(&c) && !__builtin_add_overflow(offset, u->loclists_base, ret);
}

bool location_of_list(Unit *u, const DwarfLocations *l, Value v, bool is_index, uint64_t address,
                      Bytes *ret)
{
    uint64_t offset = v.u;
    if (is_index && !list_offset(u, l, v.u, &offset))
        return false;
    return u->version >= 5 ? find_in_loclists(u, l->loclists, offset, address, ret)
                           : find_in_loc(u, l->loc, offset, address, ret);
}

// ---- Expressions ---------------------------------------------------------------------

// The base of the frame: the CFA, or a register that the function keeps. `*offset` is added to what
// fbreg states.
static bool read_frame_base(Unit *u, Bytes frame_base, DwarfVariable *ret)
{
    Cursor c = section_cursor(u->set, frame_base, "frame base");
    uint8_t op = cursor_u8(&c);
    ret->place = DWARF_IN_MEMORY;
    if (op == DW_OP_call_frame_cfa) {
        ret->place = DWARF_IN_FRAME;
    } else if (op >= DW_OP_reg0 && op <= DW_OP_reg31) {
        ret->reg = op - DW_OP_reg0;
    } else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
        ret->reg = op - DW_OP_breg0;
        ret->offset += cursor_sleb(&c);
    } else {
        return false;
    }
    return cursor_ok(&c) && !cursor_more(&c);
}

// The constants have operations of 1, 2, 4 and 8 bytes, without and with a sign in turn.
static bool read_constant(Cursor *c, uint8_t op, int64_t *ret)
{
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
        *ret = op - DW_OP_lit0;
    } else if (op >= DW_OP_const1u && op <= DW_OP_const8s) {
        unsigned size = 1u << ((op - DW_OP_const1u) / 2), unused = 64 - 8 * size;
        uint64_t value = cursor_uint(c, size) << unused;
        bool is_signed = (op - DW_OP_const1u) % 2;
        *ret = is_signed ? (int64_t)value >> unused : (int64_t)(value >> unused);
    } else if (op == DW_OP_constu) {
        *ret = (int64_t)cursor_uleb(c);
    } else if (op == DW_OP_consts) {
        *ret = cursor_sleb(c);
    } else {
        return false;
    }
    return true;
}

// The first operation; most expressions have no other.
static bool read_start(Unit *u, Cursor *c, Bytes frame_base, DwarfVariable *ret, const char **why)
{
    uint8_t op = cursor_u8(c);
    *why = "is computed in a way that samples cannot follow";
    if (op >= DW_OP_reg0 && op <= DW_OP_reg31) {
        ret->place = DWARF_IN_REGISTER;
        ret->reg = op - DW_OP_reg0;
    } else if (op == DW_OP_regx) {
        ret->place = DWARF_IN_REGISTER;
        ret->reg = (uint32_t)MIN(cursor_uleb(c), (uint64_t)UINT32_MAX);
    } else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
        ret->place = DWARF_IN_MEMORY;
        ret->reg = op - DW_OP_breg0;
        ret->offset = cursor_sleb(c);
    } else if (op == DW_OP_bregx) {
        ret->place = DWARF_IN_MEMORY;
        ret->reg = (uint32_t)MIN(cursor_uleb(c), (uint64_t)UINT32_MAX);
        ret->offset = cursor_sleb(c);
    } else if (op == DW_OP_fbreg) {
        ret->offset = cursor_sleb(c);
        return read_frame_base(u, frame_base, ret);
    } else if (read_constant(c, op, &ret->offset)) {
        ret->place = DWARF_CONSTANT;
    } else if (op == DW_OP_addr || op == DW_OP_addrx || op == DW_OP_GNU_addr_index) {
        *why = "is static: samples copy the stack, not the data of the program";
        return false;
    } else if (op == DW_OP_entry_value || op == DW_OP_GNU_entry_value) {
        *why = "is overwritten: only its value at the start of the function was known";
        return false;
    } else if (op == DW_OP_piece) {
        *why = "is in pieces, of which some are optimised away";
        return false;
    } else {
        return false;
    }
    return true;
}

bool location_read(Unit *u, Bytes expression, Bytes frame_base, DwarfVariable *ret,
                   const char **why)
{
    Cursor c = section_cursor(u->set, expression, "location");
    bool is_value = false;
    if (expression.len == 0) {
        *why = "is optimised away there";
        return false;
    }
    if (!read_start(u, &c, frame_base, ret, why))
        return false;
    while (cursor_more(&c)) {
        uint8_t op = cursor_u8(&c);
        if (op == DW_OP_plus_uconst) {
            ret->offset += (int64_t)cursor_uleb(&c);
        } else if (op == DW_OP_stack_value && !cursor_more(&c)) {
            is_value = true;
        } else {
            *why = op == DW_OP_piece ? "is in pieces"
                                     : "is computed in a way that samples cannot follow";
            return false;
        }
    }
    if (!cursor_ok(&c)) {
        *why = "has a damaged location";
        return false;
    }
    if (is_value && ret->place == DWARF_IN_MEMORY) {
        ret->place = DWARF_IN_REGISTER; // the address is the value
        return true;
    }
    *why = "is computed in a way that samples cannot follow";
    return is_value ? ret->place == DWARF_CONSTANT : ret->place != DWARF_CONSTANT;
}
