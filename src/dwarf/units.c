// SPDX-License-Identifier: Apache-2.0
// Units: reads their headers and unit DIEs, and makes the index from addresses to units. Format:
// DWARF 5 §7.5.1, §3.1, §6.1.2 (.debug_aranges as a supplement).

#include "dwarf/dwarf_internal.h"

#include <inttypes.h>

void set_init(Set *set, DwarfFile *f, const DwarfSections *sections)
{
    *set = (Set){.file = f, .s = *sections};
    set->abbrev_budget = 4 * (uint64_t)sections->abbrev.len + 65536;
    set->peek_budget = sections->abbrev.len;
    set->line_budget = 4 * (uint64_t)sections->line.len + 65536;
    set->range_budget = 4 * ((uint64_t)sections->ranges.len + sections->rnglists.len) + 65536;
}

// ---- Headers ---------------------------------------------------------------
// Reads the header at the cursor and moves after the unit. False when no unit can be found after
// it. A unit that only cannot be decoded gives true, counts as damaged and has `u->version` 0.
static bool header_read(Cursor *c, Unit *u, bool is_types)
{
    u->section = c->data;
    u->offset = c->at;
    u->offset_size = 4;
    uint64_t length = cursor_u32(c);
    if (length == UINT32_MAX) {
        u->offset_size = 8;
        length = cursor_u64(c);
    }
    if (!cursor_ok(c) || length > cursor_left(c) || length == 0)
        return false;
    u->end = c->at + length;
    Cursor in = *c;
    in.data.len = (size_t)u->end;
    uint16_t version = cursor_u16(&in);
    u->unit_type = is_types ? DW_UT_type : DW_UT_compile;
    if (version >= 5) {
        u->unit_type = cursor_u8(&in);
        u->addr_size = cursor_u8(&in);
        u->abbrev_offset = cursor_uint(&in, u->offset_size);
    } else {
        u->abbrev_offset = cursor_uint(&in, u->offset_size);
        u->addr_size = cursor_u8(&in);
    }
    if (u->unit_type == DW_UT_type || u->unit_type == DW_UT_split_type) {
        u->id = cursor_u64(&in);
        u->type_die = cursor_uint(&in, u->offset_size);
    } else if (u->unit_type == DW_UT_skeleton || u->unit_type == DW_UT_split_compile) {
        u->id = cursor_u64(&in);
    }
    u->die = in.at;
    if (!cursor_ok(&in))
        unit_damaged_at(u, u->offset, "unit header", &in);
    else if (version < 2 || version > 5)
        unit_damaged(u, u->offset, "unknown version %u", version);
    else if (u->addr_size != 4 && u->addr_size != 8)
        unit_damaged(u, u->offset, "unknown address size %u", u->addr_size);
    else if (length >= UINT32_MAX)
        unit_damaged(u, u->offset, "0x%" PRIx64 " bytes, more than 4 GiB", length);
    else
        u->version = (uint8_t)version;
    cursor_seek(c, u->end);
    return true;
}

static void index_section(Set *set, Bytes section, bool is_types, UnitVec *out)
{
    DwarfFile *f = set->file;
    Cursor c = section_cursor(set, section, ".debug_info");
    while (cursor_more(&c)) {
        Unit head = {.set = set, .number = NONE};
        bool more = header_read(&c, &head, is_types);
        if (!more) {
            unit_damaged(&head, head.offset, "cut short");
            return;
        }
        if (head.version == 0)
            continue;
        Unit *u = arena_new(&f->arena, Unit);
        *u = head;
        vec_push(&f->arena, out, u);
    }
}

void set_index(Set *set)
{
    if (set->is_indexed)
        return;
    set->is_indexed = true;
    index_section(set, set->s.info, false, &set->units);
    index_section(set, set->s.types, true, &set->types);
}

Unit *set_unit_at(Set *set, uint64_t offset)
{
    size_t low = 0;
    size_t high = set->units.len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (set->units.at[mid]->offset <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    Unit *u = low ? set->units.at[low - 1] : NULL;
    return u && offset < u->end ? u : NULL;
}

// ---- The unit DIE ----------------------------------------------------------
typedef struct Root {
    Value comp_dir, dwo_name, low_pc, high_pc, ranges;
} Root;

static void root_attr(Unit *u, Root *root, const AbbrevAttr *attr, Value v)
{
    switch (attr->name) {
    case DW_AT_comp_dir:
        root->comp_dir = v;
        break;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
        root->dwo_name = v;
        break;
    case DW_AT_low_pc:
        root->low_pc = v;
        break;
    case DW_AT_high_pc:
        root->high_pc = v;
        break;
    case DW_AT_ranges:
        root->ranges = v;
        break;
    case DW_AT_stmt_list:
        u->stmt_list = v.u;
        u->has_lines = v.kind == VALUE_SEC_OFFSET || v.kind == VALUE_UINT;
        break;
    case DW_AT_language:
        u->language = v.kind == VALUE_UINT ? (uint16_t)MIN(v.u, (uint64_t)UINT16_MAX) : 0;
        break;
    case DW_AT_str_offsets_base:
        u->str_offsets_base = v.u;
        break;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
        u->addr_base = v.u;
        break;
    case DW_AT_rnglists_base:
        u->rnglists_base = v.u;
        break;
    case DW_AT_loclists_base:
        u->loclists_base = v.u;
        break;
    case DW_AT_GNU_ranges_base:
        u->ranges_base = v.u;
        break;
    case DW_AT_GNU_dwo_id:
        u->id = v.u;
        break;
    default:
        break;
    }
}

// The start of each table when the unit does not state it: right after the table's header.
static void default_bases(Unit *u)
{
    uint64_t wide = u->offset_size == 8;
    if (u->version < 5)
        return;
    u->str_offsets_base = wide ? 16 : 8;
    u->addr_base = wide ? 16 : 8;
    u->rnglists_base = u->loclists_base = wide ? 20 : 12;
}

// Reads the attributes of the unit DIE. `root` keeps those that can be interpreted only when all
// bases are known.
static bool root_read(Unit *u, Root *root)
{
    enum { ROOT_ATTRS_MAX = 64 };
    default_bases(u);
    AbbrevAttr peeked[ROOT_ATTRS_MAX];
    const AbbrevAttr *attrs = peeked;
    Cursor c = unit_cursor(u, u->die);
    Cursor at_code = c;
    int count = abbrev_peek(u, cursor_uleb(&c), &u->tag, peeked, ROOT_ATTRS_MAX);
    if (count < 0) {
        c = at_code;
        const Abbrev *a = die_open(u, &c);
        if (!a) {
            if (cursor_ok(&c))
                unit_damaged(u, u->die, "unit entry is a null entry");
            else
                unit_damaged_at(u, u->die, "unit entry", &c);
            return false;
        }
        u->tag = a->tag;
        attrs = &u->abbrevs->attrs[a->attr];
        count = (int)a->attr_count;
    }
    for (int i = 0; i < count; i++)
        root_attr(u, root, &attrs[i],
                  form_read(&c, unit_sizes(u), attrs[i].form, attrs[i].implicit));
    if (!cursor_ok(&c))
        unit_damaged_at(u, u->die, "unit entry", &c);
    return cursor_ok(&c);
}

static void root_resolve(Unit *u, const Root *root)
{
    u->comp_dir = value_text(u, root->comp_dir);
    u->dwo_name = value_text(u, root->dwo_name);
    if (!value_address(u, root->low_pc, &u->low_pc))
        u->low_pc = 0;
}

static bool root_load(Unit *u, Root *root)
{
    *root = (Root){0};
    u->is_root_read = true;
    if (!root_read(u, root))
        return false;
    root_resolve(u, root);
    return true;
}

void unit_read_root(Unit *u)
{
    Root root;
    if (!u->is_root_read)
        (void)root_load(u, &root);
}

// ---- The index -------------------------------------------------------------
static bool may_have_code(const Unit *u)
{
    return u->unit_type == DW_UT_compile || u->unit_type == DW_UT_skeleton ||
           u->unit_type == DW_UT_split_compile;
}

// When two units claim an address, the first one in the file wins: its id must be the highest.
static uint32_t rank_of(uint32_t number)
{
    return UINT32_MAX - 1 - number;
}

// Reads one set of .debug_aranges, for the unit that it names.
static void aranges_set(Cursor *c, Unit *u, uint8_t addr_size, size_t start, RangeVec *out)
{
    size_t past = (c->at - start) % (2u * addr_size);
    if (past)
        cursor_skip(c, 2u * addr_size - past);
    while (cursor_more(c)) {
        uint64_t low = cursor_uint(c, addr_size);
        uint64_t length = cursor_uint(c, addr_size);
        if (!cursor_ok(c) || (low == 0 && length == 0))
            return;
        if (!is_tombstone(u, low) && low + length > low)
            vec_push(NULL, out, (Range){low, low + length, rank_of(u->number)});
    }
}

// Adds ranges from .debug_aranges for units whose DIE states none.
static void add_aranges(Set *set, RangeVec *out)
{
    Cursor all = section_cursor(set, set->s.aranges, ".debug_aranges");
    while (cursor_more(&all)) {
        uint8_t offset_size = 4;
        size_t start = all.at;
        uint64_t length = cursor_u32(&all);
        if (length == UINT32_MAX) {
            offset_size = 8;
            length = cursor_u64(&all);
        }
        if (!cursor_ok(&all) || length > cursor_left(&all))
            return;
        Cursor c = all;
        c.data.len = c.at + (size_t)length;
        cursor_skip(&all, length);
        uint16_t version = cursor_u16(&c);
        uint64_t offset = cursor_uint(&c, offset_size);
        uint8_t addr_size = cursor_u8(&c);
        uint8_t segment_size = cursor_u8(&c);
        Unit *u = cursor_ok(&c) ? set_unit_at(set, offset) : NULL;
        if (version != 2 || segment_size != 0 || (addr_size != 4 && addr_size != 8) || !u ||
            u->offset != offset || u->has_code)
            continue;
        aranges_set(&c, u, addr_size, start, out);
    }
}

static void unrank(DwarfFile *f, Segments s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.id[i] != NONE)
            s.id[i] = UINT32_MAX - 1 - s.id[i];
    f->index = s;
}

void units_index_addresses(DwarfFile *f)
{
    Set *set = &f->main;
    RangeVec *ranges = &f->scratch_ranges;
    bool any_missing = false;
    ranges->len = 0;
    for (size_t i = 0; i < set->units.len; i++) {
        Unit *u = set->units.at[i];
        size_t before = ranges->len;
        Root root;
        u->number = (uint32_t)i;
        if (!root_load(u, &root) || !may_have_code(u))
            continue;
        if (!ranges_of_die(u, root.low_pc, root.high_pc, root.ranges, rank_of(u->number), ranges))
            unit_damaged(u, u->die, "address ranges are cut short");
        u->has_code = ranges->len > before;
        any_missing |= !u->has_code;
    }
    size_t stated = ranges->len;
    if (any_missing)
        add_aranges(set, ranges);
    for (size_t i = stated; i < ranges->len; i++)
        set->units.at[UINT32_MAX - 1 - ranges->at[i].id]->has_code = true;
    unrank(f, segments_from_ranges(&f->arena, ranges));
}
