// SPDX-License-Identifier: Apache-2.0
// .gcno and .gcda files.

#include "gcov/gcov.h"

#include "base/cursor.h"
#include "base/table.h"

#define MAGIC_NOTES 0x67636e6fu // "gcno"
#define MAGIC_DATA  0x67636461u // "gcda"

enum {
    TAG_FUNCTION = 0x01000000,
    TAG_BLOCKS = 0x01410000,
    TAG_ARCS = 0x01430000,
    TAG_LINES = 0x01450000,
    TAG_COUNTERS = 0x01a10000,
    TAG_SUMMARY = (int)0xa1000000,
    VERSION_MIN = 407,
    VERSION_MAX = 1599
};

static bool magic_is(Bytes file, uint32_t magic, bool *big_endian)
{
    uint32_t v;
    if (file.len < sizeof(v))
        return false;
    memcpy(&v, file.ptr, sizeof(v));
    *big_endian = v == __builtin_bswap32(magic);
    return v == magic || *big_endian;
}

bool gcov_is_notes(Bytes file)
{
    bool big;
    return magic_is(file, MAGIC_NOTES, &big);
}

bool gcov_is_data(Bytes file)
{
    bool big;
    return magic_is(file, MAGIC_DATA, &big);
}

// "B22*" is 12.2, "408*" is 4.8.
static uint32_t decode_version(uint32_t v)
{
    uint32_t a = v >> 24, b = v >> 16 & 0xff, c = v >> 8 & 0xff;
    if (a >= 'A')
        return ((a - 'A') * 10 + (b - '0')) * 100 + (c - '0');
    return (a - '0') * 100 + (b - '0') * 10 + (c - '0');
}

static bool take_version(Cursor *c, uint32_t *ret, Error *err)
{
    uint32_t version = decode_version(cursor_u32(c));
    if (!cursor_check(c, err))
        return false;
    if (version < VERSION_MIN || version > VERSION_MAX) {
        error_set(err, ERROR_UNSUPPORTED, "written by gcc %u.%u, known are 4.7 to 15",
                  version / 100, version % 100);
        return error_hint(err, "the gcov of that gcc reads it");
    }
    *ret = version;
    return true;
}

// Lengths are in bytes since gcc 12 and in words of 4 before.
static uint64_t unit(uint32_t version)
{
    return version >= 1200 ? 1 : 4;
}

static Str take_string(Cursor *c, uint32_t version)
{
    uint64_t len = (uint64_t)cursor_u32(c) * unit(version);
    Str s = str_from_bytes(cursor_bytes(c, len));
    size_t end = str_find_char(s, '\0');
    return str_slice(s, 0, end);
}

typedef struct Notes {
    Arena *arena;
    GcovNotes *n;
    Table files;            // by name
    GcovFunction *function; // the present one
    uint64_t blocks_left;
} Notes;

static uint32_t file_row(Notes *r, Str name)
{
    uint64_t hash = str_hash(name);
    uint32_t row;
    for (TableProbe p = table_probe(&r->files, hash); table_next(&r->files, &p, &row);)
        if (str_equal(r->n->files.at[row], name))
            return row;
    row = (uint32_t)r->n->files.len;
    vec_push(r->arena, &r->n->files, name);
    table_insert(&r->files, hash, row);
    return row;
}

static void read_function(Notes *r, Cursor *c)
{
    uint32_t v = r->n->version;
    GcovFunction f = {.ident = cursor_u32(c), .line_checksum = cursor_u32(c)};
    f.cfg_checksum = cursor_u32(c);
    f.name = take_string(c, v);
    f.is_artificial = v >= 800 && cursor_u32(c) != 0;
    f.file = file_row(r, take_string(c, v));
    f.line = cursor_u32(c);
    f.end_line = f.line;
    if (v >= 800) {
        f.column = cursor_u32(c);
        f.end_line = cursor_u32(c);
        if (v >= 900)
            f.end_column = cursor_u32(c);
    }
    f.exit_block = 1;
    f.arcs_first = r->n->arcs.len;
    f.places_first = r->n->places.len;
    vec_push(r->arena, &r->n->functions, f);
    r->function = &vec_last(&r->n->functions);
}

static void read_blocks(Notes *r, Cursor *c, uint64_t len)
{
    GcovFunction *f = r->function;
    uint64_t count = r->n->version >= 800 ? cursor_u32(c) : len / 4;
    // Arcs and lines were checked against the first number.
    if (f->block_count)
        cursor_fail(c, "blocks of a function stated twice");
    // Blocks have arcs and arcs take bytes: all functions' blocks are bounded by the file.
    if (count > r->blocks_left)
        cursor_fail(c, "more blocks than the file has bytes");
    if (!cursor_ok(c))
        return;
    r->blocks_left -= count;
    f->block_count = (uint32_t)count;
    if (r->n->version < 408)
        f->exit_block = count ? (uint32_t)count - 1 : 0;
}

static void read_arcs(Notes *r, Cursor *c, uint64_t len)
{
    GcovFunction *f = r->function;
    uint32_t from = cursor_u32(c);
    size_t first = r->n->arcs.len;
    bool calls = false;
    for (uint64_t i = 0; i < (len - 4) / 8 && cursor_ok(c); i++) {
        GcovArc a = {.from = from, .to = cursor_u32(c), .flags = cursor_u32(c)};
        if (a.from >= f->block_count || a.to >= f->block_count)
            cursor_fail(c, "arc of a block that the function does not have");
        // A fake arc out of the entry is a longjmp back; all others are calls.
        a.is_call = (a.flags & GCOV_ARC_FAKE) && from != 0;
        calls |= a.is_call;
        if (cursor_ok(c))
            vec_push(r->arena, &r->n->arcs, a);
    }
    for (size_t i = first; calls && i < r->n->arcs.len; i++)
        r->n->arcs.at[i].is_throw =
            !(r->n->arcs.at[i].flags & (GCOV_ARC_FAKE | GCOV_ARC_FALL_THROUGH));
    f->arc_count = r->n->arcs.len - f->arcs_first;
}

static void read_lines(Notes *r, Cursor *c)
{
    GcovFunction *f = r->function;
    uint32_t block = cursor_u32(c), file = f->file;
    if (block >= f->block_count)
        cursor_fail(c, "lines of a block that the function does not have");
    while (cursor_more(c)) {
        uint32_t line = cursor_u32(c);
        if (line) {
            vec_push(r->arena, &r->n->places, (GcovPlace){block, file, line});
            continue;
        }
        Str name = take_string(c, r->n->version);
        if (name.len == 0)
            break;
        file = file_row(r, name);
    }
    f->place_count = r->n->places.len - f->places_first;
}

static bool read_records(Notes *r, Cursor *c, Error *err)
{
    uint64_t words = unit(r->n->version);
    while (cursor_left(c) >= 8) {
        uint32_t tag = cursor_u32(c);
        uint64_t len = (uint64_t)cursor_u32(c) * words;
        if (tag == 0)
            break;
        Cursor body = cursor_sub(c, len, "notes of gcc");
        body.big_endian = c->big_endian;
        if (!cursor_check(c, err))
            return false;
        if (tag == TAG_FUNCTION)
            read_function(r, &body);
        else if (!r->function)
            cursor_fail(&body, "graph before the first function");
        else if (tag == TAG_BLOCKS)
            read_blocks(r, &body, len);
        else if (tag == TAG_ARCS && len >= 4)
            read_arcs(r, &body, len);
        else if (tag == TAG_LINES)
            read_lines(r, &body);
        else
            r->n->skipped_records++;
        if (!cursor_check(&body, err))
            return false;
    }
    return cursor_check(c, err);
}

bool gcov_notes_parse(Arena *arena, Bytes file, GcovNotes *ret, Error *err)
{
    GcovNotes n = {0};
    Cursor c = cursor_over(file, "notes of gcc");
    if (!magic_is(file, MAGIC_NOTES, &c.big_endian))
        return error_set(err, ERROR_FORMAT, "no gcno file");
    cursor_skip(&c, 4);
    if (!take_version(&c, &n.version, err))
        return false;
    n.stamp = cursor_u32(&c);
    if (n.version >= 1200)
        cursor_skip(&c, 4); // checksum
    if (n.version >= 900)
        n.folder = take_string(&c, n.version);
    if (n.version >= 800)
        cursor_skip(&c, 4); // whether blocks that never ran are marked
    Notes r = {.arena = arena, .n = &n, .blocks_left = file.len};
    // So that functions without any still point somewhere.
    vec_reserve(arena, &n.arcs, 1);
    vec_reserve(arena, &n.places, 1);
    bool ok = read_records(&r, &c, err);
    table_deinit(&r.files);
    if (ok)
        *ret = n;
    return ok;
}

// ---- Counts ------------------------------------------------------------------

static GcovFunction *find_function(GcovNotes *n, const Table *index, uint32_t ident)
{
    uint32_t row;
    for (TableProbe p = table_probe(index, hash_u64(ident)); table_next(index, &p, &row);)
        if (n->functions.at[row].ident == ident)
            return &n->functions.at[row];
    return NULL;
}

// Counts stand in the order of the arcs that are not on the tree.
static void add_counters(GcovNotes *n, GcovFunction *f, Cursor *c, bool zeros)
{
    f->has_counts = true;
    if (zeros)
        return;
    for (size_t i = 0; i < f->arc_count; i++) {
        GcovArc *a = &n->arcs.at[f->arcs_first + i];
        if (a->flags & GCOV_ARC_ON_TREE)
            continue;
        uint64_t low = cursor_u32(c);
        uint64_t count = low | (uint64_t)cursor_u32(c) << 32;
        if (!cursor_ok(c) || __builtin_add_overflow(a->count, count, &a->count))
            return;
    }
}

bool gcov_data_add(GcovNotes *n, Bytes file, Error *err)
{
    Cursor c = cursor_over(file, "counts of gcc");
    uint32_t version;
    if (!magic_is(file, MAGIC_DATA, &c.big_endian))
        return error_set(err, ERROR_FORMAT, "no gcda file");
    cursor_skip(&c, 4);
    if (!take_version(&c, &version, err))
        return false;
    uint32_t stamp = cursor_u32(&c);
    if (!cursor_check(&c, err))
        return false;
    if (version != n->version || stamp != n->stamp)
        return error_set(err, ERROR_NOT_FOUND, "its stamp 0x%x is not that of the notes, 0x%x",
                         stamp, n->stamp);
    if (version >= 1200)
        cursor_skip(&c, 4);

    Table index = {0};
    for (uint32_t i = 0; i < n->functions.len; i++)
        table_insert(&index, hash_u64(n->functions.at[i].ident), i);
    GcovFunction *f = NULL;
    while (cursor_ok(&c) && cursor_left(&c) >= 8) {
        uint32_t tag = cursor_u32(&c);
        int64_t len = (int32_t)cursor_u32(&c);
        if (tag == 0)
            break;
        // A negative length: all that many counters are zero and not written.
        bool zeros = tag == TAG_COUNTERS && len < 0;
        Cursor body = cursor_sub(&c, zeros ? 0 : (uint64_t)len * unit(version), "counts of gcc");
        body.big_endian = c.big_endian;
        if (!cursor_ok(&c))
            break;
        if (tag == TAG_FUNCTION) {
            f = NULL;
            if (body.data.len >= 12) {
                uint32_t ident = cursor_u32(&body), lines = cursor_u32(&body);
                f = find_function(n, &index, ident);
                if (f && (f->line_checksum != lines || f->cfg_checksum != cursor_u32(&body))) {
                    n->mismatched++;
                    f = NULL;
                }
            }
        } else if (tag == TAG_COUNTERS && f) {
            add_counters(n, f, &body, zeros);
            if (!cursor_check(&body, err)) {
                table_deinit(&index);
                return false;
            }
        } else if (tag == (uint32_t)TAG_SUMMARY) {
            n->runs += cursor_u32(&body);
        }
    }
    table_deinit(&index);
    return cursor_check(&c, err);
}

void gcov_data_none(GcovNotes *n)
{
    for (size_t i = 0; i < n->functions.len; i++)
        n->functions.at[i].has_counts = true;
}

void gcov_data_scale(GcovNotes *notes, uint64_t weight)
{
    for (size_t i = 0; i < notes->arcs.len && weight != 1; i++) {
        uint64_t *count = &notes->arcs.at[i].count;
        if (__builtin_mul_overflow(*count, weight, count) || *count > INT64_MAX)
            *count = INT64_MAX;
    }
}
