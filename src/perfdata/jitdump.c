// SPDX-License-Identifier: Apache-2.0
// Converts a jit-PID.dump to the text of a perf-PID.map.

#include "perfdata/jitdump.h"

#include "base/cursor.h"
#include "base/table.h"
#include "base/vec.h"

#define JITDUMP_MAGIC         0x4a695444u
#define JITDUMP_MAGIC_SWAPPED 0x4454694au

enum {
    HEADER_BYTES = 40,
    RECORD_HEADER_BYTES = 16,
    CODE_LOAD = 0,
    CODE_MOVE = 1,
    CODE_KNOWN_LAST = 4, // types between are DEBUG_INFO, CLOSE, UNWINDING_INFO
};

typedef struct JitFunction {
    uint64_t index; // unique in the file
    Str name;       // borrowed
} JitFunction;

typedef struct Reader {
    StrBuf *out;
    JitdumpStats *stats;
    Vec(JitFunction) functions;
    Table by_index;
} Reader;

bool jitdump_is_name(Str name)
{
    Str prefix = STR("jit-"), suffix = STR(".dump");
    if (!str_starts_with(name, prefix) || !str_ends_with(name, suffix) ||
        name.len <= prefix.len + suffix.len)
        return false;
    uint64_t pid;
    return str_parse_u64(str_slice(name, prefix.len, name.len - suffix.len), 10, &pid);
}

// A name takes the rest of a line in the map, so that it must not contain a line end.
static void add_line(StrBuf *out, uint64_t start, uint64_t size, Str name)
{
    strbuf_printf(out, "%llx %llx ", (unsigned long long)start, (unsigned long long)size);
    for (size_t i = 0; i < name.len; i++)
        strbuf_add_char(out, name.ptr[i] == '\n' || name.ptr[i] == '\r' ? ' ' : name.ptr[i]);
    strbuf_add_char(out, '\n');
}

static JitFunction *find_function(const Reader *r, uint64_t index)
{
    uint32_t row;
    for (TableProbe p = table_probe(&r->by_index, hash_u64(index));
         table_next(&r->by_index, &p, &row);)
        if (r->functions.at[row].index == index)
            return &r->functions.at[row];
    return NULL;
}

static void read_load(Reader *r, Cursor *c)
{
    cursor_skip(c, 16); // pid, tid, vma
    uint64_t address = cursor_u64(c), size = cursor_u64(c), index = cursor_u64(c);
    if (!cursor_ok(c))
        return;
    const char *text = (const char *)c->data.ptr + c->at;
    Str name = str_over(text, strnlen(text, cursor_left(c)));
    add_line(r->out, address, size, name);
    r->stats->functions++;
    JitFunction *known = find_function(r, index);
    if (known) {
        known->name = name; // damage: a valid file has each index once
        return;
    }
    table_insert(&r->by_index, hash_u64(index), (uint32_t)r->functions.len);
    vec_push(NULL, &r->functions, (JitFunction){index, name});
}

static void read_move(Reader *r, Cursor *c)
{
    cursor_skip(c, 24); // pid, tid, vma, old address
    uint64_t address = cursor_u64(c), size = cursor_u64(c), index = cursor_u64(c);
    const JitFunction *known = cursor_ok(c) ? find_function(r, index) : NULL;
    if (!known)
        return;
    add_line(r->out, address, size, known->name);
    r->stats->moved++;
}

// Reads one record. False, without moving, at the end and for bytes that cannot be a record.
static bool read_record(Reader *r, Cursor *c)
{
    size_t start = c->at;
    if (cursor_left(c) < RECORD_HEADER_BYTES)
        return false;
    uint32_t id = cursor_u32(c), size = cursor_u32(c);
    cursor_skip(c, 8); // time
    if (size < RECORD_HEADER_BYTES || size - RECORD_HEADER_BYTES > cursor_left(c)) {
        cursor_seek(c, start);
        return false;
    }
    Cursor body = cursor_over(cursor_bytes(c, size - RECORD_HEADER_BYTES), "jitdump record");
    body.big_endian = c->big_endian;
    if (id == CODE_LOAD)
        read_load(r, &body);
    else if (id == CODE_MOVE)
        read_move(r, &body);
    else
        r->stats->unknown += id > CODE_KNOWN_LAST;
    return true;
}

bool jitdump_to_map(Bytes file, StrBuf *ret, JitdumpStats *stats, Error *err)
{
    Cursor c = cursor_over(file, "jitdump");
    uint32_t magic = cursor_u32(&c);
    // The file has the byte order of its machine.
    if (magic == JITDUMP_MAGIC_SWAPPED)
        c.big_endian = !c.big_endian;
    else if (magic != JITDUMP_MAGIC)
        return error_set(err, ERROR_FORMAT, "not a jitdump: it begins with 0x%08x", magic);
    uint32_t version = cursor_u32(&c), header = cursor_u32(&c);
    if (!cursor_check(&c, err))
        return false;
    if (version != 1 || header < HEADER_BYTES || header > file.len)
        return error_set(err, ERROR_FORMAT, "jitdump of version %u with a header of %u bytes",
                         version, header);
    *stats = (JitdumpStats){0};
    Reader r = {.out = ret, .stats = stats};
    cursor_seek(&c, header);
    while (read_record(&r, &c))
        continue;
    stats->cut = cursor_left(&c) > 0;
    vec_free(&r.functions);
    table_deinit(&r.by_index);
    return true;
}
