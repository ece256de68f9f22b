// SPDX-License-Identifier: Apache-2.0
// Finding exclusion marks.
// Document: man geninfo(1), "Exclusion markers"; gcovr's guide, "Exclusion
// Markers"; grcov's README.

#include "collect/cover/exclusions.h"

#include <stdlib.h>

static const char *const tools[] = {"LCOV", "GCOVR", "GCOV", "GRCOV"};

typedef enum Mark { MARK_LINE, MARK_START, MARK_STOP, MARK_COUNT } Mark;
static const char *const marks[MARK_COUNT] = {"LINE", "START", "STOP"};

typedef struct Scan {
    Arena *arena;
    CoverExclusions *e;
    // Where a section of each tool began, 0: in none. For lines and for branches.
    uint32_t started[2][ARRAY_LEN(tools)];
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

static void add_range(Scan *s, bool branches, uint32_t first, uint32_t end)
{
    CoverLineRangeVec *to = branches ? &s->e->branches : &s->e->lines;
    if (first < end)
        vec_push(s->arena, to, (CoverLineRange){first, end});
}

static void take_mark(Scan *s, Str line, size_t at, uint32_t number)
{
    static const Str excl = STR_INIT("_EXCL_");
    size_t tool = tool_before(line, at);
    Str rest = str_slice(line, at + excl.len, line.len);
    bool branches = str_starts_with(rest, STR("BR_"));
    Mark m = mark_after(branches ? str_slice(rest, 3, rest.len) : rest);
    if (tool == SIZE_MAX || m == MARK_COUNT)
        return;
    uint32_t *started = &s->started[branches][tool];
    if (m == MARK_LINE) {
        add_range(s, branches, number, number + 1);
    } else if (m == MARK_START && *started == 0) {
        *started = number;
    } else if (m == MARK_STOP && *started) {
        add_range(s, branches, *started, number);
        *started = 0;
    }
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

bool cover_exclusions_find(Arena *arena, Str source, CoverExclusions *ret)
{
    // Most sources have none, and searching the whole is faster than by line.
    if (str_find(source, STR("_EXCL_")) == SIZE_MAX)
        return false;
    CoverExclusions e = {0};
    Scan s = {.arena = arena, .e = &e};
    Str line = {0};
    uint32_t number = 0;
    while (str_next_line(&source, &line)) {
        number++;
        for (size_t at = 0, hit;
             (hit = str_find(str_slice(line, at, line.len), STR("_EXCL_"))) != SIZE_MAX;) {
            take_mark(&s, line, at + hit, number);
            at += hit + 1;
        }
    }
    for (int branches = 0; branches < 2; branches++) {
        for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
            if (s.started[branches][i] == 0)
                continue;
            add_range(&s, branches, s.started[branches][i], UINT32_MAX);
            e.open++;
        }
    }
    join_ranges(&e.lines);
    join_ranges(&e.branches);
    *ret = e;
    return e.lines.len || e.branches.len;
}

static bool in_ranges(const CoverLineRangeVec *v, uint32_t line)
{
    size_t low = 0, high = v->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v->at[middle].end <= line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->len && v->at[low].first <= line;
}

bool cover_excludes_line(const CoverExclusions *e, uint32_t line)
{
    return e && in_ranges(&e->lines, line);
}

bool cover_excludes_branch(const CoverExclusions *e, uint32_t line)
{
    return e && (in_ranges(&e->lines, line) || in_ranges(&e->branches, line));
}
