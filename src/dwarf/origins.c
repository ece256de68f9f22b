// SPDX-License-Identifier: Apache-2.0
// Names and call sites of functions: read from the DIE when a look-up first needs them, and kept.
// All copies of an inlined function share one origin.
// Format: DWARF 5 §3.3.8 (abstract and concrete instances), §2.13 (declarations).

#include "dwarf/dwarf_internal.h"

// The attributes of the DIE of one function, not interpreted.
typedef struct FunctionDie {
    Value name, linkage_name, decl_file, decl_line;
    Value origin, specification;
    Value low_pc, high_pc, ranges;
    Value call_file, call_line, call_column;
    uint16_t tag;
} FunctionDie;

static Value *slot_of(FunctionDie *d, uint16_t name)
{
    switch (name) {
    case DW_AT_name:
        return &d->name;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        return &d->linkage_name;
    case DW_AT_decl_file:
        return &d->decl_file;
    case DW_AT_decl_line:
        return &d->decl_line;
    case DW_AT_abstract_origin:
        return &d->origin;
    case DW_AT_specification:
        return &d->specification;
    case DW_AT_low_pc:
        return &d->low_pc;
    case DW_AT_high_pc:
        return &d->high_pc;
    case DW_AT_ranges:
        return &d->ranges;
    case DW_AT_call_file:
        return &d->call_file;
    case DW_AT_call_line:
        return &d->call_line;
    case DW_AT_call_column:
        return &d->call_column;
    default:
        return NULL;
    }
}

static bool function_read(Unit *u, uint64_t offset, FunctionDie *ret)
{
    *ret = (FunctionDie){0};
    Cursor c = unit_cursor(u, offset);
    const Abbrev *a = die_open(u, &c);
    if (!a)
        return false;
    ret->tag = a->tag;
    for (uint32_t i = 0; i < a->attr_count && cursor_ok(&c); i++) {
        const AbbrevAttr *attr = &u->abbrevs->attrs[a->attr + i];
        Value *slot = slot_of(ret, attr->name);
        if (slot)
            *slot = form_read(&c, unit_sizes(u), attr->form, attr->implicit);
        else
            form_skip(&c, unit_sizes(u), attr->form);
    }
    return cursor_ok(&c);
}

static Str file_of(Unit *u, Value v)
{
    Lines *l = v.kind == VALUE_UINT ? lines_of(u) : NULL;
    return l ? lines_path(l, (uint32_t)v.u) : (Str){0};
}

// Sets the fields of `o` that are not set yet.
static void origin_fill(Origin *o, Unit *u, const FunctionDie *d)
{
    if (o->name.len == 0)
        o->name = value_text(u, d->name);
    if (o->linkage_name.len == 0)
        o->linkage_name = value_text(u, d->linkage_name);
    // A definition may have the line of its declaration but not the file, so that each is taken
    // from the first DIE that has it.
    if (o->decl_line == 0 && d->decl_line.kind == VALUE_UINT)
        o->decl_line = (uint32_t)d->decl_line.u;
    if (o->decl_file.len == 0)
        o->decl_file = file_of(u, d->decl_file);
}

// Follows the chain of references from a function's DIE to the DIEs with its names.
static Origin origin_read(Unit *u, uint64_t offset)
{
    Origin o = {0};
    for (int hop = 0; hop < ORIGIN_HOPS_MAX; hop++) {
        FunctionDie d;
        if (!function_read(u, offset, &d))
            break;
        origin_fill(&o, u, &d);
        o.unit = u;
        o.die = offset;
        Value next = d.origin.kind != VALUE_NONE ? d.origin : d.specification;
        if (next.kind == VALUE_NONE || !value_die(u, next, &u, &offset))
            break;
    }
    return o;
}

Str origin_qualified(DwarfFile *f, uint32_t origin)
{
    Origin *o = &f->origins.at[origin];
    if (o->qualified.len == 0 && o->unit)
        o->qualified = scope_qualified(o->unit, o->die, o->name);
    return o->qualified;
}

uint32_t origin_of(Unit *u, uint64_t offset)
{
    DwarfFile *f = u->set->file;
    // The address in memory also separates DIEs of different files.
    uint64_t key = (uint64_t)(uintptr_t)(u->section.ptr + offset);
    uint64_t hash = hash_u64(key);
    uint32_t row;
    for (TableProbe p = table_probe(&f->origin_table, hash);
         table_next(&f->origin_table, &p, &row);)
        if (f->origin_dies.at[row] == key)
            return row;
    Origin o = origin_read(u, offset);
    row = (uint32_t)f->origins.len;
    vec_push(&f->arena, &f->origins, o);
    vec_push(&f->arena, &f->origin_dies, key);
    table_insert(&f->origin_table, hash, row);
    return row;
}

static uint32_t number_of(Value v)
{
    return v.kind == VALUE_UINT ? (uint32_t)v.u : 0;
}

// Reads the attributes of the call that the walk could not read.
static void call_read(Unit *u, Node *n)
{
    FunctionDie d;
    Unit *origin_unit;
    uint64_t origin;
    n->flags |= NODE_CALL_READ | NODE_ORIGIN_ROW;
    n->origin = NONE;
    if (!function_read(u, u->offset + n->die, &d))
        return;
    n->call_file = number_of(d.call_file);
    n->call_line = number_of(d.call_line);
    n->call_column = (uint16_t)MIN(number_of(d.call_column), (uint32_t)UINT16_MAX);
    // An inlined copy has no names of its own: all copies share the origin.
    if (value_die(u, d.origin, &origin_unit, &origin))
        n->origin = origin_of(origin_unit, origin);
}

const Origin *node_origin(Unit *u, uint32_t node)
{
    Node *n = &u->nodes[node];
    if (!(n->flags & NODE_CALL_READ))
        call_read(u, n);
    if (!(n->flags & NODE_ORIGIN_ROW)) {
        uint64_t at = u->offset + n->origin;
        n->flags |= NODE_ORIGIN_ROW;
        n->origin = at >= u->die && at < u->end ? origin_of(u, at) : (uint32_t)NONE;
    }
    return n->origin == NONE ? NULL : &u->set->file->origins.at[n->origin];
}

void node_ranges(Unit *u, uint32_t node, RangeVec *out)
{
    FunctionDie d;
    if (function_read(u, u->offset + u->nodes[node].die, &d))
        (void)ranges_of_die(u, d.low_pc, d.high_pc, d.ranges, node, out);
}
