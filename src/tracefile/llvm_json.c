// SPDX-License-Identifier: Apache-2.0
// What 'llvm-cov export' writes, read value by value: such files have gigabytes.
// Document: llvm/tools/llvm-cov/CoverageExporterJson.cpp.

#include <stdlib.h>

#include "llvmcov/segments.h"
#include "tracefile/json_stream.h"
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
    JsonStream json;     // its scratch arena is emptied for each file and function
    Str unknown_version; // "" else
    CoverSetFile file;   // the present one; its lists are the heap's
    CovSegmentVec segments;
    CovLineVec lines;
    uint64_t lines_spanned; // by the segments of all files
    size_t files;           // that are whole
} Reader;

// Up to `max` numbers of an array; what follows them is passed over.
static size_t take_numbers(Reader *r, uint64_t *to, size_t max)
{
    size_t n = 0;
    bool any = false;
    json_stream_take(&r->json, '[');
    while (json_stream_more(&r->json, &any, ']')) {
        if (n < max)
            to[n++] = json_stream_u64(&r->json);
        else
            json_stream_skip(&r->json);
    }
    return n;
}

static uint32_t small(Reader *r, uint64_t v)
{
    if (v > UINT32_MAX)
        json_stream_fail(&r->json, "a number is too large");
    return (uint32_t)v;
}

// ---- Files -----------------------------------------------------------------------

static void read_segments(Reader *r)
{
    bool any = false;
    r->segments.len = 0;
    json_stream_take(&r->json, '[');
    while (json_stream_more(&r->json, &any, ']')) {
        CovSegment s = {0};
        json_stream_take(&r->json, '[');
        s.line = small(r, json_stream_u64(&r->json));
        json_stream_take(&r->json, ',');
        s.column = small(r, json_stream_u64(&r->json));
        json_stream_take(&r->json, ',');
        s.count = json_stream_u64(&r->json);
        json_stream_take(&r->json, ',');
        s.has_count = json_stream_bool(&r->json);
        json_stream_take(&r->json, ',');
        s.is_entry = json_stream_bool(&r->json);
        // The first versions had no gaps.
        if (json_stream_peek(&r->json) == ',') {
            json_stream_take(&r->json, ',');
            s.is_gap = json_stream_bool(&r->json);
        }
        json_stream_take(&r->json, ']');
        uint32_t before = r->segments.len ? vec_last(&r->segments).line : s.line;
        // Lines that a segment spans cost memory, each: as many as text could stand for.
        r->lines_spanned += s.line - before;
        if (s.line < before || r->lines_spanned > LINES_MIN + LINES_A_BYTE * r->json.text.len)
            json_stream_fail(&r->json, "segments are not in order or span too many lines");
        if (!r->json.bad)
            vec_push(NULL, &r->segments, s);
    }
}

// [line, column, end line, end column, true count, false count, …]; those of an
// expansion are put on the line of the macro's use afterwards.
static void read_branches(Reader *r)
{
    bool any = false;
    json_stream_take(&r->json, '[');
    while (json_stream_more(&r->json, &any, ']')) {
        uint64_t n[6];
        if (take_numbers(r, n, ARRAY_LEN(n)) < ARRAY_LEN(n))
            json_stream_fail(&r->json, "a branch has too few numbers");
        if (r->json.bad)
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
    json_stream_take(&r->json, '{');
    while (json_stream_more(&r->json, &any, '}')) {
        Str key = json_stream_key(&r->json);
        if (str_equal(key, STR("branches")))
            read_branches(r);
        else if (str_equal(key, STR("source_region")))
            take_numbers(r, place, 1);
        else
            json_stream_skip(&r->json);
    }
    for (size_t i = first; i < r->file.branches.len; i++)
        r->file.branches.at[i].line = small(r, place[0]);
}

static void read_expansions(Reader *r)
{
    bool any = false;
    json_stream_take(&r->json, '[');
    while (json_stream_more(&r->json, &any, ']'))
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
    json_stream_take(&r->json, '{');
    while (json_stream_more(&r->json, &any, '}')) {
        Str key = json_stream_key(&r->json);
        if (str_equal(key, STR("filename")))
            path = cover_set_text(r->set, json_stream_str(&r->json));
        else if (str_equal(key, STR("segments")))
            read_segments(r);
        else if (str_equal(key, STR("branches")))
            read_branches(r);
        else if (str_equal(key, STR("expansions")))
            read_expansions(r);
        else
            json_stream_skip(&r->json);
    }
    if (r->json.bad)
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
    json_stream_take(&r->json, '[');
    while (json_stream_more(&r->json, &any, ']')) {
        if (name.len == 0)
            name = json_stream_str(&r->json);
        else
            json_stream_skip(&r->json);
    }
    return name;
}

static uint32_t read_first_line(Reader *r)
{
    bool any = false;
    uint64_t line[1] = {0};
    json_stream_take(&r->json, '[');
    while (json_stream_more(&r->json, &any, ']')) {
        if (line[0] == 0)
            take_numbers(r, line, 1);
        else
            json_stream_skip(&r->json);
    }
    return small(r, line[0]);
}

static void read_function(Reader *r)
{
    bool any = false;
    CoverSetFunction f = {0};
    Str path = {0};
    json_stream_take(&r->json, '{');
    while (json_stream_more(&r->json, &any, '}')) {
        Str key = json_stream_key(&r->json);
        if (str_equal(key, STR("name")))
            f.name = cover_set_text(r->set, json_stream_str(&r->json));
        else if (str_equal(key, STR("count")))
            f.count = json_stream_u64(&r->json);
        else if (str_equal(key, STR("filenames")))
            path = cover_set_text(r->set, read_first_name(r));
        else if (str_equal(key, STR("regions")))
            f.line = read_first_line(r);
        else
            json_stream_skip(&r->json);
    }
    if (r->json.bad || path.len == 0)
        return;
    CoverSetFile *into = cover_set_file(r->set, path);
    vec_push(r->set->arena, &into->functions, f);
}

static void read_all(Reader *r, void (*read)(Reader *r))
{
    bool any = false;
    json_stream_take(&r->json, '[');
    while (json_stream_more(&r->json, &any, ']')) {
        read(r);
        arena_deinit(r->json.scratch);
    }
}

static void read_export(Reader *r)
{
    bool any = false;
    json_stream_take(&r->json, '{');
    while (json_stream_more(&r->json, &any, '}')) {
        Str key = json_stream_key(&r->json);
        if (str_equal(key, STR("files")))
            read_all(r, read_file);
        else if (str_equal(key, STR("functions")))
            read_all(r, read_function);
        else
            json_stream_skip(&r->json);
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
        json_stream_fail(&r->json, "unknown version");
    }
}

// A document that ends too early has its whole files.
static bool check(Reader *r, Error *err)
{
    if (!r->json.bad)
        return true;
    bool has_version = r->unknown_version.len > 0;
    error_set(err, ERROR_FORMAT, "llvm-cov's JSON: %s%s%" STR_FMT "%s at offset 0x%zx", r->json.bad,
              has_version ? " '" : "", STR_ARG(r->unknown_version),
              has_version ? "'; versions 1 to 3 are known" : "", MIN(r->json.at, r->json.text.len));
    if (r->json.at < r->json.text.len || r->files == 0)
        return false;
    vec_push(r->set->arena, &r->set->notes,
             arena_printf(r->set->arena, "%zu whole files read, the rest is left out: %s", r->files,
                          err->text));
    return true;
}

bool tracefile_read_llvm_json(CoverSet *into, Bytes file, Error *err)
{
    Arena scratch = {0};
    Reader r = {.set = into, .json = json_stream_over(str_from_bytes(file), &scratch)};
    bool any = false, is_export = false;
    json_stream_take(&r.json, '{');
    while (json_stream_more(&r.json, &any, '}')) {
        Str key = json_stream_key(&r.json);
        if (str_equal(key, STR("data")))
            read_all(&r, read_export);
        else if (str_equal(key, STR("type")))
            is_export = str_equal(json_stream_str(&r.json), STR("llvm.coverage.json.export"));
        else if (str_equal(key, STR("version")))
            check_version(&r, json_stream_str(&r.json));
        else
            json_stream_skip(&r.json);
    }
    // Functions came behind the files' own lists.
    for (size_t i = 0; i < into->files.len; i++)
        cover_set_file_normalise(&into->files.at[i]);
    if (!r.json.bad && !is_export)
        json_stream_fail(&r.json, "its type is not llvm.coverage.json.export");
    vec_free(&r.file.lines);
    vec_free(&r.file.branches);
    vec_free(&r.segments);
    vec_free(&r.lines);
    arena_deinit(&scratch);
    return check(&r, err);
}
