// SPDX-License-Identifier: Apache-2.0
// Each form of an attribute's value: its length, and what it is read as. A new form is a row.
// Format: DWARF 5 §7.5.5, §7.5.6.

#include "dwarf/dwarf_internal.h"
#include "harness.h"

static const FormSizes sizes = {.version = 5, .addr_size = 8, .offset_size = 4};

typedef struct FormCase {
    uint64_t form;
    const char *bytes; // the value, and one byte behind it
    size_t len;        // of the value alone
    ValueKind kind;    // VALUE_NONE: passed over
    uint64_t u;
} FormCase;

// `length` bytes of a value, and a byte of something else behind.
#define BYTES(text) text "\xee", sizeof(text) - 1

static const FormCase forms[] = {
    {DW_FORM_addr, BYTES("\1\2\3\4\5\6\7\x08"), VALUE_ADDR, 0x0807060504030201},
    {DW_FORM_block1, BYTES("\2ab"), VALUE_NONE, 0},
    {DW_FORM_block2, BYTES("\2\0ab"), VALUE_NONE, 0},
    {DW_FORM_block4, BYTES("\2\0\0\0ab"), VALUE_NONE, 0},
    {DW_FORM_block, BYTES("\2ab"), VALUE_NONE, 0},
    {DW_FORM_exprloc, BYTES("\2ab"), VALUE_NONE, 0},
    {DW_FORM_data1, BYTES("\xff"), VALUE_UINT, 0xff},
    {DW_FORM_data2, BYTES("\1\2"), VALUE_UINT, 0x201},
    {DW_FORM_data4, BYTES("\1\2\3\4"), VALUE_UINT, 0x4030201},
    {DW_FORM_data8, BYTES("\1\0\0\0\0\0\0\x80"), VALUE_UINT, 0x8000000000000001},
    {DW_FORM_data16, BYTES("0123456789abcdef"), VALUE_NONE, 0},
    {DW_FORM_sdata, BYTES("\x7f"), VALUE_UINT, UINT64_MAX},
    {DW_FORM_udata, BYTES("\x80\1"), VALUE_UINT, 0x80},
    {DW_FORM_flag, BYTES("\1"), VALUE_UINT, 1},
    {DW_FORM_flag_present, BYTES(""), VALUE_UINT, 1},
    {DW_FORM_string, BYTES("name\0"), VALUE_TEXT, 0},
    {DW_FORM_strp, BYTES("\1\0\0\0"), VALUE_STRP, 1},
    {DW_FORM_line_strp, BYTES("\1\0\0\0"), VALUE_LINE_STRP, 1},
    {DW_FORM_strp_sup, BYTES("\1\0\0\0"), VALUE_STRP_ALT, 1},
    {DW_FORM_GNU_strp_alt, BYTES("\1\0\0\0"), VALUE_STRP_ALT, 1},
    {DW_FORM_strx, BYTES("\x80\1"), VALUE_STRX, 0x80},
    {DW_FORM_strx1, BYTES("\1"), VALUE_STRX, 1},
    {DW_FORM_strx2, BYTES("\1\2"), VALUE_STRX, 0x201},
    {DW_FORM_strx3, BYTES("\1\2\3"), VALUE_STRX, 0x30201},
    {DW_FORM_strx4, BYTES("\1\2\3\4"), VALUE_STRX, 0x4030201},
    {DW_FORM_GNU_str_index, BYTES("\x80\1"), VALUE_STRX, 0x80},
    {DW_FORM_addrx, BYTES("\x80\1"), VALUE_ADDRX, 0x80},
    {DW_FORM_addrx1, BYTES("\1"), VALUE_ADDRX, 1},
    {DW_FORM_addrx2, BYTES("\1\2"), VALUE_ADDRX, 0x201},
    {DW_FORM_addrx3, BYTES("\1\2\3"), VALUE_ADDRX, 0x30201},
    {DW_FORM_addrx4, BYTES("\1\2\3\4"), VALUE_ADDRX, 0x4030201},
    {DW_FORM_GNU_addr_index, BYTES("\x80\1"), VALUE_ADDRX, 0x80},
    {DW_FORM_sec_offset, BYTES("\1\0\0\0"), VALUE_SEC_OFFSET, 1},
    {DW_FORM_rnglistx, BYTES("\3"), VALUE_RNGLISTX, 3},
    {DW_FORM_loclistx, BYTES("\3"), VALUE_NONE, 0},
    {DW_FORM_ref1, BYTES("\5"), VALUE_REF, 5},
    {DW_FORM_ref2, BYTES("\5\0"), VALUE_REF, 5},
    {DW_FORM_ref4, BYTES("\5\0\0\0"), VALUE_REF, 5},
    {DW_FORM_ref8, BYTES("\5\0\0\0\0\0\0\0"), VALUE_REF, 5},
    {DW_FORM_ref_udata, BYTES("\5"), VALUE_REF, 5},
    {DW_FORM_ref_addr, BYTES("\5\0\0\0"), VALUE_REF_ADDR, 5},
    {DW_FORM_ref_sup4, BYTES("\5\0\0\0"), VALUE_REF_ALT, 5},
    {DW_FORM_ref_sup8, BYTES("\5\0\0\0\0\0\0\0"), VALUE_REF_ALT, 5},
    {DW_FORM_GNU_ref_alt, BYTES("\5\0\0\0"), VALUE_REF_ALT, 5},
    {DW_FORM_ref_sig8, BYTES("\5\0\0\0\0\0\0\0"), VALUE_REF_SIG8, 5},
    {DW_FORM_indirect, BYTES("\x0b\7"), VALUE_UINT, 7}, // of DW_FORM_data1
};

static Cursor over(const FormCase *f, size_t len)
{
    return cursor_over(bytes_over(f->bytes, len), "forms");
}

static void each_form_is_read_as_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const FormCase *f = &forms[i];
        Cursor c = over(f, f->len + 1);
        Value v = form_read(&c, sizes, f->form, 0);
        if (!cursor_ok(&c) || v.kind != f->kind || (v.kind != VALUE_TEXT && v.u != f->u))
            fail_msg("form 0x%llx: kind %d, value 0x%llx", (unsigned long long)f->form, v.kind,
                     (unsigned long long)v.u);
        if (v.kind == VALUE_TEXT)
            assert_true(str_equal(v.text, STR("name")));
        assert_int_equal(cursor_left(&c), 1);
    }
}

// Skipping is what DIEs are passed over by; a form of one size says it too.
static void each_form_is_passed_over_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const FormCase *f = &forms[i];
        Cursor c = over(f, f->len + 1);
        form_skip(&c, sizes, f->form);
        if (!cursor_ok(&c) || cursor_left(&c) != 1)
            fail_msg("form 0x%llx: %zu bytes left", (unsigned long long)f->form, cursor_left(&c));
        int size = form_size(sizes, f->form);
        if (size != -1)
            assert_int_equal(size, f->len);
    }
}

static void each_form_fails_when_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        for (size_t len = 0; len < forms[i].len; len++) {
            Cursor c = over(&forms[i], len), again = c;
            (void)form_read(&c, sizes, forms[i].form, 0);
            form_skip(&again, sizes, forms[i].form);
            if (cursor_ok(&c) || cursor_ok(&again))
                fail_msg("form 0x%llx cut at %zu", (unsigned long long)forms[i].form, len);
        }
    }
}

static void sizes_depend_on_the_unit(void **state)
{
    (void)state;
    const FormSizes dwarf2 = {.version = 2, .addr_size = 8, .offset_size = 4};
    const FormSizes dwarf64 = {.version = 5, .addr_size = 4, .offset_size = 8};
    assert_int_equal(form_size(dwarf2, DW_FORM_ref_addr), 8);
    assert_int_equal(form_size(dwarf64, DW_FORM_ref_addr), 8);
    assert_int_equal(form_size(sizes, DW_FORM_ref_addr), 4);
    assert_int_equal(form_size(dwarf64, DW_FORM_addr), 4);
    assert_int_equal(form_size(dwarf64, DW_FORM_strp), 8);
}

static void constants_of_the_abbreviation_take_no_room(void **state)
{
    (void)state;
    Cursor c = cursor_over(bytes_over("", 0), "forms");
    Value v = form_read(&c, sizes, DW_FORM_implicit_const, -3);
    assert_int_equal(v.kind, VALUE_UINT);
    assert_true(v.u == (uint64_t)-3);
    assert_true(cursor_ok(&c));
}

static void forms_that_are_not_known_fail(void **state)
{
    (void)state;
    const char *const values[] = {"\x16\x0b\7", "\x21\7", "\x7f\7"}; // indirect, constant, none
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        Cursor c = cursor_over(bytes_over(values[i], 2), "forms"), again = c;
        (void)form_read(&c, sizes, DW_FORM_indirect, 0);
        form_skip(&again, sizes, DW_FORM_indirect);
        assert_false(cursor_ok(&c));
        assert_false(cursor_ok(&again));
    }
    assert_int_equal(form_size(sizes, 0x7f), -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_is_read_as_what_it_is),
        cmocka_unit_test(each_form_is_passed_over_whole),
        cmocka_unit_test(each_form_fails_when_cut),
        cmocka_unit_test(sizes_depend_on_the_unit),
        cmocka_unit_test(constants_of_the_abbreviation_take_no_room),
        cmocka_unit_test(forms_that_are_not_known_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
