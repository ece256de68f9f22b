// SPDX-License-Identifier: Apache-2.0
// Demangling, and its limits.

#include "symbolise/demangle.h"

#include "harness.h"

static void check(const char *linkage_name, bool demangled, const char *expected)
{
    StrBuf out = {0};
    assert_int_equal(demangle(str_from_c(linkage_name), &out), demangled);
    assert_str(strbuf_str(&out), expected);
    strbuf_deinit(&out);
}

static void cpp_rust_and_d_names_are_demangled(void **state)
{
    (void)state;
    check("_ZN3foo3barEi", true, "foo::bar(int)");
    check("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", true, "core::fmt::Write::write_fmt");
    check("_RNvCs1234_7mycrate3foo", true, "mycrate::foo");
    check("_D3foo3barFiZv", true, "foo.bar(int)");
}

static void names_that_are_not_mangled_stay(void **state)
{
    (void)state;
    check("main", false, "main");
    check("", false, "");
    check("_Z", false, "_Z");
    check("_RNvNtCs69", false, "_RNvNtCs69");
    check("_Dummy", false, "_Dummy");
    check("main.func1.2", false, "main.func1.2"); // Go's own
}

static void clone_marks_and_versions_are_dropped(void **state)
{
    (void)state;
    check("_ZN3foo3barEi.isra.0", true, "foo::bar(int)");
    check("foo.part.0.cold", false, "foo");
    check("foo.constprop.12", false, "foo");
    check("memcpy@@GLIBC_2.14", false, "memcpy");
    check("f.llvm.1234567890", false, "f");
    check("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.99", true,
          "std::rt::lang_start::{{closure}}");
    check(".cold", false, ".cold");
    check("_ZN3foo3barEi@plt", true, "foo::bar(int)@plt");
    check("memcpy@plt", false, "memcpy@plt");
    check("@plt", false, "@plt");
    check("_ZN3foo3barEi@0x1150", true, "foo::bar(int)@0x1150");
    check("work@0x1150", false, "work@0x1150");
    check("memcpy@GLIBC_2.2.5", false, "memcpy");
}

static void names_of_other_languages_are_demangled(void **state)
{
    (void)state;
    // OCaml
    check("camlO__insert_84", true, "O.insert_84");
    check("camlStdlib__List__map_154", true, "Stdlib.List.map_154");
    check("camlM__$2b$3d_12", true, "M.+=_12");
    check("caml_alloc_shr", false, "caml_alloc_shr");
    check("caml", false, "caml");
    // gfortran
    check("__work_MOD_acc_add", true, "work::acc_add");
    check("__work_MOD_deep.constprop.0", true, "work::deep");
    check("__x_MOD_", false, "__x_MOD_");
    check("___MOD_x", false, "___MOD_x");
    check("a_MOD_x", false, "a_MOD_x");
    // GHC
    check("Main_zdwfib_info", true, "Main.$wfib");
    check("containerszm0zi6zi4zi1_DataziMapziInternal_balanceL_info", true,
          "containers-0.6.4.1:Data.Map.Internal.balanceL");
    check("ghczmprim_GHCziTuple_Z0ZT_closure", false, "ghczmprim_GHCziTuple_Z0ZT_closure");
    check("stg_ap_pp_fast", false, "stg_ap_pp_fast");
    check("get_zone_info", false, "get_zone_info");
    check("Page_fault_info", false, "Page_fault_info");
    check("Main_z_info", false, "Main_z_info");
    check("_info", false, "_info");
    // Free Pascal
    check("P$P_$$_CHURN$LONGINT$$INT64", true, "P.CHURN(LONGINT)");
    check("P$P_$_TACC_$__$$_ADD$DOUBLE", true, "P.TACC.ADD(DOUBLE)");
    check("SYSTEM_$$_MOVE$formal$formal$INT64", true, "SYSTEM.MOVE(formal, formal, INT64)");
    check("SYSTEM$_$TOBJECT_$__$$_FREE", true, "SYSTEM.TOBJECT.FREE()");
    check("X_$$_", false, "X_$$_");
    check("_$$_X", false, "_$$_X");
}

// f(N1::N2::…) with that many levels.
static void nested_name(StrBuf *out, size_t levels)
{
    strbuf_add(out, STR("_Z1fN"));
    for (size_t i = 0; i < levels; i++)
        strbuf_add(out, STR("3abc"));
    strbuf_add(out, STR("E"));
}

static void long_names_work_up_to_the_stated_limit(void **state)
{
    (void)state;
    StrBuf name = {0}, out = {0};
    nested_name(&name, 500);
    assert_true(demangle(strbuf_str(&name), &out));
    assert_true(str_starts_with(strbuf_str(&out), STR("f(abc::abc::")));
    strbuf_clear(&name);
    strbuf_clear(&out);
    nested_name(&name, DEMANGLE_INPUT_MAX / 4);
    assert_false(demangle(strbuf_str(&name), &out));
    assert_true(str_equal(strbuf_str(&out), strbuf_str(&name)));
    strbuf_deinit(&name);
    strbuf_deinit(&out);
}

static void a_name_that_asks_for_endless_text_is_given_up(void **state)
{
    (void)state;
    // Each parameter is a pair of the one before it: its text doubles.
    StrBuf name = {0}, out = {0};
    strbuf_add(&name, STR("_Z1f1AIiE"));
    strbuf_add(&name, STR("S_IS0_S0_E")); // S_ = A, S0_ = A<int>
    for (int i = 1; i < 34; i++) {
        char previous = (char)(i < 10 ? '0' + i : 'A' + i - 10);
        strbuf_printf(&name, "S_IS%c_S%c_E", previous, previous);
    }
    assert_false(demangle(strbuf_str(&name), &out));
    assert_true(str_equal(strbuf_str(&out), strbuf_str(&name)));
    strbuf_deinit(&name);
    strbuf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpp_rust_and_d_names_are_demangled),
        cmocka_unit_test(names_that_are_not_mangled_stay),
        cmocka_unit_test(names_of_other_languages_are_demangled),
        cmocka_unit_test(clone_marks_and_versions_are_dropped),
        cmocka_unit_test(long_names_work_up_to_the_stated_limit),
        cmocka_unit_test(a_name_that_asks_for_endless_text_is_given_up),
    };
    return RUN_TESTS(tests);
}
