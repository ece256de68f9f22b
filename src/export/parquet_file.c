// SPDX-License-Identifier: Apache-2.0
// Writes Parquet files.

#include "export/parquet_file.h"

#include <zstd.h>

// Groups are what readers hand to their threads; pages are what they unpack at once.
enum { GROUP_ROWS = 1 << 21, PAGE_ROWS = 1 << 17, ZSTD_LEVEL = 5 };

// Values that are at most so far apart are looked up in an array.
enum { SPAN_MAX = 1 << 22 };

// Numbers of parquet.thrift.
enum { TYPE_BOOLEAN = 0, TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6 };
enum { REQUIRED = 0, OPTIONAL = 1, CONVERTED_UTF8 = 0 };

typedef struct ParquetChunk {
    uint64_t at;      // of its first page
    uint64_t data_at; // of its first data page
    uint64_t raw_bytes, packed_bytes;
    bool has_dictionary;
    int data_encoding;
    uint64_t nulls;
    bool has_range; // of numbers
    int64_t least, most;
} ParquetChunk;

typedef struct ParquetGroup {
    uint64_t at, rows;
    ParquetChunk chunks[]; // [column]
} ParquetGroup;

// ---- Thrift's compact protocol ---------------------------------------------------

enum { THRIFT_TRUE = 1, THRIFT_I16 = 4, THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8 };
enum { THRIFT_LIST = 9, THRIFT_STRUCT = 12 };

static void put_varint(StrBuf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        strbuf_add_char(b, (char)(v | 0x80));
    strbuf_add_char(b, (char)v);
}

static uint64_t zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

// The field's head; `last` is the number of the field before, and becomes this one's.
static void put_field(StrBuf *b, int *last, int field, int type)
{
    strbuf_add_char(b, (char)((field - *last) << 4 | type));
    *last = field;
}

static void put_i32(StrBuf *b, int *last, int field, int64_t v)
{
    put_field(b, last, field, THRIFT_I32);
    put_varint(b, zigzag(v));
}

static void put_i64(StrBuf *b, int *last, int field, uint64_t v)
{
    put_field(b, last, field, THRIFT_I64);
    put_varint(b, zigzag((int64_t)v));
}

static void put_binary(StrBuf *b, int *last, int field, Str s)
{
    put_field(b, last, field, THRIFT_BINARY);
    put_varint(b, s.len);
    strbuf_add(b, s);
}

static void put_list(StrBuf *b, int *last, int field, int type, size_t count)
{
    put_field(b, last, field, THRIFT_LIST);
    strbuf_add_char(b, (char)(MIN(count, (size_t)15) << 4 | (size_t)type));
    if (count >= 15)
        put_varint(b, count);
}

static void put_stop(StrBuf *b)
{
    strbuf_add_char(b, 0);
}

// ---- Encodings ---------------------------------------------------------------------

static unsigned bits_of(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

// Packs `count` values of `width` bits, the lowest bits first. `count * width` is a multiple of 8.
static void put_bits(StrBuf *b, const uint64_t *values, size_t count, unsigned width)
{
    char *at = strbuf_reserve(b, count * width / 8);
    b->len += count * width / 8;
    unsigned __int128 bits = 0;
    unsigned have = 0;
    size_t i = 0;
    if (width <= 32) { // four bytes at once
        uint64_t some = 0;
        for (; i < count; i++) {
            some |= values[i] << have;
            have += width;
            if (have >= 32) {
                memcpy(at, &some, 4);
                at += 4;
                some >>= 32;
                have -= 32;
            }
        }
        bits = some;
    }
    for (; i < count; i++) {
        bits |= (unsigned __int128)values[i] << have;
        for (have += width; have >= 8; have -= 8, bits >>= 8)
            *at++ = (char)bits;
    }
    for (; have >= 8; have -= 8, bits >>= 8)
        *at++ = (char)bits;
}

static void put_run(StrBuf *b, uint32_t value, size_t count, unsigned width)
{
    put_varint(b, count << 1);
    for (unsigned k = 0; k < (width + 7) / 8; k++)
        strbuf_add_char(b, (char)(value >> 8 * k));
}

// Runs of equal values, and groups of eight packed ones between them.
static void put_hybrid(StrBuf *b, const uint32_t *values, size_t count, unsigned width)
{
    enum { GROUP = 8 };
    size_t from = 0; // packed so far
    for (size_t i = 0; i <= count;) {
        size_t run = 1;
        while (i < count && i + run < count && values[i + run] == values[i])
            run++;
        // What stands before a run is packed by whole groups, which the run completes.
        size_t lent = (GROUP - (i - from) % GROUP) % GROUP;
        bool ends = i == count;
        if (!ends && run < 2 * GROUP + lent) {
            i += run;
            continue;
        }
        size_t groups = (i - from + GROUP - 1) / GROUP;
        if (groups) {
            put_varint(b, groups << 1 | 1);
            uint64_t some[GROUP];
            for (size_t g = 0; g < groups; g++) {
                for (size_t k = 0; k < GROUP; k++) {
                    size_t at = from + g * GROUP + k;
                    some[k] = at < count ? values[at] : 0;
                }
                put_bits(b, some, GROUP, width);
            }
        }
        if (ends)
            break;
        put_run(b, values[i], run - lent, width);
        i += run;
        from = i;
        if (i == count)
            break;
    }
}

static void put_delta(StrBuf *b, const int64_t *values, size_t count)
{
    enum { BLOCK = 128, MINI = 32 };
    put_varint(b, BLOCK);
    put_varint(b, BLOCK / MINI);
    put_varint(b, count);
    put_varint(b, zigzag(count ? values[0] : 0));
    for (size_t i = 1; i < count; i += BLOCK) {
        uint64_t deltas[BLOCK] = {0};
        size_t n = MIN((size_t)BLOCK, count - i);
        int64_t least = INT64_MAX;
        for (size_t k = 0; k < n; k++) {
            deltas[k] = (uint64_t)values[i + k] - (uint64_t)values[i + k - 1];
            least = MIN(least, (int64_t)deltas[k]);
        }
        put_varint(b, zigzag(least));
        unsigned widths[BLOCK / MINI] = {0};
        for (size_t k = 0; k < n; k++) {
            deltas[k] -= (uint64_t)least;
            widths[k / MINI] = MAX(widths[k / MINI], bits_of(deltas[k]));
        }
        for (size_t m = 0; m < BLOCK / MINI; m++)
            strbuf_add_char(b, (char)widths[m]);
        for (size_t m = 0; m * MINI < n; m++)
            put_bits(b, deltas + m * MINI, MINI, widths[m]);
    }
}

static void put_plain(StrBuf *b, const ParquetValues *v, ParquetType type, const int64_t *values,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (type == PARQUET_TEXT) {
            Str text = intern_get(&v->texts, (uint32_t)values[i]);
            uint32_t len = (uint32_t)text.len;
            strbuf_add(b, (Str){(const char *)&len, sizeof(len)});
            strbuf_add(b, text);
        } else { // little-endian, as every machine we build for
            strbuf_add(b, (Str){(const char *)&values[i], type == PARQUET_I32 ? 4 : 8});
        }
    }
}

static void put_booleans(StrBuf *b, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i += 8) {
        unsigned byte = 0;
        for (size_t k = 0; k < 8 && i + k < count; k++)
            byte |= (values[i + k] != 0) << k;
        strbuf_add_char(b, (char)byte);
    }
}

// ---- Pages -------------------------------------------------------------------------

static void emit(ParquetFile *f, Str bytes)
{
    f->offset += bytes.len;
    f->failed = f->failed || !f->write(f->ctx, bytes);
}

// Writes f->raw as a page.
static void emit_page(ParquetFile *f, ParquetChunk *c, int type, int encoding, size_t values)
{
    int last = 0, inner = 0;
    size_t bound = ZSTD_compressBound(f->raw.len);
    strbuf_clear(&f->packed);
    char *to = strbuf_reserve(&f->packed, bound);
    size_t len = ZSTD_compressCCtx(f->zstd, to, bound, f->raw.ptr, f->raw.len, ZSTD_LEVEL);
    if (ZSTD_isError(len)) {
        f->failed = true;
        return;
    }
    f->packed.len = len;
    strbuf_clear(&f->header);
    put_i32(&f->header, &last, 1, type);
    put_i32(&f->header, &last, 2, (int64_t)f->raw.len);
    put_i32(&f->header, &last, 3, (int64_t)len);
    put_field(&f->header, &last, type == PAGE_DATA ? 5 : 7, THRIFT_STRUCT);
    put_i32(&f->header, &inner, 1, (int64_t)values);
    put_i32(&f->header, &inner, 2, encoding);
    if (type == PAGE_DATA) {
        put_i32(&f->header, &inner, 3, ENCODING_RLE);
        put_i32(&f->header, &inner, 4, ENCODING_RLE);
    }
    put_stop(&f->header);
    put_stop(&f->header);
    c->raw_bytes += f->header.len + f->raw.len;
    c->packed_bytes += f->header.len + len;
    emit(f, strbuf_str(&f->header));
    emit(f, strbuf_str(&f->packed));
}

// Which rows of a page are not null. `is_null` is NULL when none is.
static void put_levels(ParquetFile *f, const uint8_t *is_null, size_t rows)
{
    size_t at = f->raw.len;
    uint32_t len = 0;
    strbuf_add(&f->raw, (Str){(const char *)&len, sizeof(len)});
    if (is_null) {
        f->levels.len = 0;
        uint32_t *levels = vec_extend(NULL, &f->levels, rows);
        for (size_t i = 0; i < rows; i++)
            levels[i] = !is_null[i];
        put_hybrid(&f->raw, levels, rows, 1);
    } else {
        put_run(&f->raw, 1, rows, 1);
    }
    len = (uint32_t)(f->raw.len - at - sizeof(len));
    memcpy(f->raw.ptr + at, &len, sizeof(len));
}

// Dictionaries: f->distinct has the values, f->numbers those of the chunk's values.

// In ascending order, which packs best.
static void number_near(ParquetFile *f, const ParquetChunk *c, const I64Vec *v)
{
    size_t span = (size_t)((uint64_t)c->most - (uint64_t)c->least) + 1;
    f->slots.len = 0;
    uint32_t *slots = vec_extend(NULL, &f->slots, span);
    for (size_t i = 0; i < v->len; i++)
        slots[(uint64_t)v->at[i] - (uint64_t)c->least] = 1;
    for (size_t i = 0; i < span; i++)
        if (slots[i]) {
            slots[i] = (uint32_t)f->distinct.len;
            vec_push(NULL, &f->distinct, c->least + (int64_t)i);
        }
    for (size_t i = 0; i < v->len; i++)
        f->numbers.at[i] = slots[(uint64_t)v->at[i] - (uint64_t)c->least];
}

// In order of first use. False when there are too many of them to be worth it.
static bool number_far(ParquetFile *f, const I64Vec *v)
{
    Table table = {0};
    bool ok = true;
    for (size_t i = 0; i < v->len && ok; i++) {
        uint64_t hash = hash_u64((uint64_t)v->at[i]);
        uint32_t row, found = UINT32_MAX;
        for (TableProbe p = table_probe(&table, hash);
             found == UINT32_MAX && table_next(&table, &p, &row);)
            found = f->distinct.at[row] == v->at[i] ? row : found;
        if (found == UINT32_MAX) {
            found = (uint32_t)f->distinct.len;
            vec_push(NULL, &f->distinct, v->at[i]);
            table_insert(&table, hash, found);
        }
        f->numbers.at[i] = found;
        ok = f->distinct.len <= 4096 + i / 4;
    }
    table_deinit(&table);
    return ok;
}

static bool make_dictionary(ParquetFile *f, const ParquetColumn *column, const ParquetChunk *c,
                            const ParquetValues *values)
{
    const I64Vec *v = &values->at;
    f->distinct.len = f->numbers.len = 0;
    if (values->same_count) {
        vec_push(NULL, &f->distinct, values->same);
        return true;
    }
    if (column->is_delta || column->type == PARQUET_BOOL || v->len == 0)
        return false;
    vec_reserve(NULL, &f->numbers, v->len);
    f->numbers.len = v->len;
    bool near = c->has_range && (uint64_t)c->most - (uint64_t)c->least < SPAN_MAX;
    if (near)
        number_near(f, c, v);
    else if (!number_far(f, v))
        return false;
    // Values of which each has its own number are smaller as they are; texts need no decision.
    return column->type == PARQUET_TEXT || f->distinct.len <= v->len / 2 + 1;
}

static void find_range(const ParquetColumn *column, const ParquetValues *values, ParquetChunk *c)
{
    const I64Vec *v = &values->at;
    int64_t least = values->same_count ? values->same : INT64_MAX;
    int64_t most = values->same_count ? values->same : INT64_MIN;
    for (size_t i = 0; i < v->len; i++) {
        least = MIN(least, v->at[i]);
        most = MAX(most, v->at[i]);
    }
    c->has_range = (v->len || values->same_count) && column->type != PARQUET_F64;
    c->least = least;
    c->most = most;
}

// `count` values from number `from` on.
static void put_values(ParquetFile *f, const ParquetColumn *column, const ParquetValues *v,
                       bool has_dictionary, size_t from, size_t count)
{
    if (has_dictionary) {
        unsigned width = bits_of(f->distinct.len - 1);
        strbuf_add_char(&f->raw, (char)width);
        if (!v->same_count)
            put_hybrid(&f->raw, f->numbers.at + from, count, width);
        else if (count)
            put_run(&f->raw, 0, count, width);
    } else if (column->is_delta) {
        put_delta(&f->raw, v->at.at + from, count);
    } else if (column->type == PARQUET_BOOL) {
        put_booleans(&f->raw, v->at.at + from, count);
    } else {
        put_plain(&f->raw, v, column->type, v->at.at + from, count);
    }
}

// Writes the equal values out.
static void spread(ParquetValues *v)
{
    size_t count = v->same_count;
    v->same_count = 0;
    vec_reserve(NULL, &v->at, count);
    for (size_t i = 0; i < count; i++)
        v->at.at[i] = v->same;
    v->at.len = count;
}

static void emit_chunk(ParquetFile *f, const ParquetColumn *column, ParquetValues *v,
                       ParquetChunk *c)
{
    c->at = f->offset;
    if (column->is_delta || column->type == PARQUET_BOOL)
        spread(v);
    find_range(column, v, c);
    bool has_dictionary = make_dictionary(f, column, c, v);
    if (has_dictionary) {
        strbuf_clear(&f->raw);
        put_plain(&f->raw, v, column->type, f->distinct.at, f->distinct.len);
        emit_page(f, c, PAGE_DICTIONARY, ENCODING_PLAIN, f->distinct.len);
    }
    c->has_dictionary = has_dictionary;
    c->data_encoding = has_dictionary     ? ENCODING_DICTIONARY
                       : column->is_delta ? ENCODING_DELTA
                                          : ENCODING_PLAIN;
    c->data_at = f->offset;
    bool has_nulls = v->is_null.len != 0;
    for (size_t row = 0, from = 0; row < f->row; row += PAGE_ROWS) {
        size_t rows = MIN((size_t)PAGE_ROWS, f->row - row), nulls = 0;
        strbuf_clear(&f->raw);
        for (size_t i = row; has_nulls && i < row + rows; i++)
            nulls += v->is_null.at[i];
        if (column->can_be_null)
            put_levels(f, nulls ? v->is_null.at + row : NULL, rows);
        put_values(f, column, v, has_dictionary, from, rows - nulls);
        emit_page(f, c, PAGE_DATA, c->data_encoding, rows);
        from += rows - nulls;
        c->nulls += nulls;
    }
    // Texts have no order by their numbers.
    c->has_range = c->has_range && column->type != PARQUET_TEXT;
}

static void emit_group(ParquetFile *f)
{
    if (f->row == 0 || f->failed)
        return;
    ParquetGroup *g =
        arena_alloc(&f->arena, sizeof(*g) + f->column_count * sizeof(ParquetChunk), 8);
    memset(g, 0, sizeof(*g) + f->column_count * sizeof(ParquetChunk));
    g->at = f->offset;
    g->rows = f->row;
    for (size_t c = 0; c < f->column_count && !f->failed; c++)
        emit_chunk(f, &f->columns[c], &f->values[c], &g->chunks[c]);
    vec_push(NULL, &f->groups, g);
    f->rows += f->row;
    f->row = 0;
    for (size_t c = 0; c < f->column_count; c++) {
        ParquetValues *v = &f->values[c];
        v->at.len = v->is_null.len = v->same_count = 0;
        if (f->columns[c].type == PARQUET_TEXT)
            intern_deinit(&v->texts);
    }
    arena_clear(&f->texts);
    for (size_t c = 0; c < f->column_count; c++)
        if (f->columns[c].type == PARQUET_TEXT) {
            intern_init(&f->values[c].texts, &f->texts);
            memset(f->values[c].recent, 0, PARQUET_RECENT * sizeof(uint32_t));
        }
}

// ---- The footer ----------------------------------------------------------------------

static int physical_type(ParquetType type)
{
    static const int types[] = {[PARQUET_BOOL] = TYPE_BOOLEAN,
                                [PARQUET_I32] = TYPE_INT32,
                                [PARQUET_I64] = TYPE_INT64,
                                [PARQUET_F64] = TYPE_DOUBLE,
                                [PARQUET_TEXT] = TYPE_BYTE_ARRAY};
    return types[type];
}

static void put_schema(const ParquetFile *f, StrBuf *b, int *last)
{
    put_list(b, last, 2, THRIFT_STRUCT, f->column_count + 1);
    int root = 0;
    put_binary(b, &root, 4, STR("schema"));
    put_i32(b, &root, 5, (int64_t)f->column_count);
    put_stop(b);
    for (size_t i = 0; i < f->column_count; i++) {
        const ParquetColumn *c = &f->columns[i];
        int field = 0;
        put_i32(b, &field, 1, physical_type(c->type));
        put_i32(b, &field, 3, c->can_be_null ? OPTIONAL : REQUIRED);
        put_binary(b, &field, 4, str_from_c(c->name));
        if (c->type == PARQUET_TEXT) {
            int logical = 0;
            put_i32(b, &field, 6, CONVERTED_UTF8);
            put_field(b, &field, 10, THRIFT_STRUCT);
            put_field(b, &logical, 1, THRIFT_STRUCT); // STRING
            put_stop(b);
            put_stop(b);
        }
        put_stop(b);
    }
}

static void put_bound(StrBuf *b, int *last, int field, ParquetType type, int64_t value)
{
    size_t size = type == PARQUET_BOOL ? 1 : type == PARQUET_I32 ? 4 : 8;
    put_binary(b, last, field, (Str){(const char *)&value, size});
}

static void put_chunk(StrBuf *b, const ParquetColumn *column, const ParquetGroup *g,
                      const ParquetChunk *c)
{
    int last = 0, meta = 0, stats = 0;
    put_i64(b, &last, 2, c->at);
    put_field(b, &last, 3, THRIFT_STRUCT);
    put_i32(b, &meta, 1, physical_type(column->type));
    put_list(b, &meta, 2, THRIFT_I32, c->has_dictionary ? 3 : 2);
    put_varint(b, zigzag(ENCODING_RLE));
    put_varint(b, zigzag(c->data_encoding));
    if (c->has_dictionary)
        put_varint(b, zigzag(ENCODING_PLAIN));
    put_list(b, &meta, 3, THRIFT_BINARY, 1);
    Str name = str_from_c(column->name);
    put_varint(b, name.len);
    strbuf_add(b, name);
    put_i32(b, &meta, 4, CODEC_ZSTD);
    put_i64(b, &meta, 5, g->rows);
    put_i64(b, &meta, 6, c->raw_bytes);
    put_i64(b, &meta, 7, c->packed_bytes);
    put_i64(b, &meta, 9, c->data_at);
    if (c->has_dictionary)
        put_i64(b, &meta, 11, c->at);
    put_field(b, &meta, 12, THRIFT_STRUCT);
    put_i64(b, &stats, 3, c->nulls);
    if (c->has_range) {
        put_bound(b, &stats, 5, column->type, c->most);
        put_bound(b, &stats, 6, column->type, c->least);
    }
    put_stop(b);
    put_stop(b);
    put_stop(b);
}

static void put_group(const ParquetFile *f, StrBuf *b, size_t number)
{
    const ParquetGroup *g = f->groups.at[number];
    int last = 0;
    uint64_t raw = 0, packed = 0;
    put_list(b, &last, 1, THRIFT_STRUCT, f->column_count);
    for (size_t c = 0; c < f->column_count; c++) {
        raw += g->chunks[c].raw_bytes;
        packed += g->chunks[c].packed_bytes;
        put_chunk(b, &f->columns[c], g, &g->chunks[c]);
    }
    put_i64(b, &last, 2, raw);
    put_i64(b, &last, 3, g->rows);
    put_i64(b, &last, 5, g->at);
    put_i64(b, &last, 6, packed);
    put_stop(b);
}

static void emit_footer(ParquetFile *f, Str created_by)
{
    StrBuf *b = &f->raw;
    int last = 0;
    strbuf_clear(b);
    put_i32(b, &last, 1, 2);
    put_schema(f, b, &last);
    put_i64(b, &last, 3, f->rows);
    put_list(b, &last, 4, THRIFT_STRUCT, f->groups.len);
    for (size_t i = 0; i < f->groups.len; i++)
        put_group(f, b, i);
    put_binary(b, &last, 6, created_by);
    // The order of least and most is that of the type.
    put_list(b, &last, 7, THRIFT_STRUCT, f->column_count);
    for (size_t c = 0; c < f->column_count; c++) {
        int order = 0;
        put_field(b, &order, 1, THRIFT_STRUCT);
        put_stop(b);
        put_stop(b);
    }
    put_stop(b);
    uint32_t len = (uint32_t)b->len;
    strbuf_add(b, (Str){(const char *)&len, sizeof(len)});
    strbuf_add(b, STR("PAR1"));
    emit(f, strbuf_str(b));
}

// ---- Rows ------------------------------------------------------------------------------

void parquet_open(ParquetFile *f, const ParquetColumn *columns, size_t count,
                  bool (*write)(void *ctx, Str bytes), void *ctx)
{
    *f = (ParquetFile){.columns = columns, .column_count = count, .write = write, .ctx = ctx};
    f->values = arena_array(&f->arena, ParquetValues, count);
    for (size_t c = 0; c < count; c++)
        vec_reserve(NULL, &f->values[c].at, 1); // columns of nulls have a valid pointer too
    for (size_t c = 0; c < count; c++)
        if (columns[c].type == PARQUET_TEXT) {
            intern_init(&f->values[c].texts, &f->texts);
            f->values[c].recent = arena_array(&f->arena, uint32_t, PARQUET_RECENT);
        }
    f->zstd = ZSTD_createCCtx();
    f->failed = !f->zstd;
    emit(f, STR("PAR1"));
}

static void push(ParquetFile *f, size_t column, int64_t value)
{
    ParquetValues *v = &f->values[column];
    if (v->is_null.len)
        vec_push(NULL, &v->is_null, 0);
    if (v->at.len == 0 && (v->same_count == 0 || v->same == value)) {
        v->same = value;
        v->same_count++;
        return;
    }
    if (v->same_count)
        spread(v);
    vec_push(NULL, &v->at, value);
}

void parquet_number(ParquetFile *f, size_t column, int64_t value)
{
    push(f, column, value);
}

void parquet_double(ParquetFile *f, size_t column, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    push(f, column, bits);
}

// The number of a text that readers take for UTF-8.
static uint32_t clean_text(ParquetValues *v, Str text)
{
    StrBuf clean = {0};
    size_t plain = 0;
    while (plain < text.len && (signed char)text.ptr[plain] > 0)
        plain++;
    if (plain == text.len)
        return intern_add(&v->texts, text);
    for (size_t i = 0; i < text.len;) {
        size_t from = i;
        uint32_t code = utf8_next(text, &i);
        bool bad = code == 0xfffd || code == 0;
        strbuf_add(&clean, bad ? STR("\xef\xbf\xbd") : str_slice(text, from, i));
    }
    uint32_t id = intern_add(&v->texts, strbuf_str(&clean));
    strbuf_deinit(&clean);
    return id;
}

static uint32_t text_number(ParquetValues *v, Str text)
{
    uint32_t *recent = &v->recent[(hash_u64((uint64_t)(uintptr_t)text.ptr) >> 32) % PARQUET_RECENT];
    // The caller may have put another text there since.
    if (*recent && str_equal(intern_get(&v->texts, *recent - 1), text))
        return *recent - 1;
    *recent = clean_text(v, text) + 1;
    return *recent - 1;
}

void parquet_text(ParquetFile *f, size_t column, Str text)
{
    push(f, column, text_number(&f->values[column], text));
}

void parquet_null(ParquetFile *f, size_t column)
{
    ParquetValues *v = &f->values[column];
    assert(f->columns[column].can_be_null);
    if (v->is_null.len == 0)
        (void)vec_extend(NULL, &v->is_null, f->row);
    vec_push(NULL, &v->is_null, 1);
}

void parquet_end_row(ParquetFile *f)
{
    if (++f->row == GROUP_ROWS)
        emit_group(f);
}

size_t parquet_room(const ParquetFile *f)
{
    return GROUP_ROWS - f->row;
}

void parquet_numbers(ParquetFile *f, size_t column, const int64_t *values, size_t count,
                     int64_t null)
{
    ParquetValues *v = &f->values[column];
    bool can_be_null = f->columns[column].can_be_null, has_null = false, is_same = true;
    for (size_t i = 0; i < count; i++) {
        has_null |= values[i] == null;
        is_same &= values[i] == values[0];
    }
    if ((has_null && can_be_null) || count == 0) {
        for (size_t i = 0; i < count; i++) {
            if (values[i] != null) {
                push(f, column, values[i]);
                continue;
            }
            if (v->is_null.len == 0)
                (void)vec_extend(NULL, &v->is_null, f->row + i);
            vec_push(NULL, &v->is_null, 1);
        }
        return;
    }
    if (v->is_null.len)
        (void)vec_extend(NULL, &v->is_null, count);
    if (is_same && v->at.len == 0 && (v->same_count == 0 || v->same == values[0])) {
        v->same = values[0];
        v->same_count += count;
        return;
    }
    if (v->same_count)
        spread(v);
    vec_reserve(NULL, &v->at, count);
    memcpy(v->at.at + v->at.len, values, count * sizeof(*values));
    v->at.len += count;
}

void parquet_texts(ParquetFile *f, size_t column, Str text, size_t count)
{
    uint32_t number = text_number(&f->values[column], text);
    for (size_t i = 0; i < count; i++)
        push(f, column, number);
}

void parquet_end_rows(ParquetFile *f, size_t count)
{
    assert(count <= parquet_room(f));
    f->row += (uint32_t)count;
    if (f->row == GROUP_ROWS)
        emit_group(f);
}

bool parquet_close(ParquetFile *f, Str created_by, Error *err)
{
    bool no_memory = !f->zstd;
    emit_group(f);
    if (!f->failed)
        emit_footer(f, created_by);
    bool ok = !f->failed;
    for (size_t c = 0; c < f->column_count; c++) {
        vec_free(&f->values[c].at);
        vec_free(&f->values[c].is_null);
        if (f->columns[c].type == PARQUET_TEXT)
            intern_deinit(&f->values[c].texts);
    }
    strbuf_deinit(&f->raw);
    strbuf_deinit(&f->packed);
    strbuf_deinit(&f->header);
    vec_free(&f->slots);
    vec_free(&f->distinct);
    vec_free(&f->numbers);
    vec_free(&f->levels);
    vec_free(&f->groups);
    ZSTD_freeCCtx(f->zstd);
    arena_deinit(&f->texts);
    arena_deinit(&f->arena);
    if (no_memory)
        return error_set(err, ERROR_LIMIT, "cannot start zstd: out of memory");
    if (!ok)
        *err = (Error){0};
    return ok;
}
