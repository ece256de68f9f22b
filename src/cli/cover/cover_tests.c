// SPDX-License-Identifier: Apache-2.0
// assay cover tests: which tests run a line, and which tests are enough.

#include "base/json.h"
#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "collect/cover/testmap_smallest.h"
#include "os/file.h"

typedef struct CoverTestsOptions {
    Str data;
    bool smallest, list, json;
} CoverTestsOptions;

static const Option options[] = {
    OPT_TEXT('d', "data", CoverTestsOptions, data, "DIR",
             "folder of the results of 'assay cover run --per-test' (.assay/cover)"),
    OPT_FLAG(0, "smallest-set", CoverTestsOptions, smallest,
             "tests that together run every line that any runs, the most useful first"),
    OPT_FLAG(0, "list", CoverTestsOptions, list, "all tests: status, time, lines, name"),
    OPT_FLAG(0, "json", CoverTestsOptions, json, "as JSON, see docs/formats/cover-tests.md"),
};

static void add_test(const CoverTestStore *s, uint32_t test, StrBuf *out)
{
    strbuf_add_terminal(out, cover_tests_test(s, test).name);
    strbuf_add_char(out, '\n');
}

// ---- FILE:LINE -----------------------------------------------------------------

typedef struct Place {
    Str path;
    uint64_t first, last; // lines
} Place;

// "FILE", "FILE:LINE" or "FILE:FIRST-LAST".
static bool parse_place(Str text, Place *ret, Error *err)
{
    size_t colon = str_find_last_char(text, ':');
    *ret = (Place){text, 0, UINT64_MAX};
    if (colon == SIZE_MAX)
        return true;
    Str lines = str_slice(text, colon + 1, text.len), first = lines, last = lines;
    (void)str_split(lines, '-', &first, &last);
    ret->path = str_slice(text, 0, colon);
    if (!str_parse_u64(first, 10, &ret->first) || !str_parse_u64(last, 10, &ret->last))
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not FILE:LINE or FILE:FIRST-LAST",
                         STR_ARG(text));
    return true;
}

static bool is_path(Str path, Str asked)
{
    return str_ends_with(path, asked) &&
           (path.len == asked.len || path.ptr[path.len - asked.len - 1] == '/');
}

// Marks the tests of a place. False when no line of it is known.
static bool find_tests(const CoverTestStore *s, const Place *place, U8Vec *found)
{
    bool known = false;
    for (uint32_t i = 0; i < s->file_count; i++) {
        CoverTestFile f = cover_tests_file(s, i);
        if (!is_path(f.path, place->path))
            continue;
        for (uint32_t k = f.first; k < f.first + f.count; k++) {
            CoverTestLine line = cover_tests_line(s, k);
            if (line.line < place->first || line.line > place->last)
                continue;
            known = true;
            for (uint32_t t = 0; t < s->test_count; t++)
                found->at[t] |= cover_tests_in_set(s, line.set, t);
        }
    }
    return known;
}

// Marks the tests of all places.
static int find_places(const CoverTestStore *s, const StrVec *operands, U8Vec *found, Error *err)
{
    int status = STATUS_OK;
    for (size_t i = 0; i < operands->len; i++) {
        Place place;
        if (!parse_place(operands->at[i], &place, err))
            return cli_fail(err);
        if (!find_tests(s, &place, found)) {
            cli_say("'%" STR_FMT "': no code there", STR_ARG(operands->at[i]));
            status = STATUS_FAILED;
        }
    }
    return status;
}

static void show_found(const CoverTestStore *s, const U8Vec *found, StrBuf *out)
{
    for (uint32_t t = 0; t < s->test_count; t++)
        if (found->at[t])
            add_test(s, t, out);
}

// ---- All of them -----------------------------------------------------------------

static void show_smallest(Arena *arena, const CoverTestStore *s, StrBuf *out)
{
    CoverTestChoice c;
    cover_tests_smallest(arena, s, &c);
    for (size_t i = 0; i < c.tests.len; i++) {
        strbuf_printf(out, "%8u ", c.gains.at[i]);
        add_test(s, c.tests.at[i], out);
    }
    cli_say("%zu of %u tests run every line that any runs%s; before each stands how many lines it "
            "adds",
            c.tests.len, s->test_count,
            c.minimal ? ", and no fewer do" : "; that fewer might do was not ruled out");
}

static void count_lines(const CoverTestStore *s, uint32_t *lines)
{
    for (uint32_t i = 0; i < s->line_count; i++) {
        uint32_t set = cover_tests_line(s, i).set;
        for (uint32_t t = 0; t < s->test_count; t++)
            lines[t] += cover_tests_in_set(s, set, t);
    }
}

static void show_list(Arena *arena, const CoverTestStore *s, StrBuf *out)
{
    uint32_t *lines = arena_array(arena, uint32_t, (size_t)s->test_count + 1);
    count_lines(s, lines);
    for (uint32_t t = 0; t < s->test_count; t++) {
        CoverTest test = cover_tests_test(s, t);
        strbuf_printf(out, "%3u %8.3f s %8u ", test.status, test.duration_us / 1e6, lines[t]);
        add_test(s, t, out);
    }
}

// ---- JSON ------------------------------------------------------------------------

static void json_tests(Arena *arena, const CoverTestStore *s, JsonWriter *w)
{
    uint32_t *lines = arena_array(arena, uint32_t, (size_t)s->test_count + 1);
    count_lines(s, lines);
    json_begin_array(w, "tests");
    for (uint32_t t = 0; t < s->test_count; t++) {
        CoverTest test = cover_tests_test(s, t);
        json_begin_object(w, NULL);
        json_str(w, "name", test.name);
        json_u64(w, "status", test.status);
        json_u64(w, "duration_us", test.duration_us);
        json_u64(w, "lines", lines[t]);
        json_end(w);
    }
    json_end(w);
}

static void json_smallest(Arena *arena, const CoverTestStore *s, JsonWriter *w)
{
    CoverTestChoice c;
    cover_tests_smallest(arena, s, &c);
    json_begin_object(w, "smallest_set");
    json_bool(w, "minimal", c.minimal);
    json_begin_array(w, "tests");
    for (size_t i = 0; i < c.tests.len; i++) {
        json_begin_object(w, NULL);
        json_str(w, "name", cover_tests_test(s, c.tests.at[i]).name);
        json_u64(w, "adds", c.gains.at[i]);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void json_found(const CoverTestStore *s, const U8Vec *found, JsonWriter *w)
{
    json_begin_array(w, "found");
    for (uint32_t t = 0; t < s->test_count; t++)
        if (found->at[t])
            json_str(w, NULL, cover_tests_test(s, t).name);
    json_end(w);
}

static void add_json(const CoverTestsOptions *o, bool places, const U8Vec *found, Arena *arena,
                     const CoverTestStore *s, StrBuf *out)
{
    JsonWriter w = json_writer(out, 1);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-cover-tests-1"));
    if (o->list)
        json_tests(arena, s, &w);
    if (o->smallest)
        json_smallest(arena, s, &w);
    if (places)
        json_found(s, found, &w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

static int show_store(const CoverTestsOptions *o, const StrVec *operands, Arena *arena,
                      const CoverTestStore *s, StrBuf *out)
{
    Error err;
    U8Vec found = {0};
    vec_extend(arena, &found, (size_t)s->test_count + 1);
    int status = find_places(s, operands, &found, &err);
    if (status == STATUS_USAGE)
        return status;
    if (o->json) {
        add_json(o, operands->len != 0, &found, arena, s, out);
    } else {
        if (o->list)
            show_list(arena, s, out);
        if (o->smallest)
            show_smallest(arena, s, out);
        show_found(s, &found, out);
    }
    return cli_print(strbuf_str(out)) ? status : STATUS_FAILED;
}

static int show(const CoverTestsOptions *o, const StrVec *operands, Arena *arena)
{
    Error err;
    MappedFile m = {0};
    CoverTestStore store;
    StrBuf out = {0};
    int status = STATUS_OK;
    Str folder = o->data.len ? o->data : COVER_RUN_FOLDER;
    Str path =
        arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(COVER_TESTS_FILE));
    if (!os_map_file(path, &m, &err)) {
        (void)error_hint(&err, "run: assay cover run --per-test -- CMD");
        return cli_fail(&err);
    }
    if (!cover_tests_open(m.bytes, &store, &err)) {
        (void)error_context(&err, "'%" STR_FMT "'", STR_ARG(path));
        status = cli_fail(&err);
    } else {
        status = show_store(o, operands, arena, &store, &out);
    }
    strbuf_deinit(&out);
    os_unmap_file(&m);
    return status;
}

static int show_tests(CommandLine *line, void *values)
{
    const CoverTestsOptions *o = values;
    if (line->operands.len == 0 && !o->list && !o->smallest)
        return usage_error(line->cmd, "which line? FILE:LINE");
    return show(o, &line->operands, line->arena);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverTestsOptions o = {0};
    return command_run_parsed(cmd, argc, argv, &o, show_tests);
}

const Command cover_tests_command = {
    .name = "tests",
    .summary = "which tests run a line, and which tests are enough",
    .first = "  assay cover run --per-test -- cargo test  keep the lines of each test, then:\n"
             "  assay cover tests src/parser.c:120-140    the tests that run these lines\n"
             "  assay cover tests --smallest-set          the tests that are enough\n",
    .usage = "[OPTION ...] FILE:LINE|FILE:FIRST-LAST|FILE ...",
    .details = "The data come from 'assay cover run --per-test' or '--tests-from FILE'.\n"
               "  assay cover run --per-test -- ctest\n"
               "  assay cover tests src/parse.c:120-140\n"
               "  assay cover tests --smallest-set\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .run = run,
};
