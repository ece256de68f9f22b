// SPDX-License-Identifier: Apache-2.0
// The variables that are visible at an address: one pass over the DIEs of its unit.
// Format: DWARF 5 §3.3 (functions), §3.5 (blocks), §4.1 (variables), §2.6 (locations).

#include "dwarf/dwarf_internal.h"

#include "base/strbuf.h"

enum { ATTRS_MAX = 256, ORIGINS_MAX = 8, NAMES_SHOWN = 12 };

// The attributes of a variable or a scope.
typedef struct VariableDie {
    uint16_t tag;
    bool has_children;
    Value name, origin, type, low, high, ranges, constant;
    Bytes location, frame_base;
    Value list; // of DW_AT_location when it is not an expression
    bool list_is_index;
} VariableDie;

// A function, inlined copy or block that contains the address, whose children are being read.
typedef struct Scope {
    uint32_t depth; // of its children
    bool is_inlined;
} Scope;

typedef struct VariableWalk {
    Unit *u;
    const AbbrevTable *abbrevs;
    Cursor c;
    uint64_t address;
    uint32_t depth;
    Vec(Scope) scopes;
    RangeVec ranges; // scratch
    Bytes frame_base;
    uint64_t function_low;
    uint32_t arguments; // integer registers that the parameters so far take
    bool arguments_known;
    Str name;          // sought; "": none
    uint32_t found_at; // depth of the found one; 0: none
    VariableDie found;
    Bytes found_frame_base;
    uint32_t found_argument;
    void (*each)(void *ctx, Str name); // NULL: names are not wanted
    void *ctx;
} VariableWalk;

static void read_attr(VariableWalk *w, const AbbrevAttr *attr, VariableDie *ret)
{
    bool is_block = form_is_block(attr->form);
    if (is_block && (attr->name == DW_AT_location || attr->name == DW_AT_frame_base)) {
        Bytes *to = attr->name == DW_AT_location ? &ret->location : &ret->frame_base;
        *to = form_read_block(&w->c, attr->form);
        return;
    }
    if (attr->name == DW_AT_location && attr->form == DW_FORM_loclistx) {
        ret->list = (Value){.kind = VALUE_SEC_OFFSET, .u = cursor_uleb(&w->c)};
        ret->list_is_index = true;
        return;
    }
    Value v = form_read(&w->c, unit_sizes(w->u), attr->form, attr->implicit);
    switch (attr->name) {
    case DW_AT_name:
        ret->name = v;
        break;
    case DW_AT_abstract_origin:
    case DW_AT_specification:
        ret->origin = v;
        break;
    case DW_AT_type:
        ret->type = v;
        break;
    case DW_AT_low_pc:
        ret->low = v;
        break;
    case DW_AT_high_pc:
        ret->high = v;
        break;
    case DW_AT_ranges:
        ret->ranges = v;
        break;
    case DW_AT_const_value:
        ret->constant = v;
        break;
    case DW_AT_location:
        ret->list = v;
        break;
    default:
        break;
    }
}

static bool read_die(VariableWalk *w, const Abbrev *a, VariableDie *ret)
{
    *ret = (VariableDie){.tag = a->tag, .has_children = a->has_children};
    for (uint32_t i = 0; i < a->attr_count && cursor_ok(&w->c); i++)
        read_attr(w, &w->abbrevs->attrs[a->attr + i], ret);
    return cursor_ok(&w->c);
}

// Takes name and type from what the DIE is a copy of.
static void complete(Unit *u, VariableDie *die)
{
    for (int i = 0; i < ORIGINS_MAX && die->origin.kind != VALUE_NONE; i++) {
        Unit *at;
        uint64_t offset;
        VariableDie origin;
        if ((die->name.kind != VALUE_NONE && die->type.kind != VALUE_NONE) ||
            !value_die(u, die->origin, &at, &offset) || at != u)
            return;
        VariableWalk w = {.u = at, .abbrevs = abbrevs_of(at), .c = unit_cursor(at, offset)};
        const Abbrev *a = w.abbrevs ? die_open(at, &w.c) : NULL;
        if (!a || a->attr_count > ATTRS_MAX || !read_die(&w, a, &origin))
            return;
        if (die->name.kind == VALUE_NONE)
            die->name = origin.name;
        if (die->type.kind == VALUE_NONE)
            die->type = origin.type;
        if (die->constant.kind == VALUE_NONE)
            die->constant = origin.constant;
        die->origin = origin.origin;
    }
}

// ---- The walk ------------------------------------------------------------------

static bool contains_address(VariableWalk *w, const VariableDie *die)
{
    w->ranges.len = 0;
    (void)!ranges_of_die(w->u, die->low, die->high, die->ranges, 0, &w->ranges);
    for (size_t i = 0; i < w->ranges.len; i++)
        if (w->address >= w->ranges.at[i].low && w->address < w->ranges.at[i].high)
            return true;
    return false;
}

static void open_scope(VariableWalk *w, const Abbrev *a)
{
    VariableDie die;
    bool is_inside = w->scopes.len && vec_last(&w->scopes).depth == w->depth;
    if (!read_die(w, a, &die) || !die.has_children ||
        (die.tag != DW_TAG_subprogram && !is_inside) || !contains_address(w, &die))
        return;
    Scope scope = {.depth = w->depth + 1, .is_inlined = die.tag == DW_TAG_inlined_subroutine};
    if (die.tag == DW_TAG_subprogram) {
        Type result;
        complete(w->u, &die);
        type_read(w->u, die.type, &result);
        w->frame_base = die.frame_base;
        w->arguments = 0;
        // A record may be returned through a hidden first argument.
        w->arguments_known = die.type.kind == VALUE_NONE || result.class == TYPE_NUMBER ||
                             result.class == TYPE_FLOAT;
        if (!value_address(w->u, die.low, &w->function_low))
            w->function_low = 0;
    }
    vec_push(NULL, &w->scopes, scope);
}

// The number of a parameter's register; 0: it has none, or it is not known.
static uint32_t count_argument(VariableWalk *w, const VariableDie *die)
{
    Type type;
    type_read(w->u, die->type, &type);
    if (type.class != TYPE_NUMBER && type.class != TYPE_FLOAT)
        w->arguments_known = false; // a record may take registers or none
    if (!w->arguments_known || type.class != TYPE_NUMBER)
        return 0;
    if (type.size > 8) { // two registers
        w->arguments_known = false;
        return 0;
    }
    return ++w->arguments;
}

static void take_variable(VariableWalk *w, const Abbrev *a)
{
    VariableDie die;
    const Scope *s = w->scopes.len ? &vec_last(&w->scopes) : NULL;
    if (!read_die(w, a, &die) || !s || s->depth != w->depth)
        return;
    complete(w->u, &die);
    bool is_argument = die.tag == DW_TAG_formal_parameter && !s->is_inlined && w->scopes.len == 1;
    uint32_t argument = is_argument ? count_argument(w, &die) : 0;
    Str name = value_text(w->u, die.name);
    if (w->each && name.len)
        w->each(w->ctx, name);
    if (w->depth < w->found_at || name.len == 0 || !str_equal(name, w->name))
        return;
    w->found = die;
    w->found_at = w->depth;
    w->found_frame_base = w->frame_base;
    w->found_argument = argument;
}

// Reads one DIE. False at the end of the tree.
static bool step(VariableWalk *w)
{
    Cursor at_code = w->c;
    if (cursor_uleb(&w->c) == 0) {
        if (w->scopes.len && vec_last(&w->scopes).depth == w->depth)
            w->scopes.len--;
        w->depth -= w->depth > 0;
        return w->depth > 0;
    }
    w->c = at_code;
    const Abbrev *a = die_open(w->u, &w->c);
    if (!a)
        return false;
    if (a->attr_count > ATTRS_MAX)
        die_skip_attrs(w->u, &w->c, a);
    else if (a->tag == DW_TAG_subprogram || a->tag == DW_TAG_inlined_subroutine ||
             a->tag == DW_TAG_lexical_block)
        open_scope(w, a);
    else if (w->scopes.len && (a->tag == DW_TAG_variable || a->tag == DW_TAG_formal_parameter))
        take_variable(w, a);
    else
        die_skip_attrs(w->u, &w->c, a);
    w->depth += a->has_children;
    return w->depth > 0;
}

static bool walk(DwarfFile *f, VariableWalk *w)
{
    Unit *u = unit_at_address(f, w->address);
    if (!u)
        return false;
    w->u = unit_tree(u);
    unit_read_root(w->u);
    w->abbrevs = abbrevs_of(w->u);
    if (!w->abbrevs)
        return false;
    w->c = unit_cursor(w->u, w->u->die);
    while (cursor_more(&w->c) && step(w)) {
    }
    vec_free(&w->scopes);
    vec_free(&w->ranges);
    return true;
}

void dwarf_variables_each(DwarfFile *f, uint64_t address, void (*each)(void *ctx, Str name),
                          void *ctx)
{
    VariableWalk w = {.address = address, .each = each, .ctx = ctx};
    (void)!walk(f, &w);
}

// ---- Results ------------------------------------------------------------------

typedef struct NameList {
    Str shown[NAMES_SHOWN];
    StrBuf text;
    size_t count; // more than NAMES_SHOWN: there are more
} NameList;

static void add_name(void *ctx, Str name)
{
    NameList *l = ctx;
    // An inner block, or the caller of an inlined function, may have a variable of the same name.
    for (size_t i = 0; i < MIN(l->count, (size_t)NAMES_SHOWN); i++)
        if (str_equal(l->shown[i], name))
            return;
    if (l->count < NAMES_SHOWN)
        l->shown[l->count] = name;
    if (l->count++ < NAMES_SHOWN)
        strbuf_printf(&l->text, "%s%" STR_FMT, l->text.len ? ", " : "", STR_ARG(name));
}

static bool explain_unknown(DwarfFile *f, uint64_t address, Str name, Error *err)
{
    NameList names = {0};
    dwarf_variables_each(f, address, add_name, &names);
    (void)error_set(err, ERROR_NOT_FOUND, "no variable '%" STR_FMT "' at 0x%llx", STR_ARG(name),
                    (unsigned long long)address);
    if (names.text.len)
        (void)error_hint(err, "there are %" STR_FMT "%s", STR_ARG(strbuf_str(&names.text)),
                         names.count > NAMES_SHOWN ? " and more" : "");
    strbuf_deinit(&names.text);
    return false;
}

// The end of the instructions that make the frame, by the line table: the row that says so, else
// the function's second row.
static bool is_before_body(DwarfFile *f, const VariableWalk *w)
{
    Unit *u = w->u->skeleton ? w->u->skeleton : w->u;
    Lines *lines = lines_of(u);
    (void)f;
    if (!lines || w->function_low == 0)
        return false;
    DwarfRows rows = lines_rows(lines);
    size_t at = 0, end = rows.len;
    while (at < end) { // the first row behind the function's start
        size_t middle = at + (end - at) / 2;
        if (rows.at[middle].address <= w->function_low)
            at = middle + 1;
        else
            end = middle;
    }
    for (size_t i = at; i < rows.len && i < at + 4; i++)
        if (rows.at[i].flags & DWARF_ROW_PROLOGUE_END)
            return w->address < rows.at[i].address;
    return at < rows.len && w->address < rows.at[at].address;
}

// Follows "buffer.len" into the record that the first name is.
static bool follow_members(const VariableWalk *w, Str path, DwarfVariable *v, Type *type,
                           Error *err)
{
    Str member;
    while (path.len && str_next_part(&path, '.', &member)) {
        uint64_t offset;
        Type record = *type;
        if (record.class != TYPE_RECORD || !type_member(&record, member, &offset, type))
            return error_set(err, ERROR_NOT_FOUND, "'%" STR_FMT "' has no member '%" STR_FMT "'",
                             STR_ARG(w->name), STR_ARG(member));
        if (v->place == DWARF_IN_REGISTER || v->place == DWARF_CONSTANT)
            return error_set(err, ERROR_UNSUPPORTED,
                             "'%" STR_FMT "' is a structure in a register: its members have no "
                             "places of their own",
                             STR_ARG(w->name));
        v->offset += (int64_t)offset;
    }
    return true;
}

static bool set_type(const VariableWalk *w, Str whole, const Type *type, DwarfVariable *v,
                     Error *err)
{
    if (type->class == TYPE_RECORD) {
        (void)error_set(err, ERROR_UNSUPPORTED, "'%" STR_FMT "' is a structure", STR_ARG(whole));
        return error_hint(err, "name one of its members: %" STR_FMT ".MEMBER", STR_ARG(whole));
    }
    bool is_size = type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8;
    if (type->class != TYPE_NUMBER || !is_size)
        return error_set(err, ERROR_UNSUPPORTED,
                         "'%" STR_FMT "' is %s, not a number of 1 to 8 bytes", STR_ARG(whole),
                         type->class == TYPE_FLOAT ? "a floating-point value"
                                                   : "an array or a like");
    (void)w;
    v->size = (uint8_t)type->size;
    v->is_signed = type->is_signed;
    return true;
}

static bool find_place(const VariableWalk *w, const DwarfLocations *locations, Str whole,
                       DwarfVariable *v, Error *err)
{
    const VariableDie *die = &w->found;
    const char *why = "is optimised away there";
    Bytes expression = die->location;
    if (die->constant.kind == VALUE_UINT) {
        v->place = DWARF_CONSTANT;
        v->offset = (int64_t)die->constant.u;
        return true;
    }
    bool has_list = die->list.kind == VALUE_SEC_OFFSET || die->list.kind == VALUE_UINT;
    if (has_list && w->u->skeleton)
        why = "has its places in a .dwo file, which is not read for them";
    else if (has_list && !location_of_list(w->u, locations, die->list, die->list_is_index,
                                           w->address, &expression))
        expression = (Bytes){0};
    if (!(has_list && w->u->skeleton) &&
        location_read(w->u, expression, w->found_frame_base, v, &why))
        return true;
    return error_set(err, ERROR_UNSUPPORTED, "variable '%" STR_FMT "' %s (0x%llx)", STR_ARG(whole),
                     why, (unsigned long long)w->address);
}

bool dwarf_variable_find(DwarfFile *f, const DwarfLocations *locations, uint64_t address, Str name,
                         DwarfVariable *ret, Error *err)
{
    VariableWalk w = {.address = address};
    Str members = {0};
    if (!str_split(name, '.', &w.name, &members))
        w.name = name;
    if (!walk(f, &w))
        return error_set(err, ERROR_NOT_FOUND, "no debug information at 0x%llx",
                         (unsigned long long)address);
    if (!w.found_at)
        return explain_unknown(f, address, w.name, err);
    DwarfVariable v = {.is_parameter = w.found.tag == DW_TAG_formal_parameter,
                       .argument = w.found_argument};
    Type type;
    type_read(w.u, w.found.type, &type);
    if (!find_place(&w, locations, name, &v, err) || !follow_members(&w, members, &v, &type, err) ||
        !set_type(&w, name, &type, &v, err))
        return false;
    v.is_before_body = w.found.location.len && is_before_body(f, &w);
    *ret = v;
    return true;
}
