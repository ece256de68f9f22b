// SPDX-License-Identifier: Apache-2.0
// Profiles that 'go test -coverprofile' writes: a mode, then one block of statements a line,
// "path:line.column,line.column statements count". Document: golang.org/x/tools/cover,
// ParseProfiles.

#include <stdlib.h>

#include "tracefile/tracefile.h"

enum { LINES_MIN = 1 << 20, LINES_A_BYTE = 64 };

typedef struct Block {
    Str path;
    uint32_t line, column, end_line, end_column;
    uint64_t count;
} Block;

typedef struct Reader {
    CoverSet *set;
    Vec(Block) blocks;
    Vec(CoverSetLine) lines;
    bool is_set; // counts say whether a block ran, not how often
    uint64_t line_number, lines_spanned;
    const char *bad;
} Reader;

static uint32_t number(Reader *r, Str text)
{
    uint64_t v = 0;
    if (!str_parse_u64(text, 10, &v) || v > UINT32_MAX)
        r->bad = "a place is not a line and a column";
    return (uint32_t)v;
}

static void read_place(Reader *r, Str text, uint32_t *line, uint32_t *column)
{
    Str before, behind;
    if (!str_split(text, '.', &before, &behind))
        r->bad = "a place is not a line and a column";
    else {
        *line = number(r, before);
        *column = number(r, behind);
    }
}

static void read_mode(Reader *r, Str mode)
{
    if (str_equal(mode, STR("set")))
        r->is_set = true;
    else if (!str_equal(mode, STR("count")) && !str_equal(mode, STR("atomic")))
        r->bad = "its mode is not set, count or atomic";
}

static void read_block(Reader *r, Str text)
{
    Str path, rest, places, numbers, start, end, statements, count;
    uint64_t statement_count;
    Block b = {0};
    // A path may have colons in it.
    size_t colon = str_find_last_char(text, ':');
    path = str_slice(text, 0, MIN(colon, text.len));
    rest = str_slice(text, MIN(colon, text.len - 1) + 1, text.len);
    if (colon == SIZE_MAX || path.len == 0 || !str_split(rest, ' ', &places, &numbers) ||
        !str_split(places, ',', &start, &end) || !str_split(numbers, ' ', &statements, &count) ||
        !str_parse_u64(statements, 10, &statement_count) ||
        !str_parse_u64(str_trim(count), 10, &b.count)) {
        r->bad = "no block of statements";
        return;
    }
    read_place(r, start, &b.line, &b.column);
    read_place(r, end, &b.end_line, &b.end_column);
    if (!r->bad && (b.line == 0 || b.end_line < b.line))
        r->bad = "a block ends before it starts";
    if (r->bad || statement_count == 0) // nothing runs in it
        return;
    r->lines_spanned += b.end_line - b.line;
    b.path = cover_set_text(r->set, path);
    vec_push(NULL, &r->blocks, b);
}

static int order(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_blocks(const void *a, const void *b)
{
    const Block *x = a, *y = b;
    int by = str_compare(x->path, y->path);
    by = by ? by : order(x->line, y->line);
    by = by ? by : order(x->column, y->column);
    by = by ? by : order(x->end_line, y->end_line);
    return by ? by : order(x->end_column, y->end_column);
}

// Test programs of several packages list the same block each: their counts are added.
static void join_blocks(Reader *r)
{
    size_t kept = 0;
    if (r->blocks.len)
        qsort(r->blocks.at, r->blocks.len, sizeof(r->blocks.at[0]), compare_blocks);
    for (size_t i = 0; i < r->blocks.len; i++) {
        Block *last = kept ? &r->blocks.at[kept - 1] : NULL, *b = &r->blocks.at[i];
        if (!last || compare_blocks(last, b) != 0)
            r->blocks.at[kept++] = *b;
        else if (r->is_set)
            last->count |= b->count;
        else if (__builtin_add_overflow(last->count, b->count, &last->count))
            last->count = UINT64_MAX;
    }
    r->blocks.len = kept;
}

static int compare_lines(const void *a, const void *b)
{
    const CoverSetLine *x = a, *y = b;
    if (x->line != y->line)
        return order(x->line, y->line);
    return (x->count < y->count) - (x->count > y->count);
}

// Adds the lines of one file. A line ran as often as the block on it that ran most: a block ends
// on the line on which the next one starts.
static void add_file(Reader *r, const Block *blocks, size_t count)
{
    size_t kept = 0;
    r->lines.len = 0;
    for (size_t i = 0; i < count; i++)
        for (uint64_t line = blocks[i].line; line <= blocks[i].end_line; line++)
            vec_push(NULL, &r->lines, ((CoverSetLine){(uint32_t)line, blocks[i].count}));
    qsort(r->lines.at, r->lines.len, sizeof(r->lines.at[0]), compare_lines);
    for (size_t i = 0; i < r->lines.len; i++)
        if (kept == 0 || r->lines.at[kept - 1].line != r->lines.at[i].line)
            r->lines.at[kept++] = r->lines.at[i];
    CoverSetFile one = {.lines = {r->lines.at, kept, r->lines.cap}};
    cover_set_file_add(r->set->arena, cover_set_file(r->set, blocks[0].path), &one);
}

static void add_files(Reader *r)
{
    join_blocks(r);
    for (size_t first = 0, end; first < r->blocks.len; first = end) {
        for (end = first + 1; end < r->blocks.len; end++)
            if (!str_equal(r->blocks.at[end].path, r->blocks.at[first].path))
                break;
        add_file(r, r->blocks.at + first, end - first);
    }
}

bool tracefile_read_go_cover(CoverSet *into, Bytes file, Error *err)
{
    Reader r = {.set = into};
    Str rest = str_from_bytes(file), line = {0};
    while (!r.bad && str_next_line(&rest, &line)) {
        r.line_number++;
        if (str_starts_with(line, STR("mode: "))) // concatenated profiles repeat it
            read_mode(&r, str_trim(str_slice(line, 6, line.len)));
        else if (r.line_number == 1)
            r.bad = "the first line is not a mode";
        else if (line.len)
            read_block(&r, line);
        if (r.lines_spanned > LINES_MIN + LINES_A_BYTE * (uint64_t)file.len)
            r.bad = "the blocks span too many lines";
    }
    bool is_cut = r.bad && rest.len == 0 && r.line_number > 1 && file.ptr[file.len - 1] != '\n';
    if (is_cut)
        vec_push(into->arena, &into->notes,
                 arena_printf(into->arena, "the last line is cut and left out: '%" STR_FMT "'",
                              STR_ARG(str_slice(line, 0, 80))));
    bool ok = !r.bad || is_cut;
    if (ok) {
        into->is_hits |= r.is_set;
        add_files(&r);
    } else {
        error_set(err, ERROR_FORMAT, "line %llu, '%" STR_FMT "': %s",
                  (unsigned long long)r.line_number, STR_ARG(str_slice(line, 0, 80)), r.bad);
    }
    vec_free(&r.blocks);
    vec_free(&r.lines);
    return ok;
}
