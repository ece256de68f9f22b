// SPDX-License-Identifier: Apache-2.0
// Writes the .assay recording. Format: docs/formats/assay.md.

#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/strbuf.h"
#include "model/schema.h"
#include "os/file.h"
#include "store/format_internal.h"

enum { DEFAULT_LEVEL = 3, PART_NAMES_MAX = 100, SCHEMA_MAX = 64 };

typedef struct IndexEntry {
    uint16_t type;
    uint64_t offset;
    uint64_t first_row;
    uint64_t rows;
} IndexEntry;

struct StoreWriter {
    Arena arena;
    Str path;
    char *part_path;
    bool force;
    bool keeps_old;
    const StoreEnds *ends; // NULL: this process does them
    int level;
    int fd;
    uint64_t size;
    size_t strings_written;
    size_t rows_written[SCHEMA_MAX];   // [row of profile_schema]
    uint64_t content_hash[SCHEMA_MAX]; // hash of a mutable table when it was last written
    Vec(IndexEntry) index;
    StrBuf raw;
    StrBuf packed;
    ZSTD_CCtx *zstd;
};

// ---- The file --------------------------------------------------------------

static bool write_all(StoreWriter *w, Bytes b, Error *err)
{
    while (b.len) {
        ssize_t n = write(w->fd, b.ptr, b.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            error_os(err, "cannot write '%s'", w->part_path);
            return error_hint(err, "free some space or choose another place with -o");
        }
        b = bytes_slice(b, (size_t)n, b.len);
        w->size += (uint64_t)n;
    }
    return true;
}

static bool write_header(StoreWriter *w, Error *err)
{
    uint8_t head[STORE_HEADER_LEN];
    memcpy(head, STORE_MAGIC, STORE_MAGIC_LEN);
    put_u32(head + 8, STORE_VERSION);
    put_u32(head + 12, (uint32_t)bytes_hash(bytes_over(head, 12)));
    return write_all(w, bytes_over(head, sizeof(head)), err);
}

static bool path_is_free(const StoreWriter *w, Error *err)
{
    struct stat st;
    if (!os_check_not_planted(w->path, err))
        return false;
    if (lstat(w->path.ptr, &st) != 0)
        return errno == ENOENT || error_os(err, "cannot write '%s'", w->path.ptr);
    if ((w->force || w->keeps_old) && S_ISREG(st.st_mode))
        return true;
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERROR_OS, "cannot write '%s': it is not a regular file", w->path.ptr);
    error_set(err, ERROR_OS, "'%s' exists and is not replaced", w->path.ptr);
    return error_hint(err, "give --force to replace it, or another name with -o");
}

// Creates PATH.part, or PATH.part1 … when an earlier recorder left its own. A recording holds
// paths, command lines and source text: only its owner may read it, as with perf.
static bool create_part(StoreWriter *w, Error *err)
{
    for (int i = 0; i < PART_NAMES_MAX; i++) {
        Str name = i == 0 ? arena_printf(&w->arena, "%" STR_FMT ".part", STR_ARG(w->path))
                          : arena_printf(&w->arena, "%" STR_FMT ".part%d", STR_ARG(w->path), i);
        w->part_path = arena_c_str(&w->arena, name);
        w->fd = open(w->part_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (w->fd >= 0)
            return true;
        if (errno != EEXIST)
            return error_os(err, "cannot create '%s'", w->part_path);
    }
    return error_set(err, ERROR_OS, "cannot create '%s': it and %d names after it exist",
                     w->part_path, PART_NAMES_MAX);
}

static void writer_free(StoreWriter *w)
{
    if (w->fd >= 0)
        close(w->fd);
    ZSTD_freeCCtx(w->zstd);
    strbuf_deinit(&w->raw);
    strbuf_deinit(&w->packed);
    arena_deinit(&w->arena);
    heap_free(w);
}

static StoreWriter *writer_new(Str path, const StoreOptions *options)
{
    assert(profile_schema_count <= SCHEMA_MAX);
    StoreWriter *w = heap_alloc(sizeof(*w));
    w->fd = -1;
    w->path = arena_str(&w->arena, path);
    w->force = options && options->force;
    w->keeps_old = options && options->keeps_old && !w->force;
    w->level = options && options->level ? options->level : DEFAULT_LEVEL;
    w->zstd = ZSTD_createCCtx();
    w->strings_written = 1;
    for (size_t i = 0; i < profile_schema_count; i++)
        w->rows_written[i] = profile_schema[i].has_none_row;
    return w;
}

bool store_writer_open(Str path, const StoreOptions *options, StoreWriter **ret, Error *err)
{
    StoreWriter *w = writer_new(path, options);
    if (!w->zstd)
        error_set(err, ERROR_LIMIT, "cannot start zstd: out of memory");
    else if (path_is_free(w, err) && create_part(w, err) && write_header(w, err)) {
        *ret = w;
        return true;
    }
    store_writer_abandon(w);
    return false;
}

void store_writer_leave(StoreWriter *w)
{
    writer_free(w);
}

void store_writer_delegate(StoreWriter *w, const StoreEnds *ends)
{
    w->ends = ends;
}

void store_writer_remove(StoreWriter *w)
{
    unlink(w->part_path);
}

void store_writer_abandon(StoreWriter *w)
{
    if (!w)
        return;
    if (w->fd >= 0 && w->ends)
        w->ends->remove(w->ends->ctx);
    else if (w->fd >= 0)
        store_writer_remove(w);
    writer_free(w);
}

uint64_t store_writer_bytes(const StoreWriter *w)
{
    return w->size;
}

Str store_writer_part_path(const StoreWriter *w)
{
    return str_from_c(w->part_path);
}

// ---- Blocks ----------------------------------------------------------------

static void add_varint(StrBuf *b, uint64_t v)
{
    uint8_t *p = (uint8_t *)strbuf_reserve(b, 10);
    size_t n = 0;
    while (v >= 0x80) {
        p[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    p[n++] = (uint8_t)v;
    b->len += n;
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

// Writes the payload in w->raw as one block.
static bool write_block(StoreWriter *w, uint16_t type, uint64_t first_row, uint64_t rows,
                        Error *err)
{
    Bytes raw = bytes_from_str(strbuf_str(&w->raw));
    if (raw.len > STORE_RAW_MAX)
        return error_set(err, ERROR_LIMIT, "a block of %zu bytes is over the format's %d", raw.len,
                         STORE_RAW_MAX);
    Bytes payload = raw;
    uint16_t flags = 0;
    size_t bound = ZSTD_compressBound(raw.len);
    strbuf_clear(&w->packed);
    strbuf_reserve(&w->packed, bound);
    size_t packed_len =
        ZSTD_compressCCtx(w->zstd, w->packed.ptr, bound, raw.ptr, raw.len, w->level);
    if (!ZSTD_isError(packed_len) && packed_len < raw.len) {
        payload = bytes_over(w->packed.ptr, packed_len);
        flags |= STORE_FLAG_ZSTD;
    }
    uint8_t head[STORE_BLOCK_HEAD_LEN];
    put_u16(head, type);
    put_u16(head + 2, flags);
    put_u32(head + 4, (uint32_t)raw.len);
    put_u32(head + 8, (uint32_t)payload.len);
    put_u32(head + 12, 0);
    put_u64(head + 16, store_checksum(bytes_over(head, 16), payload));
    IndexEntry entry = {type, w->size, first_row, rows};
    vec_push(&w->arena, &w->index, entry);
    if (write_all(w, bytes_over(head, sizeof(head)), err) && write_all(w, payload, err))
        return true;
    // Half a block is useless to a reader, and its space may help the program that filled the disk.
    if (ftruncate(w->fd, (off_t)entry.offset) == 0)
        w->size = entry.offset;
    return false;
}

static uint64_t element(const RawVec *v, ColumnType type, size_t row)
{
    switch (type) {
    case COLUMN_U8:
        return ((const uint8_t *)v->at)[row];
    case COLUMN_U32:
        return ((const uint32_t *)v->at)[row];
    default:
        return ((const uint64_t *)v->at)[row];
    }
}

static StoreEncoding encoding_of(ColumnType type, bool delta)
{
    if (type == COLUMN_U8)
        return STORE_ENC_U8;
    if (type == COLUMN_F64)
        return STORE_ENC_F64;
    return delta ? STORE_ENC_DELTA : STORE_ENC_VARINT;
}

static void add_values(StrBuf *b, const RawVec *v, ColumnType type, StoreEncoding encoding,
                       size_t from, size_t to)
{
    size_t size = column_type_size(type);
    if (encoding == STORE_ENC_U8 || encoding == STORE_ENC_F64) {
        strbuf_add(b, str_over((const char *)v->at + from * size, (to - from) * size));
        return;
    }
    uint64_t before = 0;
    for (size_t row = from; row < to; row++) {
        uint64_t value = element(v, type, row);
        add_varint(b, encoding == STORE_ENC_DELTA ? zigzag(value - before) : value);
        before = value;
    }
}

// Appends a column: id, encoding, length of the values in bytes, values. The values are first
// written to `w->packed`, because their length comes before them.
static void add_column(StoreWriter *w, unsigned id, const RawVec *v, ColumnType type, bool delta,
                       size_t from, size_t to)
{
    StoreEncoding encoding = encoding_of(type, delta);
    strbuf_clear(&w->packed);
    add_values(&w->packed, v, type, encoding, from, to);
    add_varint(&w->raw, id);
    strbuf_add_char(&w->raw, (char)encoding);
    add_varint(&w->raw, w->packed.len);
    strbuf_add(&w->raw, strbuf_str(&w->packed));
}

static void begin_table(StoreWriter *w, size_t first_row, size_t rows, size_t columns)
{
    strbuf_clear(&w->raw);
    add_varint(&w->raw, first_row);
    add_varint(&w->raw, rows);
    add_varint(&w->raw, columns);
}

// Rows that were written and are no longer in memory.
static size_t dropped_rows(const Profile *p, const TableSchema *t)
{
    return t->id == TABLE_SAMPLES ? p->samples.dropped.rows : 0;
}

static void encode_rows(StoreWriter *w, const Profile *p, const TableSchema *t, size_t from,
                        size_t to)
{
    size_t values = t->id == TABLE_SAMPLES ? p->samples.value_columns : 0;
    begin_table(w, from, to - from, t->column_count + values);
    from -= dropped_rows(p, t);
    to -= dropped_rows(p, t);
    for (size_t i = 0; i < t->column_count; i++) {
        const Column *c = &t->columns[i];
        add_column(w, c->id, column_vec_const(p, c), c->type, c->delta, from, to);
    }
    for (size_t m = 0; m < values; m++)
        add_column(w, STORE_METRIC_COLUMN + (unsigned)m,
                   (const RawVec *)(const void *)&p->samples.values[m], COLUMN_I64, true, from, to);
}

static bool write_rows(StoreWriter *w, const Profile *p, const TableSchema *t, size_t from,
                       size_t to, Error *err)
{
    for (size_t at = from; at < to; at += STORE_ROWS_PER_BLOCK) {
        size_t end = MIN(at + STORE_ROWS_PER_BLOCK, to);
        encode_rows(w, p, t, at, end);
        if (!write_block(w, (uint16_t)t->id, at, end - at, err))
            return false;
    }
    return true;
}

static uint64_t table_content_hash(const Profile *p, const TableSchema *t)
{
    uint64_t hash = profile_table_rows(p, t);
    for (size_t i = 0; i < t->column_count; i++) {
        const RawVec *v = column_vec_const(p, &t->columns[i]);
        hash = bytes_hash_seeded(bytes_over(v->at, v->len * column_type_size(t->columns[i].type)),
                                 hash);
    }
    return hash;
}

static bool write_table(StoreWriter *w, const Profile *p, size_t place, Error *err)
{
    const TableSchema *t = &profile_schema[place];
    size_t rows = profile_table_rows(p, t) + dropped_rows(p, t);
    size_t from = w->rows_written[place];
    if (t->is_mutable) {
        uint64_t hash = table_content_hash(p, t);
        if (hash == w->content_hash[place])
            return true;
        w->content_hash[place] = hash;
        from = t->has_none_row;
    }
    if (!write_rows(w, p, t, from, rows, err))
        return false;
    if (!t->is_mutable)
        w->rows_written[place] = rows;
    return true;
}

static bool write_strings(StoreWriter *w, const Profile *p, Error *err)
{
    enum { TEXT_PER_BLOCK = 4 << 20 };
    const StrVec *texts = &p->strings.texts;
    while (w->strings_written < texts->len) {
        size_t from = w->strings_written;
        size_t to = from;
        strbuf_clear(&w->packed);
        while (to < texts->len && to - from < STORE_ROWS_PER_BLOCK &&
               w->packed.len < TEXT_PER_BLOCK) {
            add_varint(&w->packed, texts->at[to].len);
            strbuf_add(&w->packed, texts->at[to]);
            to++;
        }
        begin_table(w, from, to - from, 1);
        add_varint(&w->raw, 1);
        strbuf_add_char(&w->raw, STORE_ENC_TEXT);
        add_varint(&w->raw, w->packed.len);
        strbuf_add(&w->raw, strbuf_str(&w->packed));
        if (!write_block(w, TABLE_STRINGS, from, to - from, err))
            return false;
        w->strings_written = to;
    }
    return true;
}

// Whether a table has anything to write. The fields of frames are known only after symbolising;
// until then every flush would write zeros again.
static bool has_content(const Profile *p, const TableSchema *t)
{
    if (t->id != TABLE_FRAME_PLACES)
        return true;
    for (size_t i = 1; i < p->frames.function.len; i++)
        if (p->frames.function.at[i].v || p->frames.file.at[i].v || p->frames.inlined_in.at[i].v)
            return true;
    return false;
}

static bool flush_tables(StoreWriter *w, const Profile *p, bool final, Error *err)
{
    if (!write_strings(w, p, err))
        return false;
    for (size_t i = 0; i < profile_schema_count; i++) {
        const TableSchema *t = &profile_schema[i];
        if (t->id == TABLE_FRAME_PLACES && !(final && has_content(p, t)))
            continue;
        if (!write_table(w, p, i, err))
            return false;
    }
    return true;
}

bool store_writer_flush(StoreWriter *w, const Profile *p, Error *err)
{
    return flush_tables(w, p, false, err);
}

// ---- The end ---------------------------------------------------------------

static bool write_index(StoreWriter *w, Error *err)
{
    uint64_t index_at = w->size;
    size_t count = w->index.len;
    strbuf_clear(&w->raw);
    add_varint(&w->raw, count);
    uint64_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        const IndexEntry *e = &w->index.at[i];
        add_varint(&w->raw, e->type);
        add_varint(&w->raw, e->offset - offset);
        add_varint(&w->raw, e->first_row);
        add_varint(&w->raw, e->rows);
        offset = e->offset;
    }
    if (!write_block(w, STORE_BLOCK_INDEX, 0, 0, err))
        return false;
    uint8_t trailer[STORE_TRAILER_LEN];
    put_u64(trailer, index_at);
    put_u64(trailer + 8, bytes_hash(bytes_over(trailer, 8)));
    memcpy(trailer + 16, STORE_MAGIC, STORE_MAGIC_LEN);
    return write_all(w, bytes_over(trailer, sizeof(trailer)), err);
}

// Without `force` this never replaces a file that was created meanwhile.
bool store_writer_publish(StoreWriter *w, Error *err)
{
    if (w->force && !os_keep_owner(w->fd, w->path.ptr, err))
        return false;
    if (close(w->fd) != 0) {
        w->fd = -1;
        return error_os(err, "cannot finish '%s'", w->part_path);
    }
    w->fd = -1;
    if (w->keeps_old && !os_keep_old(w->path.ptr, err))
        return error_hint(err, "the complete recording is in '%s'", w->part_path);
    int failed = w->force
                     ? rename(w->part_path, w->path.ptr)
                     : renameat2(AT_FDCWD, w->part_path, AT_FDCWD, w->path.ptr, RENAME_NOREPLACE);
    // Not every file system supports RENAME_NOREPLACE; link() does not replace files either.
    if (failed && !w->force && (errno == EINVAL || errno == ENOSYS)) {
        failed = link(w->part_path, w->path.ptr);
        if (!failed)
            unlink(w->part_path);
    }
    if (failed) {
        error_os(err, "cannot rename '%s' to '%s'", w->part_path, w->path.ptr);
        return error_hint(err, "the complete recording is kept under the first name");
    }
    return true;
}

static bool publish(StoreWriter *w, Error *err)
{
    return w->ends ? w->ends->publish(w->ends->ctx, err) : store_writer_publish(w, err);
}

static bool write_rest(StoreWriter *w, const Profile *p, Error *err)
{
    return flush_tables(w, p, true, err) && write_index(w, err) && publish(w, err);
}

bool store_writer_finish(StoreWriter *w, const Profile *p, Error *err)
{
    bool ok = write_rest(w, p, err);
    writer_free(w);
    return ok;
}

bool store_writer_finish_or_remove(StoreWriter *w, const Profile *p, Error *err)
{
    bool ok = write_rest(w, p, err);
    if (!ok && w->ends)
        w->ends->remove(w->ends->ctx);
    else if (!ok)
        store_writer_remove(w);
    if (!ok)
        error_put_hint(err, "%s", ""); // the hint was about the .part file
    writer_free(w);
    return ok;
}

bool store_write(Str path, const StoreOptions *options, const Profile *p, Error *err)
{
    StoreWriter *w;
    return store_writer_open(path, options, &w, err) && store_writer_finish_or_remove(w, p, err);
}

bool store_write_to(int fd, const StoreOptions *options, const Profile *p, Error *err)
{
    StoreWriter *w = writer_new(STR("memory"), options);
    w->part_path = arena_c_str(&w->arena, w->path);
    w->fd = fd;
    bool ok = w->zstd != NULL || error_set(err, ERROR_LIMIT, "cannot start zstd: out of memory");
    ok = ok && write_header(w, err) && flush_tables(w, p, true, err) && write_index(w, err);
    w->fd = -1;
    writer_free(w);
    return ok;
}
