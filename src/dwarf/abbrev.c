// SPDX-License-Identifier: Apache-2.0
// Reads abbreviations: decodes them once to attribute lists, and to skip programs by which the walk
// skips a DIE without looking at each attribute. Format: DWARF 5 §7.5.3.

#include "dwarf/dwarf_internal.h"

#include <stdlib.h>

typedef struct Builder {
    Vec(Abbrev) abbrevs;
    Vec(AbbrevAttr) attrs;
    Vec(SkipOp) ops;
    Vec(CallShape) shapes;
    CallShape shape; // of the abbreviation that is being read
    bool has_shape;  // so far all its attributes fit one
} Builder;

static uint8_t kind_of(uint16_t tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
        return ABBREV_SUBPROGRAM;
    case DW_TAG_inlined_subroutine:
        return ABBREV_INLINED;
    case DW_TAG_array_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_string_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
        return ABBREV_LEAF;
    default:
        return ABBREV_PLAIN;
    }
}

static bool is_number_form(uint16_t form)
{
    return form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4 ||
           form == DW_FORM_data8;
}

static bool is_unit_ref_form(uint16_t form)
{
    return form == DW_FORM_ref1 || form == DW_FORM_ref2 || form == DW_FORM_ref4 ||
           form == DW_FORM_ref8;
}

// Notes the offset of an attribute that the walk reads. `at` is UINT16_MAX when a value of variable
// size comes before it.
static void note_position(Abbrev *a, const AbbrevAttr *attr, uint16_t at, int size)
{
    switch (attr->name) {
    case DW_AT_sibling:
        if (is_unit_ref_form(attr->form)) {
            a->sibling_at = at;
            a->sibling_size = (uint8_t)size;
        }
        break;
    case DW_AT_low_pc:
        a->has_pc = true;
        if (attr->form == DW_FORM_addr)
            a->low_at = at;
        break;
    case DW_AT_high_pc:
        if (is_number_form(attr->form)) {
            a->high_at = at;
            a->high_size = (uint8_t)size;
        }
        break;
    case DW_AT_ranges:
        a->has_pc = true;
        a->pc_is_fixed = false;
        break;
    default:
        break;
    }
}

static void note_call(Builder *b, const AbbrevAttr *attr, uint16_t at, int size)
{
    CallShape *s = &b->shape;
    Field *field = attr->name == DW_AT_abstract_origin ? &s->origin
                   : attr->name == DW_AT_call_file     ? &s->file
                   : attr->name == DW_AT_call_line     ? &s->line
                   : attr->name == DW_AT_call_column   ? &s->column
                                                       : NULL;
    if (!field)
        return;
    bool fits = field == &s->origin
                    ? is_unit_ref_form(attr->form)
                    : is_number_form(attr->form) || attr->form == DW_FORM_implicit_const;
    *field = (Field){at, (uint8_t)size, (uint32_t)attr->implicit};
    b->has_shape &= fits && at != UINT16_MAX;
}

static void finish(Abbrev *a, Builder *b)
{
    if (a->kind == ABBREV_INLINED && b->has_shape && b->shape.origin.size) {
        vec_push(NULL, &b->shapes, b->shape);
        a->shape = (uint32_t)b->shapes.len;
    }
    a->attr_count = (uint32_t)(b->attrs.len - a->attr);
    a->op_count = (uint32_t)(b->ops.len - a->op);
    a->pc_is_fixed = a->pc_is_fixed && a->low_at != UINT16_MAX && a->high_at != UINT16_MAX;
    // The members of a declaration have no code; most are class bodies.
    if (a->kind == ABBREV_SUBPROGRAM && !a->has_pc)
        for (uint32_t i = 0; i < a->attr_count; i++)
            if (b->attrs.at[a->attr + i].name == DW_AT_declaration)
                a->kind = ABBREV_LEAF;
}

// Reads one attribute specification; false at the end of the list.
static bool spec_read(Cursor *c, AbbrevAttr *ret)
{
    uint64_t name = cursor_uleb(c);
    uint64_t form = cursor_uleb(c);
    // No known form is that high: cut to 16 bits it is still an unknown one.
    ret->name = (uint16_t)MIN(name, (uint64_t)UINT16_MAX);
    ret->form = (uint16_t)MIN(form, (uint64_t)UINT16_MAX);
    ret->implicit = form == DW_FORM_implicit_const ? (int32_t)cursor_sleb(c) : 0;
    return cursor_ok(c) && (name || form);
}

// Reads the attribute list of one abbreviation.
static void parse_attrs(Cursor *c, FormSizes sizes, Builder *b, Abbrev *a)
{
    uint32_t fixed = 0;
    bool is_prefix = true;
    uint16_t unknown = 0;
    AbbrevAttr attr;
    while (spec_read(c, &attr)) {
        int size = form_size(sizes, attr.form);
        if (size == -2) {
            a->kind = ABBREV_BAD;
            unknown = attr.form;
            continue;
        }
        uint16_t at = is_prefix && fixed < UINT16_MAX ? (uint16_t)fixed : UINT16_MAX;
        note_position(a, &attr, at, size);
        note_call(b, &attr, at, size);
        vec_push(NULL, &b->attrs, attr);
        if (size >= 0) {
            fixed += (uint32_t)size;
            continue;
        }
        vec_push(NULL, &b->ops, (SkipOp){fixed, attr.form});
        fixed = 0;
        is_prefix = false;
    }
    a->fixed = fixed;
    if (a->kind == ABBREV_BAD)
        a->low_at = unknown;
    else
        finish(a, b);
}

static bool parse_one(Cursor *c, FormSizes sizes, Builder *b)
{
    Abbrev a = {.low_at = UINT16_MAX, .high_at = UINT16_MAX, .sibling_at = UINT16_MAX};
    a.code = cursor_uleb(c);
    if (a.code == 0)
        return false;
    uint64_t tag = cursor_uleb(c);
    a.tag = (uint16_t)MIN(tag, (uint64_t)UINT16_MAX);
    a.kind = kind_of(a.tag);
    a.has_children = cursor_u8(c) != 0;
    a.pc_is_fixed = true;
    b->shape = (CallShape){0};
    b->has_shape = true;
    a.attr = (uint32_t)b->attrs.len;
    a.op = (uint32_t)b->ops.len;
    parse_attrs(c, sizes, b, &a);
    if (!cursor_ok(c))
        return false;
    vec_push(NULL, &b->abbrevs, a);
    return true;
}

static int by_code(const void *left, const void *right)
{
    const Abbrev *a = left;
    const Abbrev *b = right;
    return a->code < b->code ? -1 : a->code > b->code;
}

static AbbrevTable *table_from(Arena *arena, const Builder *b)
{
    AbbrevTable *t = arena_new(arena, AbbrevTable);
    t->count = b->abbrevs.len;
    t->abbrevs = arena_array(arena, Abbrev, t->count);
    t->attrs = arena_array(arena, AbbrevAttr, b->attrs.len);
    t->ops = arena_array(arena, SkipOp, b->ops.len);
    t->shapes = arena_array(arena, CallShape, b->shapes.len);
    bytes_copy(t->abbrevs, bytes_over(b->abbrevs.at, t->count * sizeof(Abbrev)));
    bytes_copy(t->attrs, bytes_over(b->attrs.at, b->attrs.len * sizeof(AbbrevAttr)));
    bytes_copy(t->ops, bytes_over(b->ops.at, b->ops.len * sizeof(SkipOp)));
    bytes_copy(t->shapes, bytes_over(b->shapes.at, b->shapes.len * sizeof(CallShape)));
    bool ascending = true;
    for (size_t i = 1; i < t->count; i++)
        ascending &= t->abbrevs[i - 1].code < t->abbrevs[i].code;
    if (!ascending)
        qsort(t->abbrevs, t->count, sizeof(Abbrev), by_code);
    t->is_dense = true;
    for (size_t i = 0; i < t->count; i++)
        t->is_dense &= t->abbrevs[i].code == i + 1;
    return t;
}

static AbbrevTable *table_parse(Unit *u)
{
    Set *set = u->set;
    Cursor c = section_cursor(set, set->s.abbrev, ".debug_abbrev");
    cursor_seek(&c, u->abbrev_offset);
    if (!cursor_more(&c)) {
        unit_damaged(u, u->offset, "abbreviations lie outside of .debug_abbrev");
        return NULL;
    }
    c.data.len = MIN(c.data.len, c.at + set->abbrev_budget);
    size_t start = c.at;
    Builder b = {0};
    while (parse_one(&c, unit_sizes(u), &b)) {
    }
    set->abbrev_budget -= c.at - start;
    AbbrevTable *t = table_from(&set->file->arena, &b);
    vec_free(&b.abbrevs);
    vec_free(&b.attrs);
    vec_free(&b.ops);
    vec_free(&b.shapes);
    if (!cursor_ok(&c))
        unit_damaged_at(u, u->offset, "abbreviations", &c);
    return t;
}

// Returns the number of attributes of the abbreviation with that code, or -1.
static int peek(Cursor *c, uint64_t code, uint16_t *ret_tag, AbbrevAttr *ret, int max)
{
    while (cursor_more(c)) {
        uint64_t found = cursor_uleb(c);
        uint64_t tag = cursor_uleb(c);
        (void)cursor_u8(c); // has children
        int count = 0;
        while (count < max && spec_read(c, &ret[count]))
            count++;
        if (count == max || !cursor_ok(c) || found == 0)
            return -1;
        *ret_tag = (uint16_t)MIN(tag, (uint64_t)UINT16_MAX);
        if (found == code)
            return count;
    }
    return -1;
}

int abbrev_peek(Unit *u, uint64_t code, uint16_t *ret_tag, AbbrevAttr *ret, int max)
{
    Set *set = u->set;
    // For a table that many units share, decoding it once costs less.
    if (set->peeked_at == u->abbrev_offset && set->peek_budget != set->s.abbrev.len)
        return -1;
    Cursor c = section_cursor(set, set->s.abbrev, ".debug_abbrev");
    cursor_seek(&c, u->abbrev_offset);
    c.data.len = MIN(c.data.len, c.at + set->peek_budget);
    size_t start = c.at;
    int count = peek(&c, code, ret_tag, ret, max);
    set->peek_budget -= c.at - start;
    set->peeked_at = u->abbrev_offset;
    return count;
}

const AbbrevTable *abbrevs_of(Unit *u)
{
    if (u->abbrevs)
        return u->abbrevs;
    Set *set = u->set;
    uint32_t key = u->addr_size | (uint32_t)u->offset_size << 8 | (u->version == 2 ? 1u << 16 : 0);
    uint64_t hash = hash_pair(u->abbrev_offset, key);
    uint32_t row;
    for (TableProbe p = table_probe(&set->abbrev_table, hash);
         table_next(&set->abbrev_table, &p, &row);) {
        AbbrevTable *t = set->abbrev_tables.at[row];
        if (t->offset == u->abbrev_offset && t->key == key)
            return u->abbrevs = t;
    }
    AbbrevTable *t = table_parse(u);
    if (!t)
        return NULL;
    t->offset = u->abbrev_offset;
    t->key = key;
    table_insert(&set->abbrev_table, hash, (uint32_t)set->abbrev_tables.len);
    vec_push(&set->file->arena, &set->abbrev_tables, t);
    return u->abbrevs = t;
}

const Abbrev *abbrev_find_slow(const AbbrevTable *t, uint64_t code)
{
    Abbrev key = {.code = code};
    return bsearch(&key, t->abbrevs, t->count, sizeof(Abbrev), by_code);
}

bool abbrev_failed(const Abbrev *a, uint64_t code, Cursor *c)
{
    if (a)
        cursor_fail_hex(c, "unknown attribute form", a->low_at);
    else
        cursor_fail_decimal(c, "no abbreviation with code", code);
    return false;
}

const Abbrev *die_open(Unit *u, Cursor *c)
{
    const AbbrevTable *t = abbrevs_of(u);
    uint64_t code = cursor_uleb(c);
    if (!t)
        cursor_fail(c, "abbreviations are missing");
    if (!cursor_ok(c) || code == 0)
        return NULL;
    const Abbrev *a = abbrev_find(t, code);
    if (a && a->kind != ABBREV_BAD)
        return a;
    (void)abbrev_failed(a, code, c);
    return NULL;
}

void die_skip_attrs(const Unit *u, Cursor *c, const Abbrev *a)
{
    const SkipOp *ops = &u->abbrevs->ops[a->op];
    for (uint32_t i = 0; i < a->op_count; i++) {
        cursor_skip(c, ops[i].fixed);
        form_skip(c, unit_sizes(u), ops[i].form);
    }
    cursor_skip(c, a->fixed);
}
