// SPDX-License-Identifier: Apache-2.0
// HotSpot's tables of itself, its code cache, and the names of its methods.

#include "runtimes/hotspot.h"

#include "elf/build_id.h"

enum {
    ENTRIES_MAX = 20000, // of the tables of fields and types; Java 17 has 2,500
    HEAPS_MAX = 16,
    HOPS_MAX = 512, // through the map of segments: 8 MB of code
    NAME_MAX_BYTES = 400,
    BLOB_BYTES_MAX = 64 << 20,
    POOL_LENGTH_MAX = 1 << 16,
};

// ---- The tables -----------------------------------------------------------------------

static const struct FieldName {
    HotspotField field;
    const char *type, *name;
} field_names[] = {
    {HOTSPOT_CODE_CACHE_HEAPS, "CodeCache", "_heaps"},
    {HOTSPOT_CODE_CACHE_HEAP, "CodeCache", "_heap"},
    {HOTSPOT_ARRAY_LENGTH, "GrowableArrayBase", "_len"},
    {HOTSPOT_ARRAY_LENGTH, "GenericGrowableArray", "_len"},
    {HOTSPOT_ARRAY_DATA, "GrowableArray<int>", "_data"},
    {HOTSPOT_HEAP_MEMORY, "CodeHeap", "_memory"},
    {HOTSPOT_HEAP_SEGMENTS, "CodeHeap", "_segmap"},
    {HOTSPOT_HEAP_SEGMENT_SHIFT, "CodeHeap", "_log2_segment_size"},
    {HOTSPOT_SPACE_LOW, "VirtualSpace", "_low"},
    {HOTSPOT_SPACE_HIGH, "VirtualSpace", "_high"},
    {HOTSPOT_BLOCK_USED, "HeapBlock::Header", "_used"},
    {HOTSPOT_BLOB_NAME, "CodeBlob", "_name"},
    {HOTSPOT_BLOB_SIZE, "CodeBlob", "_size"},
    {HOTSPOT_BLOB_FRAME_COMPLETE, "CodeBlob", "_frame_complete_offset"},
    {HOTSPOT_BLOB_FRAME_SIZE, "CodeBlob", "_frame_size"},
    {HOTSPOT_BLOB_CODE_BEGIN, "CodeBlob", "_code_begin"},
    {HOTSPOT_BLOB_CODE_OFFSET, "CodeBlob", "_code_offset"},
    {HOTSPOT_NMETHOD_METHOD, "nmethod", "_method"},
    {HOTSPOT_NMETHOD_METHOD, "CompiledMethod", "_method"},
    {HOTSPOT_METHOD_CONST, "Method", "_constMethod"},
    {HOTSPOT_CONST_CONSTANTS, "ConstMethod", "_constants"},
    {HOTSPOT_CONST_NAME_INDEX, "ConstMethod", "_name_index"},
    {HOTSPOT_POOL_HOLDER, "ConstantPool", "_pool_holder"},
    {HOTSPOT_POOL_SOURCE_INDEX, "ConstantPool", "_source_file_name_index"},
    {HOTSPOT_POOL_LENGTH, "ConstantPool", "_length"},
    {HOTSPOT_KLASS_NAME, "Klass", "_name"},
    {HOTSPOT_SYMBOL_LENGTH, "Symbol", "_length"},
    {HOTSPOT_SYMBOL_BODY, "Symbol", "_body"},
    {HOTSPOT_SYMBOL_BODY, "Symbol", "_body[0]"},
};

// Where a table of the machine starts, and where its entries keep their columns.
typedef struct SelfTable {
    uint64_t at, stride;
    uint64_t column[6];
} SelfTable;

static bool symbol_word(const ElfSymbols *s, uint64_t bias, const ProcessMemory *m,
                        const char *name, uint64_t *ret)
{
    ElfSymbol symbol;
    return runtime_symbol(s, str_from_c(name), &symbol) && memory_u64(m, symbol.value + bias, ret);
}

// Reads the words at some symbols; the first two are the table's address and stride.
static bool self_table_open(const ElfSymbols *s, uint64_t bias, const ProcessMemory *m,
                            const char *const *names, size_t count, SelfTable *ret)
{
    SelfTable t = {0};
    if (!symbol_word(s, bias, m, names[0], &t.at) || !symbol_word(s, bias, m, names[1], &t.stride))
        return false;
    for (size_t i = 2; i < count; i++)
        if (!symbol_word(s, bias, m, names[i], &t.column[i - 2]) || t.column[i - 2] >= t.stride)
            return false;
    if (t.at == 0 || t.stride == 0 || t.stride > 256)
        return false;
    *ret = t;
    return true;
}

static uint8_t size_of_type(Str type)
{
    if (str_ends_with(type, STR("*")) || str_equal(type, STR("address")) ||
        str_equal(type, STR("size_t")) || str_equal(type, STR("VirtualSpace")))
        return 8;
    if (str_equal(type, STR("u2")) || str_equal(type, STR("int16_t")) ||
        str_equal(type, STR("unsigned short")))
        return 2;
    if (str_equal(type, STR("bool")) || str_equal(type, STR("u1")))
        return 1;
    return 4;
}

static bool read_fields(const ElfSymbols *s, uint64_t bias, const ProcessMemory *m, Hotspot *h)
{
    static const char *const names[] = {"gHotSpotVMStructs",
                                        "gHotSpotVMStructEntryArrayStride",
                                        "gHotSpotVMStructEntryTypeNameOffset",
                                        "gHotSpotVMStructEntryFieldNameOffset",
                                        "gHotSpotVMStructEntryTypeStringOffset",
                                        "gHotSpotVMStructEntryIsStaticOffset",
                                        "gHotSpotVMStructEntryOffsetOffset",
                                        "gHotSpotVMStructEntryAddressOffset"};
    enum { TYPE, NAME, KIND, STATIC, OFFSET, ADDRESS };
    SelfTable t;
    if (!self_table_open(s, bias, m, names, ARRAY_LEN(names), &t))
        return false;
    for (size_t i = 0; i < ENTRIES_MAX; i++) {
        uint64_t entry = t.at + i * t.stride, at;
        char type[64], name[64], kind[64];
        if (!memory_u64(m, entry + t.column[TYPE], &at) || at == 0)
            break;
        Str type_name = memory_text(m, at, type, sizeof(type)), field, kind_name = {0};
        bool wanted = false;
        for (size_t j = 0; j < ARRAY_LEN(field_names) && !wanted; j++)
            wanted = str_equal(type_name, str_from_c(field_names[j].type));
        if (!wanted || !memory_u64(m, entry + t.column[NAME], &at))
            continue;
        field = memory_text(m, at, name, sizeof(name));
        for (size_t j = 0; j < ARRAY_LEN(field_names); j++) {
            if (!str_equal(type_name, str_from_c(field_names[j].type)) ||
                !str_equal(field, str_from_c(field_names[j].name)))
                continue;
            uint32_t is_static;
            uint64_t offset;
            if (memory_u64(m, entry + t.column[KIND], &at) && at)
                kind_name = memory_text(m, at, kind, sizeof(kind));
            if (!memory_u32(m, entry + t.column[STATIC], &is_static) ||
                !memory_u64(m, entry + t.column[is_static ? ADDRESS : OFFSET], &offset))
                return false;
            h->field[field_names[j].field] = (HotspotFieldPlace){offset, size_of_type(kind_name)};
        }
    }
    return true;
}

static bool read_sizes(const ElfSymbols *s, uint64_t bias, const ProcessMemory *m, Hotspot *h)
{
    static const char *const names[] = {"gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride",
                                        "gHotSpotVMTypeEntryTypeNameOffset",
                                        "gHotSpotVMTypeEntrySizeOffset"};
    SelfTable t;
    if (!self_table_open(s, bias, m, names, ARRAY_LEN(names), &t))
        return false;
    for (size_t i = 0; i < ENTRIES_MAX; i++) {
        uint64_t entry = t.at + i * t.stride, at;
        char name[64];
        if (!memory_u64(m, entry + t.column[0], &at) || at == 0)
            break;
        Str type = memory_text(m, at, name, sizeof(name));
        uint64_t *to = str_equal(type, STR("HeapBlock"))      ? &h->block_size
                       : str_equal(type, STR("ConstantPool")) ? &h->pool_size
                                                              : NULL;
        if (to && !memory_u64(m, entry + t.column[1], to))
            return false;
    }
    return h->block_size > 0 && h->block_size <= 64 && h->pool_size > 0 && h->pool_size <= 4096;
}

// ---- Fields ---------------------------------------------------------------------------

static uint64_t place(const Hotspot *h, uint64_t object, HotspotField field)
{
    return object + h->field[field].offset;
}

// Reads a number of the size that the field has.
static bool get(const Hotspot *h, const ProcessMemory *m, uint64_t object, HotspotField field,
                uint64_t *ret)
{
    uint64_t value = 0;
    if (h->field[field].size == 0 ||
        !m->read(m->ctx, place(h, object, field), &value, h->field[field].size))
        return false;
    *ret = value;
    return true;
}

typedef struct Heap {
    uint64_t low, high, segments, segments_end;
    uint32_t shift;
} Heap;

static bool heap_read(const Hotspot *h, const ProcessMemory *m, uint64_t heap, Heap *ret)
{
    uint64_t memory = place(h, heap, HOTSPOT_HEAP_MEMORY);
    uint64_t segments = place(h, heap, HOTSPOT_HEAP_SEGMENTS), shift;
    if (!get(h, m, memory, HOTSPOT_SPACE_LOW, &ret->low) ||
        !get(h, m, memory, HOTSPOT_SPACE_HIGH, &ret->high) ||
        !get(h, m, segments, HOTSPOT_SPACE_LOW, &ret->segments) ||
        !get(h, m, segments, HOTSPOT_SPACE_HIGH, &ret->segments_end) ||
        !get(h, m, heap, HOTSPOT_HEAP_SEGMENT_SHIFT, &shift) || shift < 4 || shift > 16)
        return false;
    ret->shift = (uint32_t)shift;
    return ret->low < ret->high;
}

// Calls the heaps of the code cache one after the other; the number of them.
static size_t heaps_list(const Hotspot *h, const ProcessMemory *m, uint64_t *ret)
{
    uint64_t array, count, data, heap;
    if (h->field[HOTSPOT_CODE_CACHE_HEAPS].size == 0)
        return get(h, m, 0, HOTSPOT_CODE_CACHE_HEAP, ret) && *ret ? 1 : 0;
    if (!get(h, m, 0, HOTSPOT_CODE_CACHE_HEAPS, &array) || array == 0 ||
        !get(h, m, array, HOTSPOT_ARRAY_LENGTH, &count) ||
        !get(h, m, array, HOTSPOT_ARRAY_DATA, &data))
        return 0;
    size_t n = 0;
    for (uint64_t i = 0; i < MIN(count, (uint64_t)HEAPS_MAX); i++)
        if (memory_u64(m, data + 8 * i, &heap) && heap)
            ret[n++] = heap;
    return n;
}

bool hotspot_open(const Elf *libjvm, uint64_t bias, const ProcessMemory *m, Hotspot *ret)
{
    Arena scratch = {0};
    ElfSymbols symbols;
    Hotspot h = {0};
    bool ok = elf_symbols_load(&scratch, libjvm, SHT_DYNSYM, &symbols, NULL) &&
              read_fields(&symbols, bias, m, &h) && read_sizes(&symbols, bias, m, &h);
    arena_deinit(&scratch);
    uint64_t heaps[HEAPS_MAX];
    Heap heap;
    if (!ok || heaps_list(&h, m, heaps) == 0 || !heap_read(&h, m, heaps[0], &heap))
        return false;
    *ret = h;
    return true;
}

// ---- Code -----------------------------------------------------------------------------

// The block that a place in a heap belongs to: each segment says how far back it begins.
static bool block_find(const Hotspot *h, const ProcessMemory *m, const Heap *heap, uint64_t pc,
                       uint64_t *ret)
{
    enum { FREE = 0xff };
    uint64_t segment = (pc - heap->low) >> heap->shift;
    for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
        uint8_t back, used;
        if (segment >= heap->segments_end - heap->segments ||
            !memory_u8(m, heap->segments + segment, &back) || back == FREE || back > segment)
            return false;
        if (back == 0) {
            *ret = heap->low + (segment << heap->shift);
            return memory_u8(m, place(h, *ret, HOTSPOT_BLOCK_USED), &used) && used;
        }
        segment -= back;
    }
    return false;
}

static bool blob_read(const Hotspot *h, const ProcessMemory *m, uint64_t blob, HotspotCode *ret)
{
    uint64_t name, size, frame_words, complete, begin;
    HotspotCode c = {0};
    if (!get(h, m, blob, HOTSPOT_BLOB_NAME, &name) || !get(h, m, blob, HOTSPOT_BLOB_SIZE, &size) ||
        !get(h, m, blob, HOTSPOT_BLOB_FRAME_SIZE, &frame_words) ||
        !get(h, m, blob, HOTSPOT_BLOB_FRAME_COMPLETE, &complete) || size > BLOB_BYTES_MAX)
        return false;
    if (h->field[HOTSPOT_BLOB_CODE_BEGIN].size) {
        if (!get(h, m, blob, HOTSPOT_BLOB_CODE_BEGIN, &begin))
            return false;
    } else if (get(h, m, blob, HOTSPOT_BLOB_CODE_OFFSET, &begin)) {
        begin += blob;
    } else {
        return false;
    }
    // 16 bits with a sign, or 32; below 0 the frame is never complete.
    bool narrow = h->field[HOTSPOT_BLOB_FRAME_COMPLETE].size == 2;
    int64_t offset = narrow ? (int16_t)complete : (int32_t)complete;
    c.start = begin;
    c.end = blob + size;
    c.frame_complete = offset >= 0 ? begin + (uint64_t)offset : begin;
    c.frame_words = (int32_t)frame_words > 0 ? (uint32_t)frame_words : 0;
    Str text = memory_text(m, name, c.name, sizeof(c.name));
    c.name[text.len] = 0;
    c.kind = HOTSPOT_STUB;
    if (str_equal(text, STR("nmethod")) || str_equal(text, STR("native nmethod"))) {
        c.kind = HOTSPOT_COMPILED;
        if (!get(h, m, blob, HOTSPOT_NMETHOD_METHOD, &c.method))
            return false;
    } else if (str_equal(text, STR("Interpreter"))) {
        c.kind = HOTSPOT_INTERPRETER;
    }
    *ret = c;
    return true;
}

bool hotspot_code_find(const Hotspot *h, const ProcessMemory *m, uint64_t pc, HotspotCode *ret)
{
    uint64_t heaps[HEAPS_MAX], block;
    size_t count = heaps_list(h, m, heaps);
    for (size_t i = 0; i < count; i++) {
        Heap heap;
        if (heap_read(h, m, heaps[i], &heap) && pc >= heap.low && pc < heap.high)
            return block_find(h, m, &heap, pc, &block) &&
                   blob_read(h, m, block + h->block_size, ret) && pc < ret->end;
    }
    return false;
}

// ---- Names ----------------------------------------------------------------------------

// Appends a Symbol; '/' becomes `slash`.
static bool add_symbol(const Hotspot *h, const ProcessMemory *m, uint64_t symbol, char slash,
                       StrBuf *out)
{
    uint64_t len;
    size_t from = out->len;
    if (symbol == 0 || !get(h, m, symbol, HOTSPOT_SYMBOL_LENGTH, &len) || len == 0 ||
        !memory_add_bytes(m, place(h, symbol, HOTSPOT_SYMBOL_BODY),
                          MIN((size_t)len, (size_t)NAME_MAX_BYTES), out))
        return false;
    for (size_t i = from; i < out->len; i++)
        if (out->ptr[i] == '/')
            out->ptr[i] = slash;
    return true;
}

static bool add_pool_symbol(const Hotspot *h, const ProcessMemory *m, uint64_t pool, uint64_t index,
                            StrBuf *out)
{
    uint64_t length, symbol;
    return get(h, m, pool, HOTSPOT_POOL_LENGTH, &length) && length <= POOL_LENGTH_MAX &&
           index < length && memory_u64(m, pool + h->pool_size + 8 * index, &symbol) &&
           add_symbol(h, m, symbol & ~(uint64_t)1, '/', out);
}

bool hotspot_method_name(const Hotspot *h, const ProcessMemory *m, uint64_t method, StrBuf *name,
                         StrBuf *file)
{
    uint64_t constant, pool, holder, class_name, index, source;
    if (method == 0 || (method & 7) || !get(h, m, method, HOTSPOT_METHOD_CONST, &constant) ||
        !get(h, m, constant, HOTSPOT_CONST_CONSTANTS, &pool) ||
        !get(h, m, constant, HOTSPOT_CONST_NAME_INDEX, &index) ||
        !get(h, m, pool, HOTSPOT_POOL_HOLDER, &holder) ||
        !get(h, m, holder, HOTSPOT_KLASS_NAME, &class_name) ||
        !add_symbol(h, m, class_name, '.', name))
        return false;
    strbuf_add_char(name, '.');
    if (!add_pool_symbol(h, m, pool, index, name))
        return false;
    if (file && get(h, m, pool, HOTSPOT_POOL_SOURCE_INDEX, &source) && source)
        (void)!add_pool_symbol(h, m, pool, source, file);
    return true;
}

// ---- Frames ---------------------------------------------------------------------------

enum { AROUND = 32, POLL_BYTES_MAX = 20 };

// Whether the code before `at` ends in `sub $n,%rsp`.
static bool behind_sub(const uint8_t *at)
{
    static const uint8_t narrow[] = {0x48, 0x83, 0xec}, wide[] = {0x48, 0x81, 0xec};
    return memcmp(at - 4, narrow, 3) == 0 || memcmp(at - 7, wide, 3) == 0;
}

// Whether the code before `at` ends in `add $n,%rsp; pop %rbp`.
static bool behind_leave(const uint8_t *at)
{
    static const uint8_t narrow[] = {0x48, 0x83, 0xc4}, wide[] = {0x48, 0x81, 0xc4};
    return at[-1] == 0x5d && (memcmp(at - 5, narrow, 3) == 0 || memcmp(at - 8, wide, 3) == 0);
}

// Before the frame is complete: nothing was pushed, or the frame pointer, or the room is taken and
// a barrier follows. `behind_start` bytes lie between the start of the code and `at`.
static HotspotFrame frame_in_prologue(const HotspotCode *c, const uint8_t *at,
                                      uint64_t behind_start)
{
    for (size_t back = 0; back < POLL_BYTES_MAX && back + 4 <= behind_start; back++)
        if (behind_sub(at - back))
            return (HotspotFrame){c->frame_words, at[-5 - (ptrdiff_t)back] == 0x55 ||
                                                      at[-8 - (ptrdiff_t)back] == 0x55};
    if (at[-1] == 0x55)
        return (HotspotFrame){2, true};
    return (HotspotFrame){1, false};
}

// Behind the frame's removal come a look whether the thread must stop, and `ret`.
static bool frame_in_epilogue(const uint8_t *at, HotspotFrame *ret)
{
    static const uint8_t narrow[] = {0x48, 0x83, 0xc4}, wide[] = {0x48, 0x81, 0xc4};
    *ret = (HotspotFrame){1, false};
    if (at[0] == 0xc3)
        return true;
    for (size_t back = 0; back < POLL_BYTES_MAX; back++) {
        if (behind_leave(at - back))
            return true;
        if (at[-1 - (ptrdiff_t)back] == 0xc3)
            break;
    }
    *ret = (HotspotFrame){2, true};
    return at[0] == 0x5d && (memcmp(at - 4, narrow, 3) == 0 || memcmp(at - 7, wide, 3) == 0);
}

bool hotspot_frame(const HotspotCode *c, const ProcessMemory *m, uint64_t pc, bool exact,
                   HotspotFrame *ret)
{
    uint8_t code[2 * AROUND];
    if (c->kind == HOTSPOT_INTERPRETER || c->frame_words < 2)
        return false;
    if (exact) {
        if (!m->read(m->ctx, pc - AROUND, code, sizeof(code)))
            return false;
        if (c->kind == HOTSPOT_COMPILED && pc < c->frame_complete) {
            *ret = frame_in_prologue(c, code + AROUND, pc - c->start);
            return true;
        }
        if (frame_in_epilogue(code + AROUND, ret))
            return true;
    }
    *ret = (HotspotFrame){c->frame_words, true};
    return true;
}
