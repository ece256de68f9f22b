// SPDX-License-Identifier: Apache-2.0
// Fitting text to columns.

#include "analyse/fit.h"

#include "base/arena.h"
#include "harness.h"

static void a_fitting_name_is_never_wider(void **state)
{
    (void)state;
    Arena arena = {0};
    char *huge = arena_alloc(&arena, 1 << 20, 1);
    memset(huge, 'x', 1 << 20);
    memcpy(huge, "a<b(c{d[", 8);
    const Str names[] = {
        str_over(huge, 1 << 20),
        STR("std::vector<int, std::allocator<int> >::push_back(int const&)"),
        STR("\x1b[31mred\x07\xff\xfe"),
        STR("日本語日本語日本語日本語日本語"),
        STR("a\xcc\x81\xcc\x81\xcc\x81\xcc\x81"),
        STR(""),
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        for (size_t columns = 1; columns < 80; columns++) {
            StrBuf out = {0};
            name_add_fitting(&out, names[i], columns);
            Str text = strbuf_str(&out);
            assert_true(str_columns(text) <= columns);
            assert_true(str_find_char(text, '\x1b') == SIZE_MAX);
            strbuf_deinit(&out);
        }
    }
    arena_deinit(&arena);
}

static void a_name_loses_arguments_then_templates_then_its_front(void **state)
{
    (void)state;
    Str name = STR("std::vector<int, std::allocator<int> >::push_back(int const&)");
    const struct {
        size_t columns;
        const char *want;
    } cases[] = {
        {80, "std::vector<int, std::allocator<int> >::push_back(int const&)"},
        {60, "std::vector<int, std::allocator<int> >::push_back"},
        {40, "std::vector::push_back"},
        {20, "vector::push_back"},
        {12, "push_back"},
        {5, "p…ack"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        StrBuf out = {0};
        name_add_fitting(&out, name, cases[i].columns);
        assert_true(str_columns(strbuf_str(&out)) <= cases[i].columns);
        assert_str(strbuf_str(&out), cases[i].want);
        strbuf_deinit(&out);
    }
}

static void a_name_keeps_its_class_before_its_templates(void **state)
{
    (void)state;
    const struct {
        const char *name;
        size_t columns;
        const char *want;
    } cases[] = {
        // A table in 80 columns has 37 for a function's name, and 27 where "(inlined)" follows.
        {"bool __gnu_cxx::__ops::_Iter_less_iter::operator()<__gnu_cxx::__normal_iterator<double*, "
         "std::vector<double, std::allocator<double> > >, __gnu_cxx::__normal_iterator<double*, "
         "std::vector<double, std::allocator<double> > > >(__gnu_cxx::__normal_iterator<double*, "
         "std::vector<double, std::allocator<double> > >, __gnu_cxx::__normal_iterator<double*, "
         "std::vector<double, std::allocator<double> > >) const",
         37, "__ops::_Iter_less_iter::operator()"},
        {"std::__detail::_Executor<char const*, std::allocator<std::sub_match<char const*> >, "
         "std::regex_traits<char>, true>::_M_dfs(std::__detail::_Executor<char const*, "
         "std::allocator<std::sub_match<char const*> >, std::regex_traits<char>, "
         "true>::_Match_mode, long)",
         27, "__detail::_Executor::_M_dfs"},
        {"std::function<bool (std::__cxx11::basic_string<char, std::char_traits<char>, "
         "std::allocator<char> > const&)>::operator()(std::__cxx11::basic_string<char, "
         "std::char_traits<char>, std::allocator<char> > const&) const",
         20, "function::operator()"},
        {"<core::option::Option<T> as core::option::SpecOptionPartialEq>::eq", 37,
         "<Option as SpecOptionPartialEq>::eq"},
        {"<core::option::Option<T> as core::option::SpecOptionPartialEq>::eq", 27, "Option::eq"},
        {"<core::option::Option<T> as core::option::SpecOptionPartialEq>::eq", 5, "eq"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        StrBuf out = {0};
        name_add_fitting(&out, str_from_c(cases[i].name), cases[i].columns);
        assert_str(strbuf_str(&out), cases[i].want);
        strbuf_deinit(&out);
    }
}

static void other_text_is_cut_where_it_says_least(void **state)
{
    (void)state;
    StrBuf out = {0};
    assert_int_equal(text_add_fitting(&out, STR("/usr/include/c++/12/bits/hash.h:16"), 15, true),
                     15);
    assert_str(strbuf_str(&out), "/usr/…hash.h:16");
    strbuf_clear(&out);
    assert_int_equal(text_add_fitting(&out, STR("while (*at && x)"), 8, false), 8);
    assert_str(strbuf_str(&out), "while (…");
    strbuf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_loses_arguments_then_templates_then_its_front),
        cmocka_unit_test(a_name_keeps_its_class_before_its_templates),
        cmocka_unit_test(other_text_is_cut_where_it_says_least),
        cmocka_unit_test(a_fitting_name_is_never_wider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
