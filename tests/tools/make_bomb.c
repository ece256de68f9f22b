// SPDX-License-Identifier: Apache-2.0
// A recording of some kilobytes that unpacks to gigabytes:
//   make_bomb samples|metrics|notes|again FILE
// Each block holds 60 MB of zeros, which zstd makes 2 KB of: rows of one column, where the reader
// makes all columns of the table.

#include "base/strbuf.h"
#include "model/schema.h"
#include "store/format_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

enum { BLOCKS = 16, ROWS = 60000000 };

static void add_varint(StrBuf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        strbuf_add_char(b, (char)(v | 0x80));
    strbuf_add_char(b, (char)v);
}

static void write_block(FILE *f, uint16_t type, Str raw)
{
    size_t bound = ZSTD_compressBound(raw.len);
    uint8_t *packed = heap_grow(NULL, bound), head[STORE_BLOCK_HEAD_LEN];
    size_t len = ZSTD_compress(packed, bound, raw.ptr, raw.len, 3);
    put_u16(head, type);
    put_u16(head + 2, STORE_FLAG_ZSTD);
    put_u32(head + 4, (uint32_t)raw.len);
    put_u32(head + 8, (uint32_t)len);
    put_u32(head + 12, 0);
    put_u64(head + 16, store_checksum(bytes_over(head, 16), bytes_over(packed, len)));
    fwrite(head, sizeof(head), 1, f);
    fwrite(packed, len, 1, f);
    heap_free(packed);
}

// Rows [first, first + rows) whose first column is zero.
static void write_rows(FILE *f, const TableSchema *t, uint64_t first, uint64_t rows)
{
    StrBuf raw = {0};
    add_varint(&raw, first);
    add_varint(&raw, rows);
    add_varint(&raw, 1);
    add_varint(&raw, t->columns[0].id);
    strbuf_add_char(&raw, STORE_ENC_VARINT);
    add_varint(&raw, rows);
    strbuf_add_repeated(&raw, 0, rows);
    write_block(f, (uint16_t)t->id, strbuf_str(&raw));
    strbuf_deinit(&raw);
}

int main(int argc, char **argv)
{
    uint8_t head[STORE_HEADER_LEN];
    FILE *f = argc == 3 ? fopen(argv[2], "we") : NULL;
    if (!f)
        return 2;
    memcpy(head, STORE_MAGIC, STORE_MAGIC_LEN);
    put_u32(head + 8, STORE_VERSION);
    put_u32(head + 12, (uint32_t)bytes_hash(bytes_over(head, 12)));
    fwrite(head, sizeof(head), 1, f);
    Str kind = str_from_c(argv[1]);
    // Each metric is a column of the samples.
    if (str_equal(kind, STR("metrics")))
        write_rows(f, profile_schema_find(TABLE_METRICS), 0, 100);
    const TableSchema *t =
        profile_schema_find(str_equal(kind, STR("notes")) ? TABLE_NOTES : TABLE_SAMPLES);
    for (uint64_t i = 0; i < BLOCKS; i++)
        write_rows(f, t, t->has_none_row + (str_equal(kind, STR("again")) ? 0 : i * ROWS), ROWS);
    return fclose(f) == 0 ? 0 : 1;
}
