// SPDX-License-Identifier: Apache-2.0
// Finds the counters of functions that the debug information describes: one pass over all DIEs of a
// unit, most of which are skipped. Format: DWARF 5 §2.3, §2.5.1.1;
// llvm/lib/Transforms/Instrumentation/InstrProfiling.cpp.

#include "dwarf/dwarf_internal.h"

// Which fields of a DwarfCounters are set.
enum { HAS_ADDRESS = 1, HAS_FUNCTION = 2, HAS_HASH = 4, HAS_COUNT = 8, HAS_ALL = 15 };
// No compiler writes more; without a limit, attributes without bytes could make a small file slow.
enum { ATTRS_MAX = 256 };

// A function whose children are being read.
typedef struct OpenFunction {
    uint32_t depth; // depth of its children
    uint64_t low;
} OpenFunction;

typedef struct CountersWalk {
    Unit *u;
    const AbbrevTable *abbrevs;
    Cursor c;
    uint32_t depth;
    Vec(OpenFunction) functions;
    uint32_t variable_depth; // depth of its annotations; 0: no variable is open
    unsigned known;          // HAS_*
    DwarfCounters counters;  // of the open variable
    size_t incomplete;
    DwarfCountersEach *each;
    void *ctx;
} CountersWalk;

// The attributes that the walk needs of a DIE.
typedef struct CountersDie {
    Value name, low, constant;
    Bytes location;
} CountersDie;

static CountersDie read_attrs(CountersWalk *w, const Abbrev *a)
{
    CountersDie die = {0};
    for (uint32_t i = 0; i < a->attr_count && cursor_ok(&w->c); i++) {
        const AbbrevAttr *attr = &w->abbrevs->attrs[a->attr + i];
        if (attr->name == DW_AT_location && form_is_block(attr->form)) {
            die.location = form_read_block(&w->c, attr->form);
            continue;
        }
        Value v = form_read(&w->c, unit_sizes(w->u), attr->form, attr->implicit);
        if (attr->name == DW_AT_name)
            die.name = v;
        else if (attr->name == DW_AT_low_pc)
            die.low = v;
        else if (attr->name == DW_AT_const_value)
            die.constant = v;
    }
    return die;
}

// The address in an expression that consists of one.
static bool address_of(Unit *u, Bytes location, uint64_t *ret)
{
    Cursor c = section_cursor(u->set, location, "location");
    uint8_t op = cursor_u8(&c);
    Value v = {0};
    if (op == DW_OP_addr)
        v = (Value){.kind = VALUE_ADDR, .u = cursor_uint(&c, u->addr_size)};
    else if (op == DW_OP_addrx || op == DW_OP_GNU_addr_index)
        v = (Value){.kind = VALUE_ADDRX, .u = cursor_uleb(&c)};
    return cursor_ok(&c) && value_address(u, v, ret);
}

// ---- The walk ------------------------------------------------------------------

static void open_function(CountersWalk *w, const Abbrev *a)
{
    CountersDie die = read_attrs(w, a);
    OpenFunction f = {.depth = w->depth + 1};
    if (!value_address(w->u, die.low, &f.low))
        f.low = 0;
    if (a->has_children)
        vec_push(NULL, &w->functions, f);
}

// Opens a variable. Only variables directly inside a function are counters.
static void open_variable(CountersWalk *w, const Abbrev *a)
{
    CountersDie die = read_attrs(w, a);
    const OpenFunction *f = w->functions.len ? &vec_last(&w->functions) : NULL;
    if (!a->has_children || !f || f->depth != w->depth ||
        !str_starts_with(value_text(w->u, die.name), STR("__profc_")))
        return;
    w->variable_depth = w->depth + 1;
    w->counters = (DwarfCounters){.low = f->low};
    w->known = address_of(w->u, die.location, &w->counters.address) ? HAS_ADDRESS : 0;
}

static void read_annotation(CountersWalk *w, const Abbrev *a)
{
    CountersDie die = read_attrs(w, a);
    Str name = value_text(w->u, die.name);
    Value v = die.constant;
    if (w->variable_depth == 0 || w->variable_depth != w->depth)
        return;
    if (str_equal(name, STR("Function Name"))) {
        w->counters.function = value_text(w->u, v);
        w->known |= w->counters.function.len ? HAS_FUNCTION : 0;
    } else if (v.kind == VALUE_UINT && str_equal(name, STR("CFG Hash"))) {
        w->counters.hash = v.u;
        w->known |= HAS_HASH;
    } else if (v.kind == VALUE_UINT && str_equal(name, STR("Num Counters"))) {
        w->counters.count = (uint32_t)v.u;
        w->known |= v.u == w->counters.count ? HAS_COUNT : 0;
    }
}

// Called after the children of a DIE.
static void close_die(CountersWalk *w)
{
    if (w->functions.len && vec_last(&w->functions).depth == w->depth)
        w->functions.len--;
    if (w->variable_depth == w->depth) {
        if (w->known == HAS_ALL)
            w->each(w->ctx, &w->counters);
        else
            w->incomplete++;
        w->variable_depth = 0;
    }
    w->depth--;
}

// Reads one DIE. False at the end of the tree.
static bool step(CountersWalk *w)
{
    Cursor at_code = w->c;
    if (cursor_uleb(&w->c) == 0) {
        if (cursor_ok(&w->c) && w->depth)
            close_die(w);
        return w->depth > 0;
    }
    w->c = at_code;
    const Abbrev *a = die_open(w->u, &w->c);
    if (!a) {
        return false;
    }
    if (a->attr_count > ATTRS_MAX)
        die_skip_attrs(w->u, &w->c, a);
    else if (a->tag == DW_TAG_subprogram)
        open_function(w, a);
    else if (a->tag == DW_TAG_variable)
        open_variable(w, a);
    else if (a->tag == DW_TAG_LLVM_annotation)
        read_annotation(w, a);
    else
        die_skip_attrs(w->u, &w->c, a);
    w->depth += a->has_children;
    return w->depth > 0;
}

size_t dwarf_unit_counters(DwarfFile *f, size_t unit, DwarfCountersEach *each, void *ctx)
{
    assert(unit < f->main.units.len);
    Unit *u = unit_tree(f->main.units.at[unit]);
    unit_read_root(u);
    CountersWalk w = {.u = u, .abbrevs = abbrevs_of(u), .each = each, .ctx = ctx};
    if (!w.abbrevs)
        return 0;
    w.c = unit_cursor(u, u->die);
    while (cursor_more(&w.c) && step(&w)) {
    }
    if (!cursor_ok(&w.c))
        unit_damaged_at(u, w.c.at, "an entry", &w.c);
    vec_free(&w.functions);
    return w.incomplete;
}
