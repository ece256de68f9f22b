// SPDX-License-Identifier: Apache-2.0
// Function names at several lengths.

#include "model/name.h"

#include <stdio.h>

#include "harness.h"

typedef struct Case {
    const char *full, *no_arguments, *no_templates, *last;
} Case;

static void check(const char *full, NameLength length, const char *expected)
{
    StrBuf out = {0};
    name_shorten(str_from_c(full), length, &out);
    strbuf_add_char(&out, 0);
    if (strcmp(out.ptr, expected) != 0)
        print_error("'%s' at length %d\n     got '%s'\nexpected '%s'\n", full, (int)length, out.ptr,
                    expected);
    assert_string_equal(out.ptr, expected);
    strbuf_deinit(&out);
}

static void check_all(const Case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check(cases[i].full, NAME_FULL, cases[i].full);
        check(cases[i].full, NAME_NO_ARGUMENTS, cases[i].no_arguments);
        check(cases[i].full, NAME_NO_TEMPLATES, cases[i].no_templates);
        check(cases[i].full, NAME_LAST, cases[i].last);
    }
}

static void plain_names_keep_what_they_have(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"main", "main", "main", "main"},
        {"", "", "", ""},
        {"std::vector<int, std::allocator<int> >::push_back(int const&)",
         "std::vector<int, std::allocator<int> >::push_back", "std::vector::push_back",
         "push_back"},
        {"(anonymous namespace)::run(int) const", "(anonymous namespace)::run",
         "(anonymous namespace)::run", "run"},
        {"a::Foo::~Foo()", "a::Foo::~Foo", "a::Foo::~Foo", "~Foo"},
        {"f(int) [clone .isra.0]", "f", "f", "f"},
        {"Foo::bar[abi:cxx11](int) const &", "Foo::bar", "Foo::bar", "bar"},
        {"a::f<int>(int)@plt", "a::f<int>@plt", "a::f@plt", "f@plt"},
        {"memcpy@plt", "memcpy@plt", "memcpy@plt", "memcpy@plt"},
    };
    check_all(cases, ARRAY_LEN(cases));
}

static void return_types_are_dropped(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"void foo<int>(int)", "foo<int>", "foo", "foo"},
        {"unsigned long ns::foo<int>(int)", "ns::foo<int>", "ns::foo", "foo"},
        {"std::enable_if<(1)>(0), int>::type const& ns::foo<int>(int)", "ns::foo<int>", "ns::foo",
         "foo"},
        {"decltype(auto) ns::foo<int>(int)", "ns::foo<int>", "ns::foo", "foo"},
        {"decltype (f(1)) ns::foo<int>(int) const", "ns::foo<int>", "ns::foo", "foo"},
        {"void (*get<int>(int))(char)", "get<int>", "get", "get"},
        {"int (&ns::arr<int>())[3]", "ns::arr<int>", "ns::arr", "arr"},
        {"void (A::*get<int>(int))(char)", "get<int>", "get", "get"},
        {"auto foo<int>(int)::{lambda(int)#1}::operator()(int) const",
         "foo<int>::{lambda(int)#1}::operator()", "foo::{lambda#1}::operator()",
         "foo::{lambda#1}::operator()"},
    };
    check_all(cases, ARRAY_LEN(cases));
}

static void operators_are_not_brackets(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"A::operator()(int) const", "A::operator()", "A::operator()", "A::operator()"},
        {"bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>", "operator<",
         "operator<"},
        {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
         "std::operator<< <std::char_traits<char> >", "std::operator<<", "operator<<"},
        {"P<int>::operator->() const", "P<int>::operator->", "P::operator->", "operator->"},
        {"P<int>::operator->*(int)", "P<int>::operator->*", "P::operator->*", "operator->*"},
        {"A::operator<=>(A const&) const", "A::operator<=>", "A::operator<=>", "operator<=>"},
        {"A::operator>>(int)", "A::operator>>", "A::operator>>", "operator>>"},
        {"A::operator,(int)", "A::operator,", "A::operator,", "operator,"},
        {"A::operator bool() const", "A::operator bool", "A::operator bool", "operator bool"},
        {"A::operator std::vector<int, X<int> >() const", "A::operator std::vector<int, X<int> >",
         "A::operator std::vector", "operator std::vector"},
        {"operator new(unsigned long)", "operator new", "operator new", "operator new"},
        {"operator delete[](void*)", "operator delete[]", "operator delete[]", "operator delete[]"},
        {"A::operator[](int)", "A::operator[]", "A::operator[]", "operator[]"},
        {"operator\"\" _km(long double)", "operator\"\" _km", "operator\"\" _km",
         "operator\"\" _km"},
        {"operators::f<&A::operator< >()", "operators::f<&A::operator< >", "operators::f", "f"},
        {"my_operator(int)", "my_operator", "my_operator", "my_operator"},
        // of libstdc++
        {"bool __gnu_cxx::__ops::_Iter_less_iter::operator()<__gnu_cxx::__normal_iterator<char*, "
         "std::vector<char, std::allocator<char> > >, int>(__gnu_cxx::__normal_iterator<char*, "
         "std::vector<char, std::allocator<char> > >, int) const",
         "__gnu_cxx::__ops::_Iter_less_iter::operator()<__gnu_cxx::__normal_iterator<char*, "
         "std::vector<char, std::allocator<char> > >, int>",
         "__gnu_cxx::__ops::_Iter_less_iter::operator()", "_Iter_less_iter::operator()"},
        {"auto f()::{lambda(auto:1&)#3}::operator()<std::vector<double> >(std::vector<double>&) "
         "const",
         "f::{lambda(auto:1&)#3}::operator()<std::vector<double> >", "f::{lambda#3}::operator()",
         "f::{lambda#3}::operator()"},
        {"void g<&A::operator()<int> >(int)", "g<&A::operator()<int> >", "g", "g"},
    };
    check_all(cases, ARRAY_LEN(cases));
}

static void methods_of_rust_keep_their_type(void **state)
{
    (void)state;
    static const struct {
        const char *full, *with_trait, *type; // NULL: no such method
    } cases[] = {
        {"<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop", "<Vec as Drop>::drop",
         "Vec::drop"},
        {"<&mut core::str::Chars as core::ops::FnMut<A>>::call_mut::{{closure}}",
         "<&mut Chars as FnMut>::call_mut::{{closure}}", "&mut Chars::call_mut::{{closure}}"},
        {"<[A] as core::slice::cmp::SlicePartialEq<B>>::equal", "<[A] as SlicePartialEq>::equal",
         "[A]::equal"},
        {"<alloc::vec::Vec<u8>>::push", "<Vec>::push", "<Vec>::push"},
        {"core::slice::<impl [T]>::len", NULL, NULL},
        {"std::vector<int>::size() const", NULL, NULL},
        {"main", NULL, NULL},
        {"a<b", NULL, NULL},
    };
    StrBuf out = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int with_trait = 0; with_trait <= 1; with_trait++) {
            const char *want = with_trait ? cases[i].with_trait : cases[i].type;
            strbuf_clear(&out);
            assert_int_equal(name_add_method(str_from_c(cases[i].full), with_trait, &out),
                             want != NULL);
            assert_str(strbuf_str(&out), want ? want : "");
        }
    }
    strbuf_deinit(&out);
}

static void local_entities_keep_the_way_to_them(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"main::{lambda(int, char)#2}::operator()(int, char) const",
         "main::{lambda(int, char)#2}::operator()", "main::{lambda#2}::operator()",
         "main::{lambda#2}::operator()"},
        {"A::f(int) const::{lambda()#1}::operator()() const", "A::f::{lambda()#1}::operator()",
         "A::f::{lambda#1}::operator()", "f::{lambda#1}::operator()"},
        {"f(int)::Local::run()", "f::Local::run", "f::Local::run", "run"},
        {"void f<int>(int)::Local::run()", "f<int>::Local::run", "f::Local::run", "run"},
        {"{lambda()#1}::operator()() const", "{lambda()#1}::operator()", "{lambda#1}::operator()",
         "{lambda#1}::operator()"},
    };
    check_all(cases, ARRAY_LEN(cases));
}

static void template_arguments_may_hold_anything(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"std::function<void (int)>::operator()(int) const",
         "std::function<void (int)>::operator()", "std::function::operator()",
         "function::operator()"},
        {"f<((1)>(2))>()", "f<((1)>(2))>", "f", "f"},
        {"g<(A)1>::h(void (*)(int))", "g<(A)1>::h", "g::h", "h"},
        {"g<&(x(int))>::h()", "g<&(x(int))>::h", "g::h", "h"},
        {"A<char [3]>::h()", "A<char [3]>::h", "A::h", "h"},
        {"std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke(std::_Any_data const&)",
         "std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke",
         "std::_Function_handler::_M_invoke", "_M_invoke"},
    };
    check_all(cases, ARRAY_LEN(cases));
}

static void rust_names_lose_their_generics_only(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
         "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
         "<alloc::vec::Vec as core::ops::drop::Drop>::drop", "drop"},
        {"core::ptr::drop_in_place<alloc::vec::Vec<u8>>",
         "core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place",
         "drop_in_place"},
        {"core::slice::<impl [T]>::len", "core::slice::<impl [T]>::len",
         "core::slice::<impl [T]>::len", "len"},
        {"app::run::<alloc::vec::Vec<u8>>", "app::run::<alloc::vec::Vec<u8>>", "app::run", "run"},
        {"app::main::{{closure}}", "app::main::{{closure}}", "app::main::{{closure}}",
         "main::{{closure}}"},
        {"app::main::{closure#0}::{closure#1}", "app::main::{closure#0}::{closure#1}",
         "app::main::{closure#0}::{closure#1}", "main::{closure#0}::{closure#1}"},
        {"core::ops::function::FnOnce::call_once{{vtable.shim}}",
         "core::ops::function::FnOnce::call_once{{vtable.shim}}",
         "core::ops::function::FnOnce::call_once{{vtable.shim}}", "call_once{{vtable.shim}}"},
        {"<fn(u8) -> alloc::vec::Vec<u8> as app::T>::go",
         "<fn(u8) -> alloc::vec::Vec<u8> as app::T>::go",
         "<fn(u8) -> alloc::vec::Vec as app::T>::go", "go"},
        {"<&mut F as core::ops::FnMut<A>>::call_mut", "<&mut F as core::ops::FnMut<A>>::call_mut",
         "<&mut F as core::ops::FnMut>::call_mut", "call_mut"},
        {"<<A<u8> as B>::C as D>::e", "<<A<u8> as B>::C as D>::e", "<<A as B>::C as D>::e", "e"},
        {"_<T as U>::f", "_<T as U>::f", "_::f", "f"},
    };
    check_all(cases, ARRAY_LEN(cases));
}

static void special_names_keep_their_prefix(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"non-virtual thunk to A<int>::f(int)", "non-virtual thunk to A<int>::f",
         "non-virtual thunk to A::f", "non-virtual thunk to f"},
        {"vtable for A<int>", "vtable for A<int>", "vtable for A", "vtable for A"},
    };
    check_all(cases, ARRAY_LEN(cases));
}

static void text_of_another_shape_is_left_alone(void **state)
{
    (void)state;
    static const char *const names[] = {
        "LazyCompile:~(anonymous) /srv/app.js:12:3",
        "JS:*run file:///srv/app.js:1:2",
        "main.(*T).Method",
        "type:.eq.[2]interface {}",
        "a<b",
        "f(",
        "operator",
        "::",
        "a::",
        "[kernel]",
        "<unfinished",
        " leading",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (int length = NAME_FULL; length <= NAME_LAST; length++)
            check(names[i], (NameLength)length, names[i]);
}

static void every_cut_of_a_name_ends(void **state)
{
    (void)state;
    Str name = STR("std::enable_if<(1)>(0), int>::type ns::A<&B::operator< >::operator"
                   "std::vector<int>()::{lambda(auto:1)#1}::operator()<X>(X) const [clone .cold]");
    StrBuf out = {0};
    for (size_t n = 0; n <= name.len; n++) {
        for (int length = NAME_FULL; length <= NAME_LAST; length++) {
            strbuf_clear(&out);
            name_shorten(str_slice(name, 0, n), (NameLength)length, &out);
            assert_true(out.len <= n);
        }
    }
    strbuf_deinit(&out);
}

static void a_user_may_leave_out_what_a_function_is_in(void **state)
{
    (void)state;
    assert_true(name_ends_in(STR("gates::parser::tokens"), STR("parser::tokens")));
    assert_true(name_ends_in(STR("tokens"), STR("tokens")));
    assert_false(name_ends_in(STR("gates::parser::tokens"), STR("arser::tokens")));
    assert_false(name_ends_in(STR("a:tokens"), STR("tokens")));
    assert_false(name_ends_in(STR("tokens"), STR("parser::tokens")));
    assert_false(name_ends_in(STR("tokens"), STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_names_keep_what_they_have),
        cmocka_unit_test(return_types_are_dropped),
        cmocka_unit_test(operators_are_not_brackets),
        cmocka_unit_test(methods_of_rust_keep_their_type),
        cmocka_unit_test(local_entities_keep_the_way_to_them),
        cmocka_unit_test(template_arguments_may_hold_anything),
        cmocka_unit_test(rust_names_lose_their_generics_only),
        cmocka_unit_test(special_names_keep_their_prefix),
        cmocka_unit_test(text_of_another_shape_is_left_alone),
        cmocka_unit_test(every_cut_of_a_name_ends),
        cmocka_unit_test(a_user_may_leave_out_what_a_function_is_in),
    };
    return RUN_TESTS(tests);
}
