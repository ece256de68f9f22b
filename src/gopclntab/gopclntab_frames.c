// SPDX-License-Identifier: Apache-2.0
// What stands at an address of a Go program: lines and inlined calls; and how
// its frames are left.

#include "gopclntab/gopclntab.h"

enum {
    PCDATA_INLINE_INDEX = 2, // internal/abi/symtab.go
    FUNCDATA_INLINE_TREE = 3,
    CALL_BYTES_1_18 = 20, // of an inlined call
    CALL_BYTES_1_20 = 16,
};

// ---- Lines ---------------------------------------------------------------------

// The value at an address; -1: none.
static int32_t value_at(const GoPclntab *t, uint32_t table, uint64_t start, uint64_t svma)
{
    GoValues v = gopclntab_values(t, table, start);
    while (gopclntab_values_next(&v))
        if (svma < v.end)
            return v.value;
    return -1;
}

static uint32_t word(Bytes b, uint64_t at)
{
    uint32_t v = 0;
    if (at <= b.len && b.len - at >= sizeof(v))
        memcpy(&v, b.ptr + at, sizeof(v));
    return v;
}

static Str c_text(Bytes b, uint64_t at)
{
    if (at >= b.len)
        return (Str){0};
    const char *start = (const char *)b.ptr + at;
    const char *end = memchr(start, 0, b.len - (size_t)at);
    return end ? (Str){start, (size_t)(end - start)} : (Str){0};
}

static Str file_at(const GoPclntab *t, const GoFunction *f, uint64_t svma)
{
    int32_t number = value_at(t, f->file_values, f->start, svma);
    uint64_t at = ((uint64_t)f->unit + (uint32_t)number) * 4;
    if (number < 0 || at + 4 > t->units.len || word(t->units, at) == UINT32_MAX)
        return (Str){0};
    return c_text(t->files, word(t->units, at));
}

static void set_place(const GoPclntab *t, const GoFunction *f, uint64_t svma, GoFrame *frame)
{
    int32_t line = value_at(t, f->line_values, f->start, svma);
    frame->file = file_at(t, f, svma);
    frame->line = line > 0 ? (uint32_t)line : 0;
}

// ---- Inlined calls ---------------------------------------------------------------

// The function's tree of inlined calls; empty: nothing is inlined into it.
static Bytes inline_tree(const GoPclntab *t, const GoFunction *f)
{
    if (f->data_count <= FUNCDATA_INLINE_TREE || t->layout == GO_LAYOUT_1_16)
        return (Bytes){0};
    uint64_t at = f->arrays + 4 * (uint64_t)f->value_count + 4 * (uint64_t)FUNCDATA_INLINE_TREE;
    uint32_t offset = at + 4 <= t->functions.len ? word(t->functions, at) : UINT32_MAX;
    if (offset == UINT32_MAX || offset >= t->function_data.len)
        return (Bytes){0};
    return bytes_slice(t->function_data, offset, t->function_data.len);
}

static int32_t inline_index(const GoPclntab *t, const GoFunction *f, uint64_t svma)
{
    if (f->value_count <= PCDATA_INLINE_INDEX)
        return -1;
    uint64_t at = f->arrays + 4 * (uint64_t)PCDATA_INLINE_INDEX;
    return value_at(t, word(t->functions, at), f->start, svma);
}

typedef struct InlinedCall {
    Str name;
    uint32_t start_line;
    uint32_t parent; // a place of the caller at the call, from the function's start
} InlinedCall;

static bool inlined_call(const GoPclntab *t, Bytes tree, int32_t index, InlinedCall *ret)
{
    bool is_new = t->layout == GO_LAYOUT_1_20;
    uint64_t size = is_new ? CALL_BYTES_1_20 : CALL_BYTES_1_18;
    uint64_t at = size * (uint32_t)index;
    if (index < 0 || at + size > tree.len)
        return false;
    ret->name = c_text(t->names, word(tree, at + (is_new ? 4 : 12)));
    ret->parent = word(tree, at + (is_new ? 8 : 16));
    uint32_t line = is_new ? word(tree, at + 12) : 0;
    ret->start_line = (int32_t)line > 0 ? line : 0;
    return true;
}

size_t gopclntab_lookup(const GoPclntab *t, uint64_t svma, GoFrame frames[GO_FRAMES_MAX])
{
    GoFunction f;
    if (!gopclntab_function_find(t, svma, &f))
        return 0;
    Bytes tree = inline_tree(t, &f);
    size_t n = 0;
    InlinedCall call;
    while (tree.len && n < GO_FRAMES_MAX - 1 &&
           inlined_call(t, tree, inline_index(t, &f, svma), &call)) {
        frames[n] = (GoFrame){.name = call.name, .start_line = call.start_line};
        set_place(t, &f, svma, &frames[n++]);
        if (call.parent >= f.end - f.start)
            break;
        svma = f.start + call.parent;
    }
    frames[n] = (GoFrame){.name = f.name, .start_line = f.start_line};
    set_place(t, &f, svma, &frames[n++]);
    return n;
}
