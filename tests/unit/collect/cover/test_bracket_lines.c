// SPDX-License-Identifier: Apache-2.0
// Lines that have a place in the line table and nothing to run.

#include "harness.h"

#include "collect/cover/bracket_lines.h"

static void brackets_and_words_that_open_a_block_are_no_statement(void **state)
{
    static const char *const lines[] = {
        "}",    "  } else {", "\t}else{\r",        "} // end", "}   }", "{",  "} /* for (;;) */",
        "});",  "else",       "    } else /* why", "do {",     "try {", "},", "];",
        "} \\",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!bracket_line_is(str_from_c(lines[i])))
            fail_msg("'%s' is taken for a statement", lines[i]);
}

static void what_can_run_is_a_statement(void **state)
{
    static const char *const lines[] = {
        "} else if (c) {",
        "x();",
        "} while (c);",
        "elsewhere();",
        "else_();",
        "dog {",
        "}; x",
        "/* a */ f(); /* b */",
        "\"}\"",
        "break;",
        "0",
        "#else",
        "do1 {",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (bracket_line_is(str_from_c(lines[i])))
            fail_msg("'%s' is taken for brackets", lines[i]);
    assert_false(bracket_line_is((Str){"}\0", 2}));
}

static void numbers_of_lines_ascend_and_begin_with_one(void **state)
{
    U32Vec found = {0};
    (void)state;
    bracket_lines_find(STR("{\nf();\n}\n} else {\ng();\n}"), &found);
    static const uint32_t expected[] = {1, 3, 4, 6};
    assert_int_equal(found.len, ARRAY_LEN(expected));
    assert_memory_equal(found.at, expected, sizeof(expected));
    vec_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brackets_and_words_that_open_a_block_are_no_statement),
        cmocka_unit_test(what_can_run_is_a_statement),
        cmocka_unit_test(numbers_of_lines_ascend_and_begin_with_one),
    };
    return RUN_TESTS(tests);
}
