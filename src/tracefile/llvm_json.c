// SPDX-License-Identifier: Apache-2.0
// What 'llvm-cov export' writes, read value by value: such files have gigabytes.
// Document: llvm/tools/llvm-cov/CoverageExporterJson.cpp.

#include <stdlib.h>

#include "base/json.h"
#include "llvmcov/segments.h"
#include "tracefile/tracefile.h"

enum { LINES_MIN = 1 << 20, LINES_A_BYTE = 64 };

static const FormatVersion json_versions[] = {
    {1, 1, "no release that is known", "", false},
    {2, 2, "llvm-cov since 5", "", true},
    {3, 3, "newer ones, up to 22", "", false},
};

const FormatVersions tracefile_json_versions = {
    .format = "llvm-cov's JSON",
    .newer = "give the program and its profiles, or what its 'llvm-cov export -format=lcov' writes",
    .numbers = "",
    .at = json_versions,
    .count = ARRAY_LEN(json_versions),
};

typedef struct Reader {
    CoverSet *set;
    Arena *scratch; // of strings with escapes; emptied for each file and function
    Str text;
    size_t at;
    const char *bad;
    Str unknown_version; // "" else
    CoverSetFile file;   // the present one; its lists are the heap's
    CovSegmentVec segments;
    CovLineVec lines;
    uint64_t lines_spanned; // by the segments of all files
    size_t files;           // that are whole
} Reader;

static void fail(Reader *r, const char *why)
{
    if (!r->bad)
        r->bad = why;
}

// ---- JSON ----------------------------------------------------------------------

static char peek(Reader *r)
{
    while (r->at < r->text.len && (r->text.ptr[r->at] == ' ' || r->text.ptr[r->at] == '\n' ||
                                   r->text.ptr[r->at] == '\r' || r->text.ptr[r->at] == '\t'))
        r->at++;
    return r->at < r->text.len ? r->text.ptr[r->at] : '\0';
}

static void take(Reader *r, char c)
{
    if (peek(r) != c)
        fail(r, "another value was expected");
    r->at++;
}

// The next item of an array or object whose bracket is taken: false behind the last.
static bool more(Reader *r, bool *any, char close)
{
    if (r->bad)
        return false;
    if (peek(r) == close) {
        r->at++;
        return false;
    }
    if (*any)
        take(r, ',');
    *any = true;
    return !r->bad;
}

// The text between the quotes, escapes and all.
static Str take_raw(Reader *r)
{
    take(r, '"');
    size_t start = r->at;
    while (r->at < r->text.len && r->text.ptr[r->at] != '"')
        r->at += r->text.ptr[r->at] == '\\' ? 2 : 1;
    if (r->at >= r->text.len) {
        fail(r, "a string is not closed");
        return STR("");
    }
    return str_slice(r->text, start, r->at++);
}

static Str take_string(Reader *r)
{
    size_t start = r->at;
    Str raw = take_raw(r);
    if (r->bad || str_find_char(raw, '\\') == SIZE_MAX)
        return raw;
    // Rare: the whole reader knows the escapes.
    JsonValue *v;
    Error err;
    if (json_parse(r->scratch, str_slice(r->text, start, r->at), &v, &err))
        return v->text;
    fail(r, "a string has an escape that is none");
    return STR("");
}

static Str take_key(Reader *r)
{
    peek(r);
    Str key = take_raw(r);
    take(r, ':');
    return key;
}

static uint64_t take_number(Reader *r)
{
    uint64_t v = 0;
    peek(r);
    size_t start = r->at;
    while (r->at < r->text.len && r->text.ptr[r->at] >= '0' && r->text.ptr[r->at] <= '9')
        r->at++;
    if (!str_parse_u64(str_slice(r->text, start, r->at), 10, &v))
        fail(r, "a number was expected");
    return v;
}

static bool take_bool(Reader *r)
{
    bool v = peek(r) == 't';
    Str word = v ? STR("true") : STR("false");
    Str rest = str_slice(r->text, r->at, r->text.len);
    if (!str_starts_with(rest, word)) {
        fail(r, "true or false was expected");
        if (!str_starts_with(word, rest)) // else it is cut
            return false;
    }
    r->at += word.len;
    return v;
}

// Passes over any value; brackets are counted, not matched.
static void skip_value(Reader *r)
{
    size_t depth = 0;
    do {
        char c = peek(r);
        if (c == '"') {
            take_raw(r);
        } else if (c == '{' || c == '[') {
            depth++;
            r->at++;
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
            r->at++;
        } else if (c == '\0') {
            fail(r, "the document ends within a value");
        } else if ((c == ',' || c == ':') && depth) {
            r->at++;
        } else {
            size_t start = r->at;
            while (r->at < r->text.len && !strchr(",:]}[{\" \t\r\n", r->text.ptr[r->at]))
                r->at++;
            if (r->at == start)
                fail(r, "a value was expected");
        }
    } while (depth && !r->bad);
}

// Up to `max` numbers of an array; what follows them is passed over.
static size_t take_numbers(Reader *r, uint64_t *to, size_t max)
{
    size_t n = 0;
    bool any = false;
    take(r, '[');
    while (more(r, &any, ']')) {
        if (n < max)
            to[n++] = take_number(r);
        else
            skip_value(r);
    }
    return n;
}

static uint32_t small(Reader *r, uint64_t v)
{
    if (v > UINT32_MAX)
        fail(r, "a number is too large");
    return (uint32_t)v;
}

// ---- Files -----------------------------------------------------------------------

static void read_segments(Reader *r)
{
    bool any = false;
    r->segments.len = 0;
    take(r, '[');
    while (more(r, &any, ']')) {
        CovSegment s = {0};
        take(r, '[');
        s.line = small(r, take_number(r));
        take(r, ',');
        s.column = small(r, take_number(r));
        take(r, ',');
        s.count = take_number(r);
        take(r, ',');
        s.has_count = take_bool(r);
        take(r, ',');
        s.is_entry = take_bool(r);
        // The first versions had no gaps.
        if (peek(r) == ',') {
            take(r, ',');
            s.is_gap = take_bool(r);
        }
        take(r, ']');
        uint32_t before = r->segments.len ? vec_last(&r->segments).line : s.line;
        // Lines that a segment spans cost memory, each: as many as text could stand for.
        r->lines_spanned += s.line - before;
        if (s.line < before || r->lines_spanned > LINES_MIN + LINES_A_BYTE * r->text.len)
            fail(r, "segments are not in order or span too many lines");
        if (!r->bad)
            vec_push(NULL, &r->segments, s);
    }
}

// [line, column, end line, end column, true count, false count, …]; those of an
// expansion are put on the line of the macro's use afterwards.
static void read_branches(Reader *r)
{
    bool any = false;
    take(r, '[');
    while (more(r, &any, ']')) {
        uint64_t n[6];
        if (take_numbers(r, n, ARRAY_LEN(n)) < ARRAY_LEN(n))
            fail(r, "a branch has too few numbers");
        if (r->bad)
            return;
        for (unsigned side = 0; side < 2; side++)
            vec_push(NULL, &r->file.branches,
                     (CoverSetBranch){.line = small(r, n[0]),
                                      .branch = side,
                                      .is_reached = n[4] || n[5],
                                      .count = n[4 + side]});
    }
}

static void read_expansion(Reader *r)
{
    bool any = false;
    size_t first = r->file.branches.len;
    uint64_t place[1] = {0};
    take(r, '{');
    while (more(r, &any, '}')) {
        Str key = take_key(r);
        if (str_equal(key, STR("branches")))
            read_branches(r);
        else if (str_equal(key, STR("source_region")))
            take_numbers(r, place, 1);
        else
            skip_value(r);
    }
    for (size_t i = first; i < r->file.branches.len; i++)
        r->file.branches.at[i].line = small(r, place[0]);
}

static void read_expansions(Reader *r)
{
    bool any = false;
    take(r, '[');
    while (more(r, &any, ']'))
        read_expansion(r);
}

typedef struct BranchPair {
    uint32_t line, at;
} BranchPair;

static int compare_pairs(const void *a, const void *b)
{
    const BranchPair *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

// Gives each pair on a line its number, in the order of the file.
static void number_branches(CoverSetFile *f)
{
    Vec(BranchPair) pairs = {0};
    for (uint32_t i = 0; i + 1 < f->branches.len; i += 2)
        vec_push(NULL, &pairs, (BranchPair){f->branches.at[i].line, i});
    if (pairs.len)
        qsort(pairs.at, pairs.len, sizeof(pairs.at[0]), compare_pairs);
    for (uint32_t i = 0, number = 0; i < pairs.len; i++) {
        number = i && pairs.at[i].line == pairs.at[i - 1].line ? number + 1 : 0;
        for (unsigned side = 0; side < 2; side++) {
            f->branches.at[pairs.at[i].at + side].block = number;
            f->branches.at[pairs.at[i].at + side].branch = 2 * number + side;
        }
    }
    vec_free(&pairs);
}

static void read_file(Reader *r)
{
    bool any = false;
    Str path = {0};
    r->segments.len = r->file.branches.len = r->file.lines.len = 0;
    take(r, '{');
    while (more(r, &any, '}')) {
        Str key = take_key(r);
        if (str_equal(key, STR("filename")))
            path = cover_set_text(r->set, take_string(r));
        else if (str_equal(key, STR("segments")))
            read_segments(r);
        else if (str_equal(key, STR("branches")))
            read_branches(r);
        else if (str_equal(key, STR("expansions")))
            read_expansions(r);
        else
            skip_value(r);
    }
    if (r->bad)
        return;
    cov_lines(&r->segments, &r->lines);
    for (size_t i = 0; i < r->lines.len; i++)
        vec_push(NULL, &r->file.lines, (CoverSetLine){r->lines.at[i].line, r->lines.at[i].count});
    number_branches(&r->file);
    cover_set_file_normalise(&r->file);
    CoverSetFile *into = cover_set_file(r->set, path);
    cover_set_file_add(r->set->arena, into, &r->file);
    r->files++;
}

// ---- Functions ---------------------------------------------------------------------

static Str read_first_name(Reader *r)
{
    bool any = false;
    Str name = {0};
    take(r, '[');
    while (more(r, &any, ']')) {
        if (name.len == 0)
            name = take_string(r);
        else
            skip_value(r);
    }
    return name;
}

static uint32_t read_first_line(Reader *r)
{
    bool any = false;
    uint64_t line[1] = {0};
    take(r, '[');
    while (more(r, &any, ']')) {
        if (line[0] == 0)
            take_numbers(r, line, 1);
        else
            skip_value(r);
    }
    return small(r, line[0]);
}

static void read_function(Reader *r)
{
    bool any = false;
    CoverSetFunction f = {0};
    Str path = {0};
    take(r, '{');
    while (more(r, &any, '}')) {
        Str key = take_key(r);
        if (str_equal(key, STR("name")))
            f.name = cover_set_text(r->set, take_string(r));
        else if (str_equal(key, STR("count")))
            f.count = take_number(r);
        else if (str_equal(key, STR("filenames")))
            path = cover_set_text(r->set, read_first_name(r));
        else if (str_equal(key, STR("regions")))
            f.line = read_first_line(r);
        else
            skip_value(r);
    }
    if (r->bad || path.len == 0)
        return;
    CoverSetFile *into = cover_set_file(r->set, path);
    vec_push(r->set->arena, &into->functions, f);
}

static void read_all(Reader *r, void (*read)(Reader *r))
{
    bool any = false;
    take(r, '[');
    while (more(r, &any, ']')) {
        read(r);
        arena_deinit(r->scratch);
    }
}

static void read_export(Reader *r)
{
    bool any = false;
    take(r, '{');
    while (more(r, &any, '}')) {
        Str key = take_key(r);
        if (str_equal(key, STR("files")))
            read_all(r, read_file);
        else if (str_equal(key, STR("functions")))
            read_all(r, read_function);
        else
            skip_value(r);
    }
}

// A new first number means other things by the same names.
static void check_version(Reader *r, Str version)
{
    Str major, rest;
    uint64_t number;
    if (!str_split(version, '.', &major, &rest) || !str_parse_u64(major, 10, &number) ||
        !format_version_find(&tracefile_json_versions, number)) {
        r->unknown_version = arena_str(r->set->arena, str_slice(version, 0, 40));
        fail(r, "unknown version");
    }
}

// A document that ends too early has its whole files.
static bool check(Reader *r, Error *err)
{
    if (!r->bad)
        return true;
    bool has_version = r->unknown_version.len > 0;
    error_set(err, ERROR_FORMAT, "llvm-cov's JSON: %s%s%" STR_FMT "%s at offset 0x%zx", r->bad,
              has_version ? " '" : "", STR_ARG(r->unknown_version),
              has_version ? "', known are 1 to 3" : "", MIN(r->at, r->text.len));
    if (r->at < r->text.len || r->files == 0)
        return false;
    vec_push(r->set->arena, &r->set->notes,
             arena_printf(r->set->arena, "%zu whole files read, the rest is left out: %s", r->files,
                          err->text));
    return true;
}

bool tracefile_read_llvm_json(CoverSet *into, Bytes file, Error *err)
{
    Arena scratch = {0};
    Reader r = {.set = into, .scratch = &scratch, .text = str_from_bytes(file)};
    bool any = false, is_export = false;
    take(&r, '{');
    while (more(&r, &any, '}')) {
        Str key = take_key(&r);
        if (str_equal(key, STR("data")))
            read_all(&r, read_export);
        else if (str_equal(key, STR("type")))
            is_export = str_equal(take_string(&r), STR("llvm.coverage.json.export"));
        else if (str_equal(key, STR("version")))
            check_version(&r, take_string(&r));
        else
            skip_value(&r);
    }
    // Functions came behind the files' own lists.
    for (size_t i = 0; i < into->files.len; i++)
        cover_set_file_normalise(&into->files.at[i]);
    if (!r.bad && !is_export)
        fail(&r, "its type is not llvm.coverage.json.export");
    vec_free(&r.file.lines);
    vec_free(&r.file.branches);
    vec_free(&r.segments);
    vec_free(&r.lines);
    arena_deinit(&scratch);
    return check(&r, err);
}
