// SPDX-License-Identifier: Apache-2.0
// Parses lists of tests as libtest, GoogleTest and CTest print them.

#include "collect/cover/testmap_list.h"

#include "os/capture.h"
#include "os/file.h"

enum { LIST_MAX_BYTES = 1 << 26 };

typedef Vec(char *) Words;

CoverTestStyle cover_test_style(const Program *program)
{
    static const struct {
        const char *text;
        CoverTestStyle style;
    } marks[] = {{"RUST_TEST_THREADS", COVER_TESTS_LIBTEST},
                 {"gtest_list_tests", COVER_TESTS_GTEST},
                 {"InitGoogleTest", COVER_TESTS_GTEST}};
    MappedFile m = {0};
    CoverTestStyle style = COVER_TESTS_UNKNOWN;
    if (str_equal(str_base_name(program->path), STR("ctest")))
        return COVER_TESTS_CTEST;
    if (!os_map_file(program->path, &m, NULL))
        return style;
    for (size_t i = 0; i < ARRAY_LEN(marks) && !style; i++)
        if (memmem(m.bytes.ptr, m.bytes.len, marks[i].text, strlen(marks[i].text)))
            style = marks[i].style;
    os_unmap_file(&m);
    return style;
}

// ---- Output -----------------------------------------------------------

// "path::name: test"
void cover_test_parse_libtest(Arena *arena, Str text, StrVec *names)
{
    Str line;
    while (str_next_line(&text, &line))
        if (str_ends_with(line, STR(": test")))
            vec_push(arena, names, arena_str(arena, str_slice(line, 0, line.len - 6)));
}

// "Suite." and below it, indented, "name  # comment".
void cover_test_parse_gtest(Arena *arena, Str text, StrVec *names)
{
    Str line, suite = {0};
    while (str_next_line(&text, &line)) {
        size_t comment = str_find_char(line, '#');
        Str name = str_trim(comment == SIZE_MAX ? line : str_slice(line, 0, comment));
        if (name.len == 0)
            continue;
        if (line.ptr[0] != ' ')
            suite = str_ends_with(name, STR(".")) ? name : (Str){0};
        else if (suite.len)
            vec_push(arena, names,
                     arena_printf(arena, "%" STR_FMT "%" STR_FMT, STR_ARG(suite), STR_ARG(name)));
    }
}

// "  Test  #1: name"
void cover_test_parse_ctest(Arena *arena, Str text, StrVec *names, StrVec *numbers)
{
    Str line, head, name;
    while (str_next_line(&text, &line)) {
        line = str_trim(line);
        size_t hash = str_find_char(line, '#');
        if (!str_starts_with(line, STR("Test ")) || hash == SIZE_MAX ||
            !str_split(str_slice(line, hash + 1, line.len), ':', &head, &name))
            continue;
        uint64_t number;
        if (!str_parse_u64(str_trim(head), 10, &number))
            continue;
        vec_push(arena, numbers, arena_str(arena, str_trim(head)));
        vec_push(arena, names, arena_str(arena, str_trim(name)));
    }
}

// ---- Commands ------------------------------------------------------------------

static void add_word(Arena *arena, Words *words, Str word)
{
    vec_push(arena, words, arena_c_str(arena, word));
}

static void add_words(Arena *arena, Words *words, char *const argv[])
{
    for (size_t i = 0; argv[i]; i++)
        vec_push(arena, words, argv[i]);
}

static void add_command(Arena *arena, CoverTestCommands *ret, Str prefix, Str name, Words words,
                        Str folder)
{
    vec_push(arena, &words, NULL);
    CoverTestCommand command = {
        arena_printf(arena, "%" STR_FMT "%" STR_FMT, STR_ARG(prefix), STR_ARG(name)), words.at,
        folder};
    vec_push(arena, ret, command);
}

static bool ask(Arena *arena, const Program *program, Words words, Str *text, Error *err)
{
    Bytes output;
    int status = 0;
    vec_push(arena, &words, NULL);
    if (!os_capture(arena, program, words.at, false, LIST_MAX_BYTES, &output, &status, err))
        return false;
    *text = str_from_bytes(output);
    return status == 0 || error_set(err, ERROR_OS, "'%" STR_FMT "' does not list its tests",
                                    STR_ARG(program->path));
}

static Words list_words(Arena *arena, CoverTestStyle style, char *const argv[])
{
    Words words = {0};
    add_words(arena, &words, argv);
    if (style == COVER_TESTS_LIBTEST) {
        add_word(arena, &words, STR("--list"));
        add_word(arena, &words, STR("--format=terse"));
    } else {
        add_word(arena, &words, style == COVER_TESTS_GTEST ? STR("--gtest_list_tests") : STR("-N"));
    }
    return words;
}

// The command line that runs one test. The user's arguments may select tests. For most frameworks
// the filter for the one test comes last and overrides theirs; libtest's filters are operands,
// which add up, so that the user's are left out.
static Words test_words(Arena *arena, CoverTestStyle style, char *const argv[], Str name,
                        Str number)
{
    Words words = {0};
    if (style == COVER_TESTS_LIBTEST) {
        vec_push(arena, &words, argv[0]);
        add_word(arena, &words, name);
        add_word(arena, &words, STR("--exact"));
        return words;
    }
    add_words(arena, &words, argv);
    if (style == COVER_TESTS_GTEST) {
        add_word(arena, &words, arena_printf(arena, "--gtest_filter=%" STR_FMT, STR_ARG(name)));
    } else {
        add_word(arena, &words, STR("-I"));
        add_word(arena, &words,
                 arena_printf(arena, "%" STR_FMT ",%" STR_FMT, STR_ARG(number), STR_ARG(number)));
        add_word(arena, &words, STR("--output-on-failure"));
    }
    return words;
}

bool cover_test_list(Arena *arena, CoverTestStyle style, const Program *program, char *const argv[],
                     Str prefix, Str folder, CoverTestCommands *ret, Error *err)
{
    Str text;
    StrVec names = {0}, numbers = {0};
    if (!ask(arena, program, list_words(arena, style, argv), &text, err))
        return false;
    if (style == COVER_TESTS_LIBTEST)
        cover_test_parse_libtest(arena, text, &names);
    else if (style == COVER_TESTS_GTEST)
        cover_test_parse_gtest(arena, text, &names);
    else
        cover_test_parse_ctest(arena, text, &names, &numbers);
    for (size_t i = 0; i < names.len; i++)
        add_command(
            arena, ret, prefix, names.at[i],
            test_words(arena, style, argv, names.at[i], i < numbers.len ? numbers.at[i] : STR("")),
            folder);
    return true;
}

void cover_test_lines(Arena *arena, Str text, CoverTestCommands *ret)
{
    Str line;
    while (str_next_line(&text, &line)) {
        line = str_trim(line);
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        Words words = {0};
        add_word(arena, &words, STR("sh"));
        add_word(arena, &words, STR("-c"));
        add_word(arena, &words, line);
        add_command(arena, ret, STR(""), arena_str(arena, line), words, STR(""));
    }
}
