// SPDX-License-Identifier: Apache-2.0
// .gcno and .gcda files.

#include "gcov/gcov.h"

#include "base/cursor.h"
#include "base/table.h"

#define MAGIC_NOTES 0x67636e6fu // "gcno"
#define MAGIC_DATA  0x67636461u // "gcda"

// Of the run: before gcc 9 of the object too, and of the program.
#define TAG_SUMMARY         0xa1000000u
#define TAG_PROGRAM_SUMMARY 0xa3000000u

enum {
    TAG_FUNCTION = 0x01000000,
    TAG_BLOCKS = 0x01410000,
    TAG_ARCS = 0x01430000,
    TAG_LINES = 0x01450000,
    TAG_CONDITIONS = 0x01470000, // since gcc 14
    TAG_PATHS = 0x01490000,      // since gcc 15
    TAG_COUNTERS = 0x01a10000,   // of arcs; those of other kinds follow, up to
    TAG_COUNTERS_LAST = 0x01b30000,
    TAG_COUNTERS_STEP = 0x00020000,
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
    const char *text = (const char *)cursor_take(c, len);
    return text ? (Str){text, strnlen(text, len)} : (Str){0};
}

static uint32_t file_row(GcovNotes *n, Str name)
{
    uint64_t hash = str_hash(name);
    uint32_t row;
    for (TableProbe p = table_probe(&n->file_index, hash); table_next(&n->file_index, &p, &row);)
        if (str_equal(n->files.at[row], name))
            return row;
    row = (uint32_t)n->files.len;
    vec_push(NULL, &n->files, name);
    table_insert(&n->file_index, hash, row);
    return row;
}

uint32_t gcov_function_file(GcovNotes *n, GcovFunction *f)
{
    if (f->file == GCOV_NO_FILE)
        f->file = file_row(n, f->file_name);
    return f->file;
}

static void read_function(GcovNotes *n, Cursor *c)
{
    uint32_t v = n->version;
    GcovFunction f = {.ident = cursor_u32(c), .line_checksum = cursor_u32(c)};
    f.cfg_checksum = cursor_u32(c);
    f.name = take_string(c, v);
    f.is_artificial = v >= 800 && cursor_u32(c) != 0;
    f.file_name = take_string(c, v);
    f.file = GCOV_NO_FILE;
    f.line = cursor_u32(c);
    f.end_line = f.line;
    if (v >= 800) {
        f.column = cursor_u32(c);
        f.end_line = cursor_u32(c);
        if (v >= 900)
            f.end_column = cursor_u32(c);
    }
    f.exit_block = 1;
    vec_push(NULL, &n->functions, f);
}

static bool is_graph(uint32_t tag, uint64_t len)
{
    return tag == TAG_BLOCKS || tag == TAG_LINES || (tag == TAG_ARCS && len >= 4);
}

// Records that say nothing of lines.
static bool is_other_note(uint32_t tag)
{
    return tag == TAG_ARCS || tag == TAG_CONDITIONS || tag == TAG_PATHS;
}

static bool is_other_data(uint32_t tag)
{
    bool is_counters = tag >= TAG_COUNTERS && tag <= TAG_COUNTERS_LAST &&
                       (tag - TAG_COUNTERS) % TAG_COUNTERS_STEP == 0;
    return is_counters || tag == TAG_SUMMARY || tag == TAG_PROGRAM_SUMMARY;
}

static bool refuse_record(uint32_t tag, size_t at, uint32_t version, Error *err)
{
    error_set(err, ERROR_FORMAT,
              "record 0x%08x at offset 0x%zx, written by gcc %u.%u, is of a kind that is not known",
              tag, at, version / 100, version % 100);
    return error_hint(err, "the gcov of that gcc reads it, or the file is broken");
}

static bool read_records(GcovNotes *n, Cursor *c, Error *err)
{
    uint64_t words = unit(n->version);
    while (cursor_left(c) >= 8) {
        uint32_t tag = cursor_u32(c);
        uint64_t len = (uint64_t)cursor_u32(c) * words;
        if (tag == 0)
            break;
        if (tag != TAG_FUNCTION && is_graph(tag, len) && n->functions.len == 0)
            cursor_fail(c, "graph before the first function");
        if (tag == TAG_FUNCTION) {
            Cursor body = cursor_sub(c, len, "notes of gcc");
            read_function(n, &body);
            if (!cursor_check(c, err) || !cursor_check(&body, err))
                return false;
            vec_last(&n->functions).graph.ptr = c->data.ptr + c->at;
            vec_last(&n->functions).graph_at = c->at;
            continue;
        }
        size_t at = c->at - 8;
        (void)cursor_take(c, len);
        if (!cursor_ok(c))
            break;
        if (!is_graph(tag, len)) {
            if (!is_other_note(tag))
                return refuse_record(tag, at, n->version, err);
            n->skipped_records++;
        }
        if (n->functions.len)
            vec_last(&n->functions).graph.len = c->at - vec_last(&n->functions).graph_at;
    }
    return cursor_check(c, err);
}

static void forget(GcovNotes *n)
{
    n->files.len = n->functions.len = n->counters.len = 0;
    gcov_graphs_clear(n);
    table_deinit(&n->file_index);
    n->folder = STR("");
    n->skipped_records = n->mismatched = 0;
}

bool gcov_notes_parse(GcovNotes *n, Bytes file, Error *err)
{
    forget(n);
    Cursor c = cursor_over(file, "notes of gcc");
    if (!magic_is(file, MAGIC_NOTES, &c.big_endian))
        return error_set(err, ERROR_FORMAT, "no gcno file");
    n->big_endian = c.big_endian;
    cursor_skip(&c, 4);
    if (!take_version(&c, &n->version, err))
        return false;
    n->stamp = cursor_u32(&c);
    if (n->version >= 1200)
        cursor_skip(&c, 4); // checksum
    if (n->version >= 900)
        n->folder = take_string(&c, n->version);
    if (n->version >= 800)
        cursor_skip(&c, 4); // whether blocks that never ran are marked
    // So that functions without any still point somewhere.
    vec_reserve(NULL, &n->arcs, 1);
    vec_reserve(NULL, &n->places, 1);
    vec_reserve(NULL, &n->counters, 1);
    return read_records(n, &c, err);
}

void gcov_notes_deinit(GcovNotes *n)
{
    vec_free(&n->files);
    vec_free(&n->functions);
    vec_free(&n->counters);
    vec_free(&n->arcs);
    vec_free(&n->places);
    table_deinit(&n->file_index);
}

// ---- Graphs ------------------------------------------------------------------

void gcov_graphs_clear(GcovNotes *n)
{
    n->arcs.len = n->places.len = 0;
}

static void read_blocks(const GcovNotes *n, GcovFunction *f, Cursor *c, uint64_t len)
{
    uint64_t count = n->version >= 800 ? cursor_u32(c) : len / 4;
    // Arcs and lines were checked against the first number.
    if (f->block_count)
        cursor_fail(c, "blocks of a function stated twice");
    // Blocks have arcs and arcs take bytes.
    if (count > f->graph.len)
        cursor_fail(c, "more blocks than the function has bytes");
    if (!cursor_ok(c))
        return;
    f->block_count = (uint32_t)count;
    if (n->version < 408)
        f->exit_block = count ? (uint32_t)count - 1 : 0;
}

static void read_arcs(GcovNotes *n, const GcovFunction *f, Cursor *c, uint64_t len)
{
    uint32_t from = cursor_u32(c);
    size_t count = (len - 4) / 8;
    if (from >= f->block_count)
        cursor_fail(c, "arc of a block that the function does not have");
    if (!cursor_ok(c))
        return;
    vec_reserve(NULL, &n->arcs, count);
    GcovArc *arcs = n->arcs.at + n->arcs.len;
    bool calls = false;
    for (size_t i = 0; i < count; i++) {
        GcovArc *a = &arcs[i];
        *a = (GcovArc){.from = from, .to = cursor_u32(c), .flags = (uint8_t)cursor_u32(c)};
        if (a->to >= f->block_count)
            cursor_fail(c, "arc of a block that the function does not have");
        // A fake arc out of the entry is a longjmp back; all others are calls.
        a->is_call = (a->flags & GCOV_ARC_FAKE) && from != 0;
        calls |= a->is_call;
    }
    for (size_t i = 0; calls && i < count; i++)
        arcs[i].is_throw = !(arcs[i].flags & (GCOV_ARC_FAKE | GCOV_ARC_FALL_THROUGH));
    n->arcs.len += count;
}

// The name of a file, which most often is the one that the block before had.
static bool read_file(GcovNotes *n, Cursor *c, uint32_t *file)
{
    Str name = take_string(c, n->version);
    if (name.len && !str_equal(name, n->files.at[*file]))
        *file = file_row(n, name);
    return name.len != 0;
}

static void read_lines(GcovNotes *n, const GcovFunction *f, Cursor *c, uint32_t *last_file)
{
    uint32_t block = cursor_u32(c), file = f->file;
    if (block >= f->block_count)
        cursor_fail(c, "lines of a block that the function does not have");
    while (cursor_more(c)) {
        uint32_t line = cursor_u32(c);
        if (line) {
            vec_push(NULL, &n->places, (GcovPlace){block, file, line});
            continue;
        }
        if (!read_file(n, c, last_file))
            break;
        file = *last_file;
    }
}

// Counts stand in the order of the arcs that are not on the tree.
static void set_counts(const GcovNotes *n, const GcovFunction *f, Cursor *c)
{
    const uint64_t *counters = n->counters.at + f->counters_first;
    size_t at = 0;
    for (size_t i = f->arcs_first; i < n->arcs.len; i++) {
        if (n->arcs.at[i].flags & GCOV_ARC_ON_TREE)
            continue;
        if (at == f->counters_count) {
            cursor_fail(c, "fewer counts than arcs to count");
            return;
        }
        n->arcs.at[i].count = counters[at++];
    }
    if (at < f->counters_count)
        cursor_fail(c, "more counts than arcs to count");
}

bool gcov_graph_read(GcovNotes *n, GcovFunction *f, Error *err)
{
    uint64_t words = unit(n->version);
    uint32_t last_file = gcov_function_file(n, f);
    Cursor c = cursor_over(f->graph, "notes of gcc");
    c.base = f->graph_at;
    c.big_endian = n->big_endian;
    f->arcs_first = n->arcs.len;
    f->places_first = n->places.len;
    f->block_count = 0;
    while (cursor_left(&c) >= 8 && cursor_ok(&c)) {
        uint32_t tag = cursor_u32(&c);
        uint64_t len = (uint64_t)cursor_u32(&c) * words;
        size_t end = c.at + len;
        Cursor body = c;
        body.data.len = end;
        if (tag == TAG_BLOCKS)
            read_blocks(n, f, &body, len);
        else if (tag == TAG_ARCS && len >= 4)
            read_arcs(n, f, &body, len);
        else if (tag == TAG_LINES)
            read_lines(n, f, &body, &last_file);
        if (!cursor_ok(&body))
            c = body;
        c.at = end;
    }
    if (f->counters_count && cursor_ok(&c))
        set_counts(n, f, &c);
    bool ok = cursor_check(&c, err);
    if (!ok) {
        n->arcs.len = f->arcs_first;
        n->places.len = f->places_first;
        f->block_count = 0;
    }
    f->arc_count = n->arcs.len - f->arcs_first;
    f->place_count = n->places.len - f->places_first;
    return ok || error_context(err, "function '%" STR_FMT "'", STR_ARG(f->name));
}

// ---- Counts ------------------------------------------------------------------

// Both files have their functions in one order; the index is for those that do not.
typedef struct Finder {
    GcovNotes *n;
    size_t next;
    Table index; // by ident, made when it is first asked
} Finder;

static GcovFunction *find_function(Finder *find, uint32_t ident)
{
    GcovNotes *n = find->n;
    uint32_t row;
    if (find->next < n->functions.len && n->functions.at[find->next].ident == ident)
        return &n->functions.at[find->next++];
    for (uint32_t i = 0; find->index.len == 0 && i < n->functions.len; i++)
        table_insert(&find->index, hash_u64(n->functions.at[i].ident), i);
    for (TableProbe p = table_probe(&find->index, hash_u64(ident));
         table_next(&find->index, &p, &row);) {
        if (n->functions.at[row].ident != ident)
            continue;
        find->next = row + 1;
        return &n->functions.at[row];
    }
    return NULL;
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// `zeros`: all counters are zero and not written.
static void add_counters(GcovNotes *n, GcovFunction *f, Cursor *c, bool zeros)
{
    size_t count = zeros ? 0 : cursor_left(c) / 8;
    f->is_zero = f->is_zero || !f->has_counts;
    f->has_counts = true;
    if (count == 0)
        return;
    if (f->counters_count == 0) {
        f->counters_first = n->counters.len;
        f->counters_count = count;
        (void)vec_extend(NULL, &n->counters, count);
    }
    uint64_t *sums = n->counters.at + f->counters_first, any = 0;
    for (size_t i = 0; i < MIN(count, f->counters_count); i++) {
        uint64_t low = cursor_u32(c);
        sums[i] = saturating_add(sums[i], low | (uint64_t)cursor_u32(c) << 32);
        any |= sums[i];
    }
    f->is_zero = f->is_zero && any == 0;
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

    Finder find = {.n = n};
    GcovFunction *f = NULL;
    // A zero stands at the end; before gcc 9 that is not sure.
    bool ended = version < 900;
    while (cursor_ok(&c) && cursor_left(&c) >= 4) {
        size_t at = c.at;
        uint32_t tag = cursor_u32(&c);
        if (tag == 0) {
            ended = true;
            break;
        }
        int64_t len = (int32_t)cursor_u32(&c);
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
                f = find_function(&find, ident);
                if (!f || f->line_checksum != lines || f->cfg_checksum != cursor_u32(&body)) {
                    n->mismatched++;
                    f = NULL;
                }
            }
        } else if (tag == TAG_COUNTERS && f) {
            add_counters(n, f, &body, zeros);
        } else if (!is_other_data(tag)) {
            table_deinit(&find.index);
            return refuse_record(tag, at, version, err);
        }
    }
    table_deinit(&find.index);
    if (!ended)
        cursor_fail(&c, "cut short");
    return cursor_check(&c, err);
}

void gcov_data_none(GcovNotes *n)
{
    for (size_t i = 0; i < n->functions.len; i++)
        if (!n->functions.at[i].has_counts)
            n->functions.at[i].has_counts = n->functions.at[i].is_zero = true;
}

void gcov_data_scale(GcovNotes *notes, uint64_t weight)
{
    for (size_t i = 0; i < notes->counters.len && weight != 1; i++) {
        uint64_t *count = &notes->counters.at[i];
        if (__builtin_mul_overflow(*count, weight, count) || *count > INT64_MAX)
            *count = INT64_MAX;
    }
}
