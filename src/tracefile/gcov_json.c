// SPDX-License-Identifier: Apache-2.0
// gcov's JSON (gcov --json-format): documents of one translation unit each, one behind the other.
// Document: gcc's manual, "Invoking gcov", --json-format. Members come in any order.

#include "base/table.h"
#include "tracefile/json_stream.h"
#include "tracefile/tracefile.h"

#include <stdlib.h>

static const FormatVersion json_versions[] = {
    {1, 1, "gcov of gcc 9 to 13", "", true},
    {2, 2, "gcov of gcc 14 and 15", "conditions and calls, which are passed over", false},
};

const FormatVersions tracefile_gcov_json_versions = {
    .format = "gcov's JSON",
    .newer = "give the .gcno and .gcda files that it was made of",
    .numbers = "",
    .at = json_versions,
    .count = ARRAY_LEN(json_versions),
};

// Where a function starts.
typedef struct Place {
    Str name;
    uint32_t line, column;
    bool is_shared; // another function starts there, too: both are instances of one template
} Place;

typedef struct NextBranch {
    uint32_t line, number;
} NextBranch;

typedef struct Reader {
    CoverSet *set;
    Arena *scratch; // emptied for each file
    JsonStream json;
    Str folder;        // of the compiler, for relative names
    CoverSetFile file; // the present one; its lists are the heap's
    Vec(Place) places; // of its functions, by name
    Vec(NextBranch) next;
    Table next_index; // of `next` by line
    Vec(CoverSetBranch) on_line;
    uint64_t version; // of the present document
    bool has_version;
    size_t documents; // that are whole
} Reader;

static uint32_t take_u32(Reader *r)
{
    uint64_t v = json_stream_u64(&r->json);
    if (v > UINT32_MAX)
        json_stream_fail(&r->json, "a number is too large");
    return (uint32_t)v;
}

// ---- Functions -------------------------------------------------------------------

static void read_function(Reader *r)
{
    bool any = false;
    CoverSetFunction f = {0};
    Place place = {0};
    json_stream_take(&r->json, '{');
    while (json_stream_more(&r->json, &any, '}')) {
        Str key = json_stream_key(&r->json);
        if (str_equal(key, STR("name")))
            place.name = json_stream_str(&r->json);
        else if (str_equal(key, STR("start_line")))
            place.line = take_u32(r);
        else if (str_equal(key, STR("start_column")))
            place.column = take_u32(r);
        else if (str_equal(key, STR("end_line")))
            f.end_line = take_u32(r);
        else if (str_equal(key, STR("execution_count")))
            f.count = json_stream_u64(&r->json);
        else
            json_stream_skip(&r->json);
    }
    if (r->json.bad)
        return;
    f.name = cover_set_text(r->set, place.name);
    f.line = place.line;
    vec_push(NULL, &r->file.functions, f);
    vec_push(NULL, &r->places, place);
}

static int compare_starts(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(((const Place *)a)->name, ((const Place *)b)->name);
}

// Marks the functions that share their start, which is known where there are columns.
static void sort_places(Reader *r)
{
    Place *at = r->places.at;
    size_t count = r->places.len;
    if (count == 0)
        return;
    qsort(at, count, sizeof(*at), compare_starts);
    for (size_t i = 1; i < count; i++)
        if (at[i].column && compare_starts(&at[i - 1], &at[i]) == 0)
            at[i - 1].is_shared = at[i].is_shared = true;
    qsort(at, count, sizeof(*at), compare_names);
}

static bool is_instance(const Reader *r, Str function)
{
    Place key = {.name = function};
    const Place *found = r->places.len ? bsearch(&key, r->places.at, r->places.len,
                                                 sizeof(r->places.at[0]), compare_names)
                                       : NULL;
    return found && found->is_shared;
}

// ---- Lines -----------------------------------------------------------------------

static void read_branch(Reader *r)
{
    bool any = false;
    CoverSetBranch b = {0};
    json_stream_take(&r->json, '{');
    while (json_stream_more(&r->json, &any, '}')) {
        Str key = json_stream_key(&r->json);
        if (str_equal(key, STR("count")))
            b.count = json_stream_u64(&r->json);
        else if (str_equal(key, STR("throw")))
            b.is_exception = json_stream_bool(&r->json);
        else
            json_stream_skip(&r->json);
    }
    vec_push(NULL, &r->on_line, b);
}

// The number that the next branch of a line gets.
static uint32_t *next_branch(Reader *r, uint32_t line)
{
    uint64_t hash = hash_pair(line, 0);
    uint32_t row;
    for (TableProbe p = table_probe(&r->next_index, hash); table_next(&r->next_index, &p, &row);)
        if (r->next.at[row].line == line)
            return &r->next.at[row].number;
    table_insert(&r->next_index, hash, (uint32_t)r->next.len);
    vec_push(NULL, &r->next, ((NextBranch){.line = line}));
    return &vec_last(&r->next).number;
}

// Branches of functions on one line follow each other. Those of instances of a template are the
// same ones, so each instance starts again.
static void number_branches(Reader *r, const CoverSetLine *line, Str function)
{
    uint32_t of_instance = 0;
    uint32_t *next = is_instance(r, function) ? &of_instance : next_branch(r, line->line);
    for (size_t i = 0; i < r->on_line.len; i++) {
        CoverSetBranch b = r->on_line.at[i];
        b.line = line->line;
        b.branch = (*next)++;
        b.is_reached = line->count > 0;
        vec_push(NULL, &r->file.branches, b);
    }
}

static void read_line(Reader *r)
{
    bool any = false;
    CoverSetLine line = {0};
    Str function = {0};
    r->on_line.len = 0;
    json_stream_take(&r->json, '{');
    while (json_stream_more(&r->json, &any, '}')) {
        Str key = json_stream_key(&r->json);
        if (str_equal(key, STR("line_number")))
            line.line = take_u32(r);
        else if (str_equal(key, STR("count")))
            line.count = json_stream_u64(&r->json);
        else if (str_equal(key, STR("function_name")))
            function = json_stream_str(&r->json);
        else if (str_equal(key, STR("branches"))) {
            bool more = false;
            json_stream_take(&r->json, '[');
            while (json_stream_more(&r->json, &more, ']'))
                read_branch(r);
        } else
            json_stream_skip(&r->json);
    }
    if (r->json.bad)
        return;
    vec_push(NULL, &r->file.lines, line);
    if (r->on_line.len)
        number_branches(r, &line, function);
}

// ---- Files -----------------------------------------------------------------------

static void read_all(Reader *r, void (*read)(Reader *r))
{
    bool any = false;
    json_stream_take(&r->json, '[');
    while (json_stream_more(&r->json, &any, ']'))
        read(r);
}

static Str full_name(const Reader *r, Str name)
{
    if (r->folder.len == 0 || str_starts_with(name, STR("/")))
        return name;
    return arena_printf(r->scratch, "%" STR_FMT "/%" STR_FMT, STR_ARG(r->folder), STR_ARG(name));
}

static void begin_file(Reader *r)
{
    r->file.lines.len = r->file.branches.len = r->file.functions.len = 0;
    r->places.len = r->next.len = 0;
    table_deinit(&r->next_index);
}

// The functions say which lines are of templates, so lines are read behind them.
static void read_file(Reader *r)
{
    bool any = false;
    Str path = {0};
    size_t lines_at = SIZE_MAX;
    begin_file(r);
    json_stream_take(&r->json, '{');
    while (json_stream_more(&r->json, &any, '}')) {
        Str key = json_stream_key(&r->json);
        if (str_equal(key, STR("file")))
            path = json_stream_str(&r->json);
        else if (str_equal(key, STR("functions")))
            read_all(r, read_function);
        else {
            if (str_equal(key, STR("lines")))
                lines_at = r->json.at;
            json_stream_skip(&r->json);
        }
    }
    size_t end = r->json.at;
    sort_places(r);
    if (!r->json.bad && lines_at != SIZE_MAX) {
        r->json.at = lines_at;
        read_all(r, read_line);
        r->json.at = r->json.bad ? r->json.at : end;
    }
    if (r->json.bad)
        return;
    if (path.len == 0) {
        json_stream_fail(&r->json, "a file has no name");
        return;
    }
    cover_set_file_normalise(&r->file);
    CoverSetFile *into = cover_set_file(r->set, full_name(r, path));
    cover_set_file_add(r->set->arena, into, &r->file);
}

// ---- Documents -------------------------------------------------------------------

static void take_version(Reader *r)
{
    bool is_text = json_stream_peek(&r->json) == '"';
    if (!is_text)
        r->version = json_stream_u64(&r->json);
    else if (!str_parse_u64(json_stream_str(&r->json), 10, &r->version))
        json_stream_fail(&r->json, "the version is not a number");
    r->has_version = true;
}

// Looks at the members that say how to read the files. Gives the offset of the files; SIZE_MAX:
// there are none.
static size_t look_through(Reader *r)
{
    bool any = false;
    size_t files_at = SIZE_MAX;
    r->folder = (Str){0};
    r->has_version = false;
    json_stream_take(&r->json, '{');
    while (json_stream_more(&r->json, &any, '}')) {
        Str key = json_stream_key(&r->json);
        if (str_equal(key, STR("current_working_directory")))
            r->folder = arena_str(r->set->arena, json_stream_str(&r->json));
        else if (str_equal(key, STR("format_version")))
            take_version(r);
        else {
            if (str_equal(key, STR("files")))
                files_at = r->json.at;
            json_stream_skip(&r->json);
        }
    }
    if (!r->json.bad && (!r->has_version || files_at == SIZE_MAX))
        json_stream_fail(&r->json, "a document has no format_version or no files");
    return files_at;
}

static bool read_document(Reader *r, Error *err)
{
    size_t files_at = look_through(r), end = r->json.at;
    bool any = false;
    if (r->json.bad)
        return true; // check() says what
    if (!format_version_find(&tracefile_gcov_json_versions, r->version))
        return format_version_refuse(&tracefile_gcov_json_versions, r->version, err);
    r->json.at = files_at;
    json_stream_take(&r->json, '[');
    while (json_stream_more(&r->json, &any, ']')) {
        read_file(r);
        arena_deinit(r->scratch);
    }
    if (!r->json.bad) {
        r->json.at = end;
        r->documents++;
    }
    return true;
}

// Documents that are cut have no counts; those before them have.
static bool check(Reader *r, Error *err)
{
    if (!r->json.bad)
        return true;
    error_set(err, ERROR_FORMAT, "gcov's JSON: %s at offset 0x%zx", r->json.bad,
              MIN(r->json.at, r->json.text.len));
    if (r->json.at < r->json.text.len || r->documents == 0)
        return false;
    vec_push(r->set->arena, &r->set->notes,
             arena_printf(r->set->arena, "%zu whole documents read, the rest is left out: %s",
                          r->documents, err->text));
    return true;
}

bool tracefile_read_gcov_json(CoverSet *into, Bytes file, Error *err)
{
    Arena scratch = {0};
    Reader r = {
        .set = into, .scratch = &scratch, .json = json_stream_over(str_from_bytes(file), &scratch)};
    bool ok = true;
    do
        ok = read_document(&r, err);
    while (ok && !r.json.bad && json_stream_peek(&r.json) != '\0');
    vec_free(&r.file.lines);
    vec_free(&r.file.branches);
    vec_free(&r.file.functions);
    vec_free(&r.places);
    vec_free(&r.next);
    vec_free(&r.on_line);
    table_deinit(&r.next_index);
    arena_deinit(&scratch);
    return ok && check(&r, err);
}
