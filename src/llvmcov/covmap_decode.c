// SPDX-License-Identifier: Apache-2.0
// Decodes the mapping of one function: its files, expressions and regions, all of them LEB128
// numbers. A large program has megabytes of them, which every report reads; so the position stays
// in a register.

#include "llvmcov/covmap.h"

#include <inttypes.h>

#include "base/cursor.h"

// Limits, because each line costs memory: no real region or file has more lines.
enum { REGION_LINES_MAX = 1 << 20, LINES_MAX = 1 << 23 };

// ---- Numbers -----------------------------------------------------------------

// The bytes that are left. After a failure there are none, and every number is 0.
typedef struct Numbers {
    const uint8_t *at, *end;
    const char *why; // NULL until failed
    const uint8_t *failed_at;
    uint64_t unknown_kind; // why == UNKNOWN_KIND: of a region
} Numbers;

static const char UNKNOWN_KIND[] = "unknown region kind";

static inline void fail(Numbers *n, const char *why)
{
    if (n->why)
        return;
    n->why = why;
    n->failed_at = n->at;
    n->at = n->end;
}

static inline size_t bytes_left(const Numbers *n)
{
    return (size_t)(n->end - n->at);
}

typedef struct Number {
    uint64_t value;
    const uint8_t *next; // NULL when the number is broken
} Number;

// Decodes a number from eight bytes at once: their groups of 7 bits are joined two by two.
static inline Number number_of_window(const uint8_t *at)
{
    uint64_t window;
    memcpy(&window, at, sizeof(window));
    uint64_t last = ~window & 0x8080808080808080ull;
    if (!last)
        return (Number){0};
    window &= last ^ (last - 1); // removes the bytes after the last one
    window &= 0x7f7f7f7f7f7f7f7full;
    window = (window & 0x007f007f007f007full) | (window & 0x7f007f007f007f00ull) >> 1;
    window = (window & 0x00003fff00003fffull) | (window & 0x3fff00003fff0000ull) >> 2;
    window = (window & 0x000000000fffffffull) | (window & 0x0fffffff00000000ull) >> 4;
    return (Number){window, at + (__builtin_ctzll(last) + 1) / 8};
}

static Number long_number(const uint8_t *at, const uint8_t *end)
{
    if (end - at >= 8) {
        Number n = number_of_window(at);
        if (n.next)
            return n;
    }
    Cursor c = cursor_over(bytes_over(at, (size_t)(end - at)), "");
    uint64_t value = cursor_uleb(&c);
    return cursor_ok(&c) ? (Number){value, at + c.at} : (Number){0};
}

static inline uint64_t take(Numbers *n)
{
    const uint8_t *at = n->at;
    if (LIKELY(at < n->end && at[0] < 0x80)) {
        n->at = at + 1;
        return at[0];
    }
    if (LIKELY(n->end - at >= 2 && at[1] < 0x80)) {
        n->at = at + 2;
        return (at[0] & 0x7fu) | (uint64_t)at[1] << 7;
    }
    Number x = long_number(at, n->end);
    if (!x.next) {
        fail(n, "cut short or over 64 bits");
        return 0;
    }
    n->at = x.next;
    return x.value;
}

static inline uint32_t take_u32(Numbers *n, const char *why)
{
    uint64_t v = take(n);
    if (v > UINT32_MAX)
        fail(n, why);
    return (uint32_t)v;
}

// ---- Expressions -------------------------------------------------------------

static inline CovCounter counter_of(Numbers *n, uint64_t word, size_t expressions)
{
    if (word > UINT32_MAX)
        fail(n, "counter number is too large");
    else if ((word & 3) >= COV_SUBTRACT && word >> 2 >= expressions)
        fail(n, "expression is not in the table");
    return (CovCounter)word;
}

// The distance between marked numbers.
enum { NUMBERS_PER_MARK = 32 };

// The last bytes of numbers among eight bytes: a mask of their high bits.
static inline uint64_t ends_in(const uint8_t *at)
{
    uint64_t window;
    memcpy(&window, at, sizeof(window));
    return ~window & 0x8080808080808080ull;
}

static inline uint32_t count_ends(uint64_t ends)
{
    return (uint32_t)((ends >> 7) * 0x0101010101010101ull >> 56);
}

// The offset after the first `count` ends, of which there are at least as many.
static inline size_t behind_ends(uint64_t ends, uint32_t count)
{
    for (; count > 1; count--)
        ends &= ends - 1;
    return (size_t)(__builtin_ctzll(ends) + 1) / 8;
}

// Skips `count` numbers, and marks some.
static Numbers skip_numbers(Numbers n, uint64_t count, CovFunctionMap *m)
{
    const uint8_t *start = n.at;
    uint64_t seen = 0, next_mark = 0;
    for (; n.end - n.at >= 8; n.at += 8) {
        uint64_t ends = ends_in(n.at);
        uint32_t more = count_ends(ends);
        if (seen + more >= next_mark) { // these bytes end the number before the mark
            vec_push(NULL, &m->marks,
                     (CovExpressionMark){(uint32_t)(n.at - start), (uint32_t)seen});
            next_mark += NUMBERS_PER_MARK;
        }
        if (seen + more >= count) {
            n.at += count > seen ? behind_ends(ends, (uint32_t)(count - seen)) : 0;
            return n;
        }
        seen += more;
    }
    vec_push(NULL, &m->marks, (CovExpressionMark){(uint32_t)(n.at - start), (uint32_t)seen});
    for (; seen < count && n.at < n.end; n.at++)
        seen += n.at[0] < 0x80;
    if (seen < count)
        fail(&n, "cut short");
    return n;
}

static Numbers take_expressions(Numbers n, CovFunctionMap *m)
{
    uint64_t count = take(&n);
    if (count > bytes_left(&n) / 2 || bytes_left(&n) > UINT32_MAX)
        fail(&n, "more expressions than the mapping has bytes");
    if (n.why)
        return n;
    const uint8_t *start = n.at;
    m->expression_count = (uint32_t)count;
    if (count)
        n = skip_numbers(n, 2 * count, m);
    m->expressions = bytes_over(start, (size_t)(n.at - start));
    return n;
}

// The position of number `index` of the expressions.
static Numbers number_at(const CovFunctionMap *m, uint32_t index)
{
    const CovExpressionMark *mark = &m->marks.at[MIN(index / NUMBERS_PER_MARK, m->marks.len - 1)];
    Numbers n = {.at = m->expressions.ptr + mark->at,
                 .end = m->expressions.ptr + m->expressions.len};
    uint32_t left = index - mark->before;
    for (; left && n.end - n.at >= 8; n.at += 8) {
        uint64_t ends = ends_in(n.at);
        uint32_t more = count_ends(ends);
        if (more >= left) {
            n.at += behind_ends(ends, left);
            return n;
        }
        left -= more;
    }
    for (; left && n.at < n.end; n.at++)
        left -= n.at[0] < 0x80;
    return n;
}

bool covmap_expression(const CovFunctionMap *m, uint32_t index, CovExpression *ret)
{
    Numbers n = number_at(m, 2 * index);
    ret->lhs = counter_of(&n, take(&n), m->expression_count);
    ret->rhs = counter_of(&n, take(&n), m->expression_count);
    return n.why == NULL;
}

// ---- Regions -----------------------------------------------------------------

static int16_t take_condition(Numbers *n)
{
    uint64_t v = take(n);
    if (v > INT16_MAX)
        fail(n, "condition number is too large");
    return (int16_t)((int16_t)v - 1);
}

// Decodes a region that has a kind in place of a counter; `word` is the word that was read.
static Numbers take_special_kind(Numbers n, const CovFunctionMap *m, uint64_t word, CovMapRegion *r)
{
    size_t expressions = m->expression_count;
    if (word & 4) {
        r->kind = COV_EXPANSION;
        if (word >> 3 >= m->files.len)
            fail(&n, "expansion of a file that is not in the list");
        r->expanded_file = (uint32_t)(word >> 3);
        return n;
    }
    switch (word >> 3) {
    case COV_CODE:
        break;
    case COV_SKIPPED:
        r->kind = COV_SKIPPED;
        break;
    case COV_BRANCH:
        r->kind = COV_BRANCH;
        r->count = counter_of(&n, take(&n), expressions);
        r->false_count = counter_of(&n, take(&n), expressions);
        break;
    case COV_MCDC_DECISION:
        r->kind = COV_MCDC_DECISION;
        r->bitmap_index = take_u32(&n, "bitmap index is too large");
        r->condition_count = (uint16_t)take_u32(&n, "too many conditions");
        break;
    case COV_MCDC_BRANCH:
        r->kind = COV_MCDC_BRANCH;
        r->count = counter_of(&n, take(&n), expressions);
        r->false_count = counter_of(&n, take(&n), expressions);
        r->condition = take_condition(&n);
        r->true_next = take_condition(&n);
        r->false_next = take_condition(&n);
        break;
    default:
        fail(&n, UNKNOWN_KIND);
        n.unknown_kind = word >> 3;
    }
    return n;
}

// Whether the next five numbers, those of a region with a counter, have one byte each, as most
// have.
static inline bool next_is_short(const Numbers *n, uint64_t *ret)
{
    uint64_t window;
    if (n->end - n->at < (ptrdiff_t)sizeof(window))
        return false;
    memcpy(&window, n->at, sizeof(window));
    *ret = window;
    return (window & 0x8080808080ull) == 0 && (window & 3) != COV_ZERO;
}

// Decodes the position of a region. `line` is the first line of the region before.
static inline Numbers take_place(Numbers n, uint64_t *line, CovMapRegion *r)
{
    *line += take_u32(&n, "line is too large");
    r->column = take_u32(&n, "column is too large");
    uint32_t lines = take_u32(&n, "line is too large");
    r->end_column = take_u32(&n, "column is too large");
    if (*line + lines > LINES_MAX || lines > REGION_LINES_MAX)
        fail(&n, "line is too large");
    if (r->end_column & 1u << 31) {
        r->kind = COV_GAP;
        r->end_column &= ~(1u << 31);
    }
    r->line = (uint32_t)*line;
    r->end_line = (uint32_t)*line + lines;
    return n;
}

static Numbers take_regions(Numbers n, CovFunctionMap *m, uint32_t file)
{
    uint64_t count = take(&n);
    if (count > bytes_left(&n) / 5)
        fail(&n, "more regions than the mapping has bytes");
    if (n.why)
        return n;
    vec_reserve(NULL, &m->regions, count + 1); // so that the pointer is valid also without regions
    CovMapRegion *r = m->regions.at + m->regions.len, *end = r + count;
    uint64_t line = 0, window;
    for (; r < end && !n.why; r++) {
        *r = (CovMapRegion){.file = file};
        if (next_is_short(&n, &window) && line < LINES_MAX - 0x100) {
            r->count = counter_of(&n, window & 0x7f, m->expression_count);
            line += window >> 8 & 0x7f;
            r->line = (uint32_t)line;
            r->column = window >> 16 & 0x7f;
            r->end_line = (uint32_t)(line + (window >> 24 & 0x7f));
            r->end_column = window >> 32 & 0x7f;
            n.at += n.why ? 0 : 5;
        } else {
            uint64_t word = take(&n);
            if (word & 3)
                r->count = counter_of(&n, word, m->expression_count);
            else
                n = take_special_kind(n, m, word, r);
            n = take_place(n, &line, r);
        }
        if (r->column == 0 && r->end_column == 0) {
            r->column = 1;
            r->end_column = UINT32_MAX;
        }
        if (r->line == r->end_line && r->column > r->end_column)
            fail(&n, "region ends before it starts");
    }
    m->regions.len += count;
    return n;
}

// Gives each expansion its counter: that of the first region in the macro's text, which may be an
// expansion itself. Chains are followed once for each file id.
static void resolve_expansions(CovFunctionMap *m)
{
    for (size_t i = 0; i < m->regions.len; i++) {
        CovMapRegion *r = &m->regions.at[i];
        if (r->kind != COV_EXPANSION)
            continue;
        uint32_t file = r->expanded_file;
        for (size_t steps = 0; steps <= m->files.len; steps++) {
            uint32_t first = m->first.at[file];
            if (first == m->first.at[file + 1])
                break;
            const CovMapRegion *inner = &m->regions.at[first];
            r->count = inner->count;
            // The file id of an expansion is greater than that of the text around it, so that inner
            // expansions are not resolved yet.
            if (inner->kind != COV_EXPANSION || inner->expanded_file == file)
                break;
            file = inner->expanded_file;
        }
    }
}

static Numbers take_files(Numbers n, const CovMapFunction *f, CovFunctionMap *m)
{
    uint64_t count = take(&n);
    if (count > bytes_left(&n))
        fail(&n, "more files than the mapping has bytes");
    for (uint64_t i = 0; i < count && !n.why; i++) {
        uint64_t file = take(&n);
        if (file >= f->files_count)
            fail(&n, "file is not in the list");
        vec_push(NULL, &m->files, (uint32_t)(f->files_first + file));
    }
    return n;
}

bool covmap_decode(const CovMapFunction *f, CovFunctionMap *m, Error *err)
{
    m->files.len = m->first.len = m->marks.len = m->regions.len = 0;
    m->expression_count = 0;
    Bytes mapping = bytes_addressable(f->mapping);
    Numbers n = {.at = mapping.ptr, .end = mapping.ptr + mapping.len};
    n = take_files(n, f, m);
    n = take_expressions(n, m);
    for (uint32_t file = 0; file < m->files.len && !n.why; file++) {
        vec_push(NULL, &m->first, (uint32_t)m->regions.len);
        n = take_regions(n, m, file);
    }
    size_t failed_at = n.why ? (size_t)(n.failed_at - f->mapping.ptr) : 0;
    if (n.why == UNKNOWN_KIND)
        return error_set(err, ERROR_FORMAT, "mapping of a function: %s %" PRIu64 " at offset 0x%zx",
                         n.why, n.unknown_kind, failed_at);
    if (n.why)
        return error_set(err, ERROR_FORMAT, "mapping of a function: %s at offset 0x%zx", n.why,
                         failed_at);
    vec_push(NULL, &m->first, (uint32_t)m->regions.len);
    resolve_expansions(m);
    return true;
}

void covmap_function_deinit(CovFunctionMap *m)
{
    vec_free(&m->files);
    vec_free(&m->first);
    vec_free(&m->marks);
    vec_free(&m->regions);
}
