// SPDX-License-Identifier: Apache-2.0
// Shortening of demangled names.

#include "analyse/name.h"

#include "base/arena.h"
#include "harness.h"

typedef struct NameCase {
    const char *full, *no_args, *no_templates, *tail, *last;
} NameCase;

static const NameCase cases[] = {
    {"main", "main", "main", "main", "main"},
    {"std::vector<int, std::allocator<int> >::push_back(int const&)",
     "std::vector<int, std::allocator<int> >::push_back", "std::vector::push_back",
     "vector::push_back", "push_back"},
    {"void std::sort<int*, bool (*)(int, int)>(int*, int*, bool (*)(int, int))",
     "std::sort<int*, bool (*)(int, int)>", "std::sort", "std::sort", "sort"},
    {"bool ns::A<(ns::E)1>::operator()(int) const", "ns::A<(ns::E)1>::operator()",
     "ns::A::operator()", "A::operator()", "operator()"},
    {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
     "std::operator<<<std::char_traits<char> >", "std::operator<<", "std::operator<<",
     "operator<<"},
    {"Foo::operator bool() const", "Foo::operator bool", "Foo::operator bool", "Foo::operator bool",
     "operator bool"},
    {"(anonymous namespace)::worker(void*)", "(anonymous namespace)::worker",
     "(anonymous namespace)::worker", "(anonymous namespace)::worker", "worker"},
    {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()",
     "main::{lambda#1}::operator()", "main::{lambda#1}::operator()", "operator()"},
    {"parse(char const*) [clone .part.0]", "parse", "parse", "parse", "parse"},
    {"f(int)::{lambda()#2}::operator()() const", "f::{lambda()#2}::operator()",
     "f::{lambda#2}::operator()", "f::{lambda#2}::operator()", "operator()"},
    {"core::ptr::drop_in_place<alloc::vec::Vec<u8>>::h0123456789abcdef",
     "core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place",
     "ptr::drop_in_place", "drop_in_place"},
    {"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
     "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec as core::ops::Drop>::drop",
     "<alloc::vec::Vec as core::ops::Drop>::drop", "drop"},
    {"app::run::{{closure}}", "app::run::{{closure}}", "app::run::{{closure}}",
     "app::run::{{closure}}", "run::{{closure}}"},
    {"auto f<int>(int)->int", "f<int>", "f", "f", "f"},
    {"decltype(auto) ns::g<int>(int)", "ns::g<int>", "ns::g", "ns::g", "g"},
    {"[unknown in libc.so.6]", "[unknown in libc.so.6]", "[unknown in libc.so.6]",
     "[unknown in libc.so.6]", "[unknown in libc.so.6]"},
    {"broken<<<", "broken<<<", "broken", "broken", "broken"},
    {"operator", "operator", "operator", "operator", "operator"},
    {"", "", "", "", ""},
};

static void expect(Str full, NameLevel level, const char *want)
{
    StrBuf out = {0};
    name_add(&out, full, level);
    if (!str_equal(strbuf_str(&out), str_from_c(want)))
        fail_msg("level %d of '%" STR_FMT "' is '%" STR_FMT "', not '%s'", level, STR_ARG(full),
                 STR_ARG(strbuf_str(&out)), want);
    strbuf_deinit(&out);
}

static void each_level_drops_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Str full = str_from_c(cases[i].full);
        expect(full, NAME_FULL, cases[i].full);
        expect(full, NAME_NO_ARGS, cases[i].no_args);
        expect(full, NAME_NO_TEMPLATES, cases[i].no_templates);
        expect(full, NAME_TAIL, cases[i].tail);
        expect(full, NAME_LAST, cases[i].last);
    }
}

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

static void every_prefix_of_a_name_is_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Str full = str_from_c(cases[i].full);
        for (size_t end = 0; end <= full.len; end++) {
            for (NameLevel level = NAME_FULL; level < NAME_LEVEL_COUNT; level++) {
                StrBuf out = {0};
                name_add(&out, str_slice(full, 0, end), level);
                assert_true(out.len <= full.len);
                strbuf_deinit(&out);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_drops_what_it_says),
        cmocka_unit_test(a_fitting_name_is_never_wider),
        cmocka_unit_test(every_prefix_of_a_name_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
