// SPDX-License-Identifier: Apache-2.0
// The tree of a unit: one pass over all of its DIEs in their order collects the functions and
// inlined copies that have code. This is the hot loop of the reader. Names and lines are read
// later, for the few that a look-up needs. Format: DWARF 5 §2.3, §3.3.

#include "dwarf/dwarf_internal.h"

// A function or inlined copy that is open: its children are being read.
typedef struct Scope {
    uint32_t die;
    uint32_t node;  // NONE until code is found in it
    uint32_t depth; // depth of its children
    bool is_inlined;
} Scope;

typedef struct Walk {
    Unit *u;
    const AbbrevTable *abbrevs;
    const uint8_t *base; // start of the section
    const uint8_t *at;
    const uint8_t *end;
    uint32_t depth;
    Cursor failed; // its reason only: why the walk ended early
    Vec(Scope) scopes;
    Vec(Node) nodes;
    RangeVec *ranges;
} Walk;

static bool fail(Walk *w, const char *why)
{
    cursor_fail(&w->failed, why);
    return false;
}

static inline uint64_t load(const Walk *w, const uint8_t *p, unsigned size)
{
    if (LIKELY(!w->u->set->s.big_endian)) {
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        switch (size) {
        case 1:
            return *p;
        case 2:
            memcpy(&u16, p, 2);
            return u16;
        case 4:
            memcpy(&u32, p, 4);
            return u32;
        case 8:
            memcpy(&u64, p, 8);
            return u64;
        default:
            break;
        }
    }
    Cursor c = section_cursor(w->u->set, bytes_over(p, size), ".debug_info");
    return cursor_uint(&c, size);
}

// Reads a ULEB128 number: the code of a DIE, or the length of a block. False at the end of the
// unit.
static inline bool take_uleb(Walk *w, uint64_t *ret)
{
    if (LIKELY(w->at < w->end && *w->at < 0x80)) {
        *ret = *w->at++;
        return true;
    }
    if (LIKELY(w->end - w->at >= 2 && w->at[1] < 0x80)) {
        *ret = (uint64_t)(w->at[0] & 0x7f) | (uint64_t)w->at[1] << 7;
        w->at += 2;
        return true;
    }
    Cursor c = cursor_over(bytes_over(w->at, (size_t)(w->end - w->at)), ".debug_info");
    *ret = cursor_uleb(&c);
    w->at += c.at;
    return cursor_ok(&c) || fail(w, "cut short");
}

static inline bool take(Walk *w, uint64_t n)
{
    if (UNLIKELY(n > (uint64_t)(w->end - w->at)))
        return fail(w, "cut short");
    w->at += n;
    return true;
}

static bool skip_rare(Walk *w, uint16_t form)
{
    Cursor c = section_cursor(w->u->set, bytes_over(w->at, (size_t)(w->end - w->at)), "");
    form_skip(&c, unit_sizes(w->u), form);
    w->at += c.at;
    if (!cursor_ok(&c))
        cursor_fail_as(&w->failed, &c);
    return cursor_ok(&c);
}

static inline bool skip_uleb(Walk *w)
{
    while (w->at < w->end)
        if (*w->at++ < 0x80)
            return true;
    return fail(w, "cut short");
}

static inline bool skip_op(Walk *w, const SkipOp *op)
{
    uint64_t length;
    if (!take(w, op->fixed))
        return false;
    switch (op->form) {
    case DW_FORM_exprloc:
    case DW_FORM_block:
        return take_uleb(w, &length) && take(w, length);
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        return skip_uleb(w);
    case DW_FORM_block1:
        return take(w, 1) && take(w, w->at[-1]);
    case DW_FORM_string: {
        const uint8_t *nul = memchr(w->at, 0, (size_t)(w->end - w->at));
        if (!nul)
            return fail(w, "text without an end");
        w->at = nul + 1;
        return true;
    }
    default:
        return skip_rare(w, op->form);
    }
}

static inline bool skip_attrs(Walk *w, const Abbrev *a)
{
    const SkipOp *ops = &w->abbrevs->ops[a->op];
    for (uint32_t i = 0; i < a->op_count; i++)
        if (!skip_op(w, &ops[i]))
            return false;
    return take(w, a->fixed);
}

// Adds the code ranges of a DIE with `id`; its attributes start at `attrs`.
static void read_ranges_slow(Walk *w, const Abbrev *a, const uint8_t *attrs, uint32_t id)
{
    Unit *u = w->u;
    Value low = {0};
    Value high = {0};
    Value ranges = {0};
    Cursor c = unit_cursor(u, (uint64_t)(attrs - w->base));
    for (uint32_t i = 0; i < a->attr_count; i++) {
        const AbbrevAttr *attr = &w->abbrevs->attrs[a->attr + i];
        bool wanted =
            attr->name == DW_AT_low_pc || attr->name == DW_AT_high_pc || attr->name == DW_AT_ranges;
        if (!wanted) {
            form_skip(&c, unit_sizes(u), attr->form);
            continue;
        }
        Value v = form_read(&c, unit_sizes(u), attr->form, attr->implicit);
        *(attr->name == DW_AT_low_pc ? &low : attr->name == DW_AT_high_pc ? &high : &ranges) = v;
    }
    if (!ranges_of_die(u, low, high, ranges, id, w->ranges))
        unit_damaged(u, (uint64_t)(attrs - w->base), "a range list is broken");
}

static void read_ranges(Walk *w, const Abbrev *a, const uint8_t *attrs, uint32_t id)
{
    if (UNLIKELY(!a->pc_is_fixed)) {
        read_ranges_slow(w, a, attrs, id);
        return;
    }
    uint64_t low = load(w, attrs + a->low_at, w->u->addr_size);
    uint64_t high = low + load(w, attrs + a->high_at, a->high_size);
    if (low < high && !is_tombstone(w->u, low))
        vec_push(NULL, w->ranges, (Range){low, high, id});
}

static Node node_new(uint32_t die, uint32_t parent, bool is_inlined)
{
    Node n = {.die = die, .parent = parent, .flags = is_inlined ? NODE_INLINED : NODE_CALL_READ};
    // The search for the names of a subprogram starts at its own DIE.
    n.origin = die;
    return n;
}

static inline uint64_t field(const Walk *w, const uint8_t *attrs, Field f)
{
    return f.size ? load(w, attrs + f.at, f.size) : f.value;
}

// Reads the call of an inlined copy. Now its DIE is in the processor's cache; later it would have
// to be fetched from memory again.
static inline void read_call(const Walk *w, const Abbrev *a, const uint8_t *attrs, Node *n)
{
    const CallShape *s = &w->abbrevs->shapes[a->shape - 1];
    uint64_t origin = field(w, attrs, s->origin);
    if (origin >= UINT32_MAX)
        return;
    n->origin = (uint32_t)origin;
    n->call_file = (uint32_t)field(w, attrs, s->file);
    n->call_line = (uint32_t)field(w, attrs, s->line);
    n->call_column = (uint16_t)MIN(field(w, attrs, s->column), (uint64_t)UINT16_MAX);
    n->flags |= NODE_CALL_READ;
}

// The node of the innermost open scope; it is added, with those of the scopes around it, when it
// does not exist yet.
static uint32_t enclosing_node(Walk *w)
{
    size_t n = w->scopes.len;
    if (n == 0)
        return NONE;
    size_t first = n;
    while (first > 0 && w->scopes.at[first - 1].node == NONE) {
        first--;
        if (!w->scopes.at[first].is_inlined)
            break;
    }
    for (size_t i = first; i < n; i++) {
        Scope *s = &w->scopes.at[i];
        uint32_t parent = s->is_inlined && i > 0 ? w->scopes.at[i - 1].node : (uint32_t)NONE;
        s->node = (uint32_t)w->nodes.len;
        vec_push(NULL, &w->nodes, node_new(s->die, parent, s->is_inlined));
    }
    return w->scopes.at[n - 1].node;
}

static void code_die(Walk *w, const Abbrev *a, uint32_t die, const uint8_t *attrs)
{
    uint32_t node = NONE;
    bool is_inlined = a->kind == ABBREV_INLINED;
    if (a->has_pc) {
        size_t before = w->ranges->len;
        // The id is the number of the node, which is not known yet; without code there is no node.
        read_ranges(w, a, attrs, 0);
        if (w->ranges->len > before) {
            uint32_t parent = is_inlined ? enclosing_node(w) : (uint32_t)NONE;
            node = (uint32_t)w->nodes.len;
            vec_push(NULL, &w->nodes, node_new(die, parent, is_inlined));
            if (a->shape)
                read_call(w, a, attrs, &vec_last(&w->nodes));
        }
        for (size_t i = before; i < w->ranges->len; i++) {
            Range *r = &w->ranges->at[i];
            r->id = node;
            if (i == before || r->low < w->nodes.at[node].low)
                w->nodes.at[node].low = r->low;
        }
    }
    if (a->has_children)
        vec_push(NULL, &w->scopes, (Scope){die, node, w->depth + 1, is_inlined});
}

// Skips the children of a DIE without code, if the DIE says where they end.
static bool jump(Walk *w, const Abbrev *a, const uint8_t *attrs)
{
    if (a->sibling_at == UINT16_MAX)
        return false;
    uint64_t to = w->u->offset + load(w, attrs + a->sibling_at, a->sibling_size);
    if (to > w->u->end || to <= (uint64_t)(w->at - w->base))
        return false;
    w->at = w->base + to;
    return true;
}

// Reads one DIE. False at the end of the tree.
static inline bool step(Walk *w)
{
    const uint8_t *start = w->at;
    uint64_t code;
    if (UNLIKELY(!take_uleb(w, &code)))
        return false;
    if (code == 0) {
        if (w->scopes.len && vec_last(&w->scopes).depth == w->depth)
            w->scopes.len--;
        return --w->depth > 0;
    }
    const Abbrev *a = abbrev_find(w->abbrevs, code);
    if (UNLIKELY(!a || a->kind == ABBREV_BAD))
        return abbrev_failed(a, code, &w->failed);
    const uint8_t *attrs = w->at;
    if (UNLIKELY(!skip_attrs(w, a)))
        return false;
    if (a->kind == ABBREV_INLINED || a->kind == ABBREV_SUBPROGRAM)
        code_die(w, a, (uint32_t)(start - w->base - w->u->offset), attrs);
    else if (a->has_children && a->kind == ABBREV_LEAF && jump(w, a, attrs))
        return true;
    w->depth += a->has_children;
    return w->depth > 0;
}

static void walk(Unit *u, Walk *w)
{
    *w = (Walk){.u = u, .abbrevs = abbrevs_of(u), .base = u->section.ptr};
    w->ranges = &u->set->file->scratch_ranges;
    w->ranges->len = 0;
    if (!w->abbrevs)
        return;
    w->at = w->base + u->die;
    w->end = w->base + u->end;
    while (w->at < w->end && step(w)) {
    }
    if (!cursor_ok(&w->failed))
        unit_damaged_at(u, (uint64_t)(w->at - w->base), "an entry", &w->failed);
}

void unit_decode(Unit *u)
{
    if (u->state != UNIT_FRESH)
        return;
    u->state = UNIT_DECODED;
    u->set->file->stats.units_decoded++;
    unit_read_root(u);
    Walk w;
    walk(u, &w);
    Arena *arena = &u->set->file->arena;
    u->segments = segments_from_ranges(arena, w.ranges ? w.ranges : &(RangeVec){0});
    u->node_count = w.nodes.len;
    u->nodes = arena_array(arena, Node, w.nodes.len);
    bytes_copy(u->nodes, bytes_over(w.nodes.at, w.nodes.len * sizeof(Node)));
    vec_free(&w.nodes);
    vec_free(&w.scopes);
}

Unit *unit_tree(Unit *u)
{
    if (!u->is_split_sought) {
        u->is_split_sought = true;
        if (u->dwo_name.len)
            u->split = split_find(u);
    }
    return u->split ? u->split : u;
}
