// SPDX-License-Identifier: Apache-2.0
// Reads .gcno and .gcda files.

#include "gcov/gcov.h"

#include "base/cursor.h"
#include "base/sort.h"
#include "base/table.h"

#define MAGIC_NOTES 0x67636e6fu // "gcno"
#define MAGIC_DATA  0x67636461u // "gcda"

#define STAMP_OF_LLVM 0x4c4c564du // "LLVM", before LLVM 3.4

// Summary of the run; before gcc 9 also of the object and of the program.
#define TAG_SUMMARY         0xa1000000u
#define TAG_PROGRAM_SUMMARY 0xa3000000u

enum {
    TAG_FUNCTION = 0x01000000,
    TAG_BLOCKS = 0x01410000,
    TAG_ARCS = 0x01430000,
    TAG_LINES = 0x01450000,
    TAG_CONDITIONS = 0x01470000, // since gcc 14
    TAG_PATHS = 0x01490000,      // since gcc 15
    TAG_COUNTERS = 0x01a10000,   // of arcs; other kinds have the tags after it, up to
    TAG_COUNTERS_LAST = 0x01b30000,
    TAG_COUNTERS_STEP = 0x00020000,
};

static const FormatVersion version_list[] = {
    {402, 406, "gcc 4.2 to 4.6; clang --coverage before 11", "", false},
    {407, 407, "gcc 4.7", "a checksum of the flow graph", false},
    {408, 409, "gcc 4.8, 4.9; clang --coverage", "", false},
    {500, 799, "gcc 5 to 7", "", false},
    {800, 899, "gcc 8", "functions that the compiler made, columns", false},
    {900, 1199, "gcc 9 to 11", "the working folder", false},
    {1200, 1399, "gcc 12, 13", "lengths in bytes", false},
    {1400, 1499, "gcc 14", "conditions, which are stepped over", false},
    {1500, 1599, "gcc 15", "paths, which are stepped over", false},
};

const FormatVersions gcov_versions = {
    .format = "written by gcc",
    .older = "the gcov of that gcc reads it",
    .newer = "the gcov of that gcc reads it",
    .numbers = "gcc",
    .at = version_list,
    .count = ARRAY_LEN(version_list),
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

static inline uint32_t word_at(const uint8_t *p, bool big_endian)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return big_endian ? __builtin_bswap32(v) : v;
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

// Decodes a version: "B22*" is 12.2, "408*" is 4.8.
static uint32_t decode_version(uint32_t v)
{
    uint32_t a = v >> 24, b = v >> 16 & 0xff, c = v >> 8 & 0xff;
    if (a >= 'A')
        return ((a - 'A') * 10 + (b - '0')) * 100 + (c - '0');
    return (a - '0') * 100 + (b - '0') * 10 + (c - '0');
}

bool gcov_same_build(Bytes notes, Bytes data)
{
    bool big, data_big; // magic, version, stamp
    return magic_is(notes, MAGIC_NOTES, &big) && magic_is(data, MAGIC_DATA, &data_big) &&
           big == data_big && notes.len >= 12 && data.len >= 12 &&
           memcmp(notes.ptr + 4, data.ptr + 4, 8) == 0 &&
           word_at(notes.ptr + 8, big) != STAMP_OF_LLVM;
}

static bool take_version(Cursor *c, uint32_t *ret, Error *err)
{
    uint32_t version = decode_version(cursor_u32(c));
    if (!cursor_check(c, err))
        return false;
    if (!format_version_find(&gcov_versions, version))
        return format_version_refuse(&gcov_versions, version, err);
    *ret = version;
    return true;
}

// The unit of lengths: bytes since gcc 12, before words of 4 bytes.
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

// Before gcc 4.7 a function has only the checksum of its name and line.
static bool has_cfg_checksum(uint32_t version)
{
    return version >= 407;
}

static void read_function(GcovNotes *n, Cursor *c)
{
    uint32_t v = n->version;
    GcovFunction f = {.ident = cursor_u32(c), .line_checksum = cursor_u32(c)};
    f.cfg_checksum = has_cfg_checksum(v) ? cursor_u32(c) : 0;
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

// Whether a record does not concern lines.
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

// Skips the records of a graph, as far as they are complete.
static void skip_graph(const GcovNotes *n, Cursor *c)
{
    uint64_t words = unit(n->version);
    const uint8_t *at = c->data.ptr + c->at;
    size_t left = cursor_left(c);
    while (left >= 8) {
        uint64_t len = word_at(at + 4, c->big_endian) * words;
        if (!is_graph(word_at(at, c->big_endian), len) || len > left - 8)
            break;
        at += 8 + len;
        left -= 8 + len;
    }
    c->at = c->data.len - left;
}

// Whether clang wrote the notes: it writes the form of gcc 4.8, before clang 11 that of gcc 4.2,
// and numbers functions from 0, gcc from 1. Until 2013 it numbered declarations too, and all files
// had one stamp.
static bool is_of_llvm(const GcovNotes *n)
{
    return n->version <= 408 &&
           (n->stamp == STAMP_OF_LLVM || (n->functions.len && n->functions.at[0].ident == 0));
}

static bool read_records(GcovNotes *n, Cursor *c, Error *err)
{
    uint64_t words = unit(n->version);
    while (cursor_left(c) >= 8) {
        size_t record_at = c->at;
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
            vec_last(&n->functions).record_bytes = (uint32_t)(c->at - record_at);
            vec_last(&n->functions).graph.ptr = c->data.ptr + c->at;
            vec_last(&n->functions).graph_at = c->at;
        } else {
            (void)cursor_take(c, len);
            if (!cursor_ok(c))
                break;
            if (!is_graph(tag, len) && !is_other_note(tag))
                return refuse_record(tag, record_at, n->version, err);
            n->skipped_records += !is_graph(tag, len);
        }
        if (n->functions.len) {
            skip_graph(n, c);
            vec_last(&n->functions).graph.len = c->at - vec_last(&n->functions).graph_at;
        }
    }
    return cursor_check(c, err);
}

Bytes gcov_function_bytes(const GcovFunction *f)
{
    return bytes_over(f->graph.ptr - f->record_bytes, f->record_bytes + f->graph.len);
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
    // So that functions without arcs have a valid pointer.
    vec_reserve(NULL, &n->arcs, 1);
    vec_reserve(NULL, &n->places, 1);
    vec_reserve(NULL, &n->counters, 1);
    if (!read_records(n, &c, err))
        return false;
    n->is_of_llvm = is_of_llvm(n);
    n->sums_blocks = n->version < 800 && !n->is_of_llvm;
    return true;
}

void gcov_notes_deinit(GcovNotes *n)
{
    vec_free(&n->files);
    vec_free(&n->functions);
    vec_free(&n->counters);
    vec_free(&n->arcs);
    vec_free(&n->places);
    vec_free(&n->ways);
    table_deinit(&n->file_index);
}

// ---- Graphs ------------------------------------------------------------------

void gcov_graphs_clear(GcovNotes *n)
{
    n->arcs.len = n->places.len = 0;
}

// The state while the graph of a function is read.
typedef struct GraphReader {
    GcovNotes *n;
    GcovFunction *f;
    Cursor c;       // over the graph; after the head of a record
    uint64_t len;   // length of that record, which is complete
    bool whole;     // reads arcs; false: only counts them for each block
    uint32_t file;  // the file of the last lines
    size_t counter; // number of arcs off the tree so far: these have counters, in this order
    bool is_mixed;  // the arcs of a block are not consecutive, or blocks are not in order
} GraphReader;

static const uint8_t *record_start(const GraphReader *r)
{
    return r->c.data.ptr + r->c.at;
}

static uint32_t record_word(const GraphReader *r, uint64_t at)
{
    return word_at(record_start(r) + at, r->c.big_endian);
}

static void record_fail(GraphReader *r, uint64_t at, const char *why)
{
    r->c.at += at;
    cursor_fail(&r->c, why);
}

static void read_blocks(GraphReader *r)
{
    GcovNotes *n = r->n;
    GcovFunction *f = r->f;
    bool is_counted = n->version >= 800; // before, there is a word of flags for each block
    if (is_counted && r->len < 4) {
        record_fail(r, 0, "cut short");
        return;
    }
    uint64_t count = is_counted ? record_word(r, 0) : r->len / 4;
    // Arcs and lines were checked against the first number of blocks.
    if (f->block_count)
        record_fail(r, 0, "blocks of a function stated twice");
    // Each block has arcs, and arcs take bytes.
    else if (count > f->graph.len)
        record_fail(r, 0, "more blocks than the function has bytes");
    if (!cursor_ok(&r->c))
        return;
    f->block_count = (uint32_t)count;
    if (n->version < 408)
        f->exit_block = count ? (uint32_t)count - 1 : 0;
    n->ways.len = 0;
    (void)vec_extend(NULL, &n->ways, r->whole ? 0 : count);
}

// Counts the arcs that leave each block, without storing them.
static void count_arcs(GraphReader *r, uint32_t from)
{
    const uint8_t *record = record_start(r);
    uint32_t blocks = r->f->block_count, ways = 0;
    bool big = r->c.big_endian;
    for (uint64_t at = 4; at + 8 <= r->len; at += 8) {
        if (UNLIKELY(word_at(record + at, big) >= blocks)) {
            record_fail(r, at, "arc of a block that the function does not have");
            return;
        }
        uint32_t flags = word_at(record + at + 4, big);
        ways += !(flags & GCOV_ARC_FAKE);
        r->counter += !(flags & GCOV_ARC_ON_TREE);
    }
    r->n->ways.at[from] += ways;
}

// The counts come in the order of the arcs that are not on the tree.
static uint64_t next_count(GraphReader *r)
{
    const GcovFunction *f = r->f;
    size_t at = r->counter++;
    return at < f->counters_count ? r->n->counters.at[f->counters_first + at] : 0;
}

static void sort_arcs(GcovArc *arcs, size_t count)
{
    if (count < 2) // they are in order; without arcs the pointer may be NULL
        return;
    Vec(SortRow) rows = {0};
    Vec(GcovArc) copy = {0};
    vec_reserve(NULL, &rows, 2 * count);
    vec_reserve(NULL, &copy, count);
    memcpy(copy.at, arcs, count * sizeof(arcs[0]));
    for (uint32_t i = 0; i < count; i++)
        rows.at[i] = (SortRow){(uint64_t)arcs[i].from << 32 | arcs[i].to, i};
    const SortRow *sorted = sort_rows(rows.at, rows.at + count, count);
    for (size_t i = 0; i < count; i++)
        arcs[i] = copy.at[sorted[i].row];
    vec_free(&rows);
    vec_free(&copy);
}

// gcov lists the arcs out of a block by their target.
static void sort_ways(GcovArc *arcs, size_t count)
{
    enum { FEW = 16 };
    if (count > FEW) { // as in a switch statement
        sort_arcs(arcs, count);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        GcovArc arc = arcs[i];
        size_t at = i;
        for (; at > 0 && arcs[at - 1].to > arc.to; at--)
            arcs[at] = arcs[at - 1];
        arcs[at] = arc;
    }
}

// Marks the arc out of a block that is not fake, when there is only one.
static void mark_unconditional(GcovArc *arcs, size_t count)
{
    size_t real = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        arcs[i].is_unconditional = false;
        if (arcs[i].flags & GCOV_ARC_FAKE)
            continue;
        last = i;
        real++;
    }
    if (real == 1)
        arcs[last].is_unconditional = true;
}

static void list_arcs(GraphReader *r, uint32_t from)
{
    GcovNotes *n = r->n;
    size_t count = (r->len - 4) / 8;
    vec_reserve(NULL, &n->arcs, count);
    GcovArc *arcs = n->arcs.at + n->arcs.len;
    bool calls = false;
    if (n->arcs.len > r->f->arcs_first && arcs[-1].from >= from)
        r->is_mixed = true;
    const uint8_t *at = record_start(r) + 4;
    uint32_t blocks = r->f->block_count;
    bool big = r->c.big_endian;
    for (size_t i = 0; i < count; i++, at += 8) {
        uint32_t to = word_at(at, big);
        uint8_t flags = (uint8_t)word_at(at + 4, big);
        if (UNLIKELY(to >= blocks)) {
            record_fail(r, 4 + 8 * i, "arc of a block that the function does not have");
            return;
        }
        // A fake arc out of the entry is where a longjmp returns; all others are calls.
        bool is_call = (flags & GCOV_ARC_FAKE) && from != 0;
        uint64_t arc_count = flags & GCOV_ARC_ON_TREE ? 0 : next_count(r);
        arcs[i] = (GcovArc){
            .from = from, .to = to, .count = arc_count, .flags = flags, .is_call = is_call};
        calls |= is_call;
    }
    for (size_t i = 0; calls && i < count; i++)
        arcs[i].is_throw = !(arcs[i].flags & (GCOV_ARC_FAKE | GCOV_ARC_FALL_THROUGH));
    mark_unconditional(arcs, count);
    sort_ways(arcs, count);
    n->arcs.len += count;
}

static void read_arcs(GraphReader *r)
{
    uint32_t from = record_word(r, 0);
    if (from >= r->f->block_count)
        record_fail(r, 0, "arc of a block that the function does not have");
    else if (r->whole)
        list_arcs(r, from);
    else
        count_arcs(r, from);
}

// Sorts arcs that were not in order.
static void collect_arcs(GcovArc *arcs, size_t count)
{
    sort_arcs(arcs, count);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && arcs[end].from == arcs[first].from; end++)
            ;
        mark_unconditional(arcs + first, end - first);
    }
}

// The row of a file's name, which is mostly that of the block before.
static uint32_t name_row(GraphReader *r, const char *text, uint64_t len)
{
    Str last = r->n->files.at[r->file];
    if (last.len < len && text[last.len] == '\0' && memcmp(text, last.ptr, last.len) == 0)
        return r->file;
    return file_row(r->n, (Str){text, strnlen(text, len)});
}

// Reads lines. When the file changes there is a zero, followed by its name; an empty name ends the
// list.
static void read_lines(GraphReader *r)
{
    GcovNotes *n = r->n;
    uint64_t at = 4, end = r->len, words = unit(n->version);
    uint32_t block = end >= 4 ? record_word(r, 0) : UINT32_MAX, file = r->f->file;
    const uint8_t *record = record_start(r);
    bool big = r->c.big_endian;
    if (block >= r->f->block_count) {
        record_fail(r, 0, "lines of a block that the function does not have");
        return;
    }
    vec_reserve(NULL, &n->places, end / 4);
    GcovPlace *place = n->places.at + n->places.len;
    while (end - at >= 4) {
        uint32_t line = word_at(record + at, big);
        at += 4;
        if (line) {
            *place++ = (GcovPlace){block, file, line};
            continue;
        }
        uint64_t len = end - at >= 4 ? word_at(record + at, big) * words : UINT64_MAX;
        at += 4;
        if (len > end - at) {
            record_fail(r, at - 4, "cut short");
            return;
        }
        const char *text = (const char *)record + at;
        if (len == 0 || text[0] == '\0') {
            at = end;
            break;
        }
        file = r->file = name_row(r, text, len);
        at += len;
    }
    n->places.len = (size_t)(place - n->places.at);
    if (at != end)
        record_fail(r, at, "cut short");
}

static void read_graph_records(GraphReader *r)
{
    uint64_t words = unit(r->n->version);
    Cursor *c = &r->c;
    while (cursor_left(c) >= 8 && cursor_ok(c)) {
        uint32_t tag = word_at(c->data.ptr + c->at, c->big_endian);
        r->len = word_at(c->data.ptr + c->at + 4, c->big_endian) * words;
        c->at += 8;
        size_t end = c->at + r->len; // gcov_notes_parse has checked that it lies inside the file
        if (tag == TAG_BLOCKS)
            read_blocks(r);
        else if (tag == TAG_ARCS && r->len >= 4)
            read_arcs(r);
        else if (tag == TAG_LINES)
            read_lines(r);
        if (cursor_ok(c))
            c->at = end;
    }
    size_t counts = r->f->counters_count;
    if (counts && counts != r->counter)
        cursor_fail(c, counts < r->counter ? "fewer counts than arcs to count"
                                           : "more counts than arcs to count");
}

static bool read_graph(GcovNotes *n, GcovFunction *f, bool whole, Error *err)
{
    GraphReader r = {.n = n, .f = f, .c = cursor_over(f->graph, "notes of gcc"), .whole = whole};
    r.c.base = f->graph_at;
    r.c.big_endian = n->big_endian;
    r.file = gcov_function_file(n, f);
    f->arcs_first = n->arcs.len;
    f->places_first = n->places.len;
    f->block_count = 0;
    read_graph_records(&r);
    bool ok = cursor_check(&r.c, err);
    if (!ok) {
        n->arcs.len = f->arcs_first;
        n->places.len = f->places_first;
        f->block_count = 0;
    }
    f->arc_count = n->arcs.len - f->arcs_first;
    f->place_count = n->places.len - f->places_first;
    if (r.is_mixed && f->arc_count)
        collect_arcs(n->arcs.at + f->arcs_first, f->arc_count);
    return ok || error_context(err, "function '%" STR_FMT "'", STR_ARG(f->name));
}

bool gcov_graph_read(GcovNotes *n, GcovFunction *f, Error *err)
{
    return read_graph(n, f, true, err);
}

bool gcov_outline_read(GcovNotes *n, GcovFunction *f, Error *err)
{
    return read_graph(n, f, false, err);
}

// ---- Counts ------------------------------------------------------------------

// Finds functions of the notes for those of the data. Both files mostly have them in the same
// order; otherwise the index is used.
typedef struct Finder {
    GcovNotes *n;
    bool big_endian; // byte order of the data
    size_t next;
    Table index; // by ident, made when it is first needed
} Finder;

static void list_functions(Finder *find)
{
    for (uint32_t i = 0; i < find->n->functions.len; i++)
        table_insert(&find->index, hash_u64(find->n->functions.at[i].ident), i);
}

static GcovFunction *find_function(Finder *find, uint32_t ident)
{
    GcovNotes *n = find->n;
    uint32_t row;
    if (find->next < n->functions.len && n->functions.at[find->next].ident == ident)
        return &n->functions.at[find->next++];
    if (find->index.len == 0)
        list_functions(find);
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

// Adds counters of 8 bytes, the low half first; without any, all counts are zero.
static void add_counters(GcovNotes *n, GcovFunction *f, Cursor counters)
{
    const uint8_t *at = counters.data.ptr;
    size_t count = counters.data.len / 8;
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
    for (size_t i = 0; i < MIN(count, f->counters_count); i++, at += 8) {
        uint64_t low = word_at(at, counters.big_endian);
        uint64_t high = word_at(at + 4, counters.big_endian);
        sums[i] = saturating_add(sums[i], low | high << 32);
        any |= sums[i];
    }
    f->is_zero = f->is_zero && any == 0;
}

// Finds the function whose counters follow; NULL when the notes have no such function.
static GcovFunction *enter_function(Finder *find, const uint8_t *record, uint64_t len)
{
    bool big = find->big_endian;
    bool has_cfg = has_cfg_checksum(find->n->version);
    if (len < (has_cfg ? 12 : 8)) // a function that was not linked
        return NULL;
    GcovFunction *f = find_function(find, word_at(record, big));
    if (f && f->line_checksum == word_at(record + 4, big) &&
        (!has_cfg || f->cfg_checksum == word_at(record + 8, big)))
        return f;
    find->n->mismatched++;
    return NULL;
}

// Reads a record of the data. `ended` is set by the zero at the end of the file. False for an
// unknown record.
static bool read_data(Finder *find, Cursor *c, bool *ended, Error *err)
{
    GcovNotes *n = find->n;
    GcovFunction *f = NULL;
    *ended = false;
    while (cursor_ok(c) && cursor_left(c) >= 4) {
        size_t at = c->at;
        uint32_t tag = cursor_u32(c);
        *ended = tag == 0;
        if (*ended)
            break;
        int64_t len = (int32_t)cursor_u32(c);
        // A negative length stands for so many counters that are all zero and not written.
        bool zeros = tag == TAG_COUNTERS && len < 0;
        uint64_t bytes = zeros ? 0 : (uint64_t)len * unit(n->version);
        const uint8_t *record = cursor_take(c, bytes);
        if (!record)
            break;
        if (tag == TAG_FUNCTION)
            f = enter_function(find, record, bytes);
        else if (tag == TAG_COUNTERS && f)
            add_counters(n, f, (Cursor){.data = {record, bytes}, .big_endian = c->big_endian});
        else if (!is_other_data(tag))
            return refuse_record(tag, at, n->version, err);
    }
    return true;
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

    Finder find = {.n = n, .big_endian = c.big_endian};
    bool ended, ok = read_data(&find, &c, &ended, err);
    table_deinit(&find.index);
    // Before gcc 9 there is not always a zero at the end.
    if (!ended && version >= 900)
        cursor_fail(&c, "cut short");
    return ok && cursor_check(&c, err);
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
