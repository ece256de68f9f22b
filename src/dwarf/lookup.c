// SPDX-License-Identifier: Apache-2.0
// The public functions of dwarf.h, on top of what the other files decode.

#include "dwarf/dwarf_internal.h"

#include <stdlib.h>

// ---- An address ------------------------------------------------------------
// Decodes all units when none states its ranges (old or unusual producers), and uses the ranges of
// their functions.
static void force_index(DwarfFile *f)
{
    f->is_index_forced = true;
    RangeVec all = {0};
    for (size_t n = 0; n < f->main.units.len; n++) {
        Unit *tree = unit_tree(f->main.units.at[n]);
        unit_decode(tree);
        const Segments *s = &tree->segments;
        for (size_t i = 0; i + 1 < s->len; i++)
            if (s->id[i] != NONE)
                vec_push(NULL, &all, (Range){s->start[i], s->start[i + 1], (uint32_t)n});
    }
    f->index = segments_from_ranges(&f->arena, &all);
    vec_free(&all);
}

Unit *unit_at_address(DwarfFile *f, uint64_t address)
{
    if (f->index.len == 0 && !f->is_index_forced)
        force_index(f);
    uint32_t number = segments_find(&f->index, address);
    return number == NONE ? NULL : f->main.units.at[number];
}

static void set_function(DwarfFrame *frame, DwarfFile *f, const Node *n, const Origin *o)
{
    frame->is_inlined = n->flags & NODE_INLINED;
    frame->low = n->low;
    if (!o)
        return;
    frame->name = o->name;
    frame->linkage_name = o->linkage_name;
    frame->decl_file = o->decl_file;
    frame->decl_line = o->decl_line;
    if (frame->is_inlined && o->linkage_name.len == 0)
        frame->qualified_name = origin_qualified(f, n->origin);
}

// Adds the frames from a node outwards; the first one has its line already.
static void add_chain(Unit *tree, uint32_t node, DwarfFrames *ret)
{
    Lines *lines = lines_of(tree);
    for (;;) {
        const Origin *origin = node_origin(tree, node);
        const Node *n = &tree->nodes[node];
        set_function(&ret->at[ret->len - 1], tree->set->file, n, origin);
        node = n->parent;
        if (node == NONE)
            return;
        if (ret->len == DWARF_FRAMES_MAX) {
            ret->is_cut = true;
            return;
        }
        ret->at[ret->len++] = (DwarfFrame){
            .file = lines ? lines_path(lines, n->call_file) : (Str){0},
            .line = n->call_line,
            .column = n->call_column,
        };
    }
}

bool dwarf_lookup(DwarfFile *f, uint64_t address, DwarfFrames *ret)
{
    ret->len = 0;
    ret->is_cut = false;
    Unit *u = unit_at_address(f, address);
    if (!u)
        return false;
    Unit *tree = unit_tree(u);
    unit_decode(tree);
    uint32_t node = segments_find(&tree->segments, address);
    Lines *lines = lines_of(u);
    const DwarfRow *row = lines ? lines_row_at(lines, address) : NULL;
    if (node == NONE && !row)
        return false;
    ret->len = 1;
    ret->at[0] = (DwarfFrame){0};
    if (row) {
        ret->at[0].file = lines_path(lines, row->file);
        ret->at[0].line = row->line;
        ret->at[0].column = row->column;
    }
    if (node != NONE)
        add_chain(tree, node, ret);
    return true;
}

// ---- The units -------------------------------------------------------------
static Unit *unit_get(DwarfFile *f, size_t unit)
{
    assert(unit < f->main.units.len);
    return f->main.units.at[unit];
}

size_t dwarf_unit_count(const DwarfFile *f)
{
    return f->main.units.len;
}

DwarfRows dwarf_unit_rows(DwarfFile *f, size_t unit)
{
    Lines *l = lines_of(unit_get(f, unit));
    return l ? lines_rows(l) : (DwarfRows){0};
}

Str dwarf_unit_file(DwarfFile *f, size_t unit, uint32_t file)
{
    Lines *l = lines_of(unit_get(f, unit));
    return l ? lines_path(l, file) : (Str){0};
}

static int by_low(const void *left, const void *right)
{
    const DwarfFunction *a = left;
    const DwarfFunction *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->high < b->high ? -1 : a->high > b->high;
}

static DwarfFunctions functions_list(Unit *tree)
{
    DwarfFile *f = tree->set->file;
    RangeVec ranges = {0};
    for (uint32_t node = 0; node < tree->node_count; node++)
        if (!(tree->nodes[node].flags & NODE_INLINED))
            node_ranges(tree, node, &ranges);
    DwarfFunction *out = arena_array(&f->arena, DwarfFunction, ranges.len);
    for (size_t i = 0; i < ranges.len; i++) {
        Range r = ranges.at[i];
        out[i] = (DwarfFunction){.low = r.low, .high = r.high};
        const Origin *o = node_origin(tree, r.id);
        if (!o)
            continue;
        out[i].name = o->name;
        out[i].linkage_name = o->linkage_name;
        out[i].decl_file = o->decl_file;
        out[i].decl_line = o->decl_line;
    }
    if (ranges.len > 1)
        qsort(out, ranges.len, sizeof(DwarfFunction), by_low);
    DwarfFunctions ret = {out, ranges.len};
    vec_free(&ranges);
    return ret;
}

DwarfFunctions dwarf_unit_functions(DwarfFile *f, size_t unit)
{
    Unit *tree = unit_tree(unit_get(f, unit));
    if (!tree->has_functions_listed) {
        tree->has_functions_listed = true;
        unit_decode(tree);
        tree->functions = functions_list(tree);
    }
    return tree->functions;
}

void dwarf_unit_inlined(DwarfFile *f, size_t unit, DwarfInlinedEach *each, void *ctx)
{
    Unit *tree = unit_tree(unit_get(f, unit));
    unit_decode(tree);
    for (uint32_t node = 0; node < tree->node_count; node++) {
        const Node *n = &tree->nodes[node];
        const Origin *o = n->flags & NODE_INLINED && n->low ? node_origin(tree, node) : NULL;
        if (o)
            each(ctx, o->name, o->linkage_name, n->low);
    }
}

bool dwarf_unit_has_inlined(DwarfFile *f, size_t unit)
{
    Unit *tree = unit_tree(unit_get(f, unit));
    unit_decode(tree);
    for (size_t node = 0; node < tree->node_count; node++)
        if (tree->nodes[node].flags & NODE_INLINED)
            return true;
    return false;
}

void dwarf_stats(const DwarfFile *f, DwarfStats *ret)
{
    *ret = f->stats;
    ret->units = f->main.units.len;
}
