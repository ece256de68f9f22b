// SPDX-License-Identifier: Apache-2.0
// Header, functions and values by pc of a Go program's pclntab.

#include "gopclntab/gopclntab.h"

#include "base/cursor.h"

enum {
    MAGIC_1_2 = 0xfffffffb,
    MAGIC_1_16 = 0xfffffffa,
    MAGIC_1_18 = 0xfffffff0,
    MAGIC_1_20 = 0xfffffff1,
    PCDATA_MAX = 64, // the runtime has 4 of them, and 9 tables of data
    DATA_MAX = 64,
};

static bool layout_of(uint32_t magic, GoLayout *ret)
{
    if (magic == MAGIC_1_16)
        *ret = GO_LAYOUT_1_16;
    else if (magic == MAGIC_1_18)
        *ret = GO_LAYOUT_1_18;
    else if (magic == MAGIC_1_20)
        *ret = GO_LAYOUT_1_20;
    else
        return false;
    return true;
}

// The part of the table from an offset on. Where it ends is not stated: readers
// stop at the end of the table.
static Bytes part_from(Bytes table, uint64_t offset)
{
    return offset < table.len ? bytes_slice(table, (size_t)offset, table.len) : (Bytes){0};
}

bool gopclntab_open(Bytes table, GoPclntab *ret, Error *err)
{
    Cursor c = cursor_over(table, ".gopclntab");
    uint32_t magic = cursor_u32(&c);
    uint16_t zero = cursor_u16(&c);
    uint8_t quantum = cursor_u8(&c), pointer_size = cursor_u8(&c);
    GoLayout layout;
    if (!cursor_check(&c, err))
        return false;
    bool swapped = __builtin_bswap32(magic) >= MAGIC_1_18;
    if (magic == MAGIC_1_2 || swapped || (layout_of(magic, &layout) && pointer_size == 4))
        return error_set(err, ERROR_UNSUPPORTED,
                         ".gopclntab is of a Go version before 1.16 or of another word size "
                         "(magic 0x%x)",
                         magic);
    if (!layout_of(magic, &layout) || zero != 0 || pointer_size != 8 ||
        (quantum != 1 && quantum != 4))
        return error_set(err, ERROR_FORMAT, ".gopclntab does not start with its header");

    GoPclntab t = {.layout = layout, .quantum = quantum};
    uint64_t functions = cursor_u64(&c);
    (void)cursor_u64(&c); // number of files
    t.header_text = layout == GO_LAYOUT_1_16 ? 0 : cursor_u64(&c);
    uint64_t names = cursor_u64(&c), units = cursor_u64(&c), files = cursor_u64(&c);
    uint64_t values = cursor_u64(&c), lines = cursor_u64(&c);
    if (!cursor_check(&c, err))
        return false;
    t.names = part_from(table, names);
    t.units = part_from(table, units);
    t.files = part_from(table, files);
    t.values = part_from(table, values);
    t.functions = part_from(table, lines);
    // Pairs of address and offset, and the end of the last function.
    size_t pair = layout == GO_LAYOUT_1_16 ? 16 : 8;
    if (functions > UINT32_MAX || t.functions.len < pair / 2 ||
        functions > (t.functions.len - pair / 2) / pair)
        return error_set(err, ERROR_FORMAT, ".gopclntab: %llu functions do not fit into it",
                         (unsigned long long)functions);
    t.function_count = (uint32_t)functions;
    t.text_svma = t.header_text;
    *ret = t;
    return true;
}

// ---- Functions -------------------------------------------------------------------

static uint32_t u32_at(Bytes b, size_t at)
{
    uint32_t v;
    memcpy(&v, b.ptr + at, sizeof(v));
    return v;
}

static uint64_t u64_at(Bytes b, size_t at)
{
    uint64_t v;
    memcpy(&v, b.ptr + at, sizeof(v));
    return v;
}

// Where function number `index` starts; of index function_count, where the last
// one ends.
static uint64_t entry_of(const GoPclntab *t, uint32_t index)
{
    if (t->layout == GO_LAYOUT_1_16)
        return u64_at(t->functions, (size_t)index * 16);
    return t->text_svma + u32_at(t->functions, (size_t)index * 8);
}

static Str text_at(Bytes b, uint64_t offset)
{
    if (offset >= b.len)
        return (Str){0};
    const char *p = (const char *)b.ptr + offset;
    const char *end = memchr(p, 0, b.len - (size_t)offset);
    return end ? (Str){p, (size_t)(end - p)} : (Str){0};
}

static Str name_at(const GoPclntab *t, uint32_t offset)
{
    return text_at(t->names, offset);
}

bool gopclntab_function_get(const GoPclntab *t, uint32_t index, GoFunction *ret)
{
    assert(index < t->function_count);
    bool wide = t->layout == GO_LAYOUT_1_16;
    uint64_t at = wide ? u64_at(t->functions, (size_t)index * 16 + 8)
                       : u32_at(t->functions, (size_t)index * 8 + 4);
    GoFunction f = {.start = entry_of(t, index), .end = entry_of(t, index + 1)};
    Cursor c = cursor_over(t->functions, "Go function");
    cursor_skip(&c, at);
    cursor_skip(&c, wide ? 8 : 4); // its start again
    f.name = name_at(t, cursor_u32(&c));
    cursor_skip(&c, 8); // size of arguments, place of deferreturn
    f.frame_sizes = cursor_u32(&c);
    f.file_values = cursor_u32(&c);
    f.line_values = cursor_u32(&c);
    f.value_count = cursor_u32(&c);
    f.unit = cursor_u32(&c);
    if (t->layout == GO_LAYOUT_1_20)
        f.start_line = cursor_u32(&c);
    (void)cursor_u8(&c); // number of a function that the runtime knows
    f.flags = cursor_u8(&c) & GO_FUNCTION_TOP;
    (void)cursor_u8(&c);
    f.data_count = cursor_u8(&c);
    f.arrays = c.at;
    if (!cursor_ok(&c) || f.end < f.start || f.value_count > PCDATA_MAX || f.data_count > DATA_MAX)
        return false;
    if ((int32_t)f.start_line < 0)
        f.start_line = 0;
    *ret = f;
    return true;
}

bool gopclntab_function_find(const GoPclntab *t, uint64_t svma, GoFunction *ret)
{
    uint32_t low = 0, high = t->function_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entry_of(t, middle) <= svma)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || svma >= entry_of(t, low))
        return false;
    return gopclntab_function_get(t, low - 1, ret);
}

// ---- Values by pc ------------------------------------------------------------------

GoValues gopclntab_values(const GoPclntab *t, uint32_t offset, uint64_t start)
{
    return (GoValues){
        .table = t->values, .at = offset, .quantum = t->quantum, .end = start, .value = -1};
}

GoValues gopclntab_frame_sizes(const GoPclntab *t, const GoFunction *f)
{
    return gopclntab_values(t, f->frame_sizes, f->start);
}

static bool varint(GoValues *v, uint32_t *ret)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 35 && v->at < v->table.len; shift += 7) {
        uint8_t b = v->table.ptr[v->at++];
        value |= shift < 32 ? (uint32_t)(b & 0x7f) << shift : 0;
        if (b < 0x80) {
            *ret = value;
            return true;
        }
    }
    return false;
}

// Offset 0 means that there is no table. A difference of 0 ends a table, except as its first.
bool gopclntab_values_next(GoValues *v)
{
    uint32_t difference, length;
    if ((v->at == 0 && !v->started) || !varint(v, &difference))
        return false;
    if (difference == 0 && v->started)
        return false;
    if (!varint(v, &length) || length == 0)
        return false;
    v->started = true;
    int32_t step = (int32_t)(difference >> 1) ^ -(int32_t)(difference & 1);
    v->value = (int32_t)((uint32_t)v->value + (uint32_t)step);
    return !__builtin_add_overflow(v->end, (uint64_t)length * v->quantum, &v->end);
}
