// SPDX-License-Identifier: Apache-2.0
// Files of decompressed debug sections. A file is:
//   "ASSAYDBG", u32 version, u32 number of sections, u64 length and u64 XXH3 of the table;
//   the table: {u64 XXH3 of the compressed bytes, u64 offset in the file, u64 size, u64 XXH3 of the
//   content}; the contents.

#include "symbolise/section_cache.h"

#include "base/cursor.h"

static const char magic[8] = {'A', 'S', 'S', 'A', 'Y', 'D', 'B', 'G'};
enum { HEAD_BYTES = 32, CONTENT_ALIGN = 16 };

Str section_cache_name(Arena *arena, const BuildId *id)
{
    if (id->len < 4)
        return STR("");
    return arena_printf(arena, "debug-%" STR_FMT ".sym", STR_ARG(build_id_hex(arena, id)));
}

bool section_set_open(Bytes file, SectionSet *ret, Error *err)
{
    Cursor c = cursor_over(file, "debug sections");
    SectionSet s = {.file = file};
    Bytes head = cursor_bytes(&c, sizeof(magic));
    uint32_t version = cursor_u32(&c);
    s.count = cursor_u32(&c);
    uint64_t length = cursor_u64(&c), sum = cursor_u64(&c);
    if (!cursor_check(&c, err))
        return false;
    if (!bytes_equal(head, magic, sizeof(magic)) || version != SECTION_CACHE_VERSION)
        return error_set(err, ERROR_UNSUPPORTED, "no debug sections of version %u",
                         SECTION_CACHE_VERSION);
    Bytes table = cursor_bytes(&c, s.count * sizeof(CachedSection));
    if (!cursor_check(&c, err))
        return false;
    if (s.count > SECTION_CACHE_ROWS_MAX || table.len != length || bytes_hash(table) != sum)
        return error_set(err, ERROR_FORMAT, "debug sections: checksum differs");
    memcpy(s.rows, table.ptr, table.len);
    for (uint32_t i = 0; i < s.count; i++)
        if (s.rows[i].at > file.len || s.rows[i].size > file.len - s.rows[i].at)
            return error_set(err, ERROR_FORMAT, "debug sections: section %u ends after the file",
                             i);
    *ret = s;
    return true;
}

bool section_set_find(const SectionSet *set, Bytes packed, Bytes *ret)
{
    uint64_t hash = set->count ? bytes_hash(packed) : 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const CachedSection *row = &set->rows[i];
        Bytes content =
            bytes_slice(set->file, (size_t)row->at, (size_t)row->at + (size_t)row->size);
        if (row->packed_hash != hash || bytes_hash(content) != row->hash)
            continue;
        *ret = content;
        return true;
    }
    return false;
}

static void put_contents(const UnpackedSection *sections, size_t count, CachedSection *rows,
                         StrBuf *out)
{
    size_t start = out->len;
    strbuf_add_repeated(out, 0, HEAD_BYTES + count * sizeof(CachedSection));
    for (size_t i = 0; i < count; i++) {
        strbuf_add_repeated(out, 0,
                            (size_t)align_up(out->len - start, CONTENT_ALIGN) - (out->len - start));
        rows[i] = (CachedSection){bytes_hash(sections[i].packed), out->len - start,
                                  sections[i].content.len, bytes_hash(sections[i].content)};
        strbuf_add(out, str_from_bytes(sections[i].content));
    }
}

bool section_set_encode(const UnpackedSection *sections, size_t count, StrBuf *out)
{
    CachedSection rows[SECTION_CACHE_ROWS_MAX];
    size_t start = out->len;
    uint64_t total = HEAD_BYTES;
    for (size_t i = 0; i < count && count <= SECTION_CACHE_ROWS_MAX; i++)
        total += sections[i].content.len + sizeof(rows[i]) + CONTENT_ALIGN;
    if (count == 0 || count > SECTION_CACHE_ROWS_MAX || total > SYMBOL_CACHE_FILE_MAX_BYTES)
        return false;
    put_contents(sections, count, rows, out);
    Bytes table = bytes_over(rows, count * sizeof(rows[0]));
    uint32_t numbers[2] = {SECTION_CACHE_VERSION, (uint32_t)count};
    uint64_t sums[2] = {table.len, bytes_hash(table)};
    memcpy(out->ptr + start, magic, sizeof(magic));
    memcpy(out->ptr + start + 8, numbers, sizeof(numbers));
    memcpy(out->ptr + start + 16, sums, sizeof(sums));
    memcpy(out->ptr + start + HEAD_BYTES, table.ptr, table.len);
    return true;
}
