// SPDX-License-Identifier: Apache-2.0
// The kernel's functions in the symbol cache: what is written is found again, and nothing else is
// believed.

#include "symbolise/kernel_names.h"

#include "harness.h"

static const char text[] = "ffffffff81000000 T _stext\n"
                           "ffffffff81000100 T schedule\n"
                           "ffffffff81000400 t do_idle\n"
                           "ffffffff81000900 T _etext\n"
                           "ffffffffc0000000 t nf_hook\t[nf_tables]\n";

static void encode(Arena *arena, StrBuf *out)
{
    SymbolIndex index;
    AddressRange core;
    Error err;
    assert_ok(kallsyms_parse(arena, str_from_c(text), &index, &core, &err), &err);
    assert_true(kernel_names_encode(&index, core, out));
}

static void functions_are_found_as_in_kallsyms(void **state)
{
    (void)state;
    Arena arena = {0};
    StrBuf file = {0};
    KernelNames names;
    Error err;
    Str name;
    encode(&arena, &file);
    assert_ok(kernel_names_open(bytes_from_str(strbuf_str(&file)), &names, &err), &err);
    assert_int_equal(names.count, 3);
    assert_true(kernel_names_find(&names, 0xffffffff81000000, &name));
    assert_str(name, "_stext");
    assert_true(kernel_names_find(&names, 0xffffffff81000100, &name));
    assert_str(name, "schedule");
    assert_true(kernel_names_find(&names, 0xffffffff810003ff, &name));
    assert_str(name, "schedule");
    assert_true(kernel_names_find(&names, 0xffffffff810008ff, &name));
    assert_str(name, "do_idle");
    strbuf_deinit(&file);
    arena_deinit(&arena);
}

static void addresses_outside_of_the_kernels_own_code_are_not_known(void **state)
{
    (void)state;
    Arena arena = {0};
    StrBuf file = {0};
    KernelNames names;
    Error err;
    Str name;
    encode(&arena, &file);
    assert_ok(kernel_names_open(bytes_from_str(strbuf_str(&file)), &names, &err), &err);
    assert_false(kernel_names_find(&names, 0xffffffff80ffffff, &name));
    assert_false(kernel_names_find(&names, 0xffffffff81000900, &name));
    assert_false(kernel_names_find(&names, 0xffffffffc0000000, &name));
    strbuf_deinit(&file);
    arena_deinit(&arena);
}

static void nothing_is_written_without_symbols(void **state)
{
    (void)state;
    StrBuf file = {0};
    const SymbolIndex none = {0};
    assert_false(kernel_names_encode(&none, (AddressRange){UINT64_MAX, 0}, &file));
    assert_false(kernel_names_encode(&none, (AddressRange){0x1000, 0x2000}, &file));
    assert_int_equal(file.len, 0);
    strbuf_deinit(&file);
}

static void a_file_cut_at_each_byte_or_changed_is_refused(void **state)
{
    (void)state;
    Arena arena = {0};
    StrBuf file = {0};
    KernelNames names;
    Error err;
    encode(&arena, &file);
    Bytes all = bytes_from_str(strbuf_str(&file));
    for (size_t len = 0; len < all.len; len++)
        assert_false(
            kernel_names_open(arena_bytes(&arena, bytes_slice(all, 0, len)), &names, &err));
    for (size_t i = 0; i < all.len; i++) {
        file.ptr[i] ^= 0x20;
        assert_false(kernel_names_open(bytes_from_str(strbuf_str(&file)), &names, &err));
        file.ptr[i] ^= 0x20;
    }
    strbuf_deinit(&file);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_as_in_kallsyms),
        cmocka_unit_test(addresses_outside_of_the_kernels_own_code_are_not_known),
        cmocka_unit_test(nothing_is_written_without_symbols),
        cmocka_unit_test(a_file_cut_at_each_byte_or_changed_is_refused),
    };
    return RUN_TESTS(tests);
}
