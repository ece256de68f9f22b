// SPDX-License-Identifier: Apache-2.0
// The namespaces and classes around a function. Compilers state no linkage name for an inlined
// function that they never compiled on its own; its name alone, "eq", says little. A DIE does not
// refer to its parent, so that one pass over the unit notes where scopes begin and end.
// Format: DWARF 5 §3.2.2 (namespaces), §5.7 (classes and structures).

#include "dwarf/dwarf_internal.h"

enum {
    SCOPE_TEXT_MAX = 4096, // longer names are cut
    NESTING_MAX = 1024,    // no compiler nests so deep
};

typedef struct ScopeWalk {
    Unit *u;
    Cursor c;
    const AbbrevTable *abbrevs;
    Vec(uint32_t) open; // by depth: the scope, NONE for other DIEs with children
    Vec(NameScope) scopes;
} ScopeWalk;

static bool is_plus_plus(uint16_t language)
{
    static const uint16_t languages[] = {DW_LANG_C_plus_plus,    DW_LANG_C_plus_plus_03,
                                         DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14,
                                         DW_LANG_C_plus_plus_17, DW_LANG_C_plus_plus_20};
    for (size_t i = 0; i < ARRAY_LEN(languages); i++)
        if (language == languages[i])
            return true;
    return false;
}

static bool is_scope(uint16_t tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type;
}

// Leaves out the children of a DIE that cannot contain scopes of functions, if it says where they
// end.
static void jump(ScopeWalk *w, const Abbrev *a, size_t attrs)
{
    if (a->sibling_at == UINT16_MAX)
        return;
    Cursor at = w->c;
    cursor_seek(&at, attrs + a->sibling_at);
    uint64_t to = w->u->offset + cursor_uint(&at, a->sibling_size);
    if (cursor_ok(&at) && to > w->c.at && to <= w->u->end)
        cursor_seek(&w->c, to);
}

static uint32_t innermost(const ScopeWalk *w)
{
    return w->open.len ? vec_last(&w->open) : (uint32_t)NONE;
}

// Reads one DIE. False at the end of the tree.
static bool step(ScopeWalk *w)
{
    uint32_t at = (uint32_t)(w->c.at - w->u->offset);
    const Abbrev *a = die_open(w->u, &w->c);
    if (!cursor_ok(&w->c) || w->c.at - w->u->offset > UINT32_MAX)
        return false;
    if (!a) { // the end of the children of one DIE
        if (w->open.len && innermost(w) != NONE)
            w->scopes.at[innermost(w)].end = at;
        w->open.len -= w->open.len > 0;
        return w->open.len > 0;
    }
    size_t attrs = w->c.at;
    die_skip_attrs(w->u, &w->c, a);
    if (!a->has_children || !cursor_ok(&w->c))
        return cursor_ok(&w->c) && w->open.len > 0;
    if (w->open.len == NESTING_MAX)
        return false;
    bool is_root = w->open.len == 0;
    if (is_scope(a->tag)) {
        vec_push(NULL, &w->scopes,
                 ((NameScope){.die = at, .end = UINT32_MAX, .parent = innermost(w)}));
        vec_push(NULL, &w->open, (uint32_t)w->scopes.len - 1);
        return true;
    }
    size_t before = w->c.at;
    if (!is_root)
        jump(w, a, attrs);
    if (w->c.at == before) // its children follow; what is in a function has no scope by name
        vec_push(NULL, &w->open, (uint32_t)NONE);
    return true;
}

static void scopes_read(Unit *u)
{
    u->are_scopes_read = true;
    ScopeWalk w = {.u = u, .c = unit_cursor(u, u->die), .abbrevs = abbrevs_of(u)};
    while (w.abbrevs && cursor_more(&w.c) && step(&w)) {
    }
    u->scope_count = w.scopes.len;
    u->scopes = arena_array(&u->set->file->arena, NameScope, w.scopes.len);
    bytes_copy(u->scopes, bytes_over(w.scopes.at, w.scopes.len * sizeof(NameScope)));
    vec_free(&w.open);
    vec_free(&w.scopes);
}

// The innermost scope around a DIE, or NONE.
static uint32_t scope_of(const Unit *u, uint32_t die)
{
    size_t low = 0, high = u->scope_count;
    while (low < high) { // the last scope that begins before the DIE
        size_t mid = (low + high) / 2;
        if (u->scopes[mid].die < die)
            low = mid + 1;
        else
            high = mid;
    }
    uint32_t scope = low ? (uint32_t)low - 1 : (uint32_t)NONE;
    while (scope != NONE && u->scopes[scope].end <= die)
        scope = u->scopes[scope].parent;
    return scope;
}

static Str scope_name(Unit *u, const NameScope *s)
{
    Cursor c = unit_cursor(u, u->offset + s->die);
    const Abbrev *a = die_open(u, &c);
    for (uint32_t i = 0; a && i < a->attr_count && cursor_ok(&c); i++) {
        const AbbrevAttr *attr = &u->abbrevs->attrs[a->attr + i];
        if (attr->name == DW_AT_name)
            return value_text(u, form_read(&c, unit_sizes(u), attr->form, attr->implicit));
        form_skip(&c, unit_sizes(u), attr->form);
    }
    // As demanglers call them.
    return a && a->tag == DW_TAG_namespace ? STR("(anonymous namespace)") : STR("(anonymous)");
}

// The scope's name with those around it, made once.
static Str scope_text(Unit *u, uint32_t scope)
{
    enum { DEPTH_MAX = 32 };
    uint32_t chain[DEPTH_MAX];
    size_t depth = 0;
    for (uint32_t s = scope; s != NONE && depth < DEPTH_MAX; s = u->scopes[s].parent) {
        chain[depth++] = s;
        if (u->scopes[s].text.len)
            break;
    }
    Arena *arena = &u->set->file->arena;
    Str text = {0};
    while (depth > 0) {
        NameScope *s = &u->scopes[chain[--depth]];
        if (s->text.len == 0) {
            Str name = scope_name(u, s);
            s->text = text.len ? arena_printf(arena, "%" STR_FMT "::%" STR_FMT, STR_ARG(text),
                                              STR_ARG(str_slice(name, 0, SCOPE_TEXT_MAX)))
                               : name;
        }
        text = s->text;
        if (text.len > SCOPE_TEXT_MAX)
            break;
    }
    return text;
}

Str scope_qualified(Unit *u, uint64_t offset, Str name)
{
    // Other languages state linkage names, or have no scopes. A partial unit need not state its
    // namespace.
    if (u->language ? !is_plus_plus(u->language) : u->tag != DW_TAG_partial_unit)
        return name;
    if (offset < u->offset || offset - u->offset >= UINT32_MAX || name.len == 0)
        return name;
    if (!u->are_scopes_read)
        scopes_read(u);
    uint32_t scope = scope_of(u, (uint32_t)(offset - u->offset));
    if (scope == NONE)
        return name;
    Str text = scope_text(u, scope);
    return arena_printf(&u->set->file->arena, "%" STR_FMT "::%" STR_FMT, STR_ARG(text),
                        STR_ARG(name));
}
