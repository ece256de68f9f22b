// SPDX-License-Identifier: Apache-2.0
// Finding exclusion marks.
// Document: man geninfo(1) of lcov 2, "Exclusion markers"; gcovr's guide, "Exclusion
// Markers"; grcov's README, "--excl-line".

#include "coverage/rows/exclusions.h"

#include <stdlib.h>

#include "base/strbuf.h"

static const char *const tools[] = {"LCOV", "GCOVR", "GCOV", "GRCOV"};

typedef enum Mark {
    MARK_LINE,
    MARK_START,
    MARK_STOP,
    MARK_FUNCTION,
    MARK_SOURCE,
    MARK_WITHOUT_HIT,
    MARK_COUNT
} Mark;
static const char *const marks[MARK_COUNT] = {"LINE",     "START",  "STOP",
                                              "FUNCTION", "SOURCE", "WITHOUT_HIT"};

// What a mark leaves out, by the word before it.
typedef enum Scope {
    SCOPE_LINES,
    SCOPE_BRANCHES,
    SCOPE_EXCEPTIONS,
    SCOPE_UNREACHABLE,
    SCOPE_COUNT
} Scope;
static const char *const scopes[] = {"", "BR_", "EXCEPTION_BR_"};

// Sections nest by style: that of each tool, of GRCOV_STOP_COVERAGE, of the user.
enum { STYLE_LCOV = 0, STYLE_COVERAGE = ARRAY_LEN(tools), STYLE_PATTERN, STYLE_COUNT };

typedef struct Scan {
    Arena *arena;
    CoverExclusions *e;
    const CoverPatterns *patterns;
    StrBuf line; // for expressions, which want a NUL at the end
    // Where a section of each style began, 0: in none.
    uint32_t started[SCOPE_COUNT][STYLE_COUNT];
} Scan;

static bool is_word(char c)
{
    return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// The tool whose name ends at `at`, and not in a longer word.
static size_t tool_before(Str line, size_t at)
{
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        Str name = str_from_c(tools[i]);
        if (name.len <= at && str_equal(str_slice(line, at - name.len, at), name) &&
            (name.len == at || !is_word(line.ptr[at - name.len - 1])))
            return i;
    }
    return SIZE_MAX;
}

static Mark mark_after(Str rest)
{
    for (Mark m = 0; m < MARK_COUNT; m++) {
        Str name = str_from_c(marks[m]);
        if (str_starts_with(rest, name) && (rest.len == name.len || !is_word(rest.ptr[name.len])))
            return m;
    }
    return MARK_COUNT;
}

static Scope take_scope(Str *rest)
{
    for (Scope scope = SCOPE_EXCEPTIONS; scope > SCOPE_LINES; scope--) {
        Str word = str_from_c(scopes[scope]);
        if (str_starts_with(*rest, word)) {
            *rest = str_slice(*rest, word.len, rest->len);
            return scope;
        }
    }
    return SCOPE_LINES;
}

static CoverLineRangeVec *ranges_of(CoverExclusions *e, Scope scope)
{
    CoverLineRangeVec *ranges[] = {&e->lines, &e->branches, &e->exceptions, &e->unreachable};
    return ranges[scope];
}

static void add_range(Arena *arena, CoverLineRangeVec *to, uint32_t first, uint32_t end)
{
    if (first < end)
        vec_push(arena, to, (CoverLineRange){first, end});
}

// A line, or the start or stop of a section.
static void take_range(Scan *s, Scope scope, size_t style, Mark m, uint32_t number)
{
    uint32_t *started = &s->started[scope][style];
    if (m == MARK_LINE) {
        add_range(s->arena, ranges_of(s->e, scope), number, number + 1);
    } else if (m == MARK_START && *started == 0) {
        *started = number;
    } else if (m == MARK_STOP && *started) {
        add_range(s->arena, ranges_of(s->e, scope), *started, number);
        *started = 0;
    }
}

// ": 1/2" behind the mark, as gcovr has it.
static bool parse_misses(Str rest, uint32_t *missed, uint32_t *all)
{
    Str count, total;
    uint64_t n = 0, of = 0;
    if (!str_starts_with(rest, STR(":")))
        return false;
    rest = str_trim(str_slice(rest, 1, rest.len));
    size_t end = 0;
    while (end < rest.len &&
           (rest.ptr[end] == '/' || (rest.ptr[end] >= '0' && rest.ptr[end] <= '9')))
        end++;
    if (!str_split(str_slice(rest, 0, end), '/', &count, &total) || !str_parse_u64(count, 10, &n) ||
        !str_parse_u64(total, 10, &of) || n > of || of > UINT32_MAX)
        return false;
    *missed = (uint32_t)n;
    *all = (uint32_t)of;
    return true;
}

static void take_mark(Scan *s, Str line, size_t at, uint32_t number)
{
    static const Str excl = STR_INIT("_EXCL_");
    size_t tool = tool_before(line, at);
    Str rest = str_slice(line, at + excl.len, line.len);
    Scope scope = take_scope(&rest);
    Mark m = mark_after(rest);
    if (tool == SIZE_MAX)
        return;
    CoverMissMark misses = {.line = number};
    if (m <= MARK_STOP) {
        take_range(s, scope, tool, m, number);
    } else if (m == MARK_FUNCTION && scope != SCOPE_EXCEPTIONS) {
        uint32_t column = (uint32_t)(at - strlen(tools[tool]) + 1);
        vec_push(s->arena, &s->e->function_marks,
                 (CoverFunctionMark){number, column, scope == SCOPE_BRANCHES});
    } else if (m == MARK_SOURCE && scope == SCOPE_BRANCHES) {
        add_range(s->arena, &s->e->sources, number, number + 1);
    } else if (m == MARK_WITHOUT_HIT && scope == SCOPE_BRANCHES) {
        rest = str_slice(rest, strlen(marks[m]), rest.len);
        if (parse_misses(rest, &misses.missed, &misses.all))
            vec_push(s->arena, &s->e->miss_marks, misses);
        else
            s->e->unread++;
    }
}

static void take_unreachable(Scan *s, Str line, size_t at, uint32_t number)
{
    static const Str word = STR_INIT("_UNREACHABLE_");
    Mark m = mark_after(str_slice(line, at + word.len, line.len));
    if (tool_before(line, at) == STYLE_LCOV && m <= MARK_STOP)
        take_range(s, SCOPE_UNREACHABLE, STYLE_LCOV, m, number);
}

// GRCOV_STOP_COVERAGE up to GRCOV_BEGIN_COVERAGE; `at` is behind the tool's name.
static void take_coverage(Scan *s, Str line, size_t at, uint32_t number)
{
    static const struct {
        Str word;
        Mark mark;
    } words[] = {{STR_INIT("STOP"), MARK_START}, {STR_INIT("BEGIN"), MARK_STOP}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = words[i].word.len;
        if (at > len && line.ptr[at - len - 1] == '_' &&
            str_equal(str_slice(line, at - len, at), words[i].word) &&
            tool_before(line, at - len - 1) == ARRAY_LEN(tools) - 1)
            take_range(s, SCOPE_LINES, STYLE_COVERAGE, words[i].mark, number);
    }
}

typedef void TakeMark(Scan *s, Str line, size_t at, uint32_t number);

static const struct Word {
    Str text; // what all its marks have in common
    TakeMark *take;
} words[] = {{STR_INIT("_EXCL_"), take_mark},
             {STR_INIT("_UNREACHABLE_"), take_unreachable},
             {STR_INIT("_COVERAGE"), take_coverage}};

static bool matches(const Scan *s, CoverPattern which)
{
    const regex_t *expression = s->patterns->at[which];
    return expression && regexec(expression, s->line.ptr, 0, NULL, 0) == 0;
}

// A line that ends a section may start the next one.
static void take_patterns(Scan *s, Str line, uint32_t number)
{
    static const struct {
        Scope scope;
        CoverPattern first; // line, start, stop in this order
    } kinds[] = {{SCOPE_LINES, COVER_PATTERN_LINE}, {SCOPE_BRANCHES, COVER_PATTERN_BR_LINE}};
    static const Mark order[] = {MARK_STOP, MARK_START, MARK_LINE};
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    strbuf_clear(&s->line);
    strbuf_add(&s->line, line);
    strbuf_add_char(&s->line, '\0');
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        for (size_t k = 0; k < ARRAY_LEN(order); k++)
            if (matches(s, kinds[i].first + (CoverPattern)order[k]))
                take_range(s, kinds[i].scope, STYLE_PATTERN, order[k], number);
}

static void scan_line(Scan *s, Str line, uint32_t number)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        for (size_t at = 0, hit;
             (hit = str_find(str_slice(line, at, line.len), words[i].text)) != SIZE_MAX;
             at += hit + 1)
            words[i].take(s, line, at + hit, number);
    if (s->patterns)
        take_patterns(s, line, number);
}

static int compare_ranges(const void *a, const void *b)
{
    const CoverLineRange *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->end > y->end) - (x->end < y->end);
}

static void join_ranges(CoverLineRangeVec *v)
{
    if (v->len == 0)
        return;
    qsort(v->at, v->len, sizeof(v->at[0]), compare_ranges);
    size_t kept = 1;
    for (size_t i = 1; i < v->len; i++) {
        if (v->at[i].first <= v->at[kept - 1].end)
            v->at[kept - 1].end = MAX(v->at[kept - 1].end, v->at[i].end);
        else
            v->at[kept++] = v->at[i];
    }
    v->len = kept;
}

// All marks start with the name of a tool, and in that is "COV". 'V' is rare in sources.
static bool names_a_tool(Str source)
{
    size_t at = 0, hit;
    while ((hit = str_find_char(str_slice(source, at, source.len), 'V')) != SIZE_MAX) {
        at += hit + 1;
        if (at >= 3 && source.ptr[at - 2] == 'O' && source.ptr[at - 3] == 'C')
            return true;
    }
    return false;
}

// Most sources have none, and searching the whole is faster than by line.
static bool has_words(Str source)
{
    if (!names_a_tool(source))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_find(source, words[i].text) != SIZE_MAX)
            return true;
    return false;
}

// What is not stopped reaches to the end, which is usual in grcov's and the user's way.
static void close_sections(Scan *s)
{
    for (Scope scope = 0; scope < SCOPE_COUNT; scope++) {
        CoverLineRangeVec *to = ranges_of(s->e, scope);
        for (size_t style = 0; style < STYLE_COUNT; style++) {
            if (s->started[scope][style] == 0)
                continue;
            add_range(s->arena, to, s->started[scope][style], UINT32_MAX);
            s->e->open += style < ARRAY_LEN(tools);
        }
        join_ranges(to);
    }
}

bool cover_exclusions_find(Arena *arena, Str source, const CoverPatterns *patterns,
                           CoverExclusions *ret)
{
    if (!patterns && !has_words(source))
        return false;
    CoverExclusions e = {.arena = arena};
    Scan s = {.arena = arena, .e = &e, .patterns = patterns};
    Str line = {0};
    uint32_t number = 0;
    while (str_next_line(&source, &line))
        scan_line(&s, line, ++number);
    close_sections(&s);
    strbuf_deinit(&s.line);
    join_ranges(&e.sources);
    *ret = e;
    return e.lines.len || e.branches.len || e.exceptions.len || e.sources.len ||
           e.function_marks.len || e.unreachable.len || e.miss_marks.len || e.unread;
}

// ---- Functions -----------------------------------------------------------------

void cover_exclusions_add_function(CoverExclusions *e, CoverFunctionPlace place)
{
    if (e->function_marks.len && place.line && place.end_line >= place.line)
        vec_push(e->arena, &e->functions, place);
}

// By start, the outer one first.
static int compare_places(const void *a, const void *b)
{
    const CoverFunctionPlace *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->end_line != y->end_line)
        return x->end_line > y->end_line ? -1 : 1;
    return (x->end_column < y->end_column) - (x->end_column > y->end_column);
}

// The mark stands behind the function's start and before its end.
static bool is_marked(const CoverFunctionPlace *f, const CoverFunctionMark *mark)
{
    return f->line == mark->line && f->column < mark->column &&
           (mark->line < f->end_line || f->end_column == 0 || mark->column < f->end_column);
}

// The first function that starts at or below a line.
static size_t first_from(const CoverExclusions *e, uint32_t line)
{
    size_t low = 0, high = e->functions.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->functions.at[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// SIZE_MAX: none. clang's functions start at their brace, which may stand on a line
// of its own below the mark.
static size_t find_marked(const CoverExclusions *e, const CoverFunctionMark *mark)
{
    size_t i = first_from(e, mark->line);
    for (; i < e->functions.len && e->functions.at[i].line == mark->line; i++)
        if (is_marked(&e->functions.at[i], mark))
            return i;
    return i < e->functions.len && e->functions.at[i].line == mark->line + 1 ? i : SIZE_MAX;
}

// The lines of a function without those of the functions that start inside.
static void exclude_function(CoverExclusions *e, size_t row, CoverLineRangeVec *to)
{
    const CoverFunctionPlace *f = &e->functions.at[row];
    uint32_t first = f->line;
    for (size_t i = row + 1; i < e->functions.len; i++) {
        const CoverFunctionPlace *inner = &e->functions.at[i];
        if (inner->line >= f->end_line)
            break;
        if (inner->line == f->line || inner->end_line > f->end_line)
            continue; // instances of one template, and what does not lie within
        add_range(e->arena, to, first, inner->line);
        first = MAX(first, inner->end_line + 1);
    }
    add_range(e->arena, to, first, f->end_line + 1);
}

void cover_exclusions_settle(CoverExclusions *e)
{
    if (e->functions.len)
        qsort(e->functions.at, e->functions.len, sizeof(e->functions.at[0]), compare_places);
    size_t last[2] = {SIZE_MAX, SIZE_MAX}; // functions done, by `branches_only`
    for (size_t i = 0; i < e->function_marks.len; i++) {
        const CoverFunctionMark *mark = &e->function_marks.at[i];
        CoverLineRangeVec *to = mark->branches_only ? &e->branches : &e->lines;
        size_t row = find_marked(e, mark);
        if (row == SIZE_MAX)
            e->unplaced++;
        else if (row != last[mark->branches_only])
            exclude_function(e, row, to);
        last[mark->branches_only] = row;
    }
    e->function_marks.len = e->functions.len = 0;
    join_ranges(&e->lines);
    join_ranges(&e->branches);
}

// ---- Looking up ------------------------------------------------------------------

static bool in_ranges(const CoverLineRangeVec *v, uint32_t line)
{
    size_t low = PARTITION_POINT(i, v->len, v->at[i].end <= line);
    return low < v->len && v->at[low].first <= line;
}

bool cover_exclusions_need_counts(const CoverExclusions *e)
{
    return e && (e->unreachable.len || e->miss_marks.len);
}

bool cover_exclusions_is_unreachable(const CoverExclusions *e, uint32_t line)
{
    return e && in_ranges(&e->unreachable, line);
}

CoverMissMark *cover_exclusions_miss_mark(CoverExclusions *e, uint32_t line)
{
    size_t low = PARTITION_POINT(i, e->miss_marks.len, e->miss_marks.at[i].line < line);
    return low < e->miss_marks.len && e->miss_marks.at[low].line == line ? &e->miss_marks.at[low]
                                                                         : NULL;
}

void cover_exclusions_add_line(CoverExclusions *e, uint32_t line, bool branches_only)
{
    add_range(e->arena, branches_only ? &e->branches : &e->lines, line, line + 1);
}

void cover_exclusions_counted(CoverExclusions *e)
{
    e->unreachable.len = e->miss_marks.len = 0;
    join_ranges(&e->lines);
    join_ranges(&e->branches);
}

bool cover_excludes_line(const CoverExclusions *e, uint32_t line)
{
    return e && in_ranges(&e->lines, line);
}

bool cover_excludes_branch(const CoverExclusions *e, uint32_t line)
{
    return e && (in_ranges(&e->lines, line) || in_ranges(&e->branches, line));
}

bool cover_excludes_exception(const CoverExclusions *e, uint32_t line)
{
    return e && in_ranges(&e->exceptions, line);
}

bool cover_excludes_source(const CoverExclusions *e, uint32_t line)
{
    return e && in_ranges(&e->sources, line);
}
