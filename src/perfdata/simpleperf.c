// SPDX-License-Identifier: Apache-2.0
// The symbols that Android's simpleperf keeps in perf.data, in its features 128 and 132.
// Format: Android system/extras/simpleperf, record_file_format.h and record_file.proto.

#include "perfdata/simpleperf_internal.h"

// ---- Feature 128: structs --------------------------------------------------

static void read_symbols(Arena *arena, Cursor *c, uint32_t count, PerfDataFile *file)
{
    for (uint32_t i = 0; i < count && cursor_more(c); i++) {
        PerfDataSymbol s = {.address = cursor_u64(c)};
        s.size = cursor_u32(c);
        s.name = cursor_c_str(c);
        if (cursor_ok(c))
            vec_push(arena, &file->symbols, s);
    }
}

void simpleperf_files_read(Arena *arena, Cursor *c, PerfDataFileVec *ret)
{
    while (cursor_more(c)) {
        PerfDataFile file = {0};
        Cursor e = cursor_sub(c, cursor_u32(c), "file");
        file.path = cursor_c_str(&e);
        file.kind = cursor_u32(&e);
        file.first_address = cursor_u64(&e);
        uint32_t count = cursor_u32(&e);
        read_symbols(arena, &e, count, &file);
        if (file.kind == SIMPLEPERF_DEX)
            cursor_skip(&e, 8 * (uint64_t)cursor_u32(&e));
        // Versions before Android 10 end here; the first address is then that of offset 0.
        if (cursor_more(&e))
            file.first_offset = cursor_u64(&e);
        if (!cursor_ok(&e))
            return;
        vec_push(arena, ret, file);
    }
}

// ---- Feature 132: protobuf -------------------------------------------------

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

typedef struct Field {
    uint32_t number, wire;
    uint64_t value; // of a varint
    Bytes bytes;
} Field;

static uint64_t read_varint(Cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = cursor_u8(c);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    cursor_fail(c, "number too long");
    return 0;
}

static bool next_field(Cursor *c, Field *ret)
{
    if (!cursor_more(c))
        return false;
    uint64_t key = read_varint(c);
    *ret = (Field){.number = (uint32_t)(key >> 3), .wire = (uint32_t)(key & 7)};
    if (ret->wire == WIRE_VARINT)
        ret->value = read_varint(c);
    else if (ret->wire == WIRE_BYTES)
        ret->bytes = cursor_bytes(c, read_varint(c));
    else
        cursor_fail(c, "unknown field");
    return cursor_ok(c);
}

static PerfDataSymbol read_symbol(Bytes message)
{
    enum { ADDRESS = 1, SIZE = 2, NAME = 3 };
    Cursor c = cursor_over(message, "symbol");
    PerfDataSymbol s = {0};
    for (Field f; next_field(&c, &f);) {
        if (f.number == ADDRESS)
            s.address = f.value;
        else if (f.number == SIZE)
            s.size = (uint32_t)MIN(f.value, (uint64_t)UINT32_MAX);
        else if (f.number == NAME)
            s.name = str_from_bytes(f.bytes);
    }
    return s;
}

// The single number of an ElfFile or a KernelModule.
static uint64_t read_offset(Bytes message)
{
    Cursor c = cursor_over(message, "offset");
    Field f;
    return next_field(&c, &f) ? f.value : 0;
}

static PerfDataFile read_file(Arena *arena, Bytes message)
{
    enum { PATH = 1, KIND = 2, FIRST_ADDRESS = 3, SYMBOL = 4, ELF = 6, KERNEL_MODULE = 7 };
    Cursor c = cursor_over(message, "file");
    PerfDataFile file = {0};
    for (Field f; next_field(&c, &f);) {
        if (f.number == PATH)
            file.path = str_from_bytes(f.bytes);
        else if (f.number == KIND)
            file.kind = (uint32_t)f.value;
        else if (f.number == FIRST_ADDRESS)
            file.first_address = f.value;
        else if (f.number == SYMBOL)
            vec_push(arena, &file.symbols, read_symbol(f.bytes));
        else if (f.number == ELF || f.number == KERNEL_MODULE)
            file.first_offset = read_offset(f.bytes);
    }
    return file;
}

void simpleperf_files_read_packed(Arena *arena, Cursor *c, PerfDataFileVec *ret)
{
    while (cursor_more(c)) {
        Bytes message = cursor_bytes(c, cursor_u32(c));
        if (!cursor_ok(c))
            return;
        vec_push(arena, ret, read_file(arena, message));
    }
}
