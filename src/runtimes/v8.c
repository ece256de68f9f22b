// SPDX-License-Identifier: Apache-2.0
// V8's objects, by the constants for debuggers.

#include "runtimes/v8.h"

#define V8_NONE INT32_MIN

enum {
    STRING_BYTES_MAX = 300,
    CONS_DEPTH_MAX = 16,
    STRINGS_MAX = 64, // of which one consists: empty ones could be without end
    LOCALS_MAX = 200,
    BEHIND_LOCALS = 8, // fields of a ScopeInfo between the locals and the function's name
};

// The start of a symbol's name behind "v8dbg_": the end is the type of the field, which changes.
static const struct ConstantName {
    V8Constant constant;
    const char *start;
    bool optional;
} constant_names[] = {
    {V8_FP_FUNCTION, "off_fp_function", false},
    {V8_FP_CONTEXT, "off_fp_context", false},
    {V8_OBJECT_MAP, "class_HeapObject__map__", false},
    {V8_MAP_TYPE, "class_Map__instance_type__", false},
    {V8_FUNCTION_SHARED, "class_JSFunction__shared__", false},
    {V8_SHARED_NAME, "class_SharedFunctionInfo__name_or_scope_info__", false},
    {V8_SHARED_SCRIPT, "class_SharedFunctionInfo__script__", false},
    {V8_SHARED_SCRIPT, "class_SharedFunctionInfo__script_or_debug_info__", false},
    {V8_SCRIPT_NAME, "class_Script__name__", false},
    {V8_STRING_LENGTH, "class_String__length__int32_t", false},
    {V8_ONE_BYTE_CHARS, "class_SeqOneByteString__chars__", false},
    {V8_TWO_BYTE_CHARS, "class_SeqTwoByteString__chars__", false},
    {V8_CONS_FIRST, "class_ConsString__first__", false},
    {V8_CONS_SECOND, "class_ConsString__second__", false},
    {V8_THIN_ACTUAL, "class_ThinString__actual__", true},
    {V8_TYPE_SHARED, "type_SharedFunctionInfo__", false},
    {V8_TYPE_SCRIPT, "type_Script__", false},
    {V8_TYPE_SCOPE_INFO, "type_ScopeInfo__", false},
    {V8_FIRST_NONSTRING, "FirstNonstringType", false},
    {V8_REPRESENTATION_MASK, "StringRepresentationMask", false},
    {V8_ENCODING_MASK, "StringEncodingMask", false},
    {V8_ONE_BYTE_TAG, "OneByteStringTag", false},
    {V8_SEQ_TAG, "SeqStringTag", false},
    {V8_CONS_TAG, "ConsStringTag", false},
    {V8_THIN_TAG, "ThinStringTag", true},
    {V8_SCOPE_FIRST_VARS, "scopeinfo_idx_first_vars", true},
    {V8_SCOPE_LOCALS, "scopeinfo_idx_ncontextlocals", true},
};

// The value of a constant: 4 bytes of the file, or 0 where it lies in .bss.
static int32_t constant_value(const Elf *elf, const ElfSymbol *s)
{
    int32_t value = 0;
    Bytes b = elf_bytes_at_svma(elf, s->value);
    if (b.len >= sizeof(value))
        memcpy(&value, b.ptr, sizeof(value));
    return value;
}

static void take(V8 *v, const Elf *elf, const ElfSymbol *s, Str name)
{
    for (size_t i = 0; i < ARRAY_LEN(constant_names); i++) {
        Str start = str_from_c(constant_names[i].start);
        bool whole = str_find(start, STR("__")) == SIZE_MAX;
        if (whole ? str_equal(name, start) : str_starts_with(name, start))
            v->constant[constant_names[i].constant] = constant_value(elf, s);
    }
    // Until Node.js 14 a ScopeInfo is an array, with its length behind the map.
    if (str_equal(name, STR("parent_ScopeInfo__FixedArray")))
        v->scope_header = 16;
}

bool v8_open(const Elf *elf, V8 *ret)
{
    Arena scratch = {0};
    ElfSymbols symbols;
    V8 v = {.scope_header = 8};
    for (size_t i = 0; i < V8_CONSTANT_COUNT; i++)
        v.constant[i] = V8_NONE;
    bool ok = elf_symbols_load(&scratch, elf, SHT_DYNSYM, &symbols, NULL);
    for (size_t i = 0; ok && i < symbols.count; i++) {
        ElfSymbol s = elf_symbol_get(&symbols, i);
        if (str_starts_with(s.name, STR("v8dbg_")))
            take(&v, elf, &s, str_slice(s.name, 6, s.name.len));
    }
    arena_deinit(&scratch);
    for (size_t i = 0; ok && i < ARRAY_LEN(constant_names); i++)
        ok = constant_names[i].optional || v.constant[constant_names[i].constant] != V8_NONE;
    if (ok)
        *ret = v;
    return ok;
}

// ---- Objects --------------------------------------------------------------------------

// Pointers to objects have the lowest bit set; small numbers have not.
static bool is_object(uint64_t word)
{
    return (word & 3) == 1 && word > 4096;
}

static bool field(const V8 *v, const ProcessMemory *m, uint64_t object, V8Constant offset,
                  uint64_t *ret)
{
    return is_object(object) &&
           memory_u64(m, object - 1 + (uint64_t)(int64_t)v->constant[offset], ret);
}

static bool type_of(const V8 *v, const ProcessMemory *m, uint64_t object, uint16_t *ret)
{
    uint64_t map;
    return field(v, m, object, V8_OBJECT_MAP, &map) && is_object(map) &&
           memory_u16(m, map - 1 + (uint64_t)v->constant[V8_MAP_TYPE], ret);
}

static bool has_type(const V8 *v, const ProcessMemory *m, uint64_t object, V8Constant type)
{
    uint16_t t;
    return type_of(v, m, object, &t) && t == v->constant[type];
}

// What may still be read of a string.
typedef struct StringBudget {
    int depth, strings;
} StringBudget;

static bool add_part(const V8 *v, const ProcessMemory *m, uint64_t string, StringBudget *left,
                     StrBuf *out);

static bool add_below(const V8 *v, const ProcessMemory *m, uint64_t string, StringBudget *left,
                      StrBuf *out)
{
    left->depth--;
    bool ok = add_part(v, m, string, left, out);
    left->depth++;
    return ok;
}

static bool add_part(const V8 *v, const ProcessMemory *m, uint64_t string, StringBudget *left,
                     StrBuf *out)
{
    uint16_t type;
    uint32_t len;
    uint64_t part;
    if (left->depth < 0 || left->strings-- <= 0 || out->len > STRING_BYTES_MAX ||
        !type_of(v, m, string, &type) || type >= v->constant[V8_FIRST_NONSTRING])
        return false;
    int32_t form = type & v->constant[V8_REPRESENTATION_MASK];
    if (form == v->constant[V8_CONS_TAG])
        return field(v, m, string, V8_CONS_FIRST, &part) && add_below(v, m, part, left, out) &&
               field(v, m, string, V8_CONS_SECOND, &part) &&
               (add_below(v, m, part, left, out) || true);
    if (form == v->constant[V8_THIN_TAG])
        return field(v, m, string, V8_THIN_ACTUAL, &part) && add_below(v, m, part, left, out);
    if (form != v->constant[V8_SEQ_TAG] ||
        !memory_u32(m, string - 1 + (uint64_t)v->constant[V8_STRING_LENGTH], &len))
        return false;
    len = MIN(len, (uint32_t)STRING_BYTES_MAX);
    bool narrow = (type & v->constant[V8_ENCODING_MASK]) == v->constant[V8_ONE_BYTE_TAG];
    uint64_t chars =
        string - 1 + (uint64_t)v->constant[narrow ? V8_ONE_BYTE_CHARS : V8_TWO_BYTE_CHARS];
    if (len == 0)
        return true;
    return narrow ? memory_add_latin1(m, chars, len, out) : memory_add_utf16(m, chars, len, out);
}

static bool add_string(const V8 *v, const ProcessMemory *m, uint64_t string, StrBuf *out)
{
    StringBudget left = {CONS_DEPTH_MAX, STRINGS_MAX};
    return add_part(v, m, string, &left, out);
}

// The name of a compiled function stands in its scope info, behind names and kinds of the locals
// that closures share.
static bool add_scope_name(const V8 *v, const ProcessMemory *m, uint64_t scope, StrBuf *out)
{
    uint64_t locals = 0, word;
    if (v->constant[V8_SCOPE_FIRST_VARS] == V8_NONE || v->constant[V8_SCOPE_LOCALS] == V8_NONE)
        return false;
    uint64_t fields = scope - 1 + v->scope_header;
    if (!memory_u64(m, fields + 8 * (uint64_t)v->constant[V8_SCOPE_LOCALS], &locals))
        return false;
    locals >>= 32; // a small number
    uint64_t at = (uint64_t)v->constant[V8_SCOPE_FIRST_VARS] + 2 * locals;
    for (uint64_t i = 0; locals <= LOCALS_MAX && i < BEHIND_LOCALS; i++) {
        size_t before = out->len;
        if (memory_u64(m, fields + 8 * (at + i), &word) && is_object(word) &&
            add_string(v, m, word, out) && out->len > before)
            return true;
        out->len = before;
    }
    return false;
}

bool v8_frame_function(const V8 *v, const ProcessMemory *stack, uint64_t fp, uint64_t *ret)
{
    uint64_t context, function;
    if (fp == 0 || (fp & 7) ||
        !memory_u64(stack, fp + (uint64_t)(int64_t)v->constant[V8_FP_CONTEXT], &context) ||
        !memory_u64(stack, fp + (uint64_t)(int64_t)v->constant[V8_FP_FUNCTION], &function))
        return false;
    // Other frames have their kind, a small number, in the place of the context.
    if (!is_object(context) || !is_object(function))
        return false;
    *ret = function;
    return true;
}

bool v8_function_name(const V8 *v, const ProcessMemory *m, uint64_t function, StrBuf *name,
                      StrBuf *script)
{
    uint64_t shared, origin, text;
    if (!field(v, m, function, V8_FUNCTION_SHARED, &shared) ||
        !has_type(v, m, shared, V8_TYPE_SHARED) ||
        !field(v, m, shared, V8_SHARED_SCRIPT, &origin) || !has_type(v, m, origin, V8_TYPE_SCRIPT))
        return false;
    if (script && field(v, m, origin, V8_SCRIPT_NAME, &text))
        (void)!add_string(v, m, text, script);
    size_t before = name->len;
    if (field(v, m, shared, V8_SHARED_NAME, &text)) {
        bool found = has_type(v, m, text, V8_TYPE_SCOPE_INFO) ? add_scope_name(v, m, text, name)
                                                              : add_string(v, m, text, name);
        if (!found)
            name->len = before;
    }
    if (name->len == before)
        strbuf_add(name, STR("(anonymous)"));
    return true;
}
