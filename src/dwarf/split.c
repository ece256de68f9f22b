// SPDX-License-Identifier: Apache-2.0
// Split DWARF: finds the split unit of a skeleton, in a .dwo file or, by its id, in a .dwp package.
// Format: DWARF 5 §7.3.2, §7.3.5; GNU "DWARF Fission" for version 4 and version 2 packages.

#include "dwarf/dwarf_internal.h"

// The index of a package: a hash table from ids to rows, and a table with the parts of the sections
// that belong to each row.
typedef struct PackageIndex {
    Bytes bytes;
    bool big_endian;
    uint32_t version; // 2 or 5
    uint32_t columns, rows, slots;
    size_t ids_at, row_numbers_at; // offsets of the slots
    size_t offsets_at;             // offset of the first row, with the section of each column
    size_t sizes_at;
} PackageIndex;

static uint32_t u32_at(const PackageIndex *x, size_t at)
{
    Cursor c = cursor_over(x->bytes, ".debug_cu_index");
    c.big_endian = x->big_endian;
    cursor_seek(&c, at);
    return cursor_u32(&c);
}

static uint64_t u64_at(const PackageIndex *x, size_t at)
{
    Cursor c = cursor_over(x->bytes, ".debug_cu_index");
    c.big_endian = x->big_endian;
    cursor_seek(&c, at);
    return cursor_u64(&c);
}

static bool index_parse(Bytes bytes, bool big_endian, PackageIndex *ret)
{
    Cursor c = cursor_over(bytes, ".debug_cu_index");
    c.big_endian = big_endian;
    PackageIndex x = {.bytes = bytes, .big_endian = big_endian};
    x.version = cursor_u32(&c);
    // Version 5 has a version of two bytes and two bytes of padding.
    if (x.version != 2)
        x.version = big_endian ? x.version >> 16 : x.version & 0xffff;
    x.columns = cursor_u32(&c);
    x.rows = cursor_u32(&c);
    x.slots = cursor_u32(&c);
    if (!cursor_ok(&c) || (x.version != 2 && x.version != 5))
        return false;
    uint64_t table = (uint64_t)x.rows * x.columns * 4;
    uint64_t need = (uint64_t)x.slots * 12 + (uint64_t)x.columns * 4;
    if (x.columns > 16 || (x.slots & (x.slots - 1)) || need > cursor_left(&c) ||
        2 * table > cursor_left(&c) - need)
        return false;
    x.ids_at = c.at;
    x.row_numbers_at = x.ids_at + (size_t)x.slots * 8;
    x.offsets_at = x.row_numbers_at + (size_t)x.slots * 4;
    x.sizes_at = x.offsets_at + (size_t)x.columns * 4 + (size_t)table;
    *ret = x;
    return true;
}

// The row of an id, counted from 1; 0 when the id is missing.
static uint32_t index_row(const PackageIndex *x, uint64_t id)
{
    if (x->slots == 0)
        return 0;
    uint32_t mask = x->slots - 1;
    uint32_t slot = (uint32_t)id & mask;
    uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t tries = 0; tries < x->slots; tries++) {
        uint32_t row = u32_at(x, x->row_numbers_at + (size_t)slot * 4);
        if (row == 0)
            return 0;
        if (u64_at(x, x->ids_at + (size_t)slot * 8) == id)
            return row <= x->rows ? row : 0;
        slot = (slot + step) & mask;
    }
    return 0;
}

static Bytes slice_at(Bytes section, uint64_t offset, uint64_t size)
{
    if (size == 0 || offset > section.len || size > section.len - offset)
        return (Bytes){0};
    return bytes_over(section.ptr + offset, (size_t)size);
}

// The parts of the package's sections that belong to one row.
static DwarfSections row_sections(const PackageIndex *x, uint32_t row, const DwarfSections *all)
{
    DwarfSections s = *all;
    s.info = s.types = s.line = s.rnglists = (Bytes){0};
    for (uint32_t i = 0; i < x->columns; i++) {
        size_t at = ((size_t)(row - 1) * x->columns + i) * 4;
        uint32_t section = u32_at(x, x->offsets_at + (size_t)i * 4);
        uint32_t offset = u32_at(x, x->offsets_at + (size_t)x->columns * 4 + at);
        uint32_t size = u32_at(x, x->sizes_at + at);
        switch (section) {
        case DW_SECT_INFO:
            s.info = slice_at(all->info, offset, size);
            break;
        case DW_SECT_TYPES:
            if (x->version == 2)
                s.types = slice_at(all->types, offset, size);
            break;
        case DW_SECT_ABBREV:
            s.abbrev = slice_at(all->abbrev, offset, size);
            break;
        case DW_SECT_LINE:
            s.line = slice_at(all->line, offset, size);
            break;
        case DW_SECT_STR_OFFSETS:
            s.str_offsets = slice_at(all->str_offsets, offset, size);
            break;
        case DW_SECT_RNGLISTS:
            if (x->version == 5)
                s.rnglists = slice_at(all->rnglists, offset, size);
            break;
        default:
            break;
        }
    }
    return s;
}

static Set *set_new(DwarfFile *f, const DwarfSections *sections)
{
    Set *set = arena_new(&f->arena, Set);
    set_init(set, f, sections);
    vec_push(&f->arena, &f->sets, set);
    set_index(set);
    return set;
}

// The set with the split unit: of a .dwo file on disk, or of a part of the package.
static Set *set_find(Unit *skeleton)
{
    DwarfFile *f = skeleton->set->file;
    DwarfDwoRequest request = {skeleton->dwo_name, skeleton->comp_dir, skeleton->id};
    DwarfSections s = {0};
    if (!f->has_hooks || !f->hooks.get_dwo(f->hooks.ctx, &request, &s))
        return NULL;
    s.alt = NULL;
    if (s.cu_index.len == 0)
        return set_new(f, &s);
    PackageIndex x;
    uint32_t row = index_parse(s.cu_index, s.big_endian, &x) ? index_row(&x, skeleton->id) : 0;
    if (row == 0)
        return NULL;
    DwarfSections own = row_sections(&x, row, &s);
    Set *set = set_new(f, &own);
    set->package = arena_new(&f->arena, DwarfSections);
    *set->package = s;
    return set;
}

// Whether this is the split unit of the skeleton. Before version 5 the id is in the unit DIE, which
// can be read only with the addresses of the skeleton.
static bool adopt(Unit *u, Unit *skeleton)
{
    if (u->unit_type == DW_UT_type || u->unit_type == DW_UT_split_type ||
        u->addr_size != skeleton->addr_size)
        return false;
    u->skeleton = skeleton;
    unit_read_root(u);
    if (u->id == skeleton->id && u->tag == DW_TAG_compile_unit)
        return true;
    u->skeleton = NULL;
    return false;
}

Unit *split_find(Unit *skeleton)
{
    DwarfStats *stats = &skeleton->set->file->stats;
    Set *set = set_find(skeleton);
    for (size_t i = 0; set && i < set->units.len; i++) {
        if (adopt(set->units.at[i], skeleton)) {
            stats->dwo_found++;
            return set->units.at[i];
        }
    }
    stats->dwo_missing++;
    return NULL;
}

static Unit *type_in(const UnitVec *units, uint64_t signature)
{
    for (size_t i = 0; i < units->len; i++)
        if (units->at[i]->id == signature)
            return units->at[i];
    return NULL;
}

Unit *split_type_find(Set *set, uint64_t signature)
{
    PackageIndex x;
    uint32_t row = 0;
    if (set->package && index_parse(set->package->tu_index, set->s.big_endian, &x))
        row = index_row(&x, signature);
    if (row == 0)
        return NULL;
    DwarfSections own = row_sections(&x, row, set->package);
    Set *types = set_new(set->file, &own);
    Unit *u = type_in(&types->units, signature);
    return u ? u : type_in(&types->types, signature);
}
