// SPDX-License-Identifier: Apache-2.0
// Reads the .assay recording. Format: docs/formats/assay.md. No byte is trusted: sizes are checked
// against the file and stated limits before memory is allocated, and profile_check verifies the
// tables at the end.

#include "store/store.h"

#include <inttypes.h>
#include <zstd.h>

#include "base/cursor.h"
#include "base/decoded.h"
#include "base/strbuf.h"
#include "model/facts.h"
#include "model/schema.h"
#include "os/file.h"
#include "store/format_internal.h"

// STRING_BYTES: the memory that the interner uses for each string, beside its bytes.
enum { ROWS_MAX = 1 << 30, STRING_BYTES = 48 };

typedef struct Block {
    uint16_t type;
    uint16_t flags;
    uint32_t raw_len;
    Bytes payload; // as stored
    uint64_t offset;
    unsigned number;
} Block;

typedef struct Reader {
    Bytes file;
    Profile *profile;
    ZSTD_DCtx *zstd;
    StrBuf unpacked;
    uint64_t unpacked_total;
    uint64_t made; // memory that rows and strings have taken
    unsigned blocks;
    bool was_finished;    // the file has the end of a finished recording
    bool complete;        // and all blocks up to there were read
    uint64_t whole_bytes; // end of the last complete block
    Error *err;
} Reader;

bool store_is_recording(Bytes head)
{
    return head.len >= STORE_MAGIC_LEN &&
           bytes_equal(bytes_slice(head, 0, STORE_MAGIC_LEN), STORE_MAGIC, STORE_MAGIC_LEN);
}

static bool check_header(Bytes file, Error *err)
{
    if (file.len == 0)
        return error_set(err, ERROR_FORMAT, "the file is empty");
    if (!store_is_recording(file))
        return error_set(err, ERROR_FORMAT, "not an assay recording");
    Cursor c = cursor_over(file, "recording");
    cursor_skip(&c, STORE_MAGIC_LEN);
    uint32_t version = cursor_u32(&c);
    uint32_t checksum = cursor_u32(&c);
    if (!cursor_check(&c, err))
        return false;
    if (checksum != (uint32_t)bytes_hash(bytes_slice(file, 0, 12)))
        return error_set(err, ERROR_FORMAT, "header: checksum differs at offset 0xc");
    if (version > STORE_VERSION) {
        error_set(err, ERROR_UNSUPPORTED, "format version %u is newer than this program's %d",
                  version, STORE_VERSION);
        return error_hint(err, "open it with a newer assay");
    }
    return true;
}

static bool block_error(const Reader *r, const Block *b, const char *why)
{
    return error_set(r->err, ERROR_FORMAT, "block %u: %s at offset 0x%" PRIx64, b->number, why,
                     b->offset);
}

static bool unpack(Reader *r, const Block *b, Bytes *ret)
{
    if (b->raw_len > STORE_RAW_MAX)
        return block_error(r, b, "larger than the format allows");
    r->unpacked_total += b->raw_len;
    if (!decoded_check(r->unpacked_total, r->file.len, r->err))
        return error_context(r->err, "block %u at offset 0x%" PRIx64, b->number, b->offset);
    if (!(b->flags & STORE_FLAG_ZSTD)) {
        if (b->raw_len != b->payload.len)
            return block_error(r, b, "stored length differs");
        *ret = b->payload;
        return true;
    }
    strbuf_clear(&r->unpacked);
    strbuf_reserve(&r->unpacked, b->raw_len + 1u);
    size_t len =
        ZSTD_decompressDCtx(r->zstd, r->unpacked.ptr, b->raw_len, b->payload.ptr, b->payload.len);
    if (ZSTD_isError(len) || len != b->raw_len)
        return block_error(r, b, "cannot be unpacked");
    *ret = bytes_over(r->unpacked.ptr, len);
    return true;
}

// ---- Columns ---------------------------------------------------------------

static uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

static void put_element(void *at, ColumnType type, size_t row, uint64_t value)
{
    if (type == COLUMN_U8)
        ((uint8_t *)at)[row] = (uint8_t)value;
    else if (type == COLUMN_U32)
        ((uint32_t *)at)[row] = (uint32_t)value;
    else
        ((uint64_t *)at)[row] = value;
}

static uint64_t type_max(ColumnType type)
{
    return type == COLUMN_U8 ? UINT8_MAX : type == COLUMN_U32 ? UINT32_MAX : UINT64_MAX;
}

// Decodes values into rows [first, first + rows) of a column, which has room for them.
static void decode_values(Cursor *c, StoreEncoding encoding, ColumnType type, void *at,
                          size_t first, size_t rows)
{
    uint64_t value = 0;
    uint64_t max = type_max(type);
    switch (encoding) {
    case STORE_ENC_U8:
        for (size_t i = 0; i < rows; i++)
            put_element(at, type, first + i, cursor_u8(c));
        return;
    case STORE_ENC_F64:
        if (column_type_size(type) != 8)
            cursor_fail(c, "eight-byte values in a narrower column");
        for (size_t i = 0; i < rows && cursor_ok(c); i++)
            put_element(at, type, first + i, cursor_u64(c));
        return;
    case STORE_ENC_VARINT:
    case STORE_ENC_DELTA:
        for (size_t i = 0; i < rows; i++) {
            uint64_t v = cursor_uleb(c);
            value = encoding == STORE_ENC_DELTA ? value + unzigzag(v) : v;
            if (UNLIKELY(value > max)) {
                cursor_fail(c, "number too large for its column");
                return;
            }
            put_element(at, type, first + i, value);
        }
        return;
    case STORE_ENC_TEXT:
        break;
    }
    cursor_fail_decimal(c, "unknown encoding", encoding);
}

static bool find_column(Reader *r, const TableSchema *t, uint64_t id, RawVec **vec,
                        ColumnType *type)
{
    for (size_t i = 0; i < t->column_count; i++) {
        if (t->columns[i].id == id) {
            *vec = column_vec(r->profile, &t->columns[i]);
            *type = t->columns[i].type;
            return true;
        }
    }
    Samples *s = &r->profile->samples;
    if (t->id != TABLE_SAMPLES || id < STORE_METRIC_COLUMN ||
        id - STORE_METRIC_COLUMN >= s->value_columns)
        return false;
    *vec = (RawVec *)(void *)&s->values[id - STORE_METRIC_COLUMN];
    *type = COLUMN_I64;
    return true;
}

// Rows become columns of up to eight bytes each, however few bytes the block had for them.
static bool charge(Reader *r, const Block *b, uint64_t bytes)
{
    r->made = r->made > UINT64_MAX - bytes ? UINT64_MAX : r->made + bytes;
    return decoded_check(r->made, r->file.len, r->err) ||
           error_context(r->err, "block %u at offset 0x%" PRIx64, b->number, b->offset);
}

static uint64_t row_bytes(const Reader *r, const TableSchema *t)
{
    uint64_t bytes = t->id == TABLE_SAMPLES ? r->profile->samples.value_columns * 8 : 0;
    for (size_t i = 0; i < t->column_count; i++)
        bytes += column_type_size(t->columns[i].type);
    return bytes;
}

// Adds value columns for new metrics, which are written before the samples.
static bool sync_metrics(Reader *r, const Block *b)
{
    Profile *p = r->profile;
    Samples *s = &p->samples;
    size_t want = p->metrics.name.len;
    if (want > STORE_METRICS_MAX)
        return block_error(r, b, "too many metrics");
    if (want <= s->value_columns)
        return true;
    if (!charge(r, b, (want - s->value_columns) * s->stack.len * 8))
        return false;
    s->values = arena_grow(&p->arena, s->values, s->value_columns * sizeof(I64Vec),
                           want * sizeof(I64Vec), _Alignof(I64Vec));
    for (; s->value_columns < want; s->value_columns++) {
        I64Vec *v = &s->values[s->value_columns];
        *v = (I64Vec){0};
        column_resize(p, (RawVec *)(void *)v, COLUMN_I64, s->stack.len);
    }
    return true;
}

static void resize_table(Reader *r, const TableSchema *t, size_t rows)
{
    Profile *p = r->profile;
    for (size_t i = 0; i < t->column_count; i++)
        column_resize(p, column_vec(p, &t->columns[i]), t->columns[i].type, rows);
    for (size_t m = 0; t->id == TABLE_SAMPLES && m < p->samples.value_columns; m++)
        column_resize(p, (RawVec *)(void *)&p->samples.values[m], COLUMN_I64, rows);
}

static bool read_table(Reader *r, const Block *b, const TableSchema *t, Cursor *c)
{
    uint64_t first = cursor_uleb(c);
    uint64_t rows = cursor_uleb(c);
    uint64_t columns = cursor_uleb(c);
    if (!cursor_check(c, r->err))
        return error_context(r->err, "block %u", b->number);
    size_t have = profile_table_rows(r->profile, t);
    // A row takes at least one byte in some column: rows without bytes are an attack.
    if (first > have || rows > cursor_left(c) || first + rows > ROWS_MAX)
        return block_error(r, b, "impossible row numbers");
    if (t->same_rows_as &&
        first + rows > profile_table_rows(r->profile, profile_schema_find(t->same_rows_as)))
        return block_error(r, b, "rows that its table does not have");
    if (first + rows > have && !charge(r, b, (first + rows - have) * row_bytes(r, t)))
        return false;
    if (first + rows > have)
        resize_table(r, t, first + rows);
    for (uint64_t i = 0; i < columns && cursor_more(c); i++) {
        uint64_t id = cursor_uleb(c);
        StoreEncoding encoding = cursor_u8(c);
        uint64_t len = cursor_uleb(c);
        Cursor values = cursor_sub(c, len, "column");
        RawVec *vec;
        ColumnType type;
        if (cursor_ok(c) && find_column(r, t, id, &vec, &type)) {
            decode_values(&values, encoding, type, vec->at, first, rows);
            if (cursor_ok(&values) && cursor_more(&values))
                cursor_fail(&values, "bytes left over");
            if (!cursor_check(&values, r->err))
                return error_context(r->err, "block %u: table '%s'", b->number, t->name);
        }
    }
    if (!cursor_check(c, r->err))
        return error_context(r->err, "block %u", b->number);
    return t->id != TABLE_METRICS || sync_metrics(r, b);
}

static bool read_strings(Reader *r, const Block *b, Cursor *c)
{
    Intern *in = &r->profile->strings;
    uint64_t first = cursor_uleb(c);
    uint64_t rows = cursor_uleb(c);
    uint64_t columns = cursor_uleb(c);
    uint64_t id = cursor_uleb(c);
    StoreEncoding encoding = cursor_u8(c);
    uint64_t len = cursor_uleb(c);
    Cursor texts = cursor_sub(c, len, "strings");
    if (cursor_ok(c) && (first != in->texts.len || columns != 1 || id != 1 ||
                         encoding != STORE_ENC_TEXT || rows > len))
        return block_error(r, b, "strings out of order");
    if (cursor_ok(c) && !charge(r, b, len + rows * STRING_BYTES))
        return false;
    for (uint64_t i = 0; i < rows && cursor_ok(&texts); i++) {
        Bytes text = cursor_bytes(&texts, cursor_uleb(&texts));
        if (cursor_ok(&texts) && intern_add(in, str_from_bytes(text)) != first + i)
            return block_error(r, b, "the same string twice");
    }
    if (!cursor_check(c, r->err) || !cursor_check(&texts, r->err))
        return error_context(r->err, "block %u", b->number);
    return true;
}

static bool read_block(Reader *r, const Block *b)
{
    const TableSchema *t = profile_schema_find(b->type);
    if (!t && b->type != TABLE_STRINGS) {
        if (b->type != STORE_BLOCK_INDEX && (b->flags & STORE_FLAG_REQUIRED)) {
            error_set(r->err, ERROR_FORMAT, "block %u: unknown type %u at offset 0x%" PRIx64,
                      b->number, b->type, b->offset);
            return error_hint(r->err, "open it with a newer assay");
        }
        return true;
    }
    Bytes raw;
    if (!unpack(r, b, &raw))
        return false;
    Cursor c = cursor_over(raw, "block");
    return t ? read_table(r, b, t, &c) : read_strings(r, b, &c);
}

// ---- The file --------------------------------------------------------------

static void mark_incomplete(Reader *r)
{
    uint64_t offset = r->whole_bytes;
    Str why = arena_printf(&r->profile->arena,
                           "the recorder did not finish: %u whole blocks, %" PRIu64
                           " bytes, %" PRIu64 " bytes of a cut block left out",
                           r->blocks, offset, (uint64_t)r->file.len - offset);
    profile_set_fact(r->profile, STR(FACT_INCOMPLETE), why);
    profile_note(r->profile, NOTE_WARNING, STR("recording-incomplete"), "%" STR_FMT, STR_ARG(why));
}

static bool is_trailer(Bytes rest)
{
    uint64_t checksum = bytes_hash(bytes_slice(rest, 0, 8));
    return rest.len == STORE_TRAILER_LEN && bytes_equal(bytes_slice(rest, 8, 16), &checksum, 8) &&
           bytes_equal(bytes_slice(rest, 16, 24), STORE_MAGIC, STORE_MAGIC_LEN);
}

// Reads the next block. False at the end, with `*failed` when the file is damaged there and not
// only cut.
static bool next_block(Reader *r, size_t *at, Block *b, bool *failed)
{
    Bytes rest = bytes_slice(r->file, *at, r->file.len);
    r->complete = is_trailer(rest);
    if (r->complete || rest.len < STORE_BLOCK_HEAD_LEN)
        return false;
    Cursor c = cursor_over(rest, "block head");
    *b = (Block){.offset = *at, .number = r->blocks};
    b->type = cursor_u16(&c);
    b->flags = cursor_u16(&c);
    b->raw_len = cursor_u32(&c);
    uint32_t stored_len = cursor_u32(&c);
    cursor_skip(&c, 4);
    uint64_t checksum = cursor_u64(&c);
    // A file system leaves zeros for blocks that never reached the disk.
    bool zeros = b->type == TABLE_NONE && checksum == 0;
    b->payload = cursor_bytes(&c, stored_len);
    if (zeros || !cursor_ok(&c)) {
        *failed = r->was_finished;
        return *failed && block_error(r, b, "does not fit in the file");
    }
    if (checksum != store_checksum(bytes_slice(rest, 0, 16), b->payload)) {
        *failed = true;
        return block_error(r, b, "checksum differs");
    }
    *at += c.at;
    r->blocks++;
    return true;
}

static bool read_blocks(Reader *r)
{
    size_t at = STORE_HEADER_LEN;
    size_t len = r->file.len;
    r->was_finished =
        len >= STORE_TRAILER_LEN && is_trailer(bytes_slice(r->file, len - STORE_TRAILER_LEN, len));
    Block b;
    bool failed = false;
    bool has_index = false;
    while (next_block(r, &at, &b, &failed)) {
        if (!read_block(r, &b))
            return false;
        has_index |= b.type == STORE_BLOCK_INDEX;
    }
    if (failed)
        return false;
    r->complete = r->complete && has_index;
    r->whole_bytes = at;
    return true;
}

// Fills columns that an older or unfinished file lacks with zeros.
static void pad_columns(Reader *r)
{
    Profile *p = r->profile;
    for (size_t i = 0; i < profile_schema_count; i++) {
        const TableSchema *t = &profile_schema[i];
        const TableSchema *rows_of = t->same_rows_as ? profile_schema_find(t->same_rows_as) : t;
        resize_table(r, t, profile_table_rows(p, rows_of));
    }
}

bool store_read(Bytes file, Profile *p, Error *err)
{
    if (!check_header(file, err))
        return false;
    profile_init(p);
    Reader r = {.file = file, .profile = p, .zstd = ZSTD_createDCtx(), .err = err};
    bool ok = r.zstd ? read_blocks(&r) : error_set(err, ERROR_LIMIT, "cannot start zstd");
    if (ok) {
        pad_columns(&r);
        ok = profile_check(p, err);
    }
    if (ok && !r.complete)
        mark_incomplete(&r);
    ZSTD_freeDCtx(r.zstd);
    strbuf_deinit(&r.unpacked);
    if (!ok)
        profile_deinit(p);
    return ok;
}
